"""The parts of the page about the product: operations, sizes, files, identities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netra_build.inspect.report.charts import stacked_bar
from netra_build.inspect.report.facts import FileFacts, OperationFacts, ReportFacts
from netra_build.inspect.report.markup import (
    Content,
    Markup,
    counted,
    grouped,
    size_text,
    table,
    tag,
)

MOST_FILES = 4000
STAGE_BY_ENDING = (
    (".golden.dis", "disassemble"),
    (".golden.text", "read"),
    (".golden.metadata.txt", "read"),
    (".equivalence.json", "equivalence"),
    (".checks.json", "check"),
    (".numerics.json", "simulate"),
    (".dis", "disassemble"),
    (".text", "read"),
    (".metadata.txt", "read"),
)
PARTS = (
    ("VALU", "code objects", "hsaco/"),
    ("SALU", "golden sources", "generated/golden/"),
    ("VMEM", "included templates", "generated/includes/"),
    ("MFMA", "units", "generated/"),
    ("LDS", "listings, metadata and reports", "metadata/"),
    ("SMEM", "documents", ""),
)
"""Colour, what it is, and how the names of its files begin; the first that fits counts."""


def operation_table(facts: ReportFacts) -> Markup:
    """Return the operations in order: what runs each, in which extent, and why."""
    number_by_symbol = {
        kernel.symbol: number
        for number, item in enumerate(facts.objects)
        for kernel in item.kernels
    }
    rows = [_operation_row(item, number_by_symbol) for item in facts.operations]
    return table(("#", "operation", "runs as", "grid × block, or reason"), rows)


def _operation_row(
    item: OperationFacts, number_by_symbol: Mapping[str, int]
) -> tuple[Content, ...]:
    if item.symbol is None:
        runs: Content = [
            tag("span", "framework", class_="badge open"),
            " ",
            tag("code", item.fallback),
        ]
        return str(item.index), tag("code", item.name), runs, _reasons(item)
    kernel: Content = tag("code", item.symbol)
    if item.symbol in number_by_symbol:
        kernel = tag("a", kernel, href=f"#k{number_by_symbol[item.symbol]}")
    runs = [tag("span", "kernel", class_="badge proven"), " ", kernel]
    extent = " × ".join("·".join(map(str, part)) for part in (item.grid, item.block))
    return str(item.index), tag("code", item.name), runs, extent


def _reasons(item: OperationFacts) -> Content:
    if item.reasons:
        return "; ".join(item.reasons)
    return f"chosen: {item.tactic}" if item.tactic else "no reason is recorded"


def package_sizes(package: Mapping[str, int]) -> list[Content]:
    """Return the sizes of the parts of a release, or nothing without one."""
    if not package:
        return []
    rows = [(tag("code", name), _size(size)) for name, size in package.items()]
    return [table(("part of the package", "bytes"), rows), tag("h3", "The product in it")]


def size_section(facts: ReportFacts) -> list[Content]:
    """Return the sizes of the whole and of each part, and of the largest files."""
    sizes = {label: 0 for _, label, _ in PARTS}
    counts = dict.fromkeys(sizes, 0)
    for file in facts.files:
        label = part_of(file.name)
        sizes[label] += file.size_bytes
        counts[label] += 1
    colours = {label: colour for colour, label, _ in PARTS}
    whole = sum(sizes.values())
    bar = stacked_bar([(colours[label], size) for label, size in sizes.items()], "mix")
    rows: list[tuple[Content, ...]] = [
        ([_swatch(colours[label]), label], str(counts[label]), _size(size), _share(size, whole))
        for label, size in sizes.items()
    ]
    rows.append((tag("b", "all"), str(len(facts.files)), tag("b", _size(whole)), ""))
    columns = ("part", "files", "bytes", "share")
    return [bar, table(columns, rows)]


def part_of(name: str) -> str:
    """Return the part of the product that a file belongs to."""
    return next(label for _, label, start in PARTS if name.startswith(start))


def _swatch(colour: str) -> Markup:
    square = tag("rect", width="11", height="11", rx="2", class_=f"f-{colour}")
    return tag("svg", square, viewBox="0 0 11 11", width="11", height="11", aria_hidden="true")


def _size(size_bytes: int) -> str:
    return f"{grouped(size_bytes)} ({size_text(size_bytes)})"


def _share(part: int, whole: int) -> str:
    tenths = (part * 1000 + whole // 2) // whole if whole else 0
    return f"{tenths // 10}.{tenths % 10} %"


def file_table(facts: ReportFacts, anchors: Mapping[str, str], states: Mapping[str, str]) -> Markup:
    """Return every file with the stage that makes it, its digest and its size."""
    columns = ["file", "made by", "sha256", "bytes", *(["last build"] if states else [])]
    rows = [_file_row(file, anchors, states) for file in facts.files[:MOST_FILES]]
    summary = tag("summary", f"All {counted(len(facts.files), 'file')} with their digests")
    more = len(facts.files) - MOST_FILES
    cut = tag("p", f"{more} more are not shown.") if more > 0 else ""
    return tag("details", summary, tag("div", table(columns, rows), cut, class_="inner"))


def _file_row(
    file: FileFacts, anchors: Mapping[str, str], states: Mapping[str, str]
) -> Iterable[Content]:
    yield tag("code", file.name, id=anchors[file.name])
    yield stage_of(file.name)
    yield tag("code", file.sha256)
    yield tag("span", grouped(file.size_bytes), class_="num")
    if states:
        yield states.get(file.name, "")


def stage_of(name: str) -> str:
    """Return the step of the build that makes a file of this name."""
    folder, _, rest = name.partition("/")
    if folder == "hsaco":
        return "assemble, link, seal"
    if folder == "generated":
        return "copy" if rest.startswith(("includes/", "golden/")) else "instantiate"
    if folder == "metadata":
        return next((stage for end, stage in STAGE_BY_ENDING if name.endswith(end)), "read")
    return "seal" if name in ("netra.json", "build-result.json") else "plan"


def identity_section(facts: ReportFacts) -> list[Content]:
    """Return the identities and the tool chain."""
    rows = [(name, tag("code", value)) for name, value in facts.identities]
    tools = [(name, tag("code", digest)) for name, digest in facts.toolchain]
    parts: list[Content] = [table(("identity", "value"), rows)]
    if tools:
        parts += [tag("h3", "Tool chain"), table(("tool", "content digest"), tools)]
    return parts
