"""Strict plans: what the published compiler takes and a recipe of ours does not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planned import plan_bytes

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.library import Library
from netra_build.plan.strict import kernel_abis

DATA = Path(__file__).resolve().parents[1] / "data/conformance"
ROOT = Path(__file__).resolve().parents[2]
OWN = "manifests/gfx950/models/qwen36_moe_m1.json"


@pytest.fixture
def own() -> dict[str, Any]:
    """Return our decode model for editing."""
    return json.loads((ROOT / OWN).read_text())


def strict_refusal(model: dict[str, Any], profile: str = "decode_m1") -> str:
    """Return the line that refuses our model in a strict plan."""
    with pytest.raises(BadInput) as caught:
        plan_bytes(ROOT, json.dumps(model).encode(), profile, strict=True, allow_experimental=True)
    return caught.value.line()


def test_our_decode_model_is_planned_strictly(own):
    found = plan_bytes(
        ROOT, json.dumps(own).encode(), "decode_m1", strict=True, allow_experimental=True
    )
    assert [kernel.tactic.operation for kernel in found.kernels] == [
        "moe_down_reduce",
        "moe_gate_up",
        "moe_silu_quant",
    ]
    assert found.memory.workspace_bytes == 0
    assert found.depends_on[:3] == ((), (0,), (1,))
    assert found.problems == ()


def attributes(model: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the attributes of one operation of a model."""
    found: dict[str, Any] = model["graph"]["operations"][index]["attributes"]
    return found


def tensor(name: str, **changes: Any) -> Callable[[dict[str, Any]], None]:
    def edit(model: dict[str, Any]) -> None:
        for item in model["graph"]["tensors"]:
            if item["name"] == name:
                item.update(changes)

    return edit


def grid(model: dict[str, Any]) -> None:
    attributes(model, 0)["launch_grid"] = [575, 1, 1]


def two_rows(model: dict[str, Any]) -> None:
    attributes(model, 0)["launch_grid"] = [576, 2, 1]


def lds(model: dict[str, Any]) -> None:
    attributes(model, 2)["dynamic_lds_bytes"] = 99999


def unused(model: dict[str, Any]) -> None:
    del attributes(model, 0)["arguments"][0]["tensor"]


def reversed_access(model: dict[str, Any]) -> None:
    attributes(model, 0)["arguments"][0]["access"] = "write"


def everywhere(model: dict[str, Any]) -> None:
    for index in range(3):
        attributes(model, index)["profile_names"] = []


PLACE = "m.json#/graph/operations"
WEAK_MODELS: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    (
        "shape",
        tensor("hidden", shape=[7, 3]),
        f'{PLACE}/0: shape of tensor "hidden" differs from the kernel\'s ABI;'
        " expected [7, 2048], got [7, 3]",
    ),
    (
        "dtype",
        tensor("hidden", dtype="fp16"),
        f'{PLACE}/0: data type of tensor "hidden" differs from the kernel\'s ABI;'
        " expected fp8_e4m3, got fp16",
    ),
    (
        "layout",
        tensor("w13", layout="row_major"),
        f'{PLACE}/0: layout of tensor "w13" differs from the kernel\'s ABI;'
        " expected aiter_expert_n16k16, got row_major",
    ),
    (
        "grid",
        grid,
        f"{PLACE}/0: grid x differs from the kernel's ABI; expected 576, got 575",
    ),
    (
        "rows of the grid",
        two_rows,
        f"{PLACE}/0: grid y differs from the kernel's ABI; expected 1, got 2",
    ),
    (
        "dynamic LDS",
        lds,
        f"{PLACE}/2: dynamic LDS differs from the kernel's; expected 0, got 99999",
    ),
    (
        "unused input",
        unused,
        f'{PLACE}/0: tensor "hidden" is bound but no argument uses it',
    ),
    (
        "access",
        reversed_access,
        f'{PLACE}/0: argument writes tensor "hidden", which is no output',
    ),
    (
        "another profile",
        everywhere,
        f"{PLACE}/0: kernel is built for another m than the profile's; expected 8, got 1",
    ),
]
"""Name, edit and the strict plan's answer for models that the published compiler takes."""


