"""Model descriptions: graph rules, frontends and schemas, each refusal with its whole message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.models.graph import read_graph
from netra_build.formats.models.model import read_model_bytes

DATA = Path(__file__).resolve().parents[1] / "data/conformance"
OPEN = Library(DATA / "negative/library", RealDisk())
ROOT = Path(__file__).resolve().parents[2]


def tensor(name: str, role: str = "temporary", **other: Any) -> dict[str, Any]:
    """Return a small tensor object."""
    shape = {"shape": [4], "dtype": "fp32", "layout": "row_major"}
    kept = {"persistent": True} if role in ("weight", "state") else {}
    return {"name": name, "role": role, **shape, **kept, **other}


def operation(name: str, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    """Return a small operation object."""
    return {"name": name, "kind": "custom", "inputs": inputs, "outputs": outputs}


def graph(**changes: Any) -> dict[str, Any]:
    """Return a sound graph: i -> a -> t, view v of t, w -> b -> o, s kept."""
    value = {
        "format": "netra-ir-1",
        "name": "g",
        "tensors": [
            tensor("i", "input"),
            tensor("w", "weight"),
            tensor("s", "state"),
            tensor("t"),
            tensor("v", alias_of="t"),
            tensor("o", "output"),
        ],
        "operations": [operation("a", ["i", "s"], ["t"]), operation("b", ["v", "w"], ["o", "s"])],
        "inputs": ["i"],
        "outputs": ["o"],
        "state": ["s"],
    }
    return {**value, **changes}


def with_tensor(index: int, **changes: Any) -> dict[str, Any]:
    """Return the sound graph with one tensor changed."""
    value = graph()
    value["tensors"][index].update(changes)
    return value


def test_a_sound_graph_is_read_and_written_back():
    document = graph()
    again = read_graph(Fields(document, "g.json")).document()
    assert read_graph(Fields(again, "g.json")).document() == again
    assert [item["name"] for item in again["tensors"]] == ["i", "w", "s", "t", "v", "o"]
    assert again["operations"][0]["attributes"] == {}


BAD_GRAPHS = [
    (graph(format="netra-ir-2"), "#/format: graph has an unknown format;"),
    (graph(spare=1), ': unknown key "spare"'),
    (with_tensor(0, spare=1), '#/tensors/0: unknown key "spare"'),
    (with_tensor(0, shape=[]), "#/tensors/0/shape: shape has no dimension"),
    (
        with_tensor(0, shape=[4, True]),
        "#/tensors/0/shape/1: dimension is neither a positive integer nor a name",
    ),
    (
        with_tensor(0, shape=[0]),
        "#/tensors/0/shape/0: dimension is neither a positive integer nor a name",
    ),
    (with_tensor(0, dtype="fp64"), '#/tensors/0/dtype: unknown word "fp64"'),
    (with_tensor(3, name="i"), ': two tensors are named "i"'),
    (with_tensor(4, alias_of="v"), ': tensor "v" is an alias of itself'),
    (with_tensor(4, alias_of="x"), ': tensor "v" is an alias of the unknown tensor "x"'),
    (
        with_tensor(4, alias_of="i"),
        ': tensor "v" is an alias, which only temporary tensors may be',
    ),
    (with_tensor(3, persistent=True), ': tensor "v" has the illegal alias target "t"'),
    (
        with_tensor(4, layout="other"),
        ': tensor "v" changes the data type or layout of its alias target',
    ),
    (
        graph(operations=[operation("a", ["x"], [])]),
        ': operation "a" uses the unknown tensor "x"',
    ),
    (
        graph(operations=[operation("a", [], []), operation("a", [], [])]),
        ': two operations are named "a"',
    ),
    (graph(inputs=["x"]), ': graph input "x" is not a tensor'),
    (graph(inputs=["i", "i"]), ': graph input "i" is listed twice'),
    (graph(outputs=["t"]), ': graph output "t" has the role "temporary"'),
    (with_tensor(2, persistent=False), ': graph state "s" is not persistent'),
    (
        graph(operations=[operation("a", ["v", "t", "o"], [])]),
        ': operation "a" consumes tensors before production: "o", "t", "v"',
    ),
    (
        graph(operations=[operation("a", [], ["v"])]),
        ': operation "a" cannot produce the alias "v" on its own',
    ),
    (
        graph(operations=[operation("a", [], ["w"])]),
        ': operation "a" cannot produce the weight tensor "w"',
    ),
    (
        graph(operations=[operation("a", [], ["t"]), operation("b", [], ["t"])]),
        ': tensor "t" has two producers: "a" and "b"',
    ),
    (graph(operations=[]), ': graph outputs are never produced: "o"'),
]


@pytest.mark.parametrize(("value", "wanted"), BAD_GRAPHS, ids=[text for _, text in BAD_GRAPHS])
def test_a_bad_graph_is_refused(value, wanted):
    with pytest.raises(BadInput) as caught:
        read_graph(Fields(value, "g.json"))
    line = caught.value.line()
    assert line == f"g.json{wanted}" or (
        wanted.endswith(";") and line.startswith(f"g.json{wanted}")
    )


def model(**changes: Any) -> bytes:
    """Return the bytes of a model description with a sound graph."""
    value = {
        "format": "netra-model-1",
        "name": "m",
        "family": "x",
        "configuration": {},
        "graph": graph(),
        **changes,
    }
    return json.dumps({key: item for key, item in value.items() if item is not None}).encode()


BAD_MODELS = [
    (
        model(format="x"),
        '#/format: model description has an unknown format; expected "netra-model-1", got "x"',
    ),
    (model(spare=1), ': unknown key "spare"'),
    (
        model(dense_operations=[{"name": "d", "n": 1, "k": 1}]),
        '#/dense_operations: "dense_operations" stands beside a graph, which would hide it',
    ),
    (model(graph=None), '#/family: model family "x" has no frontend'),
    (
        model(configuration={"tensor_parallel": 0}),
        "#/configuration/tensor_parallel: number is out of range; expected 1 to 2147483647, got 0",
    ),
    (b"[]", ": document is not an object"),
    (b'{"a": 1, "a": 2}', ': key "a" appears twice in one object'),
    (b"\xff", ": not valid UTF-8 at byte 0"),
]


@pytest.mark.parametrize(("data", "tail"), BAD_MODELS, ids=[tail for _, tail in BAD_MODELS])
def test_a_bad_model_is_refused(data, tail):
    with pytest.raises(BadInput) as caught:
        read_model_bytes(data, "m.json", OPEN)
    assert caught.value.line() == f"m.json{tail}"


def edited(name: str, pointer: str, value: Any) -> bytes:
    """Return one of the synthetic models with one value set, or deleted with None."""
    document = json.loads((DATA / "models" / f"{name}.json").read_text())
    *parents, last = [part for part in pointer.split("/") if part]
    node = document
    for part in parents:
        node = node[int(part)] if isinstance(node, list) else node[part]
    key: Any = int(last) if isinstance(node, list) else last
    if value is None:
        del node[key]
    else:
        node[key] = value
    return json.dumps(document).encode()


ARTIFACT = "/golden_operations/0/golden_artifact"
TEMPLATE = "/fixed_operation_templates/0"
BAD_FRONTENDS = [
    (
        "qwen-synthetic",
        "/dense_operations/0/n",
        2000,
        "#/dense_operations/0: n = 2000 is not divisible by its weight scale block 128",
    ),
    (
        "qwen-synthetic",
        "/dense_operations/3/checkpoint_tensors/1",
        "split.q",
        '#/dense_operations/3/checkpoint_tensors: "split.q" is listed twice',
    ),
    (
        "qwen-synthetic",
        "/layer_dense_operations/0/name",
        "plain",
        '#/layer_dense_operations/0/name: layer template lacks "{layer}"',
    ),
    (
        "qwen-synthetic",
        "/configuration/layer_types/0",
        "other",
        "#/configuration/layer_types: layer operations need a list of layer types;"
        ' expected "linear_attention" or "full_attention", got another value',
    ),
    (
        "qwen-synthetic",
        "/configuration/layers",
        4,
        "#/configuration/layers: layer count differs from the layer types; expected 3, got 4",
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/hsaco_name",
        "../x.hsaco",
        f'#{ARTIFACT}/hsaco_name: path "../x.hsaco" leaves its root',
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/hsaco_name",
        "a/x.hsaco",
        f'#{ARTIFACT}/hsaco_name: code object name "a/x.hsaco" is not a plain file name',
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/kernarg_size",
        32,
        f"#{ARTIFACT}/kernarg_size: kernarg size differs from its arguments; expected 24, got 32",
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/maturity",
        "verified",
        f"#{ARTIFACT}/maturity: golden code object is not accepted;"
        ' expected "accepted", got "verified"',
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/target",
        "gfx942",
        f"#{ARTIFACT}: golden code object is for another target;"
        " expected gfx950 with wave size 64, got gfx942 with wave size 64",
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/launch/block",
        None,
        f'#{ARTIFACT}/launch: required key "block" is missing',
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/launch/block/0",
        2048,
        f"#{ARTIFACT}/launch/block: work-group is too large;"
        " expected at most 1024 work-items, got 2048",
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/arguments/2/value",
        2**32,
        f"#{ARTIFACT}/arguments/2/value: number is out of range;"
        " expected 0 to 4294967295, got 4294967296",
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/arguments/1/name",
        "x",
        f'#{ARTIFACT}/arguments: two arguments are named "x"',
    ),
    (
        "qwen-synthetic",
        f"{ARTIFACT}/arguments/0/tensor",
        None,
        f'#{ARTIFACT}/arguments/0: pointer argument "x" names no tensor',
    ),
    (
        "qwen-synthetic",
        f"{TEMPLATE}/rows/1",
        4,
        f"#{TEMPLATE}/rows: row counts are not a sorted list without repetition",
    ),
    (
        "qwen-synthetic",
        f"{TEMPLATE}/rows/0",
        6,
        f"#{TEMPLATE}/rows: row count 6 is not divisible by 4",
    ),
    (
        "qwen-synthetic",
        f"{TEMPLATE}/launch_grid/0",
        "columns",
        f'#{TEMPLATE}/launch_grid/0: unknown word "columns"',
    ),
    (
        "qwen-synthetic",
        f"{TEMPLATE}/constants/NETRA_ROWS",
        4,
        f'#{TEMPLATE}/constants/NETRA_ROWS: "NETRA_ROWS" is set by the expansion of rows',
    ),
    (
        "qwen-synthetic",
        f"{TEMPLATE}/arguments/2/value",
        "rows_div_48",
        f"#{TEMPLATE}/arguments/2/value: row count 4 is not divisible by 48",
    ),
    (
        "qwen-synthetic",
        "/fallback_operations/0/external_status",
        "unknown",
        '#/fallback_operations/0/external_status: unknown word "unknown"',
    ),
    (
        "gemma-synthetic",
        "/configuration/activation",
        "gelu",
        "#/configuration/activation: activation is not supported by the gemma family;"
        ' expected "gated_silu", got "gelu"',
    ),
    (
        "gemma-synthetic",
        "/configuration/output_layout",
        None,
        '#/configuration: the gemma family needs explicit fields: "output_layout"',
    ),
    (
        "gemma-synthetic",
        "/configuration/activation_scale_block",
        96,
        "#/configuration: activation scale block 96 does not divide both sizes;"
        " expected a divisor of 256 and 640, got 96",
    ),
]


@pytest.mark.parametrize(
    ("name", "pointer", "value", "tail"), BAD_FRONTENDS, ids=[row[3] for row in BAD_FRONTENDS]
)
def test_a_frontend_refuses(name, pointer, value, tail):
    with pytest.raises(BadInput) as caught:
        read_model_bytes(edited(name, pointer, value), "m.json", OPEN)
    assert caught.value.line() == f"m.json{tail}"


@pytest.mark.parametrize("name", ["qwen36_moe_m1", "qwen36_moe_m1_golden"])
def test_our_models_are_read(name):
    library = Library(ROOT, RealDisk())
    path = f"manifests/gfx950/models/{name}.json"
    found = read_model_bytes(library.read(path), path, library)
    assert len(found.graph.operations) == 11
    assert found.graph.outputs == ("output",)
