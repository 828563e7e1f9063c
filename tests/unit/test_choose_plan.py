"""Selection, kernargs, layouts, dependencies and strict plans: facts and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planned import plan_bytes, plan_file

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.catalogs.tactic import CatalogFault
from netra_build.formats.library import Library
from netra_build.formats.models.dense import SHUFFLED
from netra_build.plan import plan as planner
from netra_build.plan.dense import dense_reasons, scale_record, weight_steps
from netra_build.plan.documents import engine_documents, engine_files, with_engine_id

DATA = Path(__file__).resolve().parents[1] / "data/conformance"
DENSE: dict[str, Any] = {
    "m": 1,
    "n": 2048,
    "k": 4096,
    "input_dtype": "fp8_e4m3",
    "weight_dtype": "fp8_e4m3",
    "output_dtype": "bf16",
    "activation_quantization": "e4m3_per_128",
    "weight_quantization": "e4m3_128x128",
    "activation_scale_block": 128,
    "weight_scale_block": [128, 128],
    "activation_layout": "row_major_fp8_block128",
    "weight_layout": SHUFFLED,
    "output_layout": "row_major_bf16",
    "epilogue": "identity",
    "activation_scale_layout": "row_major",
    "weight_scale_layout": "row_major",
}


def small(change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return the one-kernel model after a change to its only operation's attributes."""
    model = json.loads((DATA / "negative/one-model.json").read_text())
    change(model["graph"]["operations"][0]["attributes"])
    return json.dumps(model).encode()


def refusal(data: bytes, profile: str = "p1", **options: Any) -> str:
    """Return the line that refuses a model of the small library."""
    with pytest.raises(BadInput) as caught:
        plan_bytes(DATA / "negative/library", data, profile, **options)
    return caught.value.line()


PLACE = "m.json#/graph/operations/0"
ARGUMENT = f"{PLACE}/attributes/arguments/0"
BAD_ATTRIBUTES = [
    ({"family": None, "semantics": None}, "", 'fixed kernel lacks required attributes: "family"'),
    ({"fallbak": "x"}, "", 'unknown key "fallbak"'),
    (
        {"launch_grid": [1, 1]},
        "/launch_grid",
        "launch extent has the wrong number of dimensions; expected 3, got 2",
    ),
    (
        {"launch_grid": [1.9, 1, 1]},
        "/launch_grid/0",
        "value has the wrong type; expected integer, got number",
    ),
    (
        {"launch_grid": [0, 1, 1]},
        "/launch_grid/0",
        "launch extent is out of range; expected 1 to 2147483647, got 0",
    ),
    (
        {"constants": {"ONE_VALUE": True}},
        "/constants/ONE_VALUE",
        "value has the wrong type; expected integer, got boolean",
    ),
    ({"profile_names": ["p2"]}, "/profile_names/0", 'unknown profile "p2"'),
    ({"profile_names": ["p1", "p1"]}, "/profile_names", '"p1" is listed twice'),
    ({"arguments": []}, "", "selected fixed kernel has no typed arguments"),
]


@pytest.mark.parametrize(("changes", "pointer", "fact"), BAD_ATTRIBUTES)
def test_a_bad_fixed_kernel_is_refused(changes, pointer, fact):
    def change(attributes: dict[str, Any]) -> None:
        for key, value in changes.items():
            attributes[key] = value
            if value is None:
                del attributes[key]

    assert refusal(small(change)).startswith(f"{PLACE}/attributes{pointer}: {fact}")


BAD_ARGUMENTS = [
    ({"kind": "float"}, "/kind", 'unknown word "float"', False),
    ({"kind": "u32_constant"}, "", 'required key "value" is missing', False),
    ({"source": "constant"}, "/source", 'unknown word "constant"', False),
    (
        {"source": "workspace"},
        "/source",
        "workspace argument of a kernel without a workspace",
        False,
    ),
    ({"spare": 1}, "", 'unknown key "spare"', False),
    ({"access": "peek"}, "/access", 'unknown word "peek"', True),
    ({"offset": None}, "", 'required key "offset" is missing', True),
    (
        {"offset": 4},
        "/offset",
        "kernarg offset is not aligned; expected a multiple of 8, got 4",
        True,
    ),
    ({"value": 3}, "/value", "pointer argument carries a value", True),
]


@pytest.mark.parametrize(("changes", "pointer", "fact", "is_late"), BAD_ARGUMENTS)
def test_a_bad_kernarg_is_refused_or_left_to_the_validator(changes, pointer, fact, is_late):
    def change(attributes: dict[str, Any]) -> None:
        argument = attributes["arguments"][0]
        for key, value in changes.items():
            argument[key] = value
            if value is None:
                del argument[key]

    wanted = f"{ARGUMENT}{pointer}: {fact}"
    if is_late:
        (problem,) = plan_bytes(DATA / "negative/library", small(change), "p1").problems
        assert problem.line() == wanted
    assert refusal(small(change), strict=True) == wanted


