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

from netra_build.choose.units import EngineParts, GoldenObject, Member, Unit
from netra_build.core.canonical_json import Json
from netra_build.core.graph import Action, Graph, Place, Root, check_graph
from netra_build.records.build_recipe import ObjectsRecipe
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
    emit_result,
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
RESULT_NAME = "build-result.json"
SUMMARY_NAME = "equivalence-report.json"


def engine_graph(parts: EngineParts, units: Sequence[Unit]) -> Graph:
    """Return the graph of one engine directory."""
    actions = code_object_actions(units)
    actions += include_actions(units)
    actions += golden_object_actions(parts.golden_objects)
    actions += document_actions(parts.documents, units)
    actions.append(_validation(parts.documents["validation_plan.json"], units))
    actions.append(_engine_seal(parts, units, actions))
    return _graph(parts.name, actions, Place(Root.OUT, SEAL_NAME), parts.notes)


def objects_graph(recipe: ObjectsRecipe, units: Sequence[Unit]) -> Graph:
    """Return the graph of a recipe's code objects; its seal is ``build-result.json``."""
    actions = code_object_actions(units)
    actions += include_actions(units)
    actions.append(_build_result(recipe, units, actions))
    return _graph(recipe.name, actions, Place(Root.OUT, RESULT_NAME), ())


def tactic_graph(name: str, units: Sequence[Unit]) -> Graph:
    """Return the graph that builds, proves and checks the specializations of one tactic."""
    actions = code_object_actions(units)
    actions += include_actions(units)
    actions.append(_summary(units, name))
    return _graph(name, actions, None, ())


def equivalence_graph(units: Sequence[Unit]) -> Graph:
    """Return the graph that compares every specialization with its golden source."""
    actions = [*code_object_actions(units), _summary(units, "all tactics")]
    return _graph("check-equivalence", actions, None, ())


def code_object_actions(units: Sequence[Unit]) -> list[Action]:
    """Return the chains of all code objects, their golden chains included, in order."""
    actions: list[Action] = []
    for unit in units:
        for index, member in enumerate(unit.members):
            actions += member_actions(unit, index, member)
        actions += object_actions(unit)
        if unit.goldens is not None:
            actions += [action for golden in unit.goldens for action in golden_actions(golden)]
            actions += golden_side_actions(unit, unit.goldens)
            actions.append(_equivalence(unit, unit.goldens))
    return actions


def member_actions(unit: Unit, index: int, member: Member) -> list[Action]:
    """Instantiate, close, flatten and assemble one kernel."""
    instance, subject = member.instance, member.subject
    source, flat = unit.source(index), unit.of_member(index, ".flat.s")
    includes = {name: Place(Root.SOURCE, name) for name in instance.closure_names}
    closure = unit.of_member(index, ".closure.json")
    made = unit.of_member(index, ".o")
    whole = {"unit": source, **includes}
    place: dict[str, Json] = {"location": source.name, "template": instance.template}
    return [
        instantiate.STAGE.apply(subject, {}, {"unit": source}, _instance(instance)),
        close_includes.STAGE.apply(
            subject,
            includes,
            {"closure": closure},
            {"template": instance.template},
        ),
        flatten_unit.STAGE.apply(subject, whole, {"flat": flat}, place),
        assemble.STAGE.apply(
            subject,
            {"flat": flat},
            {"object": made},
            hints={f"main:{source.name}": source, **includes},
        ),
    ]