@pytest.mark.parametrize(
    ("name", "edit", "wanted"), WEAK_MODELS, ids=[row[0] for row in WEAK_MODELS]
)
def test_a_strict_plan_refuses_what_the_published_compiler_takes(own, name, edit, wanted):
    edit(own)
    profile = "verify_m8" if name == "another profile" else "decode_m1"
    lenient = plan_bytes(ROOT, json.dumps(own).encode(), profile, allow_experimental=True)
    assert len(lenient.kernels) == 3
    assert strict_refusal(own, profile) == wanted


ROWS = {
    "verify_rows8": 'kernel depends on "batch", which profile "verify_rows8" does not fix',
    "exact_rows64_batch4": (
        'kernel is built for other rows than profile "exact_rows64_batch4" has; expected 256, got 4'
    ),
}


@pytest.mark.parametrize("profile", ROWS)
def test_strict_rows_fit_the_profile(profile):
    """A kernel for so many rows is wrong for a launch of fewer, unless it masks them."""
    library = Library(DATA / "library", RealDisk())
    model = json.loads((DATA / "models/qwen-synthetic.json").read_text())
    model["dense_operations"] = model["dense_operations"][:1]
    for operation in model["fixed_operation_templates"]:
        operation["profile_names"] = ["verify_rows8", "exact_rows64_batch4"]
    with pytest.raises(BadInput) as caught:
        plan_bytes(library.root, json.dumps(model).encode(), profile, strict=True)
    assert caught.value.fact in ROWS[profile]
    assert caught.value.line().endswith(ROWS[profile])


def batched(size: int) -> Callable[[Path], bytes]:
    """Return a maker of a library whose kernel's grid is the batch, and of a model for it."""

    def make(folder: Path) -> bytes:
        shutil.copytree(ROOT / "tests/data/plugin/library", folder)
        shutil.copytree(ROOT / "schemas", folder / "schemas")
        model = json.loads((folder / "manifests/gfx950/models/pair.json").read_text())
        graph = model["graph"]
        del graph["operations"][1], graph["outputs"][1], graph["tensors"][1]
        graph["operations"][0]["attributes"]["launch_grid"] = [size, 1, 1]
        return json.dumps(model).encode()

    return make


def set_key(path: Path, key: str, value: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))


@pytest.mark.parametrize(
    ("name", "size", "lowest", "is_masked", "wanted"),
    [
        ("batch", 4, 1, False, 'kernel depends on "batch", which profile "one" does not fix'),
        ("rows", 4, 1, False, 'kernel depends on "batch", which profile "one" does not fix'),
        ("batch", 4, 4, False, None),
        ("rows", 4, 4, False, None),
        ("batch", 4, 1, True, None),
        ("batch", 3, 1, True, 'grid is for another "batch" than profile "one" has'),
        ("rows", 2, 4, False, 'grid is for another "rows" than profile "one" has'),
        ("other", 2, 1, False, None),
    ],
)
def test_a_grid_of_the_batch_needs_a_profile_that_fixes_it(
    name, size, lowest, is_masked, wanted, tmp_path
):
    folder = tmp_path / "library"
    data = batched(size)(folder)
    profile = folder / "manifests/gfx950/profiles/one.json"
    guards = json.loads(profile.read_text())["guards"]
    set_key(profile, "guards", {**guards, "batch": {"min": lowest, "max": 4}})
    record = folder / "manifests/gfx950/contracts/fill_a.json"
    set_key(record, "grid", [name, 1, 1])
    if is_masked:
        set_key(record, "masked_grid", True)
    if wanted is None:
        assert len(plan_bytes(folder, data, "one", strict=True).kernels) == 1
        return
    with pytest.raises(BadInput) as caught:
        plan_bytes(folder, data, "one", strict=True)
    assert caught.value.fact == wanted
    assert caught.value.location == "m.json#/graph/operations/0"


def test_every_tactic_of_ours_has_an_abi_record():
    """Strict plans compare shapes, layouts and grids where there is one, and only there."""
    library = Library(ROOT, RealDisk())
    catalog = load_catalog(library, derive_pins=True)
    assert catalog.faults == ()
    assert set(kernel_abis(library, catalog)) == {tactic.name for tactic in catalog.tactics}


def test_strict_contracts_have_one_record():
    data = (DATA / "models/graph-vector.json").read_bytes()
    with pytest.raises(BadInput) as caught:
        plan_bytes(DATA / "library", data, "decode_rows1", strict=True)
    assert caught.value.line() == (
        'm.json#/graph/operations/7: contract "nk_2a3663e3155fc1222081cfa4" has two records,'
        ' the other one for "stage"'
    )
