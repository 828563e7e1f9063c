"""Where a vector memory instruction accesses memory, lane by lane, and the access itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arith.integer import sign_extended
from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group
from netra_build.checkasm.model.isa.table import spellings
from netra_build.checkasm.model.operands import Operand, Unsupported, scalar_row
from netra_build.checkasm.model.sources import Form, Get

U = np.uint32
U64 = np.uint64
WORD_MASK = U64(0xFFFF_FFFF)
JUNK_HALF = U(0xA5A5)
"""What a d16 load leaves in the other half: gfx950 does not keep it."""


@dataclass(frozen=True)
class Place:
    """Where the lanes of one instruction access memory.

    The address is uint64[n, 1] ``start`` + uint32 or uint64[n, 64] ``lanes``, and ``active``
    bool[n, 64]. ``room`` is None, or uint64[n, 64] bytes that the buffer still holds behind the
    address: dwords beyond read zero and are not stored.
    """

    start: Array
    lanes: Array
    active: Array
    room: Array | None = None

    @property
    def address(self) -> Array:
        """The address of every lane: uint64[n, 64]."""
        return self.start + self.lanes

    def _is_inside(self, width: int) -> bool:
        """Tell whether the buffer holds ``width`` bytes at the address of every active lane."""
        return self.room is None or not bool(np.any((self.room < U64(width)) & self.active))

    def _units(self, width: int) -> Iterator[tuple[Array, Array, int]]:
        """Yield address, lanes within the buffer and size of each dword or narrower value."""
        assert self.room is not None
        unit = min(width, 4)
        for at in range(0, width, unit):
            yield self.address + U64(at), self.active & (self.room >= U64(at + unit)), unit

    def read(self, g: Group, d: Form, width: int) -> Array:
        """Load ``width`` bytes per lane: uint32[dwords, n, 64]."""
        memory, report = g.batch.memory, g.reporter(d)
        if self._is_inside(width):
            return memory.load(self.start, self.lanes, self.active, width, report)
        units = self._units(width)
        return np.concatenate(
            [memory.gather(where, some, unit, report) for where, some, unit in units]
        )

    def write(self, g: Group, d: Form, values: Array, width: int) -> None:
        """Store ``width`` bytes per lane from uint32[dwords, n, 64]."""
        memory, report = g.batch.memory, g.reporter(d)
        if self._is_inside(width):
            memory.store(self.start, self.lanes, self.active, values, width, report)
            return
        for value, (address, inside, unit) in zip(values, self._units(width), strict=True):
            memory.scatter(address, inside, value[None], unit, report)


Locate = Callable[[Group], Place]


@dataclass(frozen=True)
class Shape:
    """What a load or store moves per lane. ``width`` is bytes: 1, 2, 4, 8, 12 or 16.

    ``half`` is "lo" or "hi" for the d16 forms, which use half a register.
    """

    width: int
    signed: bool = False
    half: str = ""

    @property
    def registers(self) -> int:
        """Registers that hold the value."""
        return max(1, self.width // 4)

    def loaded(self, values: Array) -> Array:
        """Extend what was read from memory to whole registers."""
        if self.width >= 4:
            return values
        bits = values[0]
        if self.signed:
            bits = sign_extended(bits, 8 * self.width).view(U)
        if self.half == "lo":
            bits = (bits & U(0xFFFF)) | (JUNK_HALF << U(16))
        elif self.half == "hi":
            bits = ((bits & U(0xFFFF)) << U(16)) | JUNK_HALF
        return np.asarray(bits)[None]

    def stored(self, values: Array) -> Array:
        """Move the half that a d16 store names to the low end."""
        return values >> U(16) if self.half == "hi" else values


_BYTES = {"byte": 1, "short": 2, "dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}


def shapes(names: str) -> dict[str, Shape]:
    """Return the shapes of data names such as ``dwordx2``, ``sbyte_d16_hi``, ``b64`` and ``i8``."""
    return {name: _shape(name) for name, _ in spellings(names)}


def _shape(name: str) -> Shape:
    plain, _, rest = name.partition("_d16")
    half = "" if plain == name else "hi" if rest else "lo"
    if plain[1:].isdigit():
        return Shape(int(plain[1:]) // 8, plain.startswith("i"), half)
    if plain in _BYTES:
        return Shape(_BYTES[plain], half=half)
    return Shape(_BYTES[plain[1:]], plain.startswith("s"), half)


def _per_lane(values: Array, g: Group) -> Array:
    return values if values.shape == g.E.shape else np.broadcast_to(values, g.E.shape)


def locate_global(d: Form, address: Operand, base: Operand | None) -> Locate:
    """Address in a register pair, or a scalar base plus a 32-bit lane offset."""
    extra = U64(d.number("offset") & 0xFFFF_FFFF_FFFF_FFFF)
    if base is None or base.text == "off":
        wide = d.vector(address, "u64")
        everywhere = np.full((1, 1), extra)
        return lambda g: Place(everywhere, wide(g), g.E)
    narrow = d.vector(address, "u32")
    start = d.scalar(base, "u64")

    def locate(g: Group) -> Place:
        first = (start(g) + extra).reshape(-1, 1)
        return Place(first, _per_lane(narrow(g), g), g.E)

    return locate


def buffer_descriptor(d: Form, records: Operand) -> Callable[[Group], tuple[Array, ...]]:
    """Return a reader of base, stride and size, all uint64[n], and of swizzling bits."""
    first = scalar_row(records, 4)
    words = [d.scalar(Operand("s", records.text, first + i), "u32") for i in range(4)]

    def fields(g: Group) -> tuple[Array, ...]:
        low, high, size, flags = (word(g) for word in words)
        base = low.astype(U64) | (high & U(0xFFFF)).astype(U64) << U64(32)
        stride = ((high >> U(16)) & U(0x3FFF)).astype(U64)
        return base, stride, size.astype(U64), high >> U(31) | (flags >> U(23)) & U(1)

    return fields


def locate_buffer(d: Form, address: Operand, records: Operand, base: Operand) -> Locate:
    """Address through a buffer descriptor."""
    descriptor = buffer_descriptor(d, records)
    shift = d.scalar(base, "u32")
    offset = U64(d.number("offset"))
    index, lane_offset = _buffer_parts(d, address)

    def locate(g: Group) -> Place:
        start, stride, limit, swizzled = (field[:, None] for field in descriptor(g))
        if swizzled.any():
            raise Unsupported("a swizzled buffer")
        scalar = np.broadcast_to(shift(g), (g.n,)).astype(U64)[:, None]
        total = ((lane_offset(g).astype(U64) + offset) & WORD_MASK) + scalar
        number = index(g).astype(U64)
        # A raw buffer counts bytes, a structured one counts records.
        raw_room = np.where(total < limit, limit - total, U64(0))
        record_room = np.where(number < limit, U64(1 << 32), U64(0))
        room = np.where(stride == 0, raw_room, record_room)
        lanes = _per_lane(total + number * stride, g)
        return Place(start, lanes, g.E, _per_lane(room, g))

    return locate


def _buffer_parts(d: Form, address: Operand) -> tuple[Get, Get]:
    """Return readers of record index and byte offset of each lane."""
    zero = np.zeros((1, 1), U)

    def nothing(_g: Group) -> Array:
        return zero

    is_given = ["idxen" in d.modifiers, "offen" in d.modifiers]
    gets = d.registers(address, sum(is_given)) if any(is_given) else []
    index, offset = (gets.pop(0) if part else nothing for part in is_given)
    return index, offset
