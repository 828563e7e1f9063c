"""The commands of ``docs/authoring.md``, from top to bottom in a copy of the project."""

from __future__ import annotations

import re
import shlex

import pytest
from project import ROOT, Project

DOCUMENT = (ROOT / "docs/authoring.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    \./netra (.*)$", DOCUMENT, re.MULTILINE)
FILES = re.findall(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
NAME = "silu_quant_example"
SHORTER = {"seeds=50": ("seeds=20", f"tactic={NAME}"), "20": ("5",)}
"""Fewer seeds for one kernel, and fewer mutants: more of them say nothing more of the document."""

LAST_LINES = {
    "new-tactic": f"next: scons tactic={NAME}; then write the golden source, see docs/authoring.md",
    "golden": f"{NAME}: unchanged",
    "pin": "0 pins rewritten",
    "check": "",
    "kernels": "docs/kernels.md written",
    "evidence": f"{NAME}: simulated, 28 launches -> evidence/gfx950/{NAME}.simulated.json",
    "promote": f"{NAME}: experiment -> verified (simulated)",
}


@pytest.fixture
def ready(built: Project) -> Project:
    """Return a copy with the files that the document tells to write, its engine built before."""
    for name, text in FILES:
        path = built.path(name)
        assert not path.exists(), name
        path.write_text(text, encoding="utf-8")
    return built


def test_every_command_does_what_the_document_says(ready: Project) -> None:
    assert len(COMMANDS) >= 12
    for command in COMMANDS:
        parts = [SHORTER.get(part, (part,)) for part in shlex.split(command)]
        word, *rest = [part for some in parts for part in some]
        done = ready.scons("-j2", *rest) if word == "scons" else ready.netra(word, *rest)
        survivors = word == "mutate" and done.status == 1
        assert done.status == 0 or survivors, (command, done.errors)
        if LAST_LINES.get(word):
            assert done.output.splitlines()[-1] == LAST_LINES[word], command
    assert f"| `{NAME}` |" in ready.path("docs/kernels.md").read_text(encoding="utf-8")
    assert ready.path(f"build/recipes/{NAME}/hsaco/{NAME}.hsaco").is_file()


def test_an_unproven_kernel_is_not_taken_by_the_recipe(ready: Project) -> None:
    """Without evidence and promotion the last steps of the document are refused."""
    (first,) = [command for command in COMMANDS if command.startswith("new-tactic")]
    assert ready.netra(*shlex.split(first)).status == 0
    done = ready.scons(f"recipe={NAME}")
    assert done.status == 2
    assert f'"{NAME}" is an experiment' in done.failure


def test_every_file_of_the_table_is_laid_out(ready: Project) -> None:
    (first,) = [command for command in COMMANDS if command.startswith("new-tactic")]
    made = ready.netra(*shlex.split(first)).output.splitlines()
    rows = re.findall(r"^\| `([^`]*)` \|", DOCUMENT, re.MULTILINE)
    words = {"TACTIC": NAME, "NAME": NAME, "FAMILY": "moe"}
    named = {re.sub("TACTIC|NAME|FAMILY", lambda m: words[m[0]], row) for row in rows}
    evidence = {f"evidence/gfx950/{NAME}.simulated.json"}
    assert len(named) == 7
    assert named - evidence <= set(made)
