"""Golden code objects: selecting one, listing those of a plan, reading those of a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from netra_build.formats.vocabulary import EXECUTE_KERNEL, KIND_GOLDEN
from netra_build.plan.dataflow import operation_place

GOLDEN_REASON = "exact accepted golden HSACO contract"


@dataclass(frozen=True)
class GoldenObject:
    """A code object that a user supplies: its file name, digest and contract."""

    name: str
    wanted: Mapping[str, Json]


def golden_objects(plan: EnginePlan) -> tuple[GoldenObject, ...]:
    """Return the golden code objects that a plan names, by file name."""
    found = {}
    for operation in plan.operations:
        contract = operation.selection.contract
        if isinstance(contract, GoldenContract):
            wanted: dict[str, Json] = {
                "sha256": contract.hsaco_sha256,
                "symbol": contract.symbol,
                "kernarg_size": contract.kernarg_size,
                "lds_bytes": contract.launch.lds_bytes,
                "block": contract.launch.work_items,
            }
            found[contract.hsaco_name] = GoldenObject(contract.hsaco_name, wanted)
    return tuple(found[name] for name in sorted(found))


def select_golden(fields: Fields) -> Selection:
    """Return the selection of a golden operation: always the code object that it names."""
    fields.close(("golden_artifact",))
    contract = read_golden_contract(fields.child("golden_artifact"))
    return Selection(
        EXECUTE_KERNEL,
        contract.fallback,
        contract=contract,
        tactic=contract.tactic,
        maturity=contract.maturity,
        artifact_kind=KIND_GOLDEN,
        symbol=contract.symbol,
        candidates=(Candidate(contract.tactic, True, (GOLDEN_REASON,)),),
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
    for item in golden_objects(plan):
        location = f"{root}/{item.name}"
        data = disk.read_bytes(confined_path(root, item.name, location))
        if strict:
            check_golden_object(data, item.wanted, location)
        elif (actual := sha256_hex(data)) != item.wanted["sha256"]:
            raise BadInput(
                "golden code object has another digest",
                location=location,
                expected=item.wanted["sha256"],
                got=actual,
            )
        found[item.name] = data
    return found


def with_golden(plan: EnginePlan, data_by_name: Mapping[str, bytes]) -> EnginePlan:
    """Return the plan with the bytes of the golden code objects that are to be copied."""
    golden = [replace(a, data=data_by_name.get(a.path.rpartition("/")[2])) for a in plan.golden]
    return replace(plan, golden=tuple(golden))
