"""Launch arguments written as text: numbers, numpy files and generated arrays."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arguments import Argument
from netra_build.checkasm.model.arrays import Array
from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

MAX_ELEMENTS = 1 << 30
ELEMENT_TYPES = {
    "u8": np.uint8,
    "i8": np.int8,
    "u16": np.uint16,
    "i16": np.int16,
    "u32": np.uint32,
    "i32": np.int32,
    "u64": np.uint64,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
FORMS = "N, null, FILE.npy, zeros:TYPE:SHAPE, count:TYPE:SHAPE or random:TYPE:SHAPE"

_GENERATED = re.compile(r"(zeros|count|random):([a-z0-9]+):(\d+(?:x\d+)*)")
_WHOLE = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|\d{1,20})")
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d{1,4})?")


def read_arguments(
    words: list[str], read_file: Callable[[str], bytes], seed: int
) -> dict[str, Argument]:
    """Read ``NAME=VALUE`` words; ``BadInput`` names the word that cannot be read."""
    result: dict[str, Argument] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator or not name:
            raise BadInput(f'"{word}" is no argument', expected="NAME=VALUE", got=word)
        if name in result:
            raise BadInput(f'argument "{name}" is given twice')
        result[name] = _value(name, text, read_file, seed)
    return result


def _value(name: str, text: str, read_file: Callable[[str], bytes], seed: int) -> Argument:
    if text == "null":
        return 0
    if _WHOLE.fullmatch(text):
        return int(text, 0)
    if _NUMBER.fullmatch(text):
        return float(text)
    if match := _GENERATED.fullmatch(text):
        return _generated(name, match[1], match[2], match[3], seed)
    if text.endswith(".npy"):
        return _loaded(text, read_file(text))
    raise BadInput(f'argument "{name}" cannot be read', expected=FORMS, got=f'"{text}"')


def _generated(name: str, how: str, kind: str, shape: str, seed: int) -> Array:
    if kind not in ELEMENT_TYPES:
        hint = nearest_hint(kind, ELEMENT_TYPES)
        raise BadInput(f'argument "{name}" has the unknown type "{kind}"', hint=hint)
    sizes = tuple(int(part) for part in shape.split("x"))
    total = 1
    for size in sizes:
        total *= size
    if total > MAX_ELEMENTS:
        raise BadInput(
            f'argument "{name}" is too large', expected=f"at most {MAX_ELEMENTS}", got=total
        )
    dtype = np.dtype(ELEMENT_TYPES[kind])
    if how == "zeros":
        return np.zeros(sizes, dtype)
    if how == "count":
        return np.arange(total).astype(dtype).reshape(sizes)
    random = np.random.default_rng([seed, *name.encode()])
    if dtype.kind == "f":
        return random.standard_normal(sizes).astype(dtype)
    return np.frombuffer(random.bytes(total * dtype.itemsize), dtype).reshape(sizes)


def _loaded(file_name: str, data: bytes) -> Array:
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)  # type: ignore[no-any-return]
    except (ValueError, EOFError, OSError, MemoryError):
        raise BadInput("not a numpy file", location=file_name) from None


def saved(array: Array) -> bytes:
    """Return the bytes of a numpy file."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def read_sizes(text: str, what: str) -> tuple[int, int, int]:
    """Read ``X,Y,Z``; missing sizes are one."""
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch(r"\d{1,10}", part) for part in parts):
        raise BadInput(f"{what} cannot be read", expected="X,Y,Z", got=f'"{text}"')
    x, y, z = (int(part) for part in (*parts, "1", "1")[:3])
    return x, y, z
