"""From a plan to a graph: the whole product as one readable sequence of actions.

    model + profile -> plan            (formats, plan: decided before the graph exists)
    plan -> instantiate -> close the includes -> assemble -> link -> strip -> read
                                                                      +----> disassemble, conform
    golden source -> flatten -> assemble -> link -> strip ------------+----> equivalence
    all of it -> engine manifest and siblings -> validation plan -> seal of the engine
    or, of a recipe of code objects, -> descriptions of some each -> build result

Nothing here reads or writes a file or starts a program; a graph is plain data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from netra_build.build.graph.actions import Action, Graph, Place, Root, check_graph
from netra_build.chains import (
    bare_actions,
    checked_action,
    debug_action,
    golden_object_actions,
    golden_place,
    made_actions,
    numerics_action,
    proven_actions,
)
from netra_build.core.canonical_json import Json
from netra_build.formats.build_recipe import ObjectsRecipe
from netra_build.plan.instances import INCLUDES
from netra_build.plan.units import Unit
from netra_build.stages.build_result import DESCRIBE, PUBLISHED, RESULT
from netra_build.stages.engine_documents import COPY, EMIT, MANIFEST, SEAL, VALIDATION
from netra_build.stages.read_object import lock_place

QUICK_SEEDS = (1,)
"""Seeds of the random inputs that every build runs, beside all extreme inputs."""

COPIED_AT_ONCE = 16
"""How many files of the include tree one action copies."""
DESCRIBED_AT_ONCE = 32
"""How many code objects, or how many such copies, one part of a build result describes."""

SEAL_NAME = "netra.json"
RESULT_NAME = "build-result.json"
SUMMARY_NAME = "equivalence-report.json"

T = TypeVar("T")


def engine_graph(
    name: str,
    documents: Mapping[str, Json],
    units: Sequence[Unit],
    sealed: Mapping[str, Json],
    golden_objects: Mapping[str, Mapping[str, Json]],
    notes: tuple[str, ...],
) -> Graph:
    """Return the graph of one engine directory.

    ``sealed`` is what its seal records beside the files, ``golden_objects`` what is wanted of each
    code object that is to be copied, by file name.
    """
    actions = code_object_actions(units)
    actions += include_actions(units)
    actions += golden_object_actions(golden_objects)
    actions += document_actions(documents, units)
    actions.append(_validation(documents["validation_plan.json"], units))
    parameters: dict[str, Json] = {**sealed, "symbols": [unit.name for unit in units]}
    inputs, output = {**_products(actions), **_evidence(units)}, Place(Root.OUT, SEAL_NAME)
    actions.append(SEAL.apply("engine", inputs, {"seal": output}, parameters))
    lenient = [unit for unit in units if not unit.refuses_findings]
    graph = _graph(name, actions, output, units, notes)
    return replace(graph, reports=tuple(_conformity(lenient).values()))


def objects_graph(recipe: ObjectsRecipe, units: Sequence[Unit]) -> Graph:
    """Return the graph of a recipe's code objects; its seal is ``build-result.json``.

    The result is joined from parts, each of which describes some units and their files.
    """
    groups: list[tuple[Sequence[Action], Sequence[Unit]]] = []
    for some in _batched(units, DESCRIBED_AT_ONCE):
        if recipe.is_checked:
            proven = code_object_actions(some, is_simulated=recipe.is_simulated)
            groups.append((proven, some))
        else:
            groups.append(([action for unit in some for action in bare_actions(unit)], some))
    groups += [(copies, ()) for copies in _batched(include_actions(units), DESCRIBED_AT_ONCE)]
    actions: list[Action] = []
    parts: dict[str, Place] = {}
    for index, (made, some) in enumerate(groups):
        part = Place(Root.WORK, f"recipes/{recipe.name}/described/{index:05}.json")
        actions += [*made, _description(recipe, some, made, part)]
        parts[f"{index:05}"] = part
    output = {"result": Place(Root.OUT, RESULT_NAME)}
    given: dict[str, Json] = {"deployment": recipe.deployment}
    actions.append(RESULT.apply(recipe.name, parts, output, given))
    return _graph(recipe.name, actions, Place(Root.OUT, RESULT_NAME), units)


def deployment_graph(name: str, document: Json, units: Sequence[Unit]) -> Graph:
    """Return the graph of a published recipe; ``document``: its result as planned."""
    from netra_build.plan.deployment import result_files

    actions = [action for unit in units for action in made_actions(unit)]
    result, reports = Place(Root.OUT, RESULT_NAME), _conformity(units)
    inputs = {**_products(actions), **reports}
    given: dict[str, Json] = {"deployment": document}
    actions.append(PUBLISHED.apply(name, inputs, {"result": result}, given))
    graph = _graph(name, actions, result, units)
    return replace(graph, listing=result_files, reports=tuple(reports.values()))


def tactic_graph(name: str, units: Sequence[Unit]) -> Graph:
    """Return the graph that builds, proves and checks the specializations of one tactic."""
    actions = code_object_actions(units)
    actions += include_actions(units)
    actions.append(_summary(units, name, _products(actions)))
    return _graph(name, actions, Place(Root.OUT, SUMMARY_NAME), units)


def with_debug(graph: Graph, units: Sequence[Unit]) -> Graph:
    """Return the graph with a debug object of every code object; its last action stays the last."""
    *before, last = graph.actions
    actions = (*before, *(debug_action(unit) for unit in units), last)
    found = replace(graph, actions=actions)
    check_graph(found)
    return found


def equivalence_graph(units: Sequence[Unit]) -> Graph:
    """Return the graph that compares every specialization with its golden source."""
    actions = [a for unit in units for a in (*made_actions(unit), *proven_actions(unit))]
    return _graph("check-equivalence", [*actions, _summary(units, "all tactics")], None, units)


def checks_graph(units: Sequence[Unit], deployment: str = "", *, strict: bool = False) -> Graph:
    """Return the graph that checks every code object statically; reports in ``checks/``.

    Those of a published deployment recipe are summed up; errors are warnings unless ``strict``.
    """
    from netra_build.stages.check_object import CHECKED

    actions: list[Action] = []
    reports: dict[str, Place] = {}
    for unit in units:
        label = f"{deployment}/{unit.name}" if deployment else unit.label
        reports[unit.hsaco_name] = Place(Root.OUT, f"checks/{label}.checks.json")
        actions += [*made_actions(unit), checked_action(unit, reports[unit.hsaco_name])]
    summary = Place(Root.OUT, f"checks/{deployment}.json")
    if not deployment:
        return _graph("check-kernels", actions, None, units)
    actions.append(CHECKED.apply(deployment, reports, {"summary": summary}, {"gate": strict}))
    graph = _graph("check-kernels", actions, None, units)
    return replace(graph, reports=(*_conformity(units).values(), summary))


def numerics_graph(units: Sequence[Unit], seeds: Sequence[int]) -> Graph:
    """Return the graph that simulates every specialization with these seeds."""
    actions: list[Action] = []
    for unit in units:
        actions += made_actions(unit)
        for member in unit.members:
            if member.has_contract:
                report = Place(Root.OUT, f"checks/{unit.label}.numerics.json")
                actions.append(numerics_action(unit, member, seeds, report))
    return _graph("check-numerics", actions, None, units)


def code_object_actions(units: Sequence[Unit], *, is_simulated: bool = True) -> list[Action]:
    """Make, prove and check all code objects of a product, and simulate them unless told not to."""
    actions: list[Action] = []
    for unit in units:
        actions += [*made_actions(unit), *proven_actions(unit)]
        actions.append(checked_action(unit, unit.metadata(".checks.json")))
        actions += [
            numerics_action(unit, member, QUICK_SEEDS, unit.numerics(index))
            for index, member in enumerate(unit.members)
            if member.has_contract and is_simulated
        ]
    return actions


def include_actions(units: Sequence[Unit]) -> list[Action]:
    """Return the actions that copy the closed include tree of all units, some files each.

    SCons compares every output of an action with every input, so one action for all of them would
    cost the square of their number.
    """
    instances = [member.instance for unit in units for member in unit.members]
    names = sorted({name for instance in instances for name in instance.closure_names})
    actions = []
    for some in _batched(names, COPIED_AT_ONCE):
        inputs = {name: Place(Root.SOURCE, name) for name in some}
        outputs = {name: units[0].at_home(f"{INCLUDES}/{name}") for name in some}
        actions.append(COPY.apply("include tree", inputs, outputs))
    return actions


def document_actions(documents: Mapping[str, Json], units: Sequence[Unit]) -> list[Action]:
    """Return one action per document except the validation plan, which is made last."""
    objects = {unit.hsaco_name: unit.hsaco for unit in units}
    actions = []
    for name, document in sorted(documents.items()):
        output = {"document": Place(Root.OUT, name)}
        given: dict[str, Json] = {"document": document}
        if name == "engine.json":
            actions.append(MANIFEST.apply(name, objects, output, given))
        elif name != "validation_plan.json":
            actions.append(EMIT.apply(name, {}, output, given))
    return actions


def _validation(document: Json, units: Sequence[Unit]) -> Action:
    inputs = _conformity(units)
    inputs |= {f"equivalence:{unit.name}": report for unit, report in _reports(units)}
    inputs |= {f"checks:{unit.name}": unit.metadata(".checks.json") for unit in units}
    output = {"document": Place(Root.OUT, "validation_plan.json")}
    return VALIDATION.apply("validation plan", inputs, output, {"document": document})


def _conformity(units: Sequence[Unit]) -> dict[str, Place]:
    return {f"conform:{unit.name}": unit.intermediate(".conform.json") for unit in units}


def _description(
    recipe: ObjectsRecipe, units: Sequence[Unit], made: Sequence[Action], part: Place
) -> Action:
    """Return the action that describes some units and the products of their actions."""
    parameters: dict[str, Json] = {"artifacts": [unit.described() for unit in units]}
    inputs = {**_products(made), **_evidence(units, is_checked=recipe.is_checked)}
    return DESCRIBE.apply(recipe.name, inputs, {"part": part}, parameters)


def _products(actions: Sequence[Action]) -> dict[str, Place]:
    """Return every file of the product by its name there."""
    places = [place for action in actions for _, place in action.outputs]
    return {place.name: place for place in places if place.root is Root.OUT}


def _evidence(units: Sequence[Unit], *, is_checked: bool = True) -> dict[str, Place]:
    """Return the records outside the product that its last file refers to."""
    found: dict[str, Place] = {}
    for unit in units:
        if is_checked:
            found[f"conform:{unit.name}"] = unit.intermediate(".conform.json")
        for index, member in enumerate(unit.members):
            stem = unit.stem(index)
            found[f"closure:{stem}"] = unit.of_member(index, ".closure.json")
            if is_checked and member.golden is not None and unit.goldens is not None:
                found[f"golden:{stem}"] = golden_place(member.golden, "digests.json")
    return found


def _summary(
    units: Sequence[Unit], subject: str, products: Mapping[str, Place] | None = None
) -> Action:
    """Return the action that tabulates all reports and seals ``products`` if there are any."""
    from netra_build.stages import tabulate

    products = products or {}
    inputs = {**products, **{unit.label: report for unit, report in _reports(units)}}
    output = {"summary": Place(Root.OUT, SUMMARY_NAME)}
    return tabulate.STAGE.apply(subject, inputs, output, {"files": sorted(products)})


def _reports(units: Sequence[Unit]) -> list[tuple[Unit, Place]]:
    """Return the equivalence report of every unit that has golden sources."""
    return [(u, u.metadata(".equivalence.json")) for u in units if u.goldens is not None]


def _graph(
    name: str,
    actions: Sequence[Action],
    seal: Place | None,
    units: Sequence[Unit],
    notes: tuple[str, ...] = (),
) -> Graph:
    unique = {tuple(place for _, place in action.outputs): action for action in actions}
    planned = {
        Place(Root.SOURCE, source): digest
        for unit in units
        for member in unit.members
        for source, digest in member.instance.tactic.closure
    }
    locations = {lock_place(u.hsaco_name): u.lock_location for u in units if u.lock_location}
    made = tuple(unique.values())
    graph = Graph(name, made, seal, notes, planned=planned, locations=locations)
    check_graph(graph)
    return graph


def _batched(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield the items in order, at most ``most`` at a time; nothing of nothing."""
    for start in range(0, len(items), most):
        yield items[start : start + most]
