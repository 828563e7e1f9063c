"""The units of a product, from a plan or a recipe and the golden sources of a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from netra_build.build.graph.actions import Root
from netra_build.checkasm.numerics.statement_source import FOLDER as STATEMENTS
from netra_build.checkasm.numerics.statements import needed_statement
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.errors import BadInput, EvidenceIncomplete, nearest_hint
from netra_build.formats.build_recipe import (
    GOLDEN_REQUIRED,
    EngineRecipe,
    MemberRecipe,
    ObjectsRecipe,
)
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.catalogs.tactic import Catalog, FixedTactic
from netra_build.formats.golden import ROOT as GOLDEN_ROOT
from netra_build.formats.golden import (
    GoldenSource,
    golden_sources,
    has_evidence,
    match_golden,
    require_evidence,
)
from netra_build.formats.launch import ABI_FOLDER, KernelAbi, read_abi
from netra_build.formats.library import Library
from netra_build.formats.plan import EnginePlan, KernelInstance
from netra_build.plan.instances import (
    close_tactic,
    find_tactic,
    refuse_unpinned,
    tactic_id,
)
from netra_build.plan.units import Member, Unit, code_leaders

PROVEN = ("verified", "accepted")
"""Maturities that require evidence."""


def engine_units(
    library: Library, plan: EnginePlan, recipe: EngineRecipe, *, strict: bool = False
) -> list[Unit]:
    """Return the units of one engine, in the order of the plan.

    Findings of the static checks fail engines of strict recipes; published ones only report them
    unless ``strict``, and their kernels need not describe their kernargs.

    Raises ``EvidenceIncomplete`` when a kernel has no golden source and one is required.
    """
    arguments_by_symbol = _arguments_by_symbol(plan) if recipe.is_strict else {}
    golden_required = recipe.golden == GOLDEN_REQUIRED
    leaders = code_leaders(plan.kernels, plan.include_by_name)
    units: list[Unit] = []
    for number, instance in enumerate(plan.kernels):
        arguments = arguments_by_symbol.get(instance.symbol)
        unit = Unit(
            name=instance.symbol,
            members=(_member(library, instance, arguments, golden_required),),
            work=f"engines/{recipe.name}/",
            refuses_findings=recipe.is_strict or strict,
            leader=units[leaders[number]] if leaders[number] < number else None,
        )
        units.append(unit)
    return units


def tactic_units(library: Library, tactic: FixedTactic, home: Root, *, gate: bool) -> list[Unit]:
    """Return one unit per golden source of a tactic, under the golden source's own symbol.

    Raises ``EvidenceIncomplete`` when the tactic has no golden source or no ABI record.
    """
    name = tactic_id(tactic)
    sources = golden_sources(library, name)
    if not sources:
        raise EvidenceIncomplete(
            f'"{name}" has no golden source',
            location=tactic.location,
            hint=f"write golden/gfx950/{name}/kernel.s, then netra golden accept {name}",
        )
    abi, stated = _needed_abi(library, name), needed_statement(library, tactic)
    return [
        Unit(
            name=golden.symbol,
            members=(_golden_member(tactic, golden, abi, stated),),
            home=home,
            prefix="" if home is Root.OUT else f"tactics/{golden.label}/",
            work=f"tactics/{golden.label}/{'gated' if gate else 'compared'}/",
            gate=gate,
        )
        for golden in sources
    ]


def _golden_member(
    tactic: FixedTactic, golden: GoldenSource, abi: KernelAbi, statement: tuple[str, ...]
) -> Member:
    instance = close_tactic(tactic, golden.specialization, golden.symbol, golden.expect)
    return Member(instance, _kernargs(abi), abi, golden, statement)


def stated_units(library: Library, locked: bool, asked: str | None) -> list[Unit]:
    """Return ``all_units``; raise ``EvidenceIncomplete`` for tactics without a numeric contract."""
    units = all_units(library, locked, asked)
    members = [member for unit in units for member in unit.members]
    unstated = sorted({member.subject for member in members if not member.has_contract})
    hint = f"state it in {STATEMENTS}/, or narrow the check with tactic="
    _refuse_missing("numeric contract", STATEMENTS, unstated, hint)
    return units


def all_units(library: Library, locked: bool, asked: str | None) -> list[Unit]:
    """Return one unit for each golden source of the library, or of one tactic.

    Raises ``EvidenceIncomplete`` for tactics without one, unless they are rejected.
    """
    catalog = load_catalog(library, derive_pins=True)
    if asked is not None:
        tactics = [find_tactic(catalog, asked, "tactic")]
    else:
        for fault in catalog.faults:
            raise fault.error
        folder, tactics = library.root / GOLDEN_ROOT, []
        missing = []
        for one in catalog.tactics:
            if library.disk.is_folder(folder / tactic_id(one)):
                tactics.append(one)
            elif one.maturity != "rejected":
                missing.append(tactic_id(one))
        hint = "narrow the check with tactic=, or check-kernels with recipe=FILE.json"
        _refuse_missing("golden source", GOLDEN_ROOT, sorted(missing), hint)
    if locked:
        refuse_unpinned(tactics)
    return [
        unit for tactic in tactics for unit in tactic_units(library, tactic, Root.WORK, gate=False)
    ]


def _refuse_missing(what: str, place: str, tactics: Sequence[str], hint: str) -> None:
    """Refuse to check a library some of whose tactics lack what they would be compared with."""
    if tactics:
        fact = f'"{tactics[0]}" has no {what}'
        if tactics[1:]:
            fact = f'{len(tactics)} tactics have no {what}, the first is "{tactics[0]}"'
        raise EvidenceIncomplete(fact, location=place, hint=hint)


def candidate_units(library: Library, catalog: Catalog, recipe: EngineRecipe) -> list[Unit]:
    """Return the units of the tactics that a recipe wants built and proven beside its engine."""
    tactics = [find_tactic(catalog, name, recipe.location) for name in recipe.candidates]
    return [
        replace(unit, work=f"engines/{recipe.name}/")
        for tactic in tactics
        for unit in tactic_units(library, tactic, Root.OUT, gate=True)
    ]


def with_candidates(library: Library, plan: EnginePlan, units: Sequence[Unit]) -> EnginePlan:
    """Return the plan with the candidates' kernels and the files that they include."""
    kernels = tuple(member.instance for unit in units for member in unit.members)
    names = sorted({name for kernel in kernels for name in kernel.closure_names})
    includes = {**plan.include_by_name, **{name: library.read(name) for name in names}}
    return replace(plan, candidates=kernels, include_by_name=includes)


