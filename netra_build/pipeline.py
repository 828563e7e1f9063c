"""From a plan to a graph: the whole product as one readable sequence of actions.

    model + profile -> plan            (load, choose: decided before the graph exists)
    plan -> instantiate -> flatten -> assemble -> link -> seal -> disassemble, read, conform
            close the includes                               |
    golden source -> flatten -> assemble -> link -> seal ----+-> equivalence
    all of it -> engine manifest and siblings -> validation plan -> seal of the engine

Nothing here reads or writes a file or starts a program; a graph is plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netra_build.choose.units import EngineParts, GoldenObject, Unit
from netra_build.core.canonical_json import Json
from netra_build.core.graph import Action, Graph, Place, Root, Stage, check_graph
from netra_build.records.golden import GoldenSource
from netra_build.records.plan import KernelInstance
from netra_build.stages import (
    assemble,
    close_includes,
    conform,
    copy_files,
    disassemble,
    emit,
    emit_engine,
    emit_validation,
    equivalence,
    flatten_unit,
    instantiate,
    link_objects,
    prove_golden,
    read_object,
    seal_engine,
    seal_object,
    tabulate,
    take_golden,
)

SEAL_NAME = "netra.json"


def engine_graph(parts: EngineParts, units: Sequence[Unit]) -> Graph:
    """Return the graph of one engine directory."""
    actions = [action for unit in units for action in kernel_actions(unit)]
    actions += include_actions(units)
    actions += golden_object_actions(parts.golden_objects)
    actions += document_actions(parts.documents, units)
    actions.append(_validation(parts.documents["validation_plan.json"], units))
    actions.append(_engine_seal(parts, units, actions))
    return _graph(parts.name, actions, Place(Root.OUT, SEAL_NAME), parts.notes)


def tactic_graph(name: str, units: Sequence[Unit]) -> Graph:
    """Return the graph that builds, proves and checks the specializations of one tactic."""
    actions = [action for unit in units for action in kernel_actions(unit)]
    actions += include_actions(units)
    reports = _equivalence_reports(units)
    actions.append(_summary(reports, Place(Root.OUT, "equivalence-report.json"), name))
    return _graph(name, actions, None, ())


def equivalence_graph(units: Sequence[Unit]) -> Graph:
    """Return the graph that compares every specialization with its golden source."""
    actions = [action for unit in units for action in kernel_actions(unit)]
    reports = _equivalence_reports(units)
    actions.append(_summary(reports, Place(Root.OUT, "equivalence-report.json"), "all tactics"))
    return _graph("check-equivalence", actions, None, ())


def kernel_actions(unit: Unit) -> list[Action]:
    """Return the chain of one kernel, its golden chain included, in order."""
    actions = [*_unit_actions(unit), *_object_actions(unit)]
    if unit.golden is not None:
        actions += golden_actions(unit.golden)
        actions += [_golden_copy(unit, unit.golden), _equivalence(unit, unit.golden)]
    return actions


def golden_actions(golden: GoldenSource) -> list[Action]:
    """Return the chain of one golden source, which ends with the proof of its record."""
    subject = f"{golden.label} (golden)"
    source = Place(Root.SOURCE, golden.source)
    made = {name: golden_place(golden, name) for name in ("flat.s", "o", "linked", "hsaco")}
    hsaco = f"hsaco/{golden.symbol}.hsaco"
    proof = {"symbol": golden.symbol, "tactic": golden.tactic, "expect": golden.expect}
    threads = 0
    return [
        _action(
            flatten_unit.STAGE,
            subject,
            {"unit": source},
            {"flat": made["flat.s"]},
            {"location": golden.source},
        ),
        _action(
            assemble.STAGE,
            subject,
            {"flat": made["flat.s"]},
            {"object": made["o"]},
            hints={"unit.s": source},
        ),
        _action(link_objects.STAGE, subject, {"object": made["o"]}, {"linked": made["linked"]}),
        _action(seal_object.STAGE, subject, {"linked": made["linked"]}, {"hsaco": made["hsaco"]}),
        _action(
            disassemble.STAGE,
            subject,
            {"hsaco": made["hsaco"]},
            {"dis": golden_place(golden, "dis")},
            {"label": hsaco},
        ),
        _action(
            read_object.STAGE,
            subject,
            {"hsaco": made["hsaco"]},
            {role: golden_place(golden, role) for role in ("text", "notes", "record")},
            {"symbol": golden.symbol, "threads": threads, "hsaco": hsaco, "source": golden.source},
        ),
        _action(
            prove_golden.STAGE,
            subject,
            {"hsaco": made["hsaco"], "expect": Place(Root.SOURCE, golden.expect)},
            {"digests": golden_place(golden, "digests.json")},
            proof,
        ),
    ]


def golden_place(golden: GoldenSource, name: str) -> Place:
    """Return the place of an intermediate file of a golden source."""
    return Place(Root.WORK, f"golden/{golden.label}/kernel.{name}")


def include_actions(units: Sequence[Unit]) -> list[Action]:
    """Return the action that copies the closed include tree of all units, if there is any."""
    names = sorted({name for unit in units for name in unit.instance.closure_names})
    if not names:
        return []
    home, prefix = units[0].home, units[0].prefix
    inputs = {name: Place(Root.SOURCE, name) for name in names}
    outputs = {name: Place(home, f"{prefix}generated/includes/{name}") for name in names}
    return [_action(copy_files.STAGE, "include tree", inputs, outputs)]


def golden_object_actions(objects: Sequence[GoldenObject]) -> list[Action]:
    """Return the actions that take, list and read each object that a user brings."""
    actions = []
    for item in objects:
        hsaco, stem = f"hsaco/{item.name}", item.name.removesuffix(".hsaco")
        taken = {"hsaco": Place(Root.OUT, hsaco)}
        named = {"hsaco": hsaco, "symbol": item.wanted["symbol"], "source": hsaco}
        views = {
            "text": Place(Root.OUT, f"metadata/{stem}.text"),
            "notes": Place(Root.OUT, f"metadata/{stem}.metadata.txt"),
            "record": Place(Root.OUT, f"metadata/{stem}.json"),
        }
        listing = {"dis": Place(Root.OUT, f"metadata/{stem}.dis")}
        actions += [
            _action(
                take_golden.STAGE,
                item.name,
                {"object": Place(Root.EXTERNAL, item.name)},
                taken,
                {"wanted": dict(item.wanted), "location": item.name},
            ),
            _action(disassemble.STAGE, item.name, taken, listing, {"label": hsaco}),
            _action(
                read_object.STAGE,
                item.name,
                taken,
                views,
                {**named, "threads": item.wanted["block"]},
            ),
        ]
    return actions


def document_actions(documents: Mapping[str, Json], units: Sequence[Unit]) -> list[Action]:
    """Return one action per document, the validation plan (made last) left out."""
    actions = []
    for name, document in sorted(documents.items()):
        output = {"document": Place(Root.OUT, name)}
        if name == "engine.json":
            objects = {f"hsaco/{unit.symbol}.hsaco": unit.hsaco for unit in units}
            actions.append(
                _action(emit_engine.STAGE, name, objects, output, {"document": document})
            )
        elif name != "validation_plan.json":
            actions.append(_action(emit.STAGE, name, {}, output, {"document": document}))
    return actions


def _unit_actions(unit: Unit) -> list[Action]:
    """Instantiate, close and flatten."""
    instance = unit.instance
    source = unit.at_home(instance.source_name)
    includes = {name: Place(Root.SOURCE, name) for name in instance.closure_names}
    flat = unit.intermediate(".flat.s")
    return [
        _action(instantiate.STAGE, unit.subject, {}, {"unit": source}, _instance(instance)),
        _action(
            close_includes.STAGE,
            unit.subject,
            includes,
            {"closure": unit.intermediate(".closure.json")},
            {"template": instance.template},
        ),
        _action(
            flatten_unit.STAGE,
            unit.subject,
            {"unit": source, **includes},
            {"flat": flat},
            {"location": instance.source_name},
        ),
    ]


def _object_actions(unit: Unit) -> list[Action]:
    """Assemble, link, seal, disassemble, read and conform."""
    instance = unit.instance
    source = unit.at_home(instance.source_name)
    hints = {"unit.s": source} | {n: Place(Root.SOURCE, n) for n in instance.closure_names}
    made, linked = unit.intermediate(".o"), unit.intermediate(".linked.hsaco")
    hsaco = f"hsaco/{unit.symbol}.hsaco"
    flat = {"flat": unit.intermediate(".flat.s")}
    sealed = {"hsaco": unit.hsaco}
    record = {
        "symbol": unit.symbol,
        "threads": instance.contract.launch.work_items,
        "hsaco": hsaco,
        "source": instance.source_name,
    }
    views = {
        "text": unit.metadata(".text"),
        "notes": unit.metadata(".metadata.txt"),
        "record": unit.metadata(".json"),
    }
    subject = unit.subject
    return [
        _action(assemble.STAGE, subject, flat, {"object": made}, hints=hints),
        _action(link_objects.STAGE, subject, {"object": made}, {"linked": linked}),
        _action(seal_object.STAGE, subject, {"linked": linked}, sealed),
        _action(
            disassemble.STAGE, subject, sealed, {"dis": unit.metadata(".dis")}, {"label": hsaco}
        ),
        _action(read_object.STAGE, subject, sealed, views, record),
        _action(
            conform.STAGE,
            subject,
            sealed,
            {"report": unit.intermediate(".conform.json")},
            {"hsaco": hsaco, "symbol": unit.symbol, "contract": _contract(unit)},
        ),
    ]


def _golden_copy(unit: Unit, golden: GoldenSource) -> Action:
    """Put the golden source and what was read of its object beside the kernel's."""
    views = {
        "dis": ".golden.dis",
        "notes": ".golden.metadata.txt",
        "text": ".golden.text",
    }
    inputs = {role: golden_place(golden, role) for role in views}
    outputs = {role: unit.metadata(suffix) for role, suffix in views.items()}
    inputs["source"] = Place(Root.SOURCE, golden.source)
    outputs["source"] = unit.at_home(f"generated/golden/{unit.symbol}.s")
    return _action(copy_files.STAGE, f"{golden.label} (golden)", inputs, outputs)


