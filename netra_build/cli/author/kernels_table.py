"""``netra kernels``: the static resource table of every specialization, as ``docs/kernels.md``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

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
from netra_build.cli.options import LIBRARY, TOOLCHAIN, command, flag, say
from netra_build.cli.places import library_of, toolchain_at
from netra_build.core.texts import texts_in
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.golden import GoldenSource, evidence_of, golden_sources
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import TARGET
from netra_build.plan.instances import tactic_id
from netra_build.plan.library_units import tactic_units
from netra_build.plan.units import Unit

DOCUMENT = "docs/kernels.md"
TEMPLATES = f"kernels/{TARGET}/templates"


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

    @property
    def waves(self) -> str:
        """How many waves a SIMD can hold, and what limits them."""
        data, lds = self.metadata, self.metadata.group_segment_fixed_size
        waves, limit = waves_per_simd(data.vgpr_count, data.sgpr_count, lds, self.work_items)
        return f"{waves} ({limit})" if limit else str(waves)

    @property
    def counts(self) -> tuple[object, ...]:
        """Instructions in all and of each kind, the share of wide transfers, and narrow ones."""
        code = code_of(self.listing)
        moved = transfers(code)
        share = wide_share(moved)
        shown = "-" if share is None else f"{round(100 * share)} %"
        return (len(code), *instruction_mix(code).values(), shown, len(narrow_runs(moved)))


@command(
    "print the static resource table of every kernel, or write it to docs/kernels.md",
    flag("--write", f"write {DOCUMENT} instead"),
    LIBRARY,
    TOOLCHAIN,
)
def kernels_command(options: argparse.Namespace) -> int:
    """Build every specialization in a temporary folder, and print or write the table."""
    library = library_of(options)
    text = kernels_text(library, toolchain_at(options.toolchain))
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
    texts.filters |= {"ratio": ratio_text}
    return texts.get_template("kernels.md").render(
        facts=facts,
        mix=MIX,
        worked=[item for item in facts if item.work is not None],
        shapes=SHAPE_BY_TACTIC,
        **_templates(library),
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
    files = built_files(graph, library.root, tools, say)
    facts = [_facts(library, unit, files) for unit in units]
    return sorted(facts, key=lambda item: item.label)


def _facts(library: Library, unit: Unit, files: Mapping[str, bytes]) -> KernelFacts:
    member = unit.members[0]
    golden = member.golden
    if golden is None:
        raise ValueError(f"{unit.name} has no golden source")
    code = read_code_object(files[unit.hsaco.name], unit.name)
    _, metadata = kernel_and_metadata(code, member.symbol, unit.name)
    found = []
    for record in evidence_of(library, golden):
        is_ours = record.text_sha256 == golden.digests["text_sha256"]
        what = f"{record.launches} launches" if is_ours else "of another .text"
        found.append(f"{record.scope}, {what}")
    listing = parse_disassembly(files[unit.metadata(".dis").name].decode(), unit.name)
    return KernelFacts(
        golden=golden,
        maturity=member.instance.tactic.maturity,
        evidence="; ".join(found) or "none",
        metadata=metadata,
        work_items=member.threads,
        listing=listing,
        work=matrix_work(listing, SHAPE_BY_TACTIC.get(golden.tactic), golden.label),
    )


def ratio_text(ratio: Fraction) -> str:
    """Return a ratio with two decimals, rounded up so that no limit is met by rounding."""
    hundredths = -(-100 * ratio.numerator // ratio.denominator)
    return f"{hundredths // 100}.{hundredths % 100:02}"


def _templates(library: Library) -> dict[str, Any]:
    """Return a row for each template, and the median and the greatest length of a tactic's."""
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
        rows.append((name, lines, code, sum(family) or ""))
    lengths = [counts[name.removeprefix(f"{TEMPLATES}/")][0] for name in leaves]
    return {
        "templates": rows,
        "middle": f"{median(lengths or [0]):g}",
        "longest": max(lengths, default=0),
    }


def line_counts(text: str) -> tuple[int, int]:
    """Return the lines of a template, and those that are neither blank nor comment alone."""
    lines = text.split("\n")[:-1]
    return len(lines), sum(bool(line.split("//")[0].strip()) for line in lines)