def recipe_units(library: Library, recipe: ObjectsRecipe, catalog: Catalog) -> list[Unit]:
    """Return one unit per artifact of a code object recipe.

    Raises ``BadInput`` for an unknown tactic, definitions that do not close it or a tactic that
    the recipe does not allow, ``EvidenceIncomplete`` for one without an ABI record.
    """
    return [
        Unit(
            name=artifact.name,
            members=tuple(
                _recipe_member(library, catalog, member, recipe.allow_experimental)
                for member in artifact.members
            ),
            work=f"recipes/{recipe.name}/",
            locked_text_sha256=artifact.locked_text_sha256,
            lock_location=artifact.lock_location,
        )
        for artifact in recipe.artifacts
    ]


def _member(
    library: Library,
    instance: KernelInstance,
    arguments: tuple[Mapping[str, Json], ...] | None,
    golden_required: bool,
) -> Member:
    tactic = tactic_id(instance.tactic)
    specialization = dict(instance.contract.specialization)
    golden = match_golden(golden_sources(library, tactic), specialization)
    if golden is None and golden_required:
        build = " with " + canonical_text(specialization).rstrip() if specialization else ""
        raise EvidenceIncomplete(
            f'"{tactic}"{build} has no golden source',
            location=instance.tactic.location,
            hint="write one and run netra golden accept, or set golden: optional",
        )
    refuse_unproven(library, instance.tactic, golden)
    stated = needed_statement(library, instance.tactic)
    return Member(instance, arguments, read_abi(library, tactic), golden, stated)


def _needed_abi(library: Library, tactic: str) -> KernelAbi:
    abi = read_abi(library, tactic)
    if abi is None:
        place = library.location(f"{ABI_FOLDER}/{tactic}.json")
        raise BadInput(f'"{tactic}" has no ABI record', location=place, hint="write it there")
    return abi


def refuse_unproven(library: Library, tactic: FixedTactic, golden: GoldenSource | None) -> None:
    """Raise unless evidence of the golden bytes supports the tactic's maturity.

    The maturities of libraries without evidence records are not checked.
    """
    if golden is not None and tactic.maturity in PROVEN and has_evidence(library):
        require_evidence(library, golden, tactic.maturity)


def _recipe_member(
    library: Library, catalog: Catalog, member: MemberRecipe, allow_experimental: bool
) -> Member:
    tactic = find_tactic(catalog, member.tactic, member.location)
    if tactic.maturity == "experiment" and not allow_experimental:
        raise BadInput(
            f'"{member.tactic}" is an experiment',
            location=member.location,
            hint="set allow_experimental: true in the recipe",
        )
    abi = _needed_abi(library, member.tactic)
    _refuse_open(tactic, member)
    instance = close_tactic(
        tactic, member.definitions, member.symbol, member.location, member.macro_symbols
    )
    golden = match_golden(golden_sources(library, member.tactic), member.definitions)
    refuse_unproven(library, tactic, golden)
    return Member(instance, _kernargs(abi), abi, golden, needed_statement(library, tactic))


def _refuse_open(tactic: FixedTactic, member: MemberRecipe) -> None:
    """Refuse definitions that do not close exactly the tactic's selectable constants."""
    allowed = dict(tactic.compile_definitions)
    ranges = {item.name: item for item in tactic.compile_ranges}
    for name in sorted({*allowed, *ranges} ^ set(member.definitions)):
        word = "undeclared" if name in member.definitions else "missing"
        hint = nearest_hint(name, {*allowed, *ranges})
        raise BadInput(f'constant "{name}" is {word}', location=member.location, hint=hint)
    for name, value in member.definitions.items():
        fits = value in allowed[name] if name in allowed else ranges[name].accepts(value)
        if not fits:
            raise BadInput(
                f'"{member.tactic}" cannot have this value of {name}',
                location=member.location,
                expected=list(allowed[name]) if name in allowed else ranges[name],
                got=value,
            )


def _kernargs(abi: KernelAbi) -> tuple[Mapping[str, Json], ...]:
    return tuple(argument.document() for argument in abi.arguments)


def _arguments_by_symbol(plan: EnginePlan) -> dict[str, tuple[Mapping[str, Json], ...]]:
    """Return the kernargs of each kernel; operations that share one must agree on the layout."""
    found: dict[str, tuple[Mapping[str, Json], ...]] = {}
    for operation in plan.operations:
        symbol = operation.selection.symbol
        if symbol is None:
            continue
        known = found.setdefault(symbol, operation.arguments)
        if _layout(known) != _layout(operation.arguments):
            raise BadInput(
                f'operations of "{symbol}" disagree on its kernargs',
                location=operation.operation.name,
                expected=_layout(known),
                got=_layout(operation.arguments),
            )
    return found


def _layout(arguments: tuple[Mapping[str, Json], ...]) -> list[tuple[Json, Json]]:
    return [(argument["kind"], argument["offset"]) for argument in arguments]
