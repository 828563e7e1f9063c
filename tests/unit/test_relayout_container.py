"""The safetensors container: held to its library in both directions, and damaged files."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from netra_build.core.disk import write_pieces
from netra_build.core.errors import BadInput
from netra_build.tensors.byte_source import file_source
from netra_build.tensors.tensor_file import (
    BITS_BY_DTYPE,
    NewTensor,
    is_same_file,
    opened_tensors,
    tensor_file_pieces,
)

LIBRARY_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "float8_e5m2": "F8_E5M2",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e8m0fnu": "F8_E8M0",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "int16": "I16",
    "uint16": "U16",
    "float16": "F16",
    "bfloat16": "BF16",
    "int32": "I32",
    "uint32": "U32",
    "float32": "F32",
    "int64": "I64",
    "uint64": "U64",
    "float64": "F64",
    "complex64": "C64",
}
"""The library's constructor name of a data type to the container's."""


def written(*tensors: NewTensor) -> bytes:
    return b"".join(tensor_file_pieces(tensors))


def read(path: Path, data: bytes) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    path.write_bytes(data)
    with opened_tensors(path) as tensors:
        return {
            name: (t.dtype, t.shape, t.source.read(0, t.source.size_bytes))
            for name, t in tensors.items()
        }


def by_library(tensors: dict[str, tuple[str, tuple[int, ...], bytes]]) -> bytes:
    """Return what the library writes for tensors given by its own data type names."""
    held, specs = [], {}
    for name, (dtype, shape, data) in tensors.items():
        held.append(ctypes.create_string_buffer(data, max(1, len(data))))
        specs[name] = safetensors.TensorSpec(
            dtype=dtype, shape=shape, data_ptr=ctypes.addressof(held[-1]), data_len=len(data)
        )
    return safetensors.serialize(specs)


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).filter(
    lambda name: name != "__metadata__"
)
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@given(
    wanted=st.dictionaries(
        NAMES, st.tuples(st.sampled_from(sorted(LIBRARY_NAMES)), SHAPES), max_size=6
    ),
    seed=st.randoms(use_true_random=False),
)
def test_the_library_writes_the_same_bytes_and_we_read_them(tmp_path_factory, wanted, seed):
    ours, theirs, expected = [], {}, {}
    for name, (library_name, shape) in wanted.items():
        dtype = LIBRARY_NAMES[library_name]
        data = seed.randbytes(int(np.prod(shape, dtype=int)) * BITS_BY_DTYPE[dtype] // 8)
        ours.append(NewTensor(name, dtype, shape, [data[:3], data[3:]]))
        theirs[name] = (library_name, shape, data)
        expected[name] = (dtype, shape, data)
    made = written(*ours)
    assert made == by_library(theirs)
    assert read(tmp_path_factory.getbasetemp() / "any.safetensors", made) == expected


def test_a_file_of_numpy_is_read(tmp_path):
    arrays = {"a.b": np.arange(6, dtype=np.float32).reshape(2, 3), "c": np.array(7, np.int64)}
    made = safetensors.numpy.save(arrays, metadata={"format": "np"})
    assert read(tmp_path / "x", made) == {
        "a.b": ("F32", (2, 3), arrays["a.b"].tobytes()),
        "c": ("I64", (), arrays["c"].tobytes()),
    }


def test_every_data_type_has_a_place_in_the_file():
    tensors = [
        NewTensor(dtype, dtype, (8,), [bytes(bits)]) for dtype, bits in BITS_BY_DTYPE.items()
    ]
    header = written(*tensors)
    size = int.from_bytes(header[:8], "little")
    assert set(json.loads(header[8 : 8 + size])) == set(BITS_BY_DTYPE)


def container(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(start: int, end: int, **changes: object) -> dict[str, object]:
    size = end - start
    return {"dtype": "U8", "shape": [size], "data_offsets": [start, end], **changes}


KEYS = 'header entry does not hold exactly "data_offsets", "dtype", "shape"'
DAMAGED = {
    "empty": (b"", "X: file is no safetensors file: it is cut short"),
    "seven bytes": (b"1234567", "X: file is no safetensors file: it is cut short"),
    "huge header": (
        (2**63 + 5).to_bytes(8, "little") + b"{}",
        "X: header is too large; expected at most 67108864 bytes, got 9223372036854775813",
    ),
    "cut header": (
        (64).to_bytes(8, "little") + b"{}",
        "X: header is cut short; expected 64 bytes, got 2",
    ),
    "no header": (container(b""), "X: header is no JSON object"),
    "list": (container([]), "X: header is no JSON object"),
    "blank first": (container(b" {}"), "X: header is no JSON object"),
    "no JSON": (
        container(b"{nonsense}"),
        "X (header):1:2: not valid JSON: expecting property name enclosed in double quotes",
    ),
    "twice": (
        container(b'{"a":1,"a":1}'),
        'X (header): key "a" appears twice in one object',
    ),
    "not UTF-8": (container(b'{"\xff":1}'), "X (header): not valid UTF-8 at byte 2"),
    "deep": (
        container(b'{"a":' + b"[" * 300 + b"]" * 300 + b"}"),
        "X (header): nesting is deeper than 200 levels",
    ),
    "number": (container({"a": 1}), f'X: tensor "a": {KEYS}'),
    "unknown key": (container({"a": entry(0, 1, x=1)}, b"x"), f'X: tensor "a": {KEYS}'),
    "data type": (
        container({"a": entry(0, 1, dtype="F8_E4M")}, b"x"),
        'X: tensor "a": unknown data type "F8_E4M"\nhint: did you mean "F8_E4M3"?',
    ),
    "data type is a number": (
        container({"a": entry(0, 1, dtype=8)}, b"x"),
        'X: tensor "a": unknown data type of type int',
    ),
    "shape is a word": (
        container({"a": entry(0, 1, shape="1")}, b"x"),
        'X: tensor "a": shape is no list of natural numbers',
    ),
    "shape of a boolean": (
        container({"a": entry(0, 1, shape=[True])}, b"x"),
        'X: tensor "a": shape is no list of natural numbers',
    ),
    "negative shape": (
        container({"a": entry(0, 1, shape=[-1, -1])}, b"x"),
        'X: tensor "a": shape is no list of natural numbers',
    ),
    "too many dimensions": (
        container({"a": entry(0, 1, shape=[1] * 33)}, b"x"),
        'X: tensor "a": shape is no list of natural numbers',
    ),
    "backwards": (
        container({"a": entry(0, 1, data_offsets=[1, 0])}, b"x"),
        'X: tensor "a": data offsets are no pair of ascending numbers',
    ),
    "three offsets": (
        container({"a": entry(0, 1, data_offsets=[0, 1, 1])}, b"x"),
        'X: tensor "a": data offsets are no pair of ascending numbers',
    ),
    "shape and offsets": (
        container({"a": entry(0, 1, shape=[2])}, b"x"),
        'X: tensor "a": data offsets do not fit the shape; expected 2 bytes, got 1',
    ),
    "overflow": (
        container({"a": entry(0, 1, shape=[2**62, 2**62, 2**62])}, b"x"),
        f'X: tensor "a": data offsets do not fit the shape; expected {2**186} bytes, got 1',
    ),
    "half a byte": (
        container({"a": entry(0, 1, dtype="F4", shape=[1])}, b"x"),
        'X: tensor "a": data offsets do not fit the shape; expected 0 bytes, got 1',
    ),
    "overlap": (
        container({"a": entry(0, 2), "b": entry(1, 3)}, b"xyz"),
        'X: tensor "b": data offsets overlap those before it; expected start 2, got 1',
    ),
    "hole": (
        container({"a": entry(0, 2), "b": entry(3, 4)}, b"xyzu"),
        'X: tensor "b": data offsets leave a hole; expected start 2, got 3',
    ),
    "hole at the start": (
        container({"a": entry(1, 2)}, b"xy"),
        'X: tensor "a": data offsets leave a hole; expected start 0, got 1',
    ),
    "truncated": (
        container({"a": entry(0, 4)}, b"xyz"),
        "X: file has the wrong size for its tensors; expected 72 bytes, got 71",
    ),
    "trailing": (
        container({"a": entry(0, 4)}, b"xyzuv"),
        "X: file has the wrong size for its tensors; expected 72 bytes, got 73",
    ),
    "metadata": (
        container({"__metadata__": {"a": 1}}),
        "X (header): metadata is no object of strings",
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_file_is_one_line(tmp_path, case):
    data, message = DAMAGED[case]
    path = tmp_path / "x.safetensors"
    with pytest.raises(BadInput) as caught:
        read(path, data)
    assert str(caught.value).replace(str(path), "X") == message


@given(data=st.data())
def test_no_damage_ends_in_anything_but_a_refusal(tmp_path_factory, data):
    sound = container({"a": entry(0, 2), "b": entry(2, 8, dtype="BF16", shape=[3])}, b"abcdefgh")
    at = data.draw(st.integers(0, len(sound) - 1))
    damaged = (
        sound[:at] + data.draw(st.binary(max_size=3)) + sound[at + data.draw(st.integers(0, 3)) :]
    )
    path = tmp_path_factory.getbasetemp() / "damaged.safetensors"
    try:
        tensors = read(path, damaged)
    except BadInput as error:
        assert error.location.startswith(str(path))  # noqa: PT017
    else:
        assert sum(len(raw) for _, _, raw in tensors.values()) < len(damaged)


def test_what_is_no_file_is_refused(tmp_path):
    for path, fact in ((tmp_path, "not a regular file"), (tmp_path / "x", "file is missing")):
        with pytest.raises(BadInput) as caught, file_source(path):
            pass
        assert str(caught.value) == f"{path}: {fact}"


def test_a_file_that_shrinks_is_refused(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(bytes(100))
    with file_source(path) as source:
        path.write_bytes(bytes(50))
        with pytest.raises(BadInput) as caught:
            source.read(0, 100)
    assert str(caught.value) == f"{path}: file became shorter while it was read"


def test_a_tensor_that_gives_too_little_or_too_much_is_refused():
    for given_bytes in (b"abc", b"abcde"):
        with pytest.raises(BadInput) as caught:
            written(NewTensor("a", "U8", (4,), [given_bytes]))
        assert str(caught.value) == (
            f'tensor "a" has the wrong size; expected 4 bytes, got {len(given_bytes)}'
        )


def test_two_tensors_of_one_name_are_refused():
    one = NewTensor("a", "U8", (0,), [])
    with pytest.raises(BadInput) as caught:
        written(one, one)
    assert str(caught.value) == 'two tensors are named "a"'


def test_a_failure_leaves_the_former_file(tmp_path):
    path = tmp_path / "deep" / "out"
    assert write_pieces(path, [b"old"]) == 3

    def broken():
        yield b"new"
        raise BadInput("no more")

    with pytest.raises(BadInput, match="no more"):
        write_pieces(path, broken())
    assert path.read_bytes() == b"old"
    assert [item.name for item in path.parent.iterdir()] == ["out"]


def test_an_output_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "folder" / "x").mkdir(parents=True)
    (tmp_path / "file").write_bytes(b"")
    for name, reason in (("folder", "is a directory"), ("file/x", "file exists")):
        with pytest.raises(BadInput) as caught:
            write_pieces(tmp_path / name, [b"a"])
        assert str(caught.value) == f"{tmp_path / name}: cannot write: {reason}"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder"]


def test_one_file_under_two_names_is_noticed(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "c").write_bytes(b"")
    assert is_same_file(tmp_path / "a", tmp_path / "b")
    assert not is_same_file(tmp_path / "a", tmp_path / "c")
    assert not is_same_file(tmp_path / "a", tmp_path / "missing")