def object_actions(unit: Unit) -> list[Action]:
    """Link the members of a code object; seal, disassemble, read and conform it."""
    subject = unit.subject
    objects = {f"object {i:03}": unit.of_member(i, ".o") for i in range(len(unit.members))}
    linked = {"linked": unit.intermediate(".linked.hsaco")}
    sealed = {"hsaco": unit.hsaco}
    label: dict[str, Json] = {"label": unit.hsaco_name}
    views = {
        "text": unit.metadata(".text"),
        "notes": unit.metadata(".metadata.txt"),
        "record": unit.metadata(".json"),
    }
    kernels = [{"symbol": m.symbol, "threads": m.threads} for m in unit.members]
    record: dict[str, Json] = {
        "hsaco": unit.hsaco_name,
        "kernels": kernels,
        "sources": [f"generated/{unit.stem(i)}.s" for i in range(len(unit.members))],
        "locked_text_sha256": unit.locked_text_sha256,
    }
    contracts = {member.symbol: _contract(member) for member in unit.members}
    report = {"report": unit.intermediate(".conform.json")}
    wanted: dict[str, Json] = {"hsaco": unit.hsaco_name, "contracts": contracts}
    return [
        link_objects.STAGE.apply(subject, objects, linked),
        seal_object.STAGE.apply(subject, linked, sealed),
        disassemble.STAGE.apply(subject, sealed, {"dis": unit.metadata(".dis")}, label),
        read_object.STAGE.apply(subject, sealed, views, record),
        conform.STAGE.apply(subject, sealed, report, wanted),
    ]


def golden_actions(golden: GoldenSource) -> list[Action]:
    """Return the chain of one golden source, which ends with the proof of its record."""
    subject = f"{golden.label} (golden)"
    source = Place(Root.SOURCE, golden.source)
    flat, made, linked, hsaco = (
        golden_place(golden, s) for s in ("flat.s", "o", "linked", "hsaco")
    )
    place: dict[str, Json] = {"location": golden.source, "template": None}
    proof: dict[str, Json] = {
        "symbol": golden.symbol,
        "tactic": golden.tactic,
        "expect": golden.expect,
    }
    proven = {"hsaco": hsaco, "expect": Place(Root.SOURCE, golden.expect)}
    digests = {"digests": golden_place(golden, "digests.json")}
    return [
        flatten_unit.STAGE.apply(subject, {"unit": source}, {"flat": flat}, place),
        assemble.STAGE.apply(subject, {"flat": flat}, {"object": made}, hints={f"main:{source.name}": source}),
        link_objects.STAGE.apply(subject, {"object 000": made}, {"linked": linked}),
        seal_object.STAGE.apply(subject, {"linked": linked}, {"hsaco": hsaco}),
        prove_golden.STAGE.apply(subject, proven, digests, proof),
    ]


def golden_place(golden: GoldenSource, name: str) -> Place:
    """Return the place of an intermediate file of a golden source."""
    return Place(Root.WORK, f"golden/{golden.label}/kernel.{name}")


def golden_side_actions(unit: Unit, goldens: Sequence[GoldenSource]) -> list[Action]:
    """Link the golden objects as the unit's are, list and read them, keep their sources."""
    subject = f"{unit.label} (golden)"
    objects = {f"object {i:03}": golden_place(golden, "o") for i, golden in enumerate(goldens)}
    linked = {"linked": unit.intermediate(".golden.linked.hsaco")}
    sealed = {"hsaco": unit.intermediate(".golden.hsaco")}
    name = f"hsaco/{unit.name}.golden.hsaco"
    pairs = zip(goldens, unit.members, strict=True)
    kernels = [{"symbol": golden.symbol, "threads": m.threads} for golden, m in pairs]
    record: dict[str, Json] = {
        "hsaco": name,
        "kernels": kernels,
        "sources": [golden.source for golden in goldens],
        "locked_text_sha256": None,
    }
    views = {
        "text": unit.metadata(".golden.text"),
        "notes": unit.metadata(".golden.metadata.txt"),
        "record": unit.intermediate(".golden.json"),
    }
    sources = {golden.label: Place(Root.SOURCE, golden.source) for golden in goldens}
    copies = {
        golden.label: unit.at_home(f"generated/golden/{unit.stem(i)}.s")
        for i, golden in enumerate(goldens)
    }
    listing = {"dis": unit.metadata(".golden.dis")}
    return [
        link_objects.STAGE.apply(subject, objects, linked),
        seal_object.STAGE.apply(subject, linked, sealed),
        disassemble.STAGE.apply(subject, sealed, listing, {"label": name}),
        read_object.STAGE.apply(subject, sealed, views, record),
        copy_files.STAGE.apply(subject, sources, copies),
    ]


