"""Kernel sources are plain, tidy, name no model, and include their own family alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kernel_cases import BUILDS
from kernel_sources import TEMPLATES, golden_text


@pytest.mark.parametrize(("tactic", "value"), BUILDS)
def test_golden_sources_are_flat(root: Path, tactic: str, value: int) -> None:
    assert flat_faults(golden_text(root, tactic, value)) == []


def test_a_golden_source_with_a_directive_that_writes_code_is_seen() -> None:
    source = '\ts_nop 0\n  .include "x.inc"\n\t.macro M a\n.rept 2\n // .irp in a comment\n'
    assert flat_faults(source) == [".include", ".macro", ".rept"]


def flat_faults(source: str) -> list[str]:
    """Return the directives of a source that read files or write code."""
    pattern = r"^\s*(\.(?:include|incbin|macro|rept|rep|irp|irpc|altmacro|if\w*))\b"
    return re.findall(pattern, source, re.MULTILINE)


def test_families_include_common_and_themselves_alone(root: Path) -> None:
    found = {
        path.relative_to(root / TEMPLATES): re.findall(
            r'^\s*\.include "kernels/gfx950/templates/([a-z]+)/[a-z0-9_]+\.inc"$',
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        for path in (root / TEMPLATES).rglob("*.inc")
    }
    assert len(found) > 10
    for path, folders in found.items():
        assert set(folders) <= {"common", path.parts[0]}, path
        text = (root / TEMPLATES / path).read_text(encoding="utf-8")
        assert text.count(".include") == len(folders), path


def test_sources_name_no_model_and_are_tidy(root: Path) -> None:
    """No model names, no debug directives, no trailing blanks, tabs at line starts alone."""
    folders = ("kernels", "golden", "manifests/gfx950/contracts")
    paths = [p for folder in folders for p in sorted((root / folder).rglob("*.*")) if p.is_file()]
    assert len(paths) > 15
    for path in paths:
        assert untidy(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("// qwen36\n", "qwen"),
        ("\t.loc 1 2\n", "\t.loc"),
        ("s_nop 0 \n", " \n"),
        ("a\tb\n", "a\tb"),
        (" \ts_nop 0\n", " \t"),
        ("s_nop 0", "no final newline"),
    ],
)
def test_untidy_sources_are_seen(text: str, fault: str) -> None:
    assert untidy(text) == [fault]


def untidy(text: str) -> list[str]:
    """Return what a source should not hold."""
    pattern = r"(?i)qwen|gemma|llama|^\s*\.(?:file|loc|cfi_\w+)\b|\.debug_|[ \t]+\n|\S\t\S?|^ +\t"
    found = re.findall(pattern, text, re.MULTILINE)
    return found + ([] if text.endswith("\n") else ["no final newline"])
