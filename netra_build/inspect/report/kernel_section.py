"""The part of the page about kernels: what each needs, consists of, and what speaks for it."""

from __future__ import annotations

from collections.abc import Iterable

from netra_build.checkasm.hazards.kernel_statistics import LDS_BYTES, MOST_WAVES, VGPRS
from netra_build.inspect.report.charts import legend, meter, stacked_bar
from netra_build.inspect.report.facts import (
    OPEN,
    Claim,
    KernelFacts,
    Launch,
    ObjectFacts,
    ReportFacts,
)
from netra_build.inspect.report.markup import (
    Content,
    Markup,
    counted,
    grouped,
    size_text,
    table,
    tag,
)
from netra_build.inspect.report.mutation_table import Scores

MOST_ROWS = 200
MOST_SGPRS = 102
"""SGPRs that the code of one wave can name."""
SIGNS = {"proven": "✓", "open": "○", "refuted": "✗"}


def badge(claim: Claim) -> Markup:
    """Return a claim as a coloured word with its sign, so that colour alone says nothing."""
    text = f"{SIGNS[claim.state]} {claim.word}"
    return tag("span", text, class_=f"badge {claim.state}", title=claim.detail)


def proof_table(facts: ReportFacts, scores: Scores) -> Markup:
    """Return one row for each kernel: what is shown of it, and what is not."""
    columns = ("kernel", "equal to golden", "static checks", "numerics", "mutation", "hardware")
    status = dict(facts.statuses).get("hardware", "not_run").replace("_", " ")
    hardware = Claim(OPEN, status, "What the validation plan says of hardware.")
    rows = [
        _proof_row(columns, number, item, kernel, scores, hardware)
        for number, item in enumerate(facts.objects)
        for kernel in item.kernels or (None,)
    ]
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in columns]))
    made = tag("table", head, tag("tbody", rows), class_="cards")
    return tag("div", made, class_="scroll")


def _proof_row(
    columns: Iterable[str],
    number: int,
    item: ObjectFacts,
    kernel: KernelFacts | None,
    scores: Scores,
    hardware: Claim,
) -> Markup:
    symbol = item.stem if kernel is None or len(item.kernels) == 1 else kernel.symbol
    name: list[Content] = [tag("a", tag("code", symbol), href=f"#k{number}")]
    if not item.is_selected:
        name += [" ", tag("span", "candidate", class_="badge plain")]
    cells = (
        tag("span", name),
        badge(item.equivalence),
        badge(item.checks),
        badge(item.equivalence if kernel is None else kernel.numerics),
        tag("span", _short_score(kernel, scores), class_="mute"),
        badge(hardware),
    )
    pairs = zip(columns, cells, strict=True)
    return tag("tr", [tag("td", cell, data_label=label) for label, cell in pairs])


def _short_score(kernel: KernelFacts | None, scores: Scores) -> str:
    row = scores.get(kernel.label) if kernel is not None else None
    if row is None:
        return "no score here"
    scored = [(name.removesuffix("score").strip(), cell) for name, cell in row if "score" in name]
    return ", ".join(f"{cell} {name}".rstrip() for name, cell in scored)


def kernel_cards(facts: ReportFacts, scores: Scores) -> list[Markup]:
    """Return one folding card for each code object; the first few are open."""
    operations: dict[str, list[str]] = {}
    for operation in facts.operations:
        if operation.symbol is not None:
            operations.setdefault(operation.symbol, []).append(operation.name)
    few = len(facts.objects) <= 4
    return [
        _card(number, item, operations, scores, is_open=few)
        for number, item in enumerate(facts.objects)
    ]


def _card(
    number: int,
    item: ObjectFacts,
    operations: dict[str, list[str]],
    scores: Scores,
    *,
    is_open: bool,
) -> Markup:
    summary = tag(
        "summary",
        tag("code", item.stem),
        " ",
        tag("span", item.maturity, class_="badge plain"),
        "" if item.is_selected else tag("span", "candidate, not selected", class_="badge open"),
        tag("span", "; ".join(map(_short, item.kernels)), class_="short"),
    )
    body: list[Content] = [_object_lines(item)]
    for kernel in item.kernels:
        body += _kernel(kernel, operations.get(kernel.symbol, []), scores)
    if item.findings:
        body.append(tag("h3", f"Static checks: {item.checks.word}"))
        rows = [
            (f.severity, f.rule, f.message, tag("code", f.place)) for f in item.findings[:MOST_ROWS]
        ]
        body.append(table(("severity", "rule", "what", "where"), rows))
        body.append(_cut(len(item.findings)))
    inner = tag("div", body, class_="inner")
    return tag("details", summary, inner, id=f"k{number}", open="" if is_open else None)