def _equivalence(unit: Unit, golden: GoldenSource) -> Action:
    inputs = {
        "hsaco": unit.hsaco,
        "dis": unit.metadata(".dis"),
        "golden_hsaco": golden_place(golden, "hsaco"),
        "golden_dis": golden_place(golden, "dis"),
    }
    parameters: dict[str, Json] = {
        "symbol": unit.symbol,
        "golden_symbol": golden.symbol,
        "hsaco": f"hsaco/{unit.symbol}.hsaco",
        "tactic": unit.subject,
        "maturity": unit.instance.tactic.maturity,
        "threads": unit.instance.contract.launch.work_items,
        "gate": unit.gate,
    }
    output = {"report": unit.metadata(".equivalence.json")}
    return _action(equivalence.STAGE, unit.subject, inputs, output, parameters)


def _validation(document: Json, units: Sequence[Unit]) -> Action:
    inputs = {f"conform:{unit.symbol}": unit.intermediate(".conform.json") for unit in units}
    for unit in units:
        if unit.golden is not None:
            inputs[f"equivalence:{unit.symbol}"] = unit.metadata(".equivalence.json")
    output = {"document": Place(Root.OUT, "validation_plan.json")}
    return _action(emit_validation.STAGE, "validation plan", inputs, output, {"document": document})