def test_kernargs_overlap_or_leave_a_gap():
    def twice(attributes: dict[str, Any]) -> None:
        attributes["arguments"].append({**attributes["arguments"][0], "name": "again"})

    def far(attributes: dict[str, Any]) -> None:
        attributes["arguments"][0]["offset"] = 8

    wanted = 'm.json#/graph/operations/0/attributes/arguments/1/offset: kernarg overlaps "out"'
    assert refusal(small(twice), strict=True) == wanted
    assert refusal(small(far), strict=True) == (
        f"{PLACE}/attributes/arguments: arguments do not fill the kernel's kernarg segment;"
        " expected 8 bytes, got 16 bytes"
    )


def test_a_checkpoint_hash_is_a_digest():
    data = small(lambda attributes: None)
    assert refusal(data, checkpoint_hash="abc") == (
        "--checkpoint-hash: checkpoint hash has the wrong form;"
        ' expected 64 lower-case hexadecimal digits, got "abc"'
    )


def test_equal_ranks_are_a_tie():
    data = (DATA / "negative/fixed-rank-tie.json").read_bytes()
    with pytest.raises(BadInput) as caught:
        plan_bytes(DATA / "library", data, "decode_rows1")
    assert str(caught.value) == (
        f'{PLACE}: tactics for "one" tie at rank 30: "gfx950.tie_left", "gfx950.tie_right"\n'
        "hint: give them different ranks in their catalog"
    )


def test_a_broken_entry_blocks_only_what_could_use_it(monkeypatch):
    catalog = load_catalog(Library(DATA / "library", RealDisk()))
    fault = CatalogFault("gfx950.bad", "vector_add", BadInput("broken", location="c.json"))
    hurt = replace(catalog, faults=(fault,))
    monkeypatch.setattr(planner, "load_catalog", lambda library, *, derive_pins: hurt)
    model = (DATA / "models/graph-min.json").read_bytes()
    assert plan_bytes(DATA / "library", model, "bounded_rows").kernels == ()
    vector = (DATA / "models/graph-vector.json").read_bytes()
    with pytest.raises(BadInput, match=r"^c.json: broken\nhint: needed by m.json#"):
        plan_bytes(DATA / "library", vector, "decode_rows1")


def test_dense_reasons_come_in_their_order():
    assert dense_reasons(DENSE, False, strict=True) == ()
    changes = {"m": 2, "n": 1, "k": 2, "epilogue": "silu"}
    other = {**DENSE, **changes, "activation_scale_layout": "transposed_blocks"}
    published = ("M mismatch", "N mismatch", "K mismatch", "epilogue mismatch")
    assert dense_reasons(other, False, strict=False) == published
    assert dense_reasons(other, False, strict=True) == (*published, "scale layout mismatch")


def test_layout_steps():
    join, shuffle = weight_steps(
        "checkpoint_split_output_row_major_fp8_block128", SHUFFLED, 3, "here"
    )
    assert join["parameters"] == {"axis": 0, "shards": 3}
    assert shuffle["transform"] == "aiter_shuffle_16x16"
    assert weight_steps("row", SHUFFLED, 1, "here") == [{**shuffle, "source_layout": "row"}]
    assert weight_steps("x", "x", 0, "here") == []
    with pytest.raises(BadInput) as caught:
        weight_steps("column_major", SHUFFLED, 1, "here")
    assert caught.value.line() == (
        f'here: no transform from weight layout "column_major" to "{SHUFFLED}"'
    )
    record = {
        "checkpoint_scale_dtype": "fp32",
        "kernel_scale_dtype": "bf16",
        "checkpoint_scale_tensors": ["a"],
        "weight_scale_block": [128, 128],
    }
    with pytest.raises(BadInput) as caught:
        scale_record("t", record, "here")
    assert caught.value.line() == "here: scales cannot be narrowed from fp32 to bf16"


def test_the_engine_id_covers_every_compiled_file():
    found = plan_file(DATA / "models/graph-min.json", "bounded_rows", DATA / "library")
    documents = engine_documents(found)
    engine = documents["engine.json"]
    assert with_engine_id(engine) == engine
    other = replace(found, layout={**found.layout, "bindings": [{"tensor": "x"}]})
    assert engine_documents(other)["engine.json"]["engine_id"] != engine["engine_id"]
    files = engine_files(found)
    assert list(files)[-1] == "engine.json"
    assert set(documents) <= set(files)


def test_planning_twice_gives_the_same_bytes():
    asked = DATA / "models/graph-vector.json", "decode_rows1", DATA / "library"
    first, second = (engine_files(plan_file(*asked)) for _ in range(2))
    assert first == second
