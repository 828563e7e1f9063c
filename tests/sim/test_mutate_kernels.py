"""The mutation score of the MoE kernels: a seeded sample, or every mutant with ``--full``.

Ordering mutants are caught without exception. A value mutant that survives has to stand, with the
argument why, in ``docs/mutation.md``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netra_build.asm.toolchain import Toolchain
from netra_build.load.golden import golden_sources
from netra_build.load.library import open_library
from netra_build.mutate.campaign import Plan, run_campaign
from netra_build.mutate.judge import Subject
from netra_build.mutate.mutant import ORDERING, VALUE
from netra_build.mutate.pool import ToolPlace

KERNELS = ("moe_gate_up_decode_m1", "moe_silu_quant_decode_m1", "moe_down_reduce_decode_m1")
ARGUMENT = re.compile(r"\| `([a-z0-9_ ]+)` \| `(.+)` \| (.+) \|")


@pytest.fixture(scope="module")
def document(root: Path) -> str:
    """Return the document that argues."""
    return (root / "docs/mutation.md").read_text(encoding="utf-8")


def arguments(document: str, tactic: str) -> list[str]:
    """Return the patterns of the mutants that the document argues about for one kernel."""
    rows = ARGUMENT.findall(document)
    return [pattern.replace("\\|", "|") for name, pattern, _ in rows if name in (tactic, "all")]


def listed(document: str, tactic: str) -> list[str]:
    """Return the survivors that the document lists for one kernel, without their lines."""
    section = document.split(f"### golden/gfx950/{tactic}/kernel.s")[1].split("### ")[0]
    block = section.split("Survivors:\n\n```\n")[1].split("```")[0]
    return [line.partition(": ")[2] for line in block.strip().split("\n")]


@pytest.mark.parametrize("tactic", KERNELS)
def test_what_survives_is_argued_about(
    root: Path, toolchain: Toolchain, document: str, seed: int, is_full: bool, tactic: str
) -> None:
    (golden,) = golden_sources(open_library(toolchain.disk, root, ()), tactic)
    unit = (root / golden.source).read_bytes()
    sample = Plan(seed=seed, sample=12, ordering_sample=8)
    plan = Plan(seed=seed, sample=None, jobs=2) if is_full else sample
    result = run_campaign(
        Subject(golden.source, unit, tactic), ToolPlace(local=root / ".toolchain"), plan
    )
    ordering, value = result.score(ORDERING), result.score(VALUE)
    assert ordering.survivors == 0
    assert ordering.caught > 0
    known = listed(document, tactic)
    texts = [f"{one.mutant.kind}: {one.mutant.change()}" for one in result.survivors()]
    assert [text for text in texts if text not in known] == []
    if is_full:
        assert sorted(texts) == sorted(known)
        assert value.per_mille >= 950


@pytest.mark.parametrize("tactic", KERNELS)
def test_every_listed_survivor_has_its_argument(document: str, tactic: str) -> None:
    patterns = arguments(document, tactic)
    survivors = listed(document, tactic)
    assert survivors
    for text in survivors:
        assert [one for one in patterns if re.fullmatch(one, text)], text
    for pattern in patterns:
        everywhere = [text for name in KERNELS for text in listed(document, name)]
        assert [text for text in everywhere if re.fullmatch(pattern, text)], pattern
