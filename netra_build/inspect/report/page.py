"""The report page: one HTML document that needs no network, no script and no other file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netra_build.inspect.report.artifact_graph import ArtifactGraph
from netra_build.inspect.report.facts import PROVEN, REFUTED, ReportFacts
from netra_build.inspect.report.kernel_section import SIGNS, kernel_cards, proof_table
from netra_build.inspect.report.markup import Content, Markup, counted, grouped, size_text, tag
from netra_build.inspect.report.mutation_table import Scores
from netra_build.inspect.report.product_section import (
    file_table,
    identity_section,
    operation_table,
    package_sizes,
    size_section,
)
from netra_build.inspect.report.style import STYLE
from netra_build.inspect.report.verdict import Verdict, verdict_of

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
NO_GPU = (
    "Nothing here was measured on a GPU. Equal means equal to the golden source; "
    "right means right in the functional model of the machine."
)
PAGE_START = b"<!DOCTYPE html>\n"
FEW = 8
"""Code objects whose graph is shown unfolded."""


def report_page(
    facts: ReportFacts,
    scores: Scores | None = None,
    states: Mapping[str, str] | None = None,
    package: Mapping[str, int] | None = None,
) -> bytes:
    """Return the page as UTF-8; equal arguments give equal bytes.

    ``scores`` are mutation scores by tactic and variant. ``states`` says of files what the last
    build did with them, ``package`` how many bytes each part of a release has; a page that is
    packed has neither.
    """
    anchors = {file.name: f"f{number}" for number, file in enumerate(facts.files)}
    body = tag("main", *_content(facts, scores or {}, states or {}, package or {}, anchors))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", f"{facts.name}: Netra Build report"),
        tag("style", Markup(STYLE)),
    )
    return PAGE_START + f"{tag('html', head, tag('body', body), lang='en')}\n".encode()


def _content(
    facts: ReportFacts,
    scores: Scores,
    states: Mapping[str, str],
    package: Mapping[str, int],
    anchors: Mapping[str, str],
) -> Iterable[Content]:
    verdict = verdict_of(facts)
    yield from _head(facts, verdict)
    sections: list[tuple[str, str, str, Content]] = []
    if facts.objects:
        lead = "One row for each kernel. A report counts only for the .text that it names."
        sections.append(("proofs", "Proofs", lead, proof_table(facts, scores)))
    if facts.operations:
        lead = "In the order of execution. What no kernel runs, the framework runs."
        sections.append(("operations", "Operations", lead, operation_table(facts)))
    if facts.objects:
        lead = "Registers, LDS and waves against what a SIMD or a compute unit of gfx950 has."
        sections.append(("kernels", "Kernels", lead, kernel_cards(facts, scores)))
    graph = ArtifactGraph(facts, anchors, states).drawn()
    lead = "Digests are the first digits of each file's SHA-256; a box leads to its file."
    files = file_table(facts, anchors, states)
    sections.append(("graph", "Artifacts", lead, [_folded(graph, len(facts.objects)), files]))
    lead = "Of the product's files as they are, before any packing."
    sections.append(("sizes", "Sizes", lead, [*package_sizes(package), *size_section(facts)]))
    sections.append(("identity", "Identity", "", identity_section(facts)))
    yield tag("nav", [tag("a", title, href=f"#{key}") for key, title, _, _ in sections])
    for key, title, lead, content in sections:
        yield tag("h2", title, id=key)
        yield tag("p", lead, class_="lead") if lead else ""
        yield content
    yield tag("footer", NO_GPU)


def _folded(graph: Markup, objects: int) -> Markup:
    if objects <= FEW:
        return graph
    summary = tag("summary", f"Graph of {counted(objects, 'code object')}")
    return tag("details", summary, tag("div", graph, class_="inner"))


def _head(facts: ReportFacts, verdict: Verdict) -> Iterable[Content]:
    word = "Engine" if facts.kind == "engine" else "Code objects"
    profile = dict(facts.identities).get("profile")
    yield tag("p", f"{word} for {facts.target}", class_="eyebrow")
    yield tag("h1", facts.name)
    said = [tag("code", facts.identity)] if facts.identity != facts.name else []
    yield tag("p", *said, f" · profile {profile}" if profile else "", class_="mute")
    yield tag(
        "div",
        tag("span", SIGNS[verdict.state], class_="sign", aria_hidden="true"),
        tag("div", tag("b", verdict.sentence), tag("p", NO_GPU)),
        class_=f"verdict {verdict.state}",
    )
    yield tag("div", list(_tiles(facts)), class_="tiles")
    missing = [tag("li", text, class_="refuted-item") for text in verdict.wrong]
    missing += [tag("li", text) for text in verdict.missing]
    yield tag(
        "div",
        _list("Proven", [tag("li", text) for text in verdict.shown], PROVEN),
        _list("Wrong, or not proven" if verdict.wrong else "Not proven", missing, "open"),
        class_="two",
    )


def _list(title: str, items: list[Markup], state: str) -> Markup:
    shown = tag("ul", items) if items else tag("p", "Nothing.", class_="mute")
    return tag("section", tag("h3", title), shown, class_=f"card is-{state}")


def _tiles(facts: ReportFacts) -> Iterable[Markup]:
    shipped = facts.shipped
    kernels = sum(len(item.kernels) for item in shipped)
    code = sum(item.size_bytes or 0 for item in shipped)
    whole = sum(file.size_bytes for file in facts.files)
    tiles = [(grouped(kernels), "kernels"), (size_text(code), "code objects")]
    if facts.operations:
        framework = sum(operation.symbol is None for operation in facts.operations)
        ours = len(facts.operations) - framework
        tiles.insert(1, (f"{ours} of {len(facts.operations)}", "operations run by our kernels"))
    seal = "holds" if facts.seal.holds else "broken" if facts.seal.name else "none"
    tiles += [(size_text(whole), counted(len(facts.files), "file")), (seal, "seal")]
    for value, label in tiles:
        wrong = REFUTED if (value, label) == ("broken", "seal") else None
        yield tag("div", tag("b", value, class_=wrong), tag("span", label), class_="tile")
