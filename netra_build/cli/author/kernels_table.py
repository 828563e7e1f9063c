"""``netra kernels``: the static resource table of every specialization, as ``docs/kernels.md``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median

from netra_build.asm.objects.code_object import kernel_and_metadata, read_code_object
from netra_build.asm.objects.listings import Disassembly, parse_disassembly
from netra_build.asm.objects.metadata import KernelMetadata
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Graph, Root, check_graph
from netra_build.build.run.executor import built_files
from netra_build.chains import made_actions
from netra_build.checkasm.hazards.kernel_statistics import (
    MIX,
    code_of,
    instruction_mix,
    narrow_runs,
    transfers,
    waves_per_simd,
    wide_share,
)
from netra_build.cli.author.kernel_minimums import SHAPE_BY_TACTIC, MatrixWork, matrix_work
from netra_build.cli.options import add_library_root, add_toolchain
from netra_build.cli.places import library_of, toolchain_of
from netra_build.core.texts import texts_in
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.golden import GoldenSource, evidence_of, golden_sources
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import TARGET
from netra_build.plan.instances import tactic_id
from netra_build.plan.library_units import tactic_units
from netra_build.plan.units import Unit

HELP = "print the static resource table of every kernel, or write it to docs/kernels.md"
DOCUMENT = "docs/kernels.md"
TEMPLATES = f"kernels/{TARGET}/templates"
_SIZES = ("VGPR", "AGPR", "SGPR", "LDS", "work-items")
_RESOURCES = ("kernel", *_SIZES, "waves", "maturity", "evidence")
_INSTRUCTIONS = ("kernel", "all", *MIX, "16-byte share", "narrow")
_MATRICES = ("kernel", "shape", "issued", "least", "ratio", "why")


@dataclass(frozen=True)
class KernelFacts:
    """The row of one specialization."""

    golden: GoldenSource
    maturity: str
    evidence: str
    metadata: KernelMetadata
    work_items: int
    listing: Disassembly
    work: MatrixWork | None

    @property
    def label(self) -> str:
        """Tactic and variant."""
        return self.golden.label


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--write``."""
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT} instead")
    add_library_root(parser)
    add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Build every specialization in a temporary folder, and print or write the table."""
    library = library_of(options)
    text = kernels_text(library, toolchain_of(options, library.root))
    if options.write:
        library.disk.write_bytes(library.root / DOCUMENT, text.encode())
        print(f"{DOCUMENT} written")
    else:
        print(text, end="")
    return 0


def kernels_text(library: Library, tools: Toolchain) -> str:
    """Return the document; ``BadInput`` when a matrix instruction has no formula."""
    facts = kernel_facts(library, tools)
    texts = texts_in(Path(__file__).parent)
    return texts.get_template("kernels.md").render(
        resources=table(_RESOURCES, map(_resource_row, facts)),
        instructions=table(_INSTRUCTIONS, map(_mix_row, facts)),
        matrices=table(_MATRICES, _matrix_rows(facts)),
        formulas=_formulas(facts),
        templates=_templates(library),
    )


def kernel_facts(library: Library, tools: Toolchain) -> list[KernelFacts]:
    """Build and read every specialization that has a golden source, by label."""
    catalog = load_catalog(library, derive_pins=True)
    catalog.require_sound()
    units = [
        unit
        for tactic in catalog.tactics
        if golden_sources(library, tactic_id(tactic))
        for unit in tactic_units(library, tactic, Root.OUT, gate=False)
    ]
    actions = tuple(action for unit in units for action in made_actions(unit))
    graph = Graph("kernels", actions)
    check_graph(graph)
    files = built_files(graph, library.root, tools)
    facts = [_facts(library, unit, files) for unit in units]
    return sorted(facts, key=lambda item: item.label)


def _facts(library: Library, unit: Unit, files: Mapping[str, bytes]) -> KernelFacts:
    member = unit.members[0]
    golden = member.golden
    if golden is None:
        raise ValueError(f"{unit.name} has no golden source")
    code = read_code_object(files[unit.hsaco.name], unit.name)
    _, metadata = kernel_and_metadata(code, member.symbol, unit.name)
    listing = parse_disassembly(files[unit.metadata(".dis").name].decode(), unit.name)
    return KernelFacts(
        golden=golden,
        maturity=member.instance.tactic.maturity,
        evidence=_evidence(library, golden),
        metadata=metadata,
        work_items=member.threads,
        listing=listing,
        work=matrix_work(listing, SHAPE_BY_TACTIC.get(golden.tactic), golden.label),
    )


def _evidence(library: Library, golden: GoldenSource) -> str:
    found = []
    for record in evidence_of(library, golden):
        is_ours = record.text_sha256 == golden.digests["text_sha256"]
        what = f"{record.launches} launches" if is_ours else "of another .text"
        found.append(f"{record.scope}, {what}")
    return "; ".join(found) or "none"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ["", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join([*lines, ""])


def _resource_row(facts: KernelFacts) -> Sequence[object]:
    data = facts.metadata
    lds = data.group_segment_fixed_size
    waves, limit = waves_per_simd(data.vgpr_count, data.sgpr_count, lds, facts.work_items)
    return (
        f"`{facts.label}`",
        data.vgpr_count,
        data.agpr_count or 0,
        data.sgpr_count,
        lds,
        facts.work_items,
        f"{waves} ({limit})" if limit else waves,
        facts.maturity,
        facts.evidence,
    )


def _mix_row(facts: KernelFacts) -> Sequence[object]:
    code = code_of(facts.listing)
    mix = instruction_mix(code)
    moved = transfers(code)
    share = wide_share(moved)
    shown = "-" if share is None else f"{round(100 * share)} %"
    counts = [mix[column] for column in MIX]
    return (f"`{facts.label}`", len(code), *counts, shown, len(narrow_runs(moved)))


def _matrix_rows(facts: Iterable[KernelFacts]) -> Iterable[Sequence[object]]:
    for item in facts:
        if item.work is not None:
            shape = SHAPE_BY_TACTIC[item.golden.tactic]
            ratio = ratio_text(item.work.ratio)
            work = item.work
            yield f"`{item.label}`", shape.text, work.issued, work.least, ratio, shape.reason


def ratio_text(ratio: Fraction) -> str:
    """Return a ratio with two decimals, rounded up so that no limit is met by rounding."""
    hundredths = -(-100 * ratio.numerator // ratio.denominator)
    return f"{hundredths // 100}.{hundredths % 100:02}"


def _formulas(facts: Iterable[KernelFacts]) -> str:
    tactics = sorted({item.golden.tactic for item in facts if item.work is not None})
    rows = [
        (
            f"`{tactic}`",
            product.what,
            f"`{product.mnemonic}`",
            f"`{product.formula}`",
            product.passes,
        )
        for tactic in tactics
        for product in SHAPE_BY_TACTIC[tactic].products
    ]
    return table(("tactic", "product", "instruction", "least of one pass", "passes"), rows)


def _templates(library: Library) -> str:
    folder = library.root / TEMPLATES
    names = [
        path.relative_to(folder).as_posix() for path in library.disk.files_under(folder, ".inc")
    ]
    counts = {name: line_counts(library.read(f"{TEMPLATES}/{name}").decode()) for name in names}
    leaves = {tactic.template: tactic for tactic in load_catalog(library, derive_pins=True).tactics}
    rows = []
    for name, (lines, code) in counts.items():
        leaf = leaves.get(f"{TEMPLATES}/{name}")
        files = [file.removeprefix(f"{TEMPLATES}/") for file, _ in leaf.closure] if leaf else []
        family = [counts[file][0] for file in files if file.split("/")[0] == name.split("/")[0]]
        rows.append((f"`{name}`", lines, code, sum(family) or ""))
    lengths = [counts[name.removeprefix(f"{TEMPLATES}/")][0] for name in leaves]
    middle, longest = median(lengths or [0]), max(lengths, default=0)
    said = f"Templates of tactics: median {middle:g} lines, longest {longest}."
    return f"{table(('file', 'lines', 'code', 'with family'), rows)}\n{said}\n"


def line_counts(text: str) -> tuple[int, int]:
    """Return the lines of a template, and those that are neither blank nor comment alone."""
    lines = text.split("\n")[:-1]
    return len(lines), sum(bool(line.split("//")[0].strip()) for line in lines)
