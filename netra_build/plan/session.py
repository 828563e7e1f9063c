"""From file names to a plan: open the library, read the model, choose, and name the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from netra_build.core.digests import sha256_hex
from netra_build.core.disk import Disk, confined_path
from netra_build.core.errors import BadInput
from netra_build.formats.abi import KernelAbi, read_abi
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.catalogs.tactic import Catalog
from netra_build.formats.library import Library, open_library
from netra_build.formats.models.golden_operation import read_golden_contract
from netra_build.formats.models.model import Model, load_model
from netra_build.formats.plan import EnginePlan
from netra_build.formats.profiles import choose_profile, load_profiles
from netra_build.formats.vocabulary import TARGET
from netra_build.plan.place import attribute_fields
from netra_build.plan.plan import PlanOptions, plan_engine


@dataclass(frozen=True)
class CompileRequest:
    """What one compilation is asked to do.

    ``strict`` and ``derive_pins`` are for our own recipes: refuse more, and take the digests of
    the library as it stands instead of refusing it.
    """

    model: Path
    profile: str
    library_root: Path | None = None
    golden_root: Path | None = None
    checkpoint_hash: str | None = None
    allow_experimental: bool = False
    strict: bool = False
    derive_pins: bool = False
    placement: str = "first_use"


def plan_request(disk: Disk, request: CompileRequest, anchors: tuple[Path, ...] = ()) -> EnginePlan:
    """Return the plan of one request; the library is searched around the model and ``anchors``."""
    library = open_library(disk, request.library_root, (request.model, *anchors))
    return plan_in_library(library, request)


def plan_in_library(library: Library, request: CompileRequest) -> EnginePlan:
    """Return the plan of one request in an open library; raise ``BadInput``."""
    model = load_model(request.model, library.disk, library)
    profiles = load_profiles(library, model.tensor_parallel)
    profile = choose_profile(profiles, request.profile, str(request.model))
    catalog = load_catalog(library, derive_pins=request.derive_pins)
    if not request.derive_pins:
        catalog.require_sound()
    options = PlanOptions(
        allow_experimental=request.allow_experimental,
        checkpoint_hash=request.checkpoint_hash,
        golden=golden_objects(model, request.golden_root, library.disk),
        strict=request.strict,
        placement=request.placement,
        abi_by_tactic=kernel_abis(library, catalog) if request.strict else None,
    )
    known = [item.name for item in profiles]
    return plan_engine(model, profile, catalog, known, options)


def kernel_abis(library: Library, catalog: Catalog) -> dict[str, KernelAbi]:
    """Return the ABI record of each tactic that the library keeps one for, by full name."""
    records = {
        tactic.name: read_abi(library, tactic.name.removeprefix(f"{TARGET}."))
        for tactic in catalog.tactics
    }
    return {name: abi for name, abi in records.items() if abi is not None}


def golden_objects(model: Model, root: Path | None, disk: Disk) -> dict[str, bytes] | None:
    """Return the golden code objects that a model names, by file name; None without a root.

    Raises ``BadInput`` when one is missing or has another digest than the model states.
    """
    if root is None:
        return None
    found: dict[str, bytes] = {}
    for index, operation in enumerate(model.graph.operations):
        if operation.kind != "golden_kernel":
            continue
        fields = attribute_fields(model, index, operation).child("golden_artifact")
        contract = read_golden_contract(fields)
        name = contract.hsaco_name
        if name not in found:
            found[name] = disk.read_bytes(confined_path(root, name, str(root)))
        actual = sha256_hex(found[name])
        if actual != contract.hsaco_sha256:
            raise BadInput(
                "golden code object has another digest",
                location=str(root / name),
                expected=contract.hsaco_sha256,
                got=actual,
            )
    return found
