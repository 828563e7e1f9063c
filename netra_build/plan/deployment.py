"""The units of a published deployment recipe, and the part of its result that is planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from netra_build.build.graph.actions import Root
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.build_recipe import ArtifactRecipe, MemberRecipe
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.catalogs.tactic import Catalog, FixedTactic
from netra_build.formats.deployment import UNLOCKED, Deployment, read_deployment
from netra_build.formats.library import Library
from netra_build.formats.plan import KernelInstance
from netra_build.formats.vocabulary import TARGET, WAVE_SIZE
from netra_build.plan.fixed import constant_reasons, maturity_reasons
from netra_build.plan.instances import close_tactic, find_tactic
from netra_build.plan.units import (
    PUBLISHED_SUFFIXES,
    Member,
    PublishedUnit,
    Unit,
    code_leaders,
)


def read_units(
    library: Library, asked: str, allow_unlocked: bool, strict: bool, *, is_apart: bool = False
) -> tuple[str, Json, list[Unit]]:
    """Return name, planned result and units of a published deployment recipe.

    With ``is_apart`` all files of the units are intermediate, apart from those of its product.
    """
    deployment = read_deployment(library.disk.read_bytes(Path(asked)), asked)
    catalog, name = load_catalog(library), Path(asked).stem
    wanted = {"allow_unlocked": allow_unlocked, "strict": strict}
    units = deployment_units(name, deployment, catalog, **wanted)
    if is_apart:
        place = f"deployments/{name}/checked/"
        units = [replace(unit, home=Root.WORK, prefix=place, work=place) for unit in units]
    return name, deployment_document(deployment, units), with_leaders(units, library)


def with_leaders(units: Sequence[Unit], library: Library) -> list[Unit]:
    """Return the units; one kernel alone reuses the object of an earlier one of equal code."""
    alone = [unit for unit in units if len(unit.members) == 1]
    kernels = [unit.members[0].instance for unit in alone]
    names = {name for kernel in kernels for name in kernel.closure_names}
    leaders = code_leaders(kernels, {name: library.read(name) for name in names})
    pairs = zip(alone, leaders, strict=True)
    leader = {unit.name: alone[n] for unit, n in pairs if alone[n] is not unit}
    return [replace(unit, leader=leader.get(unit.name)) for unit in units]


def deployment_units(
    name: str,
    deployment: Deployment,
    catalog: Catalog,
    *,
    allow_unlocked: bool,
    strict: bool = False,
) -> list[Unit]:
    """Return one unit per artifact of the deployment recipe called ``name``.

    An artifact is unlocked when ``allow_unlocked`` is set, its lock is 64 zeros and all its
    members are experiments; only then may experiments be built. Raises ``BadInput`` for a
    member that no tactic can meet.
    """
    units = [_unit(name, item, catalog, allow_unlocked) for item in deployment.artifacts]
    return [replace(unit, refuses_findings=strict) for unit in units]


def _unit(name: str, artifact: ArtifactRecipe, catalog: Catalog, allow_unlocked: bool) -> Unit:
    tactics = [find_tactic(catalog, m.tactic, f"{m.location}/tactic") for m in artifact.members]
    is_unlocked = (
        allow_unlocked
        and artifact.locked_text_sha256 == UNLOCKED
        and all(tactic.maturity == "experiment" for tactic in tactics)
    )
    pairs = zip(tactics, artifact.members, strict=True)
    instances = [_instance(tactic, member, is_unlocked) for tactic, member in pairs]
    return PublishedUnit(
        name=artifact.name,
        members=tuple(Member(instance, None, None, None) for instance in instances),
        work=f"deployments/{name}/",
        locked_text_sha256=None if is_unlocked else artifact.locked_text_sha256,
        lock_location=artifact.lock_location,
    )


def _instance(
    tactic: FixedTactic, member: MemberRecipe, allow_experimental: bool
) -> KernelInstance:
    constants = {name: values[0] for name, values in tactic.contract_constants}
    both = sorted(constants.keys() & member.definitions.keys())
    if both:
        raise BadInput(
            f'constant "{both[0]}" is fixed by the tactic',
            location=f"{member.location}/definitions/{both[0]}",
        )
    constants |= member.definitions
    reasons = maturity_reasons(tactic.maturity, allow_experimental)
    reasons += constant_reasons(tactic, constants)
    if reasons:
        raise BadInput(
            f'cannot instantiate "{tactic.name}": {", ".join(reasons)}', location=member.location
        )
    return close_tactic(tactic, constants, member.symbol, member.location, member.macro_symbols)


def deployment_document(deployment: Deployment, units: Sequence[Unit]) -> dict[str, Json]:
    """Return the planned part of ``build-result.json``."""
    return {
        "target": TARGET,
        "wave_size": WAVE_SIZE,
        "deployment_manifest_sha256": deployment.manifest_sha256,
        "artifacts": [
            {
                "name": artifact.name,
                "members": unit.member_records(),
                "locked_text_sha256": artifact.locked_text_sha256,
                "locked_hsaco_sha256": artifact.locked_hsaco_sha256,
                "unlocked_experiment": unit.locked_text_sha256 is None,
            }
            for artifact, unit in zip(deployment.artifacts, units, strict=True)
        ],
    }


def result_files(result: Mapping[str, Json]) -> list[str] | None:
    """Return the files that a ``build-result.json`` lists, or None for a damaged one."""
    names: list[str] = []
    suffixes = (".hsaco", *PUBLISHED_SUFFIXES.values())
    try:
        for artifact in result["artifacts"]:
            names += [f"{artifact['name']}{suffix}" for suffix in suffixes]
            for source in [str(member["source"]) for member in artifact["members"]]:
                names += [source, f"{PurePosixPath(source).stem}.o"]
    except (KeyError, TypeError):
        return None
    return names
