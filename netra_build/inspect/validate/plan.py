"""Plan an engine again from its own graph and the library, and compare every document."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from netra_build.build.graph.actions import Root
from netra_build.checkasm.numerics.statements import needed_statement
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, EvidenceIncomplete, NetraError
from netra_build.core.json_difference import Difference, first_difference
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.models.graph import read_graph
from netra_build.formats.models.model import Model
from netra_build.formats.plan import EnginePlan
from netra_build.formats.vocabulary import KIND_TEMPLATE, PLACEMENTS, TARGET
from netra_build.inspect.validate.engine_folder import MANIFEST, EngineFolder, golden_path
from netra_build.plan.documents import VALIDATION_PLAN, engine_documents, engine_sources
from netra_build.plan.golden import with_golden
from netra_build.plan.instances import find_tactic
from netra_build.plan.library_units import tactic_units, with_candidates
from netra_build.plan.plan import PlanOptions, plan_each
from netra_build.plan.units import Unit, share_code

OPTION_DOCUMENTS = ("memory_plan.json", "explain.json", "graph_recipe.json")
"""Documents whose content depends on options (placement, experiments)."""

HINT = "the file was edited, or the library is not the one that the engine was compiled from"
NOT_DERIVED = ("compiler", "engine_id")
STATUS_WORDS = {
    "static": ("pending", "passed", "not_applicable"),
    "cross_assembly": ("not_run", "passed", "not_applicable"),
}
EQUIVALENCE_WORDS = (
    "not_run_for_generated_symbol",
    "text_byte_identical",
    "text_differs",
    "descriptor_differs",
    "metadata_differs",
)


def check_against_library(engine: EngineFolder, library: Library, *, strict: bool) -> None:
    """Raise ``BadInput`` with the first pointer at which the engine differs from its derivation.

    The options of the compilation (experiments, placement) are not recorded; they are the ones
    that give the least difference.
    """
    lies = []
    for plan in _plans_or_refusal(engine, library, strict):
        lie = _first_lie(engine, plan)
        if lie is None:
            if plan.problems:
                raise plan.problems[0]
            for kernel in plan.kernels if strict else ():
                needed_statement(library, kernel.tactic)
            return
        lies.append(lie)
        if lie.name not in OPTION_DOCUMENTS:
            break
    lie = max(lies, key=lambda item: item.position)
    fact = "content differs from what the graph and the library give"
    raise lie.difference.refusal(fact, engine.location(lie.name), HINT)


def _plans_or_refusal(engine: EngineFolder, library: Library, strict: bool) -> Iterator[EnginePlan]:
    """Yield the plans; an engine that the library refuses to plan is an error of the engine."""
    try:
        yield from _plans(engine, library, strict)
    except NetraError as error:
        if error.location.startswith((f"{engine.root}/", "--")):
            raise
        fact = f"engine cannot be planned again: {error.line()}"
        raise BadInput(fact, location=engine.location(MANIFEST), hint=error.hint) from None


def _plans(engine: EngineFolder, library: Library, strict: bool) -> Iterator[EnginePlan]:
    manifest = engine.fields(MANIFEST)
    maturities = {item.value.get("maturity") for item in manifest.objects("operations")}
    experiments = (True,) if "experiment" in maturities else (False, True)
    choices = [
        PlanOptions(
            allow_experimental=experimental,
            checkpoint_hash=manifest.optional_text("checkpoint_hash"),
            strict=strict,
            placement=placement,
            derive_pins=True,
        )
        for experimental, placement in product(experiments, PLACEMENTS)
    ]
    profile = Fields(manifest.array("profiles")[0], manifest.location, "/profiles/0").text("name")
    model, golden = _model(engine, manifest), _golden(engine, manifest)
    for plan in plan_each(library, model, profile, choices, manifest.place("profiles")):
        shared = share_code(plan) if _shares_code(manifest) else plan
        yield with_candidates(library, with_golden(shared, golden), _beside(engine, library))


def _beside(engine: EngineFolder, library: Library) -> list[Unit]:
    """Return the units of the candidates: tactics built beside the engine, never selected."""
    names: dict[str, Fields] = {}
    for candidate in engine.fields(VALIDATION_PLAN).objects("candidates"):
        if candidate.value.get("selected") is False:
            name = candidate.text("tactic").removeprefix(f"{TARGET}.")
            names.setdefault(name, candidate)
    if not names:
        return []
    catalog, units = load_catalog(library, derive_pins=True), []
    for name, candidate in names.items():
        try:
            tactic = find_tactic(catalog, name, candidate.place("tactic"))
            units += tactic_units(library, tactic, Root.OUT, gate=True)
        except EvidenceIncomplete as error:
            candidate.refuse(f"kernel cannot be built beside the engine: {error.fact}", "selected")
    return units


def _shares_code(manifest: Fields) -> bool:
    """Tell whether operations of different contracts name one kernel symbol."""
    contract_by_symbol: dict[str, str] = {}
    for operation in manifest.objects("operations"):
        if operation.value.get("artifact_kind") == KIND_TEMPLATE:
            symbol, contract = operation.text("kernel_symbol"), operation.text("contract_id")
            if contract_by_symbol.setdefault(symbol, contract) != contract:
                return True
    return False


def _model(engine: EngineFolder, manifest: Fields) -> Model:
    graph = engine.fields("graph.json")
    return Model(
        name=graph.text("name"),
        configuration=manifest.child("deployment_guards").value,
        graph=read_graph(graph),
        configuration_hash=manifest.digest("model_configuration_hash"),
        tensor_parallel=manifest.integer("tensor_parallel", low=1),
        location=engine.location("graph.json"),
        graph_pointer="",
    )


def _golden(engine: EngineFolder, manifest: Fields) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for artifact in manifest.objects("golden_artifacts"):
        path = golden_path(artifact)
        if artifact.boolean("materialized"):
            if not engine.has(path):
                artifact.refuse(f'golden code object "{path}" is missing', "path")
            fact = f'golden code object "{path}" has another digest'
            digest = artifact.digest("sha256")
            artifact.equal(fact, "sha256", expected=digest, got=engine.sha256(path))
            found[path.removeprefix("hsaco/")] = engine.read(path)
    return found


class _Lie(NamedTuple):
    """The first difference of one derivation, and how many files before it were equal."""

    position: int
    name: str
    difference: Difference


def _first_lie(engine: EngineFolder, plan: EnginePlan) -> _Lie | None:
    sources = engine_sources(plan)
    for position, (name, data) in enumerate(sources.items()):
        if not engine.has(name):
            return _Lie(position, name, Difference("", "a file", "nothing"))
        if engine.read(name) != data:
            actual = f"sha256 {engine.sha256(name)}"
            return _Lie(position, name, Difference("", "other bytes", actual))
    documents = engine_documents(plan)
    late = ("memory_plan.json", "graph_recipe.json", MANIFEST, "explain.json")
    order = (*(name for name in documents if name not in late), *late)
    for position, name in enumerate(order, start=len(sources)):
        actual_document = copy.deepcopy(engine.document(name))
        expected = documents[name]
        if name == MANIFEST:
            _forget(expected, actual_document)
        elif name == VALIDATION_PLAN:
            _forget_progress(engine, expected, actual_document)
        difference = first_difference(expected, actual_document)
        if difference is not None:
            return _Lie(position, name, difference)
    return None


def _forget(expected: dict[str, Json], actual: dict[str, Json]) -> None:
    """Remove the fields that the graph and the library do not decide."""
    for document in (expected, actual):
        for key in NOT_DERIVED:
            document.pop(key, None)
    for operation, planned in zip(actual["operations"], expected["operations"], strict=False):
        if "hsaco_sha256" not in planned and isinstance(operation, dict):
            operation.pop("hsaco_sha256", None)


def _forget_progress(
    engine: EngineFolder, expected: dict[str, Json], actual: dict[str, Json]
) -> None:
    """Remove the progress of the validation plan, after checking that its words are known."""
    fields = Fields(actual, engine.location(VALIDATION_PLAN))
    for key, words in STATUS_WORDS.items():
        fields.word(key, words)
    for candidate in fields.objects("candidates"):
        candidate.word("equivalence_status", EQUIVALENCE_WORDS)
        report = candidate.optional_text("equivalence_report")
        if report is not None and not engine.has(report):
            candidate.refuse(f'report "{report}" is missing', "equivalence_report")
    for document in (expected, actual):
        for key in STATUS_WORDS:
            document.pop(key, None)
        for item in document["candidates"]:
            item.pop("equivalence_status", None)
            item.pop("equivalence_report", None)
