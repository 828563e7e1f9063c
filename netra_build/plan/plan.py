"""Plan one engine: select for every operation, place memory, resolve kernargs.

What plans dense operations and golden code objects is loaded when a model has some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, NetraError
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.catalogs.tactic import Catalog
from netra_build.formats.contracts import FixedContract, GoldenContract
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.models.graph import Operation
from netra_build.formats.models.model import Model
from netra_build.formats.plan import (
    Candidate,
    EnginePlan,
    GoldenArtifact,
    KernelInstance,
    MemoryPlan,
    OperationPlan,
    Selection,
)
from netra_build.formats.profiles import Profile, choose_profile, load_profiles
from netra_build.formats.vocabulary import EXECUTE_FALLBACK, FORMAT_LAYOUT
from netra_build.plan.dataflow import (
    Argument,
    attribute_fields,
    buffer_requests,
    dependencies,
    fixed_arguments,
    kernarg_problem,
    operation_place,
)
from netra_build.plan.fixed import FixedSelector, read_request
from netra_build.plan.instances import instantiate
from netra_build.plan.memory import plan_memory
from netra_build.plan.strict import check_strictly, kernel_abis

OUTSIDE = "operation is outside dense vertical slice"
_HEX64 = re.compile(r"[0-9a-f]{64}\Z")


class PlanOptions(NamedTuple):
    """Choices of the caller that are not in the model.

    ``strict`` refuses everything that the published compiler lets through. ``derive_pins`` takes
    the present digests of the library instead of refusing it.
    """

    allow_experimental: bool = False
    checkpoint_hash: str | None = None
    strict: bool = False
    placement: str = "first_use"
    derive_pins: bool = False


def plan_engine(
    library: Library, model: Model, profile: str, options: PlanOptions, location: str = ""
) -> EnginePlan:
    """Return the whole plan of one engine; raise ``BadInput`` with the place of the problem.

    ``location`` names the source of the profile, if it is not the model.
    """
    return next(plan_each(library, model, profile, [options], location))


def plan_each(
    library: Library,
    model: Model,
    profile: str,
    choices: Sequence[PlanOptions],
    location: str = "",
) -> Iterator[EnginePlan]:
    """Yield the plan for each of several options, all with the same ``derive_pins``."""
    profiles = load_profiles(library, model.tensor_parallel)
    chosen = choose_profile(profiles, profile, location or model.location)
    known = frozenset(item.name for item in profiles)
    derive_pins = choices[0].derive_pins
    catalog = load_catalog(library, derive_pins=derive_pins)
    if not derive_pins:
        catalog.require_sound()
    for options in choices:
        selector = FixedSelector(catalog, options.allow_experimental)
        plan = _Planner(model, chosen, known, options, selector).plan()
        if options.strict:
            check_strictly(plan, kernel_abis(library, catalog))
        yield plan


def _check_options(options: PlanOptions) -> None:
    digest = options.checkpoint_hash
    if digest is not None and not _HEX64.match(digest):
        raise BadInput(
            "checkpoint hash has the wrong form",
            location="--checkpoint-hash",
            expected="64 lower-case hexadecimal digits",
            got=f'"{digest[:80]}"',
        )


def _check_degree(model: Model, profile: Profile) -> None:
    wanted = model.tensor_parallel
    if profile.tensor_parallel != wanted:
        raise BadInput(
            f'profile "{profile.name}" is for another tensor parallel degree',
            location=profile.location,
            expected=wanted,
            got=profile.tensor_parallel,
        )


@dataclass
class _Planner:
    """Selects and completes operations; collects their layout bindings."""

    model: Model
    profile: Profile
    known_profiles: frozenset[str]
    options: PlanOptions
    selector: FixedSelector
    bindings: list[Json] = field(default_factory=list)
    problems: list[NetraError] = field(default_factory=list)

    def plan(self) -> EnginePlan:
        """Return the plan of the engine."""
        model, catalog = self.model, self.selector.catalog
        _check_options(self.options)
        _check_degree(model, self.profile)
        nodes = model.graph.operations
        selections = [self.select(index, node) for index, node in enumerate(nodes)]
        memory = self.memory(selections)
        pairs = zip(nodes, selections, strict=True)
        operations = tuple(self.complete(index, *pair, memory) for index, pair in enumerate(pairs))
        kernels = _instances(operations, model)
        bindings = sorted(self.bindings, key=lambda binding: str(binding["tensor"]))
        return EnginePlan(
            model=model,
            profile=self.profile,
            operations=operations,
            kernels=kernels,
            golden=_golden(operations, model),
            memory=memory,
            layout={"format": FORMAT_LAYOUT, "bindings": bindings},
            depends_on=dependencies(model.graph),
            include_by_name=_includes(kernels, catalog),
            checkpoint_hash=self.options.checkpoint_hash,
            problems=tuple(self.problems),
        )

    def select(self, index: int, operation: Operation) -> Selection:
        """Return what runs one operation."""
        place = operation_place(self.model, index, operation)
        fields = attribute_fields(self.model, index, operation)
        if operation.kind == "fixed_kernel":
            request = read_request(fields, self.known_profiles)
            return self.selector.select(request, self.profile.name, operation.name, place)
        if operation.kind == "golden_kernel":
            from netra_build.plan.golden import select_golden

            return select_golden(fields)
        if operation.kind == "dense":
            return self._select_dense(operation, fields, place)
        fallback = fields.text("fallback", "framework")
        return Selection(EXECUTE_FALLBACK, fallback, (Candidate(None, False, (OUTSIDE,)),))

    def _select_dense(self, operation: Operation, fields: Fields, place: str) -> Selection:
        from netra_build.plan.dense import binding_record, read_dense, select_dense

        shape, record = read_dense(fields, self.profile, place)
        if len(operation.inputs) < 3:
            raise BadInput(
                "dense operation lacks its weight",
                location=place,
                expected="inputs: activation, activation scale, weight, weight scale",
                got=f"{len(operation.inputs)} inputs",
            )
        scale = operation.inputs[3] if len(operation.inputs) > 3 else None
        self.bindings.append(binding_record(operation.inputs[2], scale, record, place))
        return select_dense(
            shape,
            str(record["fallback"]),
            allow_experimental=self.options.allow_experimental,
            strict=self.options.strict,
        )

    def memory(self, selections: Sequence[Selection]) -> MemoryPlan:
        """Return the memory plan for all selections."""
        workspaces = [s.contract.workspace if s.contract else None for s in selections]
        requests = buffer_requests(self.model, self.profile, workspaces)
        return plan_memory(requests, self.model.location, self.options.placement)

    def complete(
        self, index: int, operation: Operation, selection: Selection, memory: MemoryPlan
    ) -> OperationPlan:
        """Return the plan of one operation with its kernargs."""
        offset = memory.offset_by_name.get(f"{operation.name}.workspace")
        contract = selection.contract
        if contract is None or not contract.workspace.bytes:
            offset = None
        arguments: tuple[Argument, ...] = ()
        fields = attribute_fields(self.model, index, operation)
        if isinstance(contract, GoldenContract):
            from netra_build.plan.golden import golden_arguments

            arguments = golden_arguments(fields.child("golden_artifact"), memory.offset_by_name)
        elif isinstance(contract, FixedContract):
            arguments = fixed_arguments(fields, contract, offset)
            problem = kernarg_problem(fields, contract.kernarg_size)
            if problem is not None:
                self.problems.append(problem)
        return OperationPlan(index, operation, selection, offset, arguments)


def _golden(operations: Sequence[OperationPlan], model: Model) -> tuple[GoldenArtifact, ...]:
    if not any(isinstance(p.selection.contract, GoldenContract) for p in operations):
        return ()
    from netra_build.plan.golden import golden_artifacts

    return golden_artifacts(operations, model)


def _instances(operations: Sequence[OperationPlan], model: Model) -> tuple[KernelInstance, ...]:
    """Return one instance per distinct fixed contract, in (tactic, contract id) order."""
    found: dict[str, KernelInstance] = {}
    for plan in operations:
        contract, tactic = plan.selection.contract, plan.selection.fixed_tactic
        if tactic is None or not isinstance(contract, FixedContract):
            continue
        place = operation_place(model, plan.index, plan.operation)
        instance = found.get(contract.symbol)
        if instance is None:
            found[contract.symbol] = instantiate(tactic, contract, (), place)
        elif instance.contract.id != contract.id:
            raise BadInput(f'two contracts share the symbol "{contract.symbol}"', location=place)
    order = sorted(found.values(), key=lambda item: f"{item.tactic.name}:{item.contract.id}")
    return tuple(order)


def _includes(kernels: Sequence[KernelInstance], catalog: Catalog) -> dict[str, bytes]:
    names = sorted({name for kernel in kernels for name in kernel.closure_names})
    return {name: catalog.source_by_name[name] for name in names}
