"""Select a tactic for a fixed kernel operation and say why the others were refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, Refused, nearest_hint
from netra_build.formats.catalogs.tactic import Catalog, FixedTactic
from netra_build.formats.contracts import FixedContract
from netra_build.formats.fields import Fields, quoted
from netra_build.formats.launch import Extent
from netra_build.formats.plan import Candidate, EnginePlan, OperationPlan, Selection
from netra_build.formats.vocabulary import (
    EXECUTE_FALLBACK,
    EXECUTE_KERNEL,
    SEMANTIC_FIELDS,
    UINT32_MAX,
    WAVE_SIZE,
)
from netra_build.plan.instances import close_contract

REQUIRED = ("family", "operation", "constants", "semantics", "launch_grid")
OPTIONAL = (
    "arguments wave_size graph_capture deterministic fallback profile_names binding_scope "
    "dynamic_lds_bytes"
)
LOWEST = -(2**63)


class FixedRequest(NamedTuple):
    """The attributes of a fixed kernel operation that select its tactic."""

    family: str
    operation: str
    constants: Mapping[str, int]
    semantics: Mapping[str, Json]
    grid: Extent
    fallback: str
    wave_size: int
    graph_capture: bool
    deterministic: bool
    profile_names: tuple[str, ...]


def read_request(fields: Fields, known_profiles: Iterable[str]) -> FixedRequest:
    """Return the request of an operation's attributes; raise ``BadInput`` with its pointer."""
    fields.close((*REQUIRED, *OPTIONAL.split()))
    missing = sorted(key for key in REQUIRED if not fields.has(key))
    if missing:
        fields.refuse(f"fixed kernel lacks required attributes: {quoted(missing)}")
    constants = fields.child("constants")
    request = FixedRequest(
        family=fields.text("family"),
        operation=fields.text("operation"),
        constants={key: constants.integer(key, low=LOWEST) for key in constants.value},
        semantics=fields.child("semantics").value,
        grid=fields.extent("launch_grid"),
        fallback=fields.text("fallback", "framework"),
        wave_size=fields.integer("wave_size", WAVE_SIZE),
        graph_capture=fields.boolean("graph_capture", True),
        deterministic=fields.boolean("deterministic", True),
        profile_names=_profile_names(fields, known_profiles),
    )
    fields.text("binding_scope", "per_layer")
    fields.integer("dynamic_lds_bytes", 0, high=UINT32_MAX)
    return request


def _profile_names(fields: Fields, known_profiles: Iterable[str]) -> tuple[str, ...]:
    names = fields.texts("profile_names", [], unique=True)
    known = frozenset(known_profiles)
    for index, name in enumerate(names):
        if name not in known:
            hint = nearest_hint(name, known)
            fields.refuse(f'unknown profile "{name}"', "profile_names", index, hint=hint)
    return names


class FixedSelector:
    """Selects among the tactics of a catalog; rejections are remembered per request."""

    def __init__(self, catalog: Catalog, allow_experimental: bool) -> None:
        self.catalog = catalog
        self.allow_experimental = allow_experimental
        self._by_name = sorted(catalog.tactics, key=lambda tactic: tactic.name)
        self._contracts: dict[object, FixedContract] = {}
        self._remembered: dict[object, tuple[tuple[Candidate, ...], FixedTactic | None]] = {}

    def select(self, request: FixedRequest, profile: str, name: str, place: str) -> Selection:
        """Return the selection for one operation called ``name``; raise ``BadInput`` on a tie."""
        if request.profile_names and profile not in request.profile_names:
            outside = Candidate(None, False, (f"operation is outside profile {profile}",))
            return Selection(EXECUTE_FALLBACK, request.fallback, (outside,))
        self._refuse_faults(request, place)
        candidates, best = self._judge(request, name, place)
        if best is None:
            return Selection(EXECUTE_FALLBACK, request.fallback, candidates)
        contract = self._contract(best, request, place)
        return Selection(EXECUTE_KERNEL, request.fallback, candidates, contract, best.name, best)

    def _contract(self, tactic: FixedTactic, request: FixedRequest, place: str) -> FixedContract:
        """Return the contract, made once for equal constants, grid and fallback."""
        constants = tuple(sorted(request.constants.items()))
        key = (tactic.name, constants, request.grid, request.fallback)
        if key not in self._contracts:
            self._contracts[key] = close_contract(
                tactic, request.constants, request.grid, request.fallback, place
            )
        return self._contracts[key]

    def _refuse_faults(self, request: FixedRequest, place: str) -> None:
        """Refuse to select while an entry of the operation is broken: it could be better."""
        for fault in self.catalog.faults:
            if fault.operation is None or fault.operation == request.operation:
                fault.error.hint = fault.error.hint or f"needed by {place}"
                raise fault.error

    def _judge(
        self, request: FixedRequest, name: str, place: str
    ) -> tuple[tuple[Candidate, ...], FixedTactic | None]:
        key = (
            request.family,
            request.operation,
            tuple(sorted(request.constants.items())),
            tuple(sorted((field, str(value)) for field, value in request.semantics.items())),
            request.wave_size,
            request.graph_capture,
            request.deterministic,
        )
        if key not in self._remembered:
            self._remembered[key] = self._rank(request, name, place)
        return self._remembered[key]

    def _rank(
        self, request: FixedRequest, name: str, place: str
    ) -> tuple[tuple[Candidate, ...], FixedTactic | None]:
        fitting, rejected = [], []
        for tactic in self._by_name:
            reasons = rejection_reasons(tactic, request, self.allow_experimental)
            if reasons:
                rejected.append(Candidate(tactic.name, False, reasons))
            else:
                fitting.append(tactic)
        fitting.sort(key=lambda tactic: (tactic.rank, tactic.name))
        if len(fitting) > 1 and fitting[0].rank == fitting[1].rank:
            names = quoted(one.name for one in fitting if one.rank == fitting[0].rank)
            raise BadInput(
                f'tactics for "{name}" tie at rank {fitting[0].rank}: {names}',
                location=place,
                hint="give them different ranks in their catalog",
            )
        compatible = [Candidate(t.name, t is fitting[0], ()) for t in fitting]
        return (*compatible, *rejected), fitting[0] if fitting else None