def _short(kernel: KernelFacts) -> str:
    size = f"{counted(kernel.instructions, 'instruction')}, " if kernel.mix is not None else ""
    return f"{size}{kernel.vgprs} VGPR, {counted(kernel.waves, 'wave')} a SIMD"


def _object_lines(item: ObjectFacts) -> Markup:
    tactics = ", ".join(item.tactics) or "none"
    rows: list[tuple[Content, Content]] = [("tactic", tag("code", tactics))]
    if item.size_bytes is not None:
        rows.append(("code object", f"{item.name}, {grouped(item.size_bytes)} bytes"))
    if item.text_sha256 is not None:
        rows.append((".text sha256", tag("code", item.text_sha256)))
    if item.computational_identity:
        rows.append(("computational identity", tag("code", item.computational_identity)))
    rows.append(("equal to golden", [badge(item.equivalence), " ", item.equivalence.detail]))
    rows.append(("static checks", [badge(item.checks), " ", item.checks.detail]))
    return table(("", ""), rows, "facts")


def _kernel(kernel: KernelFacts, operations: list[str], scores: Scores) -> list[Content]:
    runs = ", ".join(operations[:6]) + (f" and {len(operations) - 6} more" * (len(operations) > 6))
    parts: list[Content] = [
        tag("h3", tag("code", kernel.symbol)),
        tag("p", f"Runs {runs}." if runs else "Named by no operation here.", class_="mute"),
        _meters(kernel),
    ]
    if kernel.mix is not None:
        head = f"{counted(kernel.instructions, 'instruction')}, {size_text(kernel.code_bytes)}"
        parts.append(tag("h3", f"Instruction mix: {head}"))
        parts.append(stacked_bar(kernel.mix.items(), "mix"))
        parts.append(legend(kernel.mix))
    parts += _numerics(kernel)
    if (row := scores.get(kernel.label)) is not None:
        said = "; ".join(f"{column} {cell}" for column, cell in row)
        parts += [tag("h3", "Mutation score"), tag("p", f"{said} (committed table).")]
    return parts


def _meters(kernel: KernelFacts) -> Markup:
    waves = f"{kernel.waves} of {MOST_WAVES}"
    limited = f" ({kernel.limit})" if kernel.limit else ""
    lds = f"{grouped(kernel.lds_bytes)} B"
    plain = [("LDS", lds, kernel.lds_bytes, LDS_BYTES)]
    made = [
        meter("VGPR", str(kernel.vgprs - kernel.agprs), kernel.vgprs - kernel.agprs, VGPRS),
        meter("AGPR", str(kernel.agprs), kernel.agprs, VGPRS),
        meter("SGPR", str(kernel.sgprs), kernel.sgprs, MOST_SGPRS),
        *[meter(name, value, part, whole) for name, value, part, whole in plain],
        meter("waves per SIMD", f"{waves}{limited}", kernel.waves, MOST_WAVES),
    ]
    rest = (
        f"{kernel.work_items} work-items, {kernel.kernarg_bytes} bytes of kernargs, "
        f"{kernel.private_bytes} bytes of private segment"
    )
    return tag("div", tag("div", made, class_="meters"), tag("p", rest, class_="mute"))


def _numerics(kernel: KernelFacts) -> list[Content]:
    claim = kernel.numerics
    parts: list[Content] = [
        tag("h3", "Numerics"),
        tag("p", badge(claim), " ", claim.detail),
    ]
    if kernel.launches:
        seeds = sorted({launch.seed for launch in kernel.launches if launch.case == "random"})
        said = f"Seeds of the random inputs: {', '.join(seeds) or 'none'}. "
        said += "The functional model ran them, not a GPU."
        rows = [_launch_row(launch) for launch in kernel.launches[:MOST_ROWS]]
        columns = ("case", "seed", "outputs", "differing", "wave instructions")
        shown = [tag("p", said), table(columns, rows), _cut(len(kernel.launches))]
        summary = tag("summary", counted(len(kernel.launches), "launch", "launches"))
        parts.append(tag("details", summary, tag("div", shown, class_="inner")))
    return parts


def _launch_row(launch: Launch) -> tuple[Content, ...]:
    return (
        launch.case,
        launch.seed,
        grouped(launch.elements),
        grouped(launch.differing),
        grouped(launch.wave_instructions),
    )


def _cut(number: int) -> Content:
    more = number - MOST_ROWS
    return tag("p", f"{more} more are not shown.", class_="mute") if more > 0 else ""
