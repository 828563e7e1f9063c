"""Encoded instructions that try every opcode of every encoding."""

from __future__ import annotations

from collections.abc import Iterator

VECTOR_SOURCE = 0x100


def words() -> Iterator[tuple[int, ...]]:
    """Yield encoded instructions that try every opcode of every gfx9 encoding."""
    yield from _vector_words()
    yield from _three_operand_words()
    yield from _scalar_words()
    yield from _memory_words()


def _vector_words() -> Iterator[tuple[int, ...]]:
    for op in range(64):
        head = op << 25 | 2 << 17 | 4 << 9
        yield (head | VECTOR_SOURCE | 6,)
        yield (head | VECTOR_SOURCE | 6, 0x3F800001)
        yield (head | 0xF9, 0x06060606)
        yield (head | 0xFA, 0xFF000104)
    for op in range(256):
        one, compare = 0x7E000000 | 2 << 17 | op << 9, 0x7C000000 | op << 17 | 4 << 9
        yield (one | VECTOR_SOURCE | 4,)
        yield (one | 0xF9, 0x06060604)
        yield (one | 0xFA, 0xFF000104)
        yield (compare | VECTOR_SOURCE | 6,)
        yield (compare | 0xF9, 0x06060004)


def _three_operand_words() -> Iterator[tuple[int, ...]]:
    for op in range(1024):
        for carry in (0, 6):
            for last in (0x108, 8, 0):
                for first in (0x104, 4):
                    sources = first | 0x106 << 9 | last << 18
                    yield (0xD0000000 | op << 16 | carry << 8 | 4, sources)
        yield (0xD0000000 | op << 16 | 4, 0x104 | 6 << 9)
    for op in range(128):
        for last in (0x108, 0x180, 0, 0x110):
            for high in (0, 3 << 27, 1 << 27):
                for middle in (0x40 << 8, 0):
                    sources = 0x104 | 0x10C << 9 | last << 18 | high
                    yield (0xD3800000 | op << 16 | middle | 4, sources)
    yield (0xD3AC0000, 0x18000000 | 0x118 | 0x119 << 9)
    for op in (0x2D, 0x2E):
        matrix = (0xD3800800 | op << 16 | 4, 0x104 | 0x114 << 9 | 0x130 << 18)
        yield (0xD3AC0000, 0x118 | 0x119 << 9, *matrix)


def _scalar_words() -> Iterator[tuple[int, ...]]:
    for op in range(256):
        yield (0xBE800000 | 4 << 16 | op << 8 | 6,)
        for immediate in (0, 1 << 17):
            yield (0xC0000000 | op << 18 | immediate | 8 << 6 | 2, 0)
    for op in range(128):
        yield (0x80000000 | op << 23 | 4 << 16 | 6 << 8 | 8,)
        yield (0xBF000000 | op << 16 | 6 << 8 | 8,)
        for immediate in (0, 1, 0xFFF):
            yield (0xBF800000 | op << 16 | immediate,)
    for op in range(32):
        yield (0xB0000000 | op << 23 | 4 << 16 | 1,)
        yield (0xB0000000 | op << 23 | 4 << 16 | 1, 3)


def _memory_words() -> Iterator[tuple[int, ...]]:
    for op in range(256):
        for data in (0, 4, 0x604):
            for target in (0, 8):
                for address in (0, 2):
                    for gds in (0, 1):
                        low = target << 24 | data << 8 | address
                        yield (0xD8000000 | op << 17 | gds << 16, low)
    for op in range(128):
        for segment in (0, 1, 2):
            for scalar in (0, 0x7F, 8):
                for sc0 in (0, 1):
                    for low in (0, 8 << 24, 4 << 8 | 2, 8 << 24 | 4 << 8 | 2):
                        head = 0xDC000000 | op << 18 | segment << 14 | sc0 << 16
                        yield (head, low | scalar << 16)
        for bits in (1 << 12, 1 << 12 | 1 << 16, 1 << 12 | 1 << 14, 1 << 15, 0):
            for low in (128 << 24 | 2 << 16 | 4 << 8 | 2, 0):
                yield (0xE0000000 | op << 18 | bits, low)
    for op in range(16):
        yield (0xE8000000 | op << 15 | 0x20 << 19 | 1 << 12, 128 << 24 | 2 << 16 | 4 << 8 | 2)