def include_actions(units: Sequence[Unit]) -> list[Action]:
    """Return the action that copies the closed include tree of all units, if there is any."""
    instances = [member.instance for unit in units for member in unit.members]
    names = sorted({name for instance in instances for name in instance.closure_names})
    if not names:
        return []
    inputs = {name: Place(Root.SOURCE, name) for name in names}
    outputs = {name: units[0].at_home(f"generated/includes/{name}") for name in names}
    return [copy_files.STAGE.apply("include tree", inputs, outputs)]


def golden_object_actions(objects: Sequence[GoldenObject]) -> list[Action]:
    """Return the actions that take, list and read each object that a user brings."""
    actions = []
    for item in objects:
        hsaco, stem = f"hsaco/{item.name}", item.name.removesuffix(".hsaco")
        taken = {"hsaco": Place(Root.OUT, hsaco)}
        kernel = {"symbol": item.wanted["symbol"], "threads": item.wanted["block"]}
        record: dict[str, Json] = {
            "hsaco": hsaco,
            "kernels": [kernel],
            "sources": [],
            "locked_text_sha256": None,
        }
        views = {
            "text": Place(Root.OUT, f"metadata/{stem}.text"),
            "notes": Place(Root.OUT, f"metadata/{stem}.metadata.txt"),
            "record": Place(Root.OUT, f"metadata/{stem}.json"),
        }
        given = {"object": Place(Root.EXTERNAL, item.name)}
        wanted: dict[str, Json] = {"wanted": dict(item.wanted), "location": item.name}
        listing = {"dis": Place(Root.OUT, f"metadata/{stem}.dis")}
        actions += [
            take_golden.STAGE.apply(item.name, given, taken, wanted),
            disassemble.STAGE.apply(item.name, taken, listing, {"label": hsaco}),
            read_object.STAGE.apply(item.name, taken, views, record),
        ]
    return actions


def document_actions(documents: Mapping[str, Json], units: Sequence[Unit]) -> list[Action]:
    """Return one action per document, the validation plan (made last) left out."""
    objects = {unit.hsaco_name: unit.hsaco for unit in units}
    actions = []
    for name, document in sorted(documents.items()):
        output = {"document": Place(Root.OUT, name)}
        given: dict[str, Json] = {"document": document}
        if name == "engine.json":
            actions.append(emit_engine.STAGE.apply(name, objects, output, given))
        elif name != "validation_plan.json":
            actions.append(emit.STAGE.apply(name, {}, output, given))
    return actions


def _equivalence(unit: Unit, goldens: Sequence[GoldenSource]) -> Action:
    inputs = {
        "hsaco": unit.hsaco,
        "dis": unit.metadata(".dis"),
        "golden_hsaco": unit.intermediate(".golden.hsaco"),
        "golden_dis": unit.metadata(".golden.dis"),
    }
    pairs = [
        {"symbol": member.symbol, "golden": golden.symbol, "threads": member.threads}
        for member, golden in zip(unit.members, goldens, strict=True)
    ]
    parameters: dict[str, Json] = {
        "hsaco": unit.hsaco_name,
        "kernels": pairs,
        "tactic": unit.subject,
        "maturity": unit.members[0].instance.tactic.maturity,
        "gate": unit.gate,
    }
    output = {"report": unit.metadata(".equivalence.json")}
    return equivalence.STAGE.apply(unit.subject, inputs, output, parameters)


def _validation(document: Json, units: Sequence[Unit]) -> Action:
    inputs = {f"conform:{unit.name}": unit.intermediate(".conform.json") for unit in units}
    inputs |= {f"equivalence:{unit.name}": report for unit, report in _reports(units)}
    output = {"document": Place(Root.OUT, "validation_plan.json")}
    return emit_validation.STAGE.apply("validation plan", inputs, output, {"document": document})


