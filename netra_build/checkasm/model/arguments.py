"""Arguments of a launch: from text to Python values, and from those to the kernarg segment."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from netra_build.asm.objects.metadata import ArgumentMetadata, KernelMetadata
from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.memory import AddressSpace, Region
from netra_build.core.errors import BadInput, nearest_hint

Argument = Array | int | float
Arguments = Mapping[str, Argument] | Sequence[Argument] | bytes

_FLOAT_TYPES = {2: np.float16, 4: np.float32, 8: np.float64}


MAX_ELEMENTS = 1 << 30
ELEMENT_TYPES = {
    f"{kind}{8 * size}": np.dtype(f"{kind}{size}")
    for kind, sizes in (("u", (1, 2, 4, 8)), ("i", (1, 2, 4, 8)), ("f", (2, 4, 8)))
    for size in sizes
}
FORMS = "N, null, FILE.npy, zeros:TYPE:SHAPE, count:TYPE:SHAPE or random:TYPE:SHAPE"

_GENERATED = re.compile(r"(zeros|count|random):([a-z0-9]+):(\d+(?:x\d+)*)")
_WHOLE = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|\d{1,20})")
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d{1,4})?")


@dataclass(frozen=True)
class Geometry:
    """Work-groups per dimension and work-items per work-group and dimension."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def work_items(self) -> int:
        """Work-items of one work-group."""
        return math.prod(self.block)

    @property
    def waves(self) -> int:
        """Wavefronts of one work-group."""
        return (self.work_items + LANES - 1) // LANES


@dataclass(frozen=True)
class Kernargs:
    """The finished segment and the buffers that its pointers lead to, by argument name."""

    data: bytes
    regions: Mapping[str, Region]


def build_kernargs(
    metadata: KernelMetadata,
    size: int,
    args: Arguments,
    geometry: Geometry,
    memory: AddressSpace,
    dynamic_lds_bytes: int,
) -> Kernargs:
    """Lay out the segment of ``size`` bytes and map every array as a buffer of its own.

    An array that is given for two arguments is one buffer, as two equal pointers are.
    ``BadInput`` for missing, unknown or ill-typed arguments; ``bytes`` are taken as they are.
    """
    if isinstance(args, bytes):
        if len(args) != size:
            raise BadInput("kernarg segment has the wrong size", expected=size, got=len(args))
        return Kernargs(args, {})
    visible = [a for a in metadata.arguments if not a.value_kind.startswith("hidden_")]
    names = [argument.name or f"arg{at}" for at, argument in enumerate(visible)]
    values = _by_name(args, names)
    segment = _Segment(size, memory)
    for name, argument in zip(names, visible, strict=True):
        segment.place(argument, segment.encoded(name, argument, values[name]))
    hidden = _hidden_values(geometry, dynamic_lds_bytes)
    for argument in metadata.arguments:
        if argument.value_kind in hidden:
            raw = hidden[argument.value_kind].to_bytes(argument.size, "little")
            segment.place(argument, raw)
    return Kernargs(bytes(segment.data), segment.regions)


def _by_name(
    args: Mapping[str, Argument] | Sequence[Argument], names: list[str]
) -> Mapping[str, Argument]:
    if not isinstance(args, Mapping):
        if len(args) != len(names):
            raise BadInput("wrong number of arguments", expected=len(names), got=len(args))
        return dict(zip(names, args, strict=True))
    for name in args:
        if name not in names:
            raise BadInput(f'kernel has no argument "{name}"', hint=nearest_hint(name, names))
    for name in names:
        if name not in args:
            raise BadInput(f'argument "{name}" is missing')
    return args


class _Segment:
    """A segment that is being filled, and the buffers that its arguments need."""

    def __init__(self, size: int, memory: AddressSpace) -> None:
        self.data = bytearray(size)
        self.regions: dict[str, Region] = {}
        self._memory = memory

    def place(self, argument: ArgumentMetadata, raw: bytes) -> None:
        """Put an argument's bytes where its metadata says."""
        end = argument.offset + argument.size
        if end > len(self.data):
            expected = f"at most {len(self.data)} bytes"
            raise BadInput("argument leaves the kernarg segment", expected=expected, got=end)
        self.data[argument.offset : end] = raw

    def encoded(self, name: str, argument: ArgumentMetadata, value: Argument) -> bytes:
        """Return the bytes of an argument; an array for a pointer becomes a buffer."""
        size = argument.size
        if argument.value_kind == "global_buffer":
            return self._pointer(name, argument, value)
        if argument.value_kind != "by_value":
            raise BadInput(f'argument "{name}" is a {argument.value_kind}, which is not modelled')
        if isinstance(value, (bool, int, np.integer)):
            number = int(value)
            low, high = -(1 << 8 * size - 1), 1 << 8 * size
            if not low <= number < high:
                what, expected = f'argument "{name}" does not fit', f"{size} bytes"
                raise BadInput(what, expected=expected, got=number)
            return (number % high).to_bytes(size, "little")
        if isinstance(value, (float, np.floating)) and size in _FLOAT_TYPES:
            return np.array(value, _FLOAT_TYPES[size]).tobytes()
        if isinstance(value, np.ndarray) and value.nbytes == size:
            return value.tobytes()
        expected, got = f"a number or an array of {size} bytes", type(value).__name__
        raise BadInput(f'argument "{name}" has the wrong type', expected=expected, got=got)

    def _pointer(self, name: str, argument: ArgumentMetadata, value: Argument) -> bytes:
        if isinstance(value, int) and value == 0:
            return bytes(argument.size)
        if not isinstance(value, np.ndarray):
            what, expected = f'argument "{name}" is a pointer', "an array, or 0 for a null pointer"
            raise BadInput(what, expected=expected, got=type(value).__name__)
        region = next((r for r in self.regions.values() if r.origin is value), None)
        if region is None:
            writable = argument.actual_access != "read_only"
            flat = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            region = self._memory.place(f'"{name}"', flat, readable=flat.size, writable=writable)
            region.origin = value
        self.regions[name] = region
        return region.base.to_bytes(argument.size, "little")


def _hidden_values(geometry: Geometry, dynamic_lds_bytes: int) -> dict[str, int]:
    """Return the hidden arguments that the model supports; the others stay zero."""
    result = {
        "hidden_grid_dims": 3 if geometry.grid[2] * geometry.block[2] > 1 else 1,
        "hidden_dynamic_lds_size": dynamic_lds_bytes,
        "hidden_global_offset_x": 0,
        "hidden_global_offset_y": 0,
        "hidden_global_offset_z": 0,
    }
    if result["hidden_grid_dims"] == 1 and geometry.grid[1] * geometry.block[1] > 1:
        result["hidden_grid_dims"] = 2
    for at, axis in enumerate("xyz"):
        result[f"hidden_block_count_{axis}"] = geometry.grid[at]
        result[f"hidden_group_size_{axis}"] = geometry.block[at]
        result[f"hidden_remainder_{axis}"] = 0
    return result


# Arguments written as text


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
    total = math.prod(sizes)
    if total > MAX_ELEMENTS:
        raise BadInput(
            f'argument "{name}" is too large', expected=f"at most {MAX_ELEMENTS}", got=total
        )
    dtype = ELEMENT_TYPES[kind]
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
