"""The mutation score of every specialization: the committed record, and samples judged again.

A run of every day judges a few mutants of the kernels that are quick to judge, and the whole sample
of the quickest; with ``--full`` every row of the record must come out as it stands there. What
survives has to stand there, with the argument why; ``docs/mutation.md`` shows both.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.mutate import SCORES
from netra_build.checkasm.mutate.campaign import (
    Plan,
    ToolPlace,
    choose_mutants,
    golden_subject,
    run_campaign,
)
from netra_build.checkasm.mutate.document import Record, read_record, rendered
from netra_build.checkasm.mutate.mutant import ORDERING, VALUE, read_unit
from netra_build.cli.main import main
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.golden import golden_sources
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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Judge all kernels again when every case was asked for, else the quickest one."""
    if "again" in metafunc.fixturenames:
        is_full = metafunc.config.getoption("--full")
        metafunc.parametrize("again", LABELS if is_full else QUICKEST)


@pytest.fixture(scope="module")
def record(root: Path) -> Record:
    """Return the scores, the survivors and the arguments."""
    return read_record((root / SCORES).read_bytes(), SCORES)


def arguments(record: Record, tactic: str) -> list[str]:
    """Return the patterns of the mutants that the record argues about for one tactic."""
    return [one.pattern for one in record.arguments if tactic in one.tactics]


def test_every_specialization_has_a_row_over_the_bars(record: Record) -> None:
    assert sorted(record.kernels) == LABELS
    for label, row in record.kernels.items():
        wanted = row.value_mutants - row.equivalent
        assert row.ordering_caught / row.ordering_mutants >= ORDERING_BAR / 100, label
        assert row.value_caught / wanted >= VALUE_BAR / 100, label
        assert wanted - row.value_caught == len(row.survivors), label
        assert row.ordering_per_mille == 1000 * row.ordering_caught // row.ordering_mutants
        assert row.value_per_mille == 1000 * row.value_caught // wanted
        assert row.possible >= row.value_mutants >= SAMPLED, label


def test_the_document_shows_the_record(root: Path, record: Record) -> None:
    document = (root / "docs/mutation.md").read_text(encoding="utf-8")
    assert rendered(document, record) == document
    assert (root / SCORES).read_bytes() == record.data()


def test_every_listed_survivor_has_its_argument(record: Record) -> None:
    for label, row in record.kernels.items():
        patterns = arguments(record, label.partition("/")[0])
        for one in row.survivors:
            assert any(re.fullmatch(p, one.text) for p in patterns), f"{label}: {one.text}"


def test_every_argument_speaks_of_a_mutant(root: Path, record: Record) -> None:
    """An argument about code that is not there any more has to go."""
    texts: dict[str, list[str]] = {}
    for label in LABELS:
        source = read_unit(label, (root / f"golden/gfx950/{label}/kernel.s").read_bytes())
        mutants = choose_mutants(source, Plan(sample=None))[0]
        found = [f"{one.kind}: {one.change()}" for one in mutants]
        texts.setdefault(label.partition("/")[0], []).extend(found)
    for argument in record.arguments:
        compiled = re.compile(argument.pattern)
        for tactic in argument.tactics:
            assert any(map(compiled.fullmatch, texts[tactic])), (tactic, argument.pattern)


@pytest.mark.parametrize("label", QUICK)
def test_what_survives_is_argued_about(
    root: Path, toolchain: Toolchain, record: Record, label: str, is_full: bool
) -> None:
    library = open_library(toolchain.disk, root, ())
    (golden,) = golden_sources(library, label)
    tactics = load_catalog(library, derive_pins=True).tactics
    (entry,) = (one for one in tactics if one.name == f"gfx950.{label}")
    subject = golden_subject(library, golden, entry)
    plan = Plan(sample=12, ordering_sample=6) if is_full else Plan(sample=6, ordering_sample=3)
    result = run_campaign(subject, ToolPlace(local=root / ".toolchain"), plan)
    ordering, value = result.score(ORDERING), result.score(VALUE)
    assert ordering.survivors == 0
    assert ordering.caught > 0
    assert value.caught > 0
    texts = [f"{one.mutant.kind}: {one.mutant.change()}" for one in result.survivors()]
    patterns = arguments(record, label)
    assert [one for one in texts if not any(re.fullmatch(p, one) for p in patterns)] == []


def test_the_table_comes_out_again(
    root: Path, tmp_path: Path, again: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documented command, on copies of record and document, changes neither."""
    document, kept = tmp_path / "mutation.md", tmp_path / "mutation.json"
    shutil.copy(root / "docs/mutation.md", document)
    shutil.copy(root / SCORES, kept)
    tactic, _, variant = again.partition("/")
    words = ["mutate", tactic, "--document", str(document), "--record", str(kept)]
    words += ["--library-root", str(root), "--jobs", "1"]
    assert main([*words, "--variant", variant]) == 0
    assert capsys.readouterr().out == f"{document}: 1 kernels\n"
    assert document.read_bytes() == (root / "docs/mutation.md").read_bytes()
    assert kept.read_bytes() == (root / SCORES).read_bytes()
