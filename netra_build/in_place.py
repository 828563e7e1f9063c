"""The graph that builds the code objects of a published engine directory in its place.

Sources and includes are those in the directory; its validation plan then says that they assemble.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from netra_build.asm.source.closure import flat_unit, include_closure
from netra_build.asm.source.lexer import shared_text
from netra_build.build.graph.actions import Action, Graph, Place, Root, check_graph
from netra_build.chains import VIEWS, listing_action, read_parameters
from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields
from netra_build.formats.launch import read_launch
from netra_build.inspect.validate.engine_folder import EngineFolder, stem_of
from netra_build.plan.documents import VALIDATION_PLAN
from netra_build.plan.instances import INCLUDES
from netra_build.stages import share_object
from netra_build.stages.assemble import ASSEMBLE, LINK
from netra_build.stages.check_object import CHECK, CONFORM
from netra_build.stages.close_includes import CLOSE
from netra_build.stages.engine_documents import EMIT
from netra_build.stages.instantiate import instance_constants, instance_symbols
from netra_build.stages.read_object import LAY_OUT, READ


def in_place_graph(
    engine: EngineFolder, candidates: Sequence[Fields], golden: Sequence[Fields], *, strict: bool
) -> Graph:
    """Return the graph; ``golden`` are the operations whose code objects are there already.

    With ``strict`` the others are checked statically and held to our conventions.
    """
    actions: list[Action] = []
    leaders: dict[object, _Kernel] = {}
    texts: dict[object, bytes] = {}
    for item in candidates:
        kernel = _kernel(engine, item, texts)
        leader = leaders.setdefault(kernel.text, kernel)
        actions += _kernel_actions(kernel, leader)
    if strict:
        actions += [action for item in candidates for action in _checking_actions(item)]
    actions += [action for operation in golden for action in _golden_actions(operation)]
    status = "passed" if candidates else "not_applicable"
    plan: dict[str, Json] = {**engine.document(VALIDATION_PLAN), "cross_assembly": status}
    written = {"document": Place(Root.OUT, VALIDATION_PLAN)}
    actions.append(EMIT.apply("validation plan", {}, written, {"document": plan}))
    graph = Graph(str(engine.root), tuple(actions))
    check_graph(graph)
    return graph


class _Kernel(NamedTuple):
    """One kernel of the directory: its source, and what it has in common with others."""

    candidate: Fields
    source: bytes
    includes: tuple[str, ...]
    text: object
    """Equal for kernels of equal code, whatever their symbols."""

    @property
    def symbol(self) -> str:
        return self.candidate.text("symbol")


def _kernel(engine: EngineFolder, candidate: Fields, texts: dict[object, bytes]) -> _Kernel:
    """Read one kernel; ``texts`` are known ones by what decides them."""
    symbol, name = candidate.text("symbol"), candidate.text("source")
    template = candidate.text("template").removeprefix(f"{INCLUDES}/")
    closure = include_closure(
        template, lambda name: engine.read(f"{INCLUDES}/{name}"), candidate.place("template")
    )
    source = engine.read(name)
    symbols, constants = instance_symbols(source), instance_constants(source)
    if not symbols:
        return _Kernel(candidate, source, closure.names, symbol)
    tactic = candidate.text("tactic"), template, len(symbols)
    form = (*tactic, *constants.items())
    if form not in texts:
        texts[form] = shared_text(flat_unit(source, closure, name), symbols, constants)
    return _Kernel(candidate, source, closure.names, (*tactic, *constants, texts[form]))


def _kernel_actions(kernel: _Kernel, leader: _Kernel) -> list[Action]:
    """Make one code object from its source in the directory, or from its leader's object."""
    candidate, symbol, source = kernel.candidate, kernel.symbol, kernel.candidate.text("source")
    template = candidate.text("template").removeprefix(f"{INCLUDES}/")
    unit = Place(Root.SOURCE, source)
    includes = {name: Place(Root.SOURCE, f"{INCLUDES}/{name}") for name in kernel.includes}
    closed = {"closure": _work(symbol, ".closure.json"), "flat": _work(symbol, ".flat.s")}
    told: dict[str, Json] = {"location": source, "template": template}
    flat, made = {"flat": closed["flat"]}, {"object": _work(symbol, ".o")}
    hints = {f"main:{source}": unit, **includes}
    assembled = ASSEMBLE.apply(symbol, flat, made, hints=hints)
    linked = {"linked": _work(symbol, ".linked.hsaco")}
    hsaco = Place(Root.OUT, f"hsaco/{symbol}.hsaco")
    views = {role: _described(symbol, suffix) for role, suffix in VIEWS.items()}
    threads = read_launch(candidate.child("launch")).block[0]
    record = read_parameters(hsaco.name, [(symbol, threads)], [source])
    return [
        CLOSE.apply(symbol, {"unit": unit, **includes}, closed, told),
        assembled if leader is kernel else _shared(kernel, leader),
        LINK.apply(symbol, {"object 000": made["object"]}, linked),
        LAY_OUT.apply(symbol, linked, {"hsaco": hsaco}),
        READ.apply(symbol, {"hsaco": hsaco}, views, record),
        listing_action(symbol, hsaco, _described(symbol, ".dis"), hsaco.name),
    ]


