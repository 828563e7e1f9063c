"""Relayout: the same elements in another order, bytes in and bytes out, in bounded memory.

Every transform reads a source in pieces and yields the result in order, so a tensor of any size
passes through a few megabytes. No numpy: a strided assignment between two memory views moves
items of up to eight bytes at the speed of a C loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from netra_build.core.errors import BadInput
from netra_build.formats.layout_plan import SHUFFLE, WIDEN
from netra_build.tensors.byte_source import ByteSource, pieces_of

TILE_ROWS = 16
COLUMN_STEP = 32
BAND_COLUMNS = 1 << 19
"""Columns of a row tile that are held at once: 8 MiB for its 16 rows."""
BAND_BYTES = 1 << 24
SHORT_ROW_BYTES = 1 << 12
STEP_BYTES = 1 << 18
NARROW_COLUMNS = 64
VIEW_BY_BYTES: Mapping[int, Literal["B", "H", "I", "Q"]] = MappingProxyType(
    {1: "B", 2: "H", 4: "I", 8: "Q"}
)


@dataclass(frozen=True)
class Matrix:
    """Equally large row-major matrices, one behind the other: experts, rows, columns.

    ``item_bytes`` is the size of one element: 1, 2, 4 or 8.
    """

    rows: int
    columns: int
    item_bytes: int = 1
    experts: int = 1

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all elements."""
        return self.experts * self.rows * self.columns * self.item_bytes


Pieces = Iterator[bytes]


@dataclass(frozen=True)
class NamedTransform:
    """A transform as the command line and layout plans name it, with its inverse's name.

    ``pieces`` yields the result. ``item_bytes`` is the size of an element before it, ``widens``
    the size after it when it is another. The inverse takes the matrix that ``after`` returns.
    """

    pieces: Callable[[ByteSource, Matrix, str], Pieces]
    inverse: str
    item_bytes: int = 1
    widens: int = 0
    turns: bool = False
    is_tiled: bool = False

    def apply(self, source: ByteSource, matrix: Matrix, location: str) -> Pieces:
        """Yield the result in pieces.

        ``BadInput``, before the first one is made: elements of another size, bytes that are not
        those of the shape, or a shape that does not divide into tiles.
        """
        if self.is_tiled or self.widens:
            _require_item(matrix, self.item_bytes, location)
        if self.is_tiled:
            _require_tiles(matrix, location)
        _require_size(source, matrix, location)
        return self.pieces(source, matrix, location)

    def after(self, matrix: Matrix) -> Matrix:
        """Return the shape of the result."""
        rows, columns = matrix.rows, matrix.columns
        if self.turns:
            rows, columns = columns, rows
        return Matrix(rows, columns, self.widens or matrix.item_bytes, matrix.experts)


def _require_size(source: ByteSource, matrix: Matrix, location: str) -> None:
    if matrix.item_bytes not in VIEW_BY_BYTES:
        _require_item(matrix, 8, location)
    if source.size_bytes != matrix.size_bytes:
        experts = f"{matrix.experts} x " if matrix.experts != 1 else ""
        shape = f"{experts}{matrix.rows} x {matrix.columns} x {matrix.item_bytes}"
        raise BadInput(
            "data has the wrong size for its shape",
            location=location,
            expected=f"{shape} = {matrix.size_bytes} bytes",
            got=source.size_bytes,
        )


def _require_item(matrix: Matrix, item_bytes: int, location: str) -> None:
    if matrix.item_bytes != item_bytes:
        fact, wanted = "elements have the wrong size", f"{item_bytes} bytes"
        raise BadInput(fact, location=location, expected=wanted, got=matrix.item_bytes)


def _require_tiles(matrix: Matrix, location: str) -> None:
    steps = ((matrix.rows, TILE_ROWS, "rows"), (matrix.columns, COLUMN_STEP, "columns"))
    for size, step, word in steps:
        if size < 1 or size % step:
            fact, wanted = f"number of {word} does not divide into tiles", f"a multiple of {step}"
            raise BadInput(fact, location=location, expected=wanted, got=size)


def _copied(source: ByteSource, matrix: Matrix, location: str) -> Pieces:
    """Yield the bytes as they are."""
    return pieces_of(source)


def _shuffled(source: ByteSource, matrix: Matrix, location: str) -> Pieces:
    """Yield fp8 weights [experts, N, K] as [N/16, K/32, 2, 16 rows, 16 bytes] per expert.

    Byte (n, k) of an expert goes to 16 K (n/16) + 512 (k/32) + 256 (k%32 / 16) + 16 (n%16) +
    k%16: inside 16 rows, groups of 16 bytes are transposed.
    """
    columns = matrix.columns
    for tile in range(0, source.size_bytes, TILE_ROWS * columns):
        for left in range(0, columns, BAND_COLUMNS):
            width = min(BAND_COLUMNS, columns - left)
            yield _shuffle_band(_rows(source, tile + left, TILE_ROWS, width, columns), width)


def _shuffle_band(rows: bytes, width: int) -> bytes:
    """Return 16 rows of ``width`` bytes with their groups of 16 bytes transposed."""
    result = bytearray(len(rows))
    given, made = memoryview(rows).cast("Q"), memoryview(result).cast("Q")
    words = width // 8
    for row in range(TILE_ROWS):
        line = given[row * words : (row + 1) * words]
        made[2 * row :: 2 * TILE_ROWS] = line[0::2]
        made[2 * row + 1 :: 2 * TILE_ROWS] = line[1::2]
    return bytes(result)