def rejection_reasons(
    tactic: FixedTactic, request: FixedRequest, allow_experimental: bool
) -> tuple[str, ...]:
    """Return the published reasons against a tactic, in their order; empty if it fits."""
    heads = (
        (tactic.family != request.family, "tactic-family mismatch"),
        (tactic.operation != request.operation, "operation mismatch"),
        (tactic.wave_size != request.wave_size, "wave-size mismatch"),
    )
    abilities = (
        (request.graph_capture and not tactic.graph_capture, "graph capture required"),
        (request.deterministic and not tactic.deterministic, "determinism required"),
    )
    reasons = [text for bad, text in heads if bad]
    reasons += _semantic_reasons(tactic, request)
    reasons += maturity_reasons(tactic.maturity, allow_experimental)
    reasons += [text for bad, text in abilities if bad]
    reasons += constant_reasons(tactic, request.constants)
    return tuple(reasons)


def maturity_reasons(maturity: str, allow_experimental: bool) -> list[str]:
    """Return the reason against a maturity, if there is one."""
    if maturity == "rejected":
        return ["maturity is rejected"]
    if maturity == "experiment" and not allow_experimental:
        return ["experimental tactics are disabled"]
    return []


def _semantic_reasons(tactic: FixedTactic, request: FixedRequest) -> list[str]:
    reasons = [
        f"{key} semantic mismatch"
        for key, value in tactic.semantics
        if request.semantics.get(key) != value
    ]
    extra = sorted(set(request.semantics) - set(SEMANTIC_FIELDS))
    return reasons + [f"undeclared semantic field {key}" for key in extra]


def constant_reasons(tactic: FixedTactic, constants: Mapping[str, int]) -> list[str]:
    """Return the reasons against the constants that a tactic is asked for with."""
    reasons = []
    for name, values in tactic.contract_constants + tactic.compile_definitions:
        if name not in constants:
            reasons.append(f"{name} missing")
        elif constants[name] not in values:
            reasons.append(f"{name} mismatch")
    for item in tactic.compile_ranges:
        if item.name not in constants:
            reasons.append(f"{item.name} missing")
        elif not item.accepts(constants[item.name]):
            reasons.append(f"{item.name} mismatch")
    extra = sorted(set(constants) - tactic.selectable_names)
    return reasons + [f"undeclared compile-time constant {name}" for name in extra]


def _without_kernel(plan: EnginePlan, *, is_tried: bool) -> list[OperationPlan]:
    """Return the kernel operations that no tactic meets: those of the profile, or all others."""
    return [
        operation
        for operation in plan.operations
        if operation.operation.kind == "fixed_kernel"
        and operation.selection.symbol is None
        and any(candidate.tactic for candidate in operation.selection.candidates) is is_tried
    ]


def refuse_fallbacks(plan: EnginePlan, location: str) -> None:
    """Raise ``Refused`` with every candidate when an operation lost its kernel."""
    for operation in _without_kernel(plan, is_tried=True):
        raise Refused(
            f'no tactic meets operation "{operation.operation.name}"',
            location=location,
            detail="\n".join(_reasons(operation, 8)),
            hint=f"allow_fallback: true lets {operation.selection.fallback} run it",
        )


def fallback_notes(plan: EnginePlan) -> list[str]:
    """Return a note for each kernel operation that lost its kernel, one for those without any."""
    outside = [item.operation.name for item in _without_kernel(plan, is_tried=False)]
    return [
        *([f"no kernel under this profile: {', '.join(outside)}"] if outside else []),
        *[
            f"fallback: {operation.operation.name} runs {operation.selection.fallback} "
            f"({'; '.join(_reasons(operation, 1))})"
            for operation in _without_kernel(plan, is_tried=True)
        ],
    ]


def _reasons(operation: OperationPlan, most: int) -> list[str]:
    """Return the nearest candidates, those with the fewest reasons first, and why not."""
    tried = sorted(operation.selection.candidates, key=lambda candidate: len(candidate.reasons))
    return [f"{candidate.tactic}: {', '.join(candidate.reasons)}" for candidate in tried[:most]]
