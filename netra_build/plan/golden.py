"""Golden code objects: selecting one, listing those of a plan, reading those of a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from netra_build.core.canonical_json import Json
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import Disk, confined_path
from netra_build.core.errors import BadInput
from netra_build.formats.contracts import GoldenContract
from netra_build.formats.fields import Fields
from netra_build.formats.models.golden_operation import read_golden_contract
from netra_build.formats.models.model import Model
from netra_build.formats.plan import Candidate, EnginePlan, GoldenArtifact, OperationPlan, Selection
from netra_build.formats.vocabulary import EXECUTE_KERNEL
from netra_build.plan.dataflow import Argument, operation_place

GOLDEN_REASON = "exact accepted golden HSACO contract"


OWN_KEYS = ("tensor", "runtime_storage")
"""What an argument of a golden kernel says for the planner alone."""


def golden_objects(plan: EnginePlan) -> dict[str, dict[str, Json]]:
    """Return what is wanted of each golden code object that a plan names, by file name."""
    found = {}
    for operation in plan.operations:
        contract = operation.selection.contract
        if isinstance(contract, GoldenContract):
            found[contract.hsaco_name] = {
                "sha256": contract.hsaco_sha256,
                "symbol": contract.symbol,
                "kernarg_size": contract.kernarg_size,
                "lds_bytes": contract.launch.lds_bytes,
                "block": contract.launch.work_items,
            }
    return dict(sorted(found.items()))


def golden_arguments(artifact: Fields, offset_by_tensor: Mapping[str, int]) -> tuple[Argument, ...]:
    """Return the kernargs of a golden kernel; planned temporaries point into the workspace."""
    resolved = []
    for item in artifact.objects("arguments"):
        record = {key: value for key, value in item.value.items() if key not in OWN_KEYS}
        if item.text("kind") == "pointer":
            tensor = item.child("tensor")
            name = tensor.text("name", item.text("name"))
            offset = offset_by_tensor.get(name)
            record["source"] = "binding" if offset is None else "workspace"
            if offset is not None:
                record["workspace_offset"] = offset
        resolved.append(record)
    return tuple(resolved)


def select_golden(fields: Fields) -> Selection:
    """Return the selection of a golden operation: always the code object that it names."""
    fields.close(("golden_artifact",))
    contract = read_golden_contract(fields.child("golden_artifact"))
    return Selection(
        EXECUTE_KERNEL,
        contract.fallback,
        (Candidate(contract.tactic, True, (GOLDEN_REASON,)),),
        contract,
        contract.tactic,
    )


def golden_artifacts(
    operations: Sequence[OperationPlan], model: Model
) -> tuple[GoldenArtifact, ...]:
    """Return the golden code objects by path; one path may have one digest only."""
    found: dict[str, GoldenArtifact] = {}
    for plan in operations:
        contract = plan.selection.contract
        if not isinstance(contract, GoldenContract):
            continue
        artifact = GoldenArtifact(contract.hsaco_path, contract.hsaco_sha256)
        if found.setdefault(artifact.path, artifact).sha256 != artifact.sha256:
            raise BadInput(
                f'code object "{contract.hsaco_name}" is named with two digests',
                location=operation_place(model, plan.index, plan.operation),
            )
    return tuple(found[path] for path in sorted(found))


def read_golden(plan: EnginePlan, root: Path, disk: Disk, *, strict: bool) -> dict[str, bytes]:
    """Return the golden code objects of a plan by file name, read from the folder ``root``.

    Raises ``BadInput`` when one is missing or has another digest than the model states; with
    ``strict``, ``Refused`` for one whose bytes or metadata differ.
    """
    from netra_build.stages.golden import check_golden_object  # reads code objects: seldom needed

    found = {}
    for name, wanted in golden_objects(plan).items():
        location = f"{root}/{name}"
        data = disk.read_bytes(confined_path(root, name, location))
        if strict:
            check_golden_object(data, wanted, location)
        elif (actual := sha256_hex(data)) != wanted["sha256"]:
            raise BadInput(
                "golden code object has another digest",
                location=location,
                expected=wanted["sha256"],
                got=actual,
            )
        found[name] = data
    return found


def with_golden(plan: EnginePlan, data_by_name: Mapping[str, bytes]) -> EnginePlan:
    """Return the plan with the bytes of the golden code objects that are to be copied."""
    golden = [a._replace(data=data_by_name.get(a.path.rpartition("/")[2])) for a in plan.golden]
    return replace(plan, golden=tuple(golden))