def _engine_seal(parts: EngineParts, units: Sequence[Unit], actions: Sequence[Action]) -> Action:
    inputs = {**_products(actions), **_evidence(units)}
    parameters: dict[str, Json] = {
        "recipe": parts.recipe,
        "symbols": [unit.name for unit in units],
        "not_pinned": list(parts.not_pinned),
    }
    output = {"seal": Place(Root.OUT, SEAL_NAME)}
    return seal_engine.STAGE.apply("engine", inputs, output, parameters)


def _build_result(
    recipe: ObjectsRecipe, units: Sequence[Unit], actions: Sequence[Action]
) -> Action:
    parameters: dict[str, Json] = {
        "deployment": recipe.deployment,
        "artifacts": [_artifact(unit) for unit in units],
    }
    inputs = {**_products(actions), **_evidence(units)}
    output = {"result": Place(Root.OUT, RESULT_NAME)}
    return emit_result.STAGE.apply(recipe.name, inputs, output, parameters)


def _artifact(unit: Unit) -> dict[str, Json]:
    members = [
        {
            "tactic": member.instance.tactic.name,
            "tactic_id": member.instance.tactic.stable_id,
            "contract_id": member.instance.contract.id,
            "maturity": member.instance.tactic.maturity,
            "symbol": member.symbol,
            "source": f"generated/{unit.stem(index)}.s",
        }
        for index, member in enumerate(unit.members)
    ]
    return {
        "name": unit.name,
        "members": members,
        "locked_text_sha256": unit.locked_text_sha256,
    }


def _products(actions: Sequence[Action]) -> dict[str, Place]:
    """Return every file of the product by its name there."""
    places = [place for action in actions for _, place in action.outputs]
    return {place.name: place for place in places if place.root is Root.OUT}


def _evidence(units: Sequence[Unit]) -> dict[str, Place]:
    """Return the records outside the product that its last file speaks of."""
    found: dict[str, Place] = {}
    for unit in units:
        found[f"conform:{unit.name}"] = unit.intermediate(".conform.json")
        for index, member in enumerate(unit.members):
            found[f"closure:{member.symbol}"] = unit.of_member(index, ".closure.json")
            if member.golden is not None and unit.goldens is not None:
                found[f"golden:{member.symbol}"] = golden_place(member.golden, "digests.json")
    return found


def _summary(units: Sequence[Unit], subject: str) -> Action:
    reports = {unit.label: report for unit, report in _reports(units)}
    return tabulate.STAGE.apply(subject, reports, {"summary": Place(Root.OUT, SUMMARY_NAME)})


def _reports(units: Sequence[Unit]) -> list[tuple[Unit, Place]]:
    """Return the equivalence report of every unit that has golden sources."""
    return [(u, u.metadata(".equivalence.json")) for u in units if u.goldens is not None]


def _instance(instance: KernelInstance) -> dict[str, Json]:
    return {
        "tactic": instance.tactic.name,
        "contract_id": instance.contract.id,
        "constants": [[name, value] for name, value in instance.constants],
        "template": instance.template,
        "macro": instance.tactic.instantiation_macro,
        "macro_symbols": list(instance.macro_symbols),
    }


def _contract(member: Member) -> dict[str, Json]:
    contract = member.instance.contract
    wanted: dict[str, Json] = {
        "kernarg_size": contract.kernarg_size,
        "launch": contract.launch.document(),
        "arguments": [_kernarg(argument) for argument in member.arguments],
    }
    if member.abi is not None:
        wanted["abi"] = [argument.document() for argument in member.abi.arguments]
        wanted["modes"] = dict(member.abi.modes)
    return wanted


def _kernarg(argument: Mapping[str, Json]) -> dict[str, Json]:
    return {key: argument[key] for key in ("name", "kind", "offset")}


def _graph(
    name: str, actions: Sequence[Action], seal: Place | None, notes: tuple[str, ...]
) -> Graph:
    unique = {tuple(place for _, place in action.outputs): action for action in actions}
    graph = Graph(name, tuple(unique.values()), seal, notes)
    check_graph(graph)
    return graph