def _unshuffled(source: ByteSource, matrix: Matrix, location: str) -> Pieces:
    """Yield row after row of what was shuffled; a tile of several bands is read once per row."""
    columns = matrix.columns
    for tile in range(0, source.size_bytes, TILE_ROWS * columns):
        if columns <= BAND_COLUMNS:
            held = source.read(tile, TILE_ROWS * columns)
            yield b"".join(_row_of_band(held, row) for row in range(TILE_ROWS))
            continue
        for row in range(TILE_ROWS):
            for left in range(0, columns, BAND_COLUMNS):
                width = min(BAND_COLUMNS, columns - left)
                band = source.read(tile + TILE_ROWS * left, TILE_ROWS * width)
                yield _row_of_band(band, row)


def _row_of_band(band: bytes, row: int) -> bytes:
    result = bytearray(len(band) // TILE_ROWS)
    given, made = memoryview(band).cast("Q"), memoryview(result).cast("Q")
    made[0::2] = given[2 * row :: 2 * TILE_ROWS]
    made[1::2] = given[2 * row + 1 :: 2 * TILE_ROWS]
    return bytes(result)


def _rows(source: ByteSource, start: int, count: int, width: int, stride: int) -> bytes:
    """Return ``count`` pieces of ``width`` bytes, ``stride`` bytes from start to start."""
    if width == stride:
        return source.read(start, count * width)
    return b"".join(source.read(start + row * stride, width) for row in range(count))


def _transposed(source: ByteSource, matrix: Matrix, location: str) -> Pieces:
    """Yield [experts, rows, columns] as [experts, columns, rows]; elements stay whole."""
    size = matrix.rows * matrix.columns * matrix.item_bytes
    band = max(1, BAND_BYTES // max(1, matrix.rows * matrix.item_bytes))
    height = max(1, BAND_BYTES // matrix.item_bytes)
    for start in range(0, size * matrix.experts, size or 1):
        for left in range(0, matrix.columns, band):
            width = min(band, matrix.columns - left)
            # A band is one column wide when a column alone fills the memory: then in parts.
            step = matrix.rows if width > 1 else height
            for top in range(0, matrix.rows, step):
                count = min(step, matrix.rows - top)
                yield _turned_band(source, matrix, start, (top, left, count, width))


def _turned_band(
    source: ByteSource, matrix: Matrix, start: int, band: tuple[int, int, int, int]
) -> bytes:
    """Return the columns of one band (top, left, rows, width) one after the other."""
    top, left, count, width = band
    item, view = matrix.item_bytes, VIEW_BY_BYTES[matrix.item_bytes]
    result = bytearray(count * width * item)
    # Slices of the arrays themselves are faster than those of views, but know bytes only.
    made: Any = result if item == 1 else memoryview(result).cast(view)
    # Short rows are read whole: skipping a part of each would cost more than reading it.
    is_short = matrix.columns * item <= SHORT_ROW_BYTES
    pitch, lead = (matrix.columns, left) if is_short else (width, 0)
    step = max(1, STEP_BYTES // (pitch * item))
    for row in range(0, count, step):
        height = min(step, count - row)
        at = start + ((top + row) * matrix.columns + left - lead) * item
        lines = _rows(source, at, height, pitch * item, matrix.columns * item)
        given = lines if item == 1 else memoryview(lines).cast(view)
        if width < NARROW_COLUMNS:
            for column in range(width):
                at = column * count + row
                made[at : at + height] = given[lead + column :: pitch]
        else:
            for line in range(height):
                at = line * pitch + lead
                made[row + line :: count] = given[at : at + width]
    return bytes(result)


def _widened(source: ByteSource, matrix: Matrix, location: str) -> Pieces:
    """Yield bf16 elements as fp32, exactly: the same bits above 16 zero bits."""
    for piece in pieces_of(source):
        result = bytearray(2 * len(piece))
        memoryview(result).cast("H")[1::2] = memoryview(piece).cast("H")
        yield bytes(result)


def _narrowed(source: ByteSource, matrix: Matrix, location: str) -> Pieces:
    """Yield fp32 elements as bf16; ``BadInput`` names the first that is none: no rounding."""
    done = 0
    for piece in pieces_of(source):
        halves = memoryview(piece).cast("H")
        low = halves[0::2].tobytes()
        if low.count(0) != len(low):
            index = next(i for i, byte in enumerate(low) if byte) // 2
            raise BadInput(
                f"fp32 element {done + index} is no bf16 value",
                location=location,
                hint="scales are widened exactly, never narrowed",
            )
        done += len(piece) // 4
        yield halves[1::2].tobytes()


TRANSFORMS: Mapping[str, NamedTransform] = MappingProxyType(
    {
        "identity": NamedTransform(_copied, "identity"),
        "transpose_bytes": NamedTransform(_transposed, "transpose_bytes", turns=True),
        SHUFFLE: NamedTransform(_shuffled, "aiter_unshuffle_16x16", is_tiled=True),
        "aiter_unshuffle_16x16": NamedTransform(_unshuffled, SHUFFLE, is_tiled=True),
        "scales_to_group_major": NamedTransform(_transposed, "scales_to_row_major", 4, turns=True),
        "scales_to_row_major": NamedTransform(_transposed, "scales_to_group_major", 4, turns=True),
        WIDEN: NamedTransform(_widened, "narrow_fp32_to_bf16_exact", 2, widens=4),
        "narrow_fp32_to_bf16_exact": NamedTransform(_narrowed, WIDEN, 4, widens=2),
    }
)
"""Scales are row-major [rows, groups] in checkpoints, group-major [groups, rows] for kernels."""