def _shared(kernel: _Kernel, leader: _Kernel) -> Action:
    """Take the object of a kernel of equal code."""
    first, symbol = leader.symbol, kernel.symbol
    inputs = {"object": _work(first, ".o"), "flat": _work(first, ".flat.s")}
    inputs["own"] = _work(symbol, ".flat.s")
    old, own = instance_constants(leader.source), instance_constants(kernel.source)
    names: dict[str, Json] = {
        "symbols": list(instance_symbols(leader.source)),
        "own_symbols": list(instance_symbols(kernel.source)),
        "constants": list(own),
        "values": dict(own.items() - old.items()),
    }
    return share_object.STAGE.apply(symbol, inputs, {"object": _work(symbol, ".o")}, names)


def _checking_actions(candidate: Fields) -> list[Action]:
    """Check one code object statically, and compare it with its contract and our conventions."""
    symbol = candidate.text("symbol")
    hsaco = Place(Root.OUT, f"hsaco/{symbol}.hsaco")
    told: dict[str, Json] = {"hsaco": hsaco.name, "gate": True}
    launch = read_launch(candidate.child("launch")).document()
    contract = {"kernarg_size": candidate.integer("kernarg_size"), "launch": launch}
    listed = {"hsaco": hsaco, "dis": _described(symbol, ".dis")}
    conform: dict[str, Json] = {**told, "contracts": {symbol: contract}}
    reports = [{"report": _work(symbol, f".{name}.json")} for name in ("checks", "conform")]
    return [
        CHECK.apply(symbol, listed, reports[0], told),
        CONFORM.apply(symbol, {"hsaco": hsaco}, reports[1], conform),
    ]


def _golden_actions(operation: Fields) -> list[Action]:
    """List and read one golden object."""
    hsaco, symbol = Place(Root.SOURCE, operation.text("hsaco")), operation.text("kernel_symbol")
    stem = stem_of(hsaco.name)
    views = {role: _described(stem, suffix) for role, suffix in VIEWS.items()}
    views["text"] = _work(stem, ".text")
    threads = read_launch(operation.child("launch")).work_items
    record = read_parameters(hsaco.name, [(symbol, threads)], [])
    record["stated"] = {"symbol": symbol, "artifact_kind": operation.text("artifact_kind")}
    return [
        listing_action(stem, hsaco, _described(stem, ".dis"), hsaco.name),
        READ.apply(stem, {"hsaco": hsaco}, views, record),
    ]


def _work(stem: str, suffix: str) -> Place:
    return Place(Root.WORK, stem + suffix)


def _described(stem: str, suffix: str) -> Place:
    return Place(Root.OUT, f"metadata/{stem}{suffix}")