def _engine_seal(parts: EngineParts, units: Sequence[Unit], actions: Sequence[Action]) -> Action:
    places = [place for action in actions for _, place in action.outputs]
    inputs = {place.name: place for place in places if place.root is Root.OUT}
    for unit in units:
        inputs[f"closure:{unit.symbol}"] = unit.intermediate(".closure.json")
        inputs[f"conform:{unit.symbol}"] = unit.intermediate(".conform.json")
        if unit.golden is not None:
            inputs[f"golden:{unit.symbol}"] = golden_place(unit.golden, "digests.json")
    parameters: dict[str, Json] = {
        "recipe": parts.recipe,
        "symbols": [unit.symbol for unit in units],
        "not_pinned": list(parts.not_pinned),
    }
    output = {"seal": Place(Root.OUT, SEAL_NAME)}
    return _action(seal_engine.STAGE, "engine", inputs, output, parameters)


def _summary(reports: Mapping[str, Place], output: Place, subject: str) -> Action:
    return _action(tabulate.STAGE, subject, reports, {"summary": output})


def _equivalence_reports(units: Sequence[Unit]) -> dict[str, Place]:
    """Return the report of every unit that has a golden source, by the source's label."""
    return {
        unit.golden.label: unit.metadata(".equivalence.json")
        for unit in units
        if unit.golden is not None
    }


def _instance(instance: KernelInstance) -> dict[str, Json]:
    return {
        "tactic": instance.tactic.name,
        "contract_id": instance.contract.id,
        "constants": [[name, value] for name, value in instance.constants],
        "template": instance.template,
        "macro": instance.tactic.instantiation_macro,
        "macro_symbols": list(instance.macro_symbols),
    }


def _contract(unit: Unit) -> dict[str, Json]:
    contract = unit.instance.contract
    wanted = {
        "kernarg_size": contract.kernarg_size,
        "launch": contract.launch.document(),
        "arguments": [_kernarg(argument) for argument in unit.arguments],
    }
    if unit.abi is not None:
        wanted["abi"] = [_kernarg(argument) for argument in unit.abi]
    return wanted


def _kernarg(argument: Mapping[str, Json]) -> dict[str, Json]:
    return {key: argument[key] for key in ("name", "kind", "offset")}


def _action(
    stage: Stage,
    subject: str,
    inputs: Mapping[str, Place],
    outputs: Mapping[str, Place],
    parameters: Mapping[str, Json] | None = None,
    hints: Mapping[str, Place] | None = None,
) -> Action:
    return Action(
        stage=stage,
        subject=subject,
        inputs=tuple(sorted(inputs.items())),
        outputs=tuple(sorted(outputs.items())),
        parameters=tuple(sorted((parameters or {}).items())),
        hints=tuple(sorted((hints or {}).items())),
    )


def _graph(
    name: str, actions: Sequence[Action], seal: Place | None, notes: tuple[str, ...]
) -> Graph:
    unique = {tuple(place for _, place in action.outputs): action for action in actions}
    graph = Graph(name, tuple(unique.values()), seal, notes)
    check_graph(graph)
    return graph
