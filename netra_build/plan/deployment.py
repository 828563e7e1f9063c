"""Build the code objects of a published deployment recipe and compare them with their locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.notes_text import notes_text
from netra_build.asm.objects.rewrite import rewrite
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput, Refused
from netra_build.core.nearest import nearest_hint
from netra_build.formats.catalogs.tactic import Catalog, FixedTactic
from netra_build.formats.deployment import (
    UNLOCKED,
    Deployment,
    DeploymentArtifact,
    MemberRecipe,
)
from netra_build.formats.plan import KernelInstance
from netra_build.formats.vocabulary import TARGET, WAVE_SIZE
from netra_build.plan.build_objects import WORKERS
from netra_build.plan.fixed import FixedRequest, rejection_reasons
from netra_build.plan.instances import Closing, close_contract, instantiate, unit_source
from netra_build.plan.object_record import TARGET_NAME
from netra_build.stages.documents.emit_deployment import deployment_result

RESULT = "build-result.json"
ARTIFACT_SUFFIXES = (".hsaco", ".dis", ".metadata", ".text")


@dataclass(frozen=True)
class ArtifactPlan:
    """One code object to build: its instances by file stem, in the order of its members."""

    artifact: DeploymentArtifact
    instances: tuple[tuple[str, KernelInstance], ...]
    is_unlocked: bool


def plan_deployment(
    deployment: Deployment, catalog: Catalog, *, allow_unlocked: bool
) -> tuple[ArtifactPlan, ...]:
    """Return what to build; raise ``BadInput`` for a member that no tactic can meet.

    An artifact is unlocked when ``allow_unlocked`` is set, its lock is 64 zeros and all its
    members are experiments; only then may experiments be built.
    """
    return tuple(_plan_artifact(item, catalog, allow_unlocked) for item in deployment.artifacts)


def _plan_artifact(
    artifact: DeploymentArtifact, catalog: Catalog, allow_unlocked: bool
) -> ArtifactPlan:
    tactics = [_tactic(member, catalog) for member in artifact.members]
    is_unlocked = (
        allow_unlocked
        and artifact.locked_text_sha256 == UNLOCKED
        and all(tactic.maturity == "experiment" for tactic in tactics)
    )
    single = len(artifact.members) == 1
    stems = [artifact.name if single else f"{artifact.name}.{i}" for i in range(len(tactics))]
    instances = tuple(
        (stem, _instance(tactic, member, is_unlocked))
        for stem, tactic, member in zip(stems, tactics, artifact.members, strict=True)
    )
    return ArtifactPlan(artifact, instances, is_unlocked)


def _tactic(member: MemberRecipe, catalog: Catalog) -> FixedTactic:
    name = f"{TARGET}.{member.tactic}"
    for fault in catalog.faults:
        if fault.tactic == name:
            raise fault.error
    tactic = catalog.tactic_by_name.get(name)
    if tactic is None:
        known = [item.removeprefix(f"{TARGET}.") for item in catalog.tactic_by_name]
        raise BadInput(
            f'unknown tactic "{member.tactic}"',
            location=f"{member.location}/tactic",
            hint=nearest_hint(member.tactic, known),
        )
    return tactic


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
    request = FixedRequest(
        family=tactic.family,
        operation=tactic.operation,
        constants={**constants, **member.definitions},
        semantics=dict(tactic.semantics),
        grid=(1, 1, 1),
        graph_capture=tactic.graph_capture,
        deterministic=tactic.deterministic,
    )
    reasons = rejection_reasons(tactic, request, allow_experimental)
    if reasons:
        raise BadInput(
            f'cannot instantiate "{tactic.name}": {", ".join(reasons)}', location=member.location
        )
    closing = Closing(request.constants, request.grid, tactic.fallback, member.symbol)
    contract = close_contract(tactic, closing, member.location)
    return instantiate(tactic, contract, member.macro_symbols, member.location)


def build_deployment(
    deployment: Deployment, plans: Sequence[ArtifactPlan], catalog: Catalog, tools: Toolchain
) -> dict[str, bytes]:
    """Return every file of the output folder, ``build-result.json`` included.

    Raises ``Refused`` when the ``.text`` of an artifact differs from its lock, ``BadInput`` when
    a source does not assemble, ``ToolchainFailed`` when a program fails.
    """
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        built = list(pool.map(partial(_build_artifact, catalog=catalog, tools=tools), plans))
    files = {name: data for made in built for name, data in made.items()}
    files[RESULT] = deployment_result(deployment_document(deployment, plans), files)
    return files


def deployment_document(deployment: Deployment, plans: Sequence[ArtifactPlan]) -> dict[str, Json]:
    """Return what is known of ``build-result.json`` before anything is built."""
    return {
        "target": TARGET,
        "wave_size": WAVE_SIZE,
        "deployment_manifest_sha256": deployment.manifest_sha256,
        "artifacts": [
            {
                "name": plan.artifact.name,
                "members": [_member_record(stem, item) for stem, item in plan.instances],
                "locked_text_sha256": plan.artifact.locked_text_sha256,
                "locked_hsaco_sha256": plan.artifact.locked_hsaco_sha256,
                "unlocked_experiment": plan.is_unlocked,
            }
            for plan in plans
        ],
    }


def result_files(result: Mapping[str, Json]) -> list[str] | None:
    """Return the files that a ``build-result.json`` speaks of, or None for a damaged one."""
    names: list[str] = []
    try:
        for artifact in result["artifacts"]:
            names += [f"{artifact['name']}{suffix}" for suffix in ARTIFACT_SUFFIXES]
            for source in [str(member["source"]) for member in artifact["members"]]:
                names += [source, f"{PurePosixPath(source).stem}.o"]
    except (KeyError, TypeError):
        return None
    return names


def _build_artifact(plan: ArtifactPlan, *, catalog: Catalog, tools: Toolchain) -> dict[str, bytes]:
    name = plan.artifact.name
    files: dict[str, bytes] = {}
    for stem, instance in plan.instances:
        tree = {item: catalog.source_by_name[item] for item in instance.closure_names}
        source = f"generated/{stem}.s"
        files[source] = unit_source(instance)
        files[f"{stem}.o"] = tools.assemble_tree({**tree, source: files[source]}, source)
    objects = [files[f"{stem}.o"] for stem, _ in plan.instances]
    hsaco = rewrite(tools.link(objects), f"{name}.hsaco")
    code = read_code_object(hsaco, f"{name}.hsaco")
    if code.target != TARGET_NAME:
        raise BadInput(
            "code object is for another target",
            location=f"{name}.hsaco",
            expected=TARGET_NAME,
            got=code.target,
        )
    for _, instance in plan.instances:
        code.kernel(instance.symbol, f"{name}.hsaco")
    files[f"{name}.hsaco"] = hsaco
    files[f"{name}.dis"] = tools.disassemble(hsaco, label=f"{name}.hsaco").encode("utf-8")
    files[f"{name}.metadata"] = notes_text(code, f"{name}.hsaco").encode("utf-8")
    files[f"{name}.text"] = code.text
    _check_lock(plan, sha256_hex(code.text))
    return files


def _check_lock(plan: ArtifactPlan, text_sha256: str) -> None:
    artifact = plan.artifact
    if text_sha256 != artifact.locked_text_sha256 and not plan.is_unlocked:
        raise Refused(
            f'text of "{artifact.name}" differs from its lock',
            location=f"{artifact.location}/locked_text_sha256",
            expected=artifact.locked_text_sha256,
            got=text_sha256,
        )


def _member_record(stem: str, instance: KernelInstance) -> dict[str, Json]:
    return {
        "tactic": instance.tactic.name,
        "tactic_id": instance.tactic.stable_id,
        "contract_id": instance.contract.id,
        "symbol": instance.symbol,
        "source": f"generated/{stem}.s",
    }
