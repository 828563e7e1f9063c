"""The mutation score of every specialization: the committed table, and samples judged again.

A run of every day judges a few mutants of the kernels that are quick to judge, and the whole sample
of the quickest; with ``--full`` every row of the table must come out as it stands there. What
survives has to stand, with the argument why, in ``docs/mutation.md``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.mutate.campaign import (
    Plan,
    ToolPlace,
    choose_mutants,
    golden_subject,
    run_campaign,
)
from netra_build.checkasm.mutate.document import COLUMNS
from netra_build.checkasm.mutate.mutant import ORDERING, VALUE, read_unit
from netra_build.cli.main import main
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.golden import golden_sources
from netra_build.formats.launch import read_abi
from netra_build.formats.library import open_library

GOLDEN = Path(__file__).resolve().parent.parent.parent / "golden" / "gfx950"
LABELS = sorted(path.parent.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("expect.json"))
QUICK = (
    "moe_silu_quant_decode_m1",
    "attention_splitseq_prepare",
    "attention_splitseq_stage2",
    "gdn_verify_precompute_m12",
    "router_bf16_verify_m16",
)
QUICKEST = ("attention_splitseq_prepare",)
ORDERING_BAR, VALUE_BAR = 97.0, 95.0
SAMPLED = 200

ROW = re.compile(r"^\| `([a-z0-9_/]+)` \| (.+) \|$", re.MULTILINE)
ARGUMENT = re.compile(r"\| `([a-z0-9_ ]+)` \| `(.+)` \| (.+) \|")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Judge all kernels again when every case was asked for, else the quickest one."""
    if "again" in metafunc.fixturenames:
        is_full = metafunc.config.getoption("--full")
        judged = rows((GOLDEN.parent.parent / "docs/mutation.md").read_text(encoding="utf-8"))
        metafunc.parametrize("again", sorted(judged) if is_full else QUICKEST)


@pytest.fixture(scope="module")
def document(root: Path) -> str:
    """Return the document with the tables and the arguments."""
    return (root / "docs/mutation.md").read_text(encoding="utf-8")


def between(document: str, name: str) -> str:
    """Return what stands between two markers."""
    return document.split(f"<!-- {name} -->\n")[1].split(f"<!-- end of {name} -->")[0]


def rows(document: str) -> dict[str, dict[str, str]]:
    """Return the cells of the table by column, by specialization."""
    found = ROW.findall(between(document, "scores"))
    return {
        label: dict(zip(COLUMNS[1:], cells.split(" | "), strict=True)) for label, cells in found
    }


def arguments(document: str, tactic: str) -> list[str]:
    """Return the patterns of the mutants that the document argues about for one tactic."""
    found = ARGUMENT.findall(document)
    return [pattern.replace("\\|", "|") for names, pattern, _ in found if tactic in names.split()]


def listed(document: str) -> dict[str, list[str]]:
    """Return the listed survivors without their lines, by specialization."""
    lists = {}
    for part in between(document, "survivors").split("\n### ")[1:]:
        label, _, rest = part.partition("\n")
        lines = rest.split("```\n")[1].strip().split("\n")
        lists[label] = [line.partition(": ")[2] for line in lines]
    return lists


def test_every_specialization_has_a_row_over_the_bars(document: str) -> None:
    table = rows(document)
    assert sorted(table) == LABELS
    survivors = listed(document)
    for label, row in table.items():
        number = {name: int(cell) for name, cell in row.items() if cell.isdecimal()}
        for group, bar in (("ordering", ORDERING_BAR), ("value", VALUE_BAR)):
            score = float(row[f"{group} score"].removesuffix(" %"))
            assert score >= bar, (label, group)
            wanted = number["ordering mutants"]
            if group == "value":
                wanted = number["value mutants"] - number["equivalent"]
                assert wanted - number["value caught"] == len(survivors.get(label, [])), label
            assert int(1000 * number[f"{group} caught"] / wanted) == round(10 * score), label
        assert number["value mutants"] >= SAMPLED, label
        assert number["of possible"] >= number["value mutants"]
        by_check = COLUMNS[COLUMNS.index("equivalent") + 1 : COLUMNS.index("value caught")]
        assert sum(number[check] for check in by_check) == number["value caught"], label


def test_every_listed_survivor_has_its_argument(document: str) -> None:
    for label, survivors in listed(document).items():
        patterns = arguments(document, label.partition("/")[0])
        for text in survivors:
            assert any(re.fullmatch(one, text) for one in patterns), f"{label}: {text}"


def test_every_argument_speaks_of_a_mutant(root: Path, document: str) -> None:
    """An argument about code that is not there any more has to go."""
    texts: dict[str, list[str]] = {}
    for label in LABELS:
        source = read_unit(label, (root / f"golden/gfx950/{label}/kernel.s").read_bytes())
        mutants = choose_mutants(source, Plan(sample=None))[0]
        found = [f"{one.kind}: {one.change()}" for one in mutants]
        texts.setdefault(label.partition("/")[0], []).extend(found)
    for names, pattern, _ in ARGUMENT.findall(document):
        compiled = re.compile(pattern.replace("\\|", "|"))
        for tactic in names.split():
            assert any(compiled.fullmatch(text) for text in texts[tactic]), (tactic, pattern)


@pytest.mark.parametrize("label", QUICK)
def test_what_survives_is_argued_about(
    root: Path, toolchain: Toolchain, document: str, label: str, is_full: bool
) -> None:
    library = open_library(toolchain.disk, root, ())
    (golden,) = golden_sources(library, label)
    tactics = load_catalog(library, derive_pins=True).tactics
    (entry,) = (one for one in tactics if one.name == f"gfx950.{label}")
    abi = read_abi(library, label)
    subject = golden_subject(golden, library.read(golden.source), entry, abi)
    plan = Plan(sample=12, ordering_sample=6) if is_full else Plan(sample=6, ordering_sample=3)
    result = run_campaign(subject, ToolPlace(local=root / ".toolchain"), plan)
    ordering, value = result.score(ORDERING), result.score(VALUE)
    assert ordering.survivors == 0
    assert ordering.caught > 0
    assert value.caught > 0
    texts = [f"{one.mutant.kind}: {one.mutant.change()}" for one in result.survivors()]
    patterns = arguments(document, label)
    assert [one for one in texts if not any(re.fullmatch(p, one) for p in patterns)] == []


def test_the_table_comes_out_again(
    root: Path, document: str, tmp_path: Path, again: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documented command, on a copy of the document, changes nothing."""
    copy = tmp_path / "mutation.md"
    copy.write_text(document, encoding="utf-8")
    tactic, _, variant = again.partition("/")
    words = ["mutate", tactic, "--document", str(copy), "--library-root", str(root), "--jobs", "1"]
    assert main([*words, "--variant", variant]) == 0
    assert capsys.readouterr().out == f"{copy}: 1 kernels\n"
    assert copy.read_text(encoding="utf-8") == document
