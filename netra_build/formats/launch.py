"""How a kernel is launched: its grid and LDS, its scratch memory, and what its kernargs are.

The ABI records below ``manifests/gfx950/contracts`` are the one place where kernarg offsets stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import UINT32_MAX, UINT64_MAX

if TYPE_CHECKING:
    from netra_build.formats.models.graph import Dimension


Extent = tuple[int, int, int]

MAX_BLOCK = 1024

ABI_FORMAT = "netra-kernel-abi-1"
ABI_FOLDER = "manifests/gfx950/contracts"
SIZE_BY_KIND = {"pointer": 8, "u32": 4}
ACCESS = ("read", "write", "read_write", "value")
MODES = {
    "float_denorm_mode_32": 3,
    "float_denorm_mode_16_64": 3,
    "float_round_mode_32": 0,
    "float_round_mode_16_64": 0,
    "ieee_mode": 1,
    "dx10_clamp": 1,
    "fp16_overflow": 0,
}
"""Modes of a kernel whose record names no others: denormals kept, nearest even, IEEE, clamp."""

_ABI_KEYS = "$schema format tactic arguments grid block modes notes masked_grid limits"
_ARGUMENT_KEYS = "name offset size kind access dtype shape layout notes"


@dataclass(frozen=True)
class Launch:
    """Grid in work-groups, block in work-items, LDS in bytes (fixed: in the descriptor)."""

    grid: Extent
    block: Extent
    lds_bytes: int = 0
    dynamic_lds_bytes: int = 0

    @property
    def work_items(self) -> int:
        """Work-items of one work-group."""
        return self.block[0] * self.block[1] * self.block[2]

    def document(self) -> Json:
        """Return the published launch object."""
        return {**vars(self), "grid": list(self.grid), "block": list(self.block)}


@dataclass(frozen=True)
class Workspace:
    """Private scratch of one operation, in bytes, with a power-of-two alignment."""

    bytes: int = 0
    alignment: int = 256

    def document(self) -> Json:
        """Return the published workspace object."""
        return dict(vars(self))


def read_launch(fields: Fields) -> Launch:
    """Return a launch object; refuse more than 1024 work-items per work-group."""
    fields.close("grid block lds_bytes dynamic_lds_bytes")
    launch = Launch(
        grid=fields.extent("grid"),
        block=fields.extent("block"),
        lds_bytes=fields.integer("lds_bytes", 0, high=UINT32_MAX),
        dynamic_lds_bytes=fields.integer("dynamic_lds_bytes", 0, high=UINT32_MAX),
    )
    if launch.work_items > MAX_BLOCK:
        most = f"at most {MAX_BLOCK} work-items"
        fields.refuse("work-group is too large", "block", expected=most, got=launch.work_items)
    return launch


def read_workspace(fields: Fields) -> Workspace:
    """Return a workspace object: bytes in 64 bits and a power-of-two alignment up to 256."""
    fields.close("bytes alignment")
    workspace = Workspace(
        fields.integer("bytes", 0, high=UINT64_MAX),
        fields.integer("alignment", 256, low=1, high=256),
    )
    found = workspace.alignment
    if found & (found - 1):
        fact = "alignment is not a power of two"
        fields.refuse(fact, "alignment", expected="a power of two", got=found)
    return workspace


class AbiArgument(NamedTuple):
    """One kernarg: offset and size in bytes; data type and shape of what a pointer points to."""

    name: str
    offset: int
    size: int
    kind: str
    access: str
    dtype: str | None
    shape: tuple[Dimension, ...]
    layout: str | None = None

    def document(self) -> dict[str, Json]:
        """Return name, kind and offset as engine.json spells them."""
        kind = "pointer" if self.kind == "pointer" else "u32_constant"
        return {"name": self.name, "kind": kind, "offset": self.offset}


class Limits(NamedTuple):
    """The most that any launch has: work-groups in each direction, values of ``u32`` kernargs, and
    elements of integer arrays, whose least is zero."""

    grid: tuple[int, int, int]
    values: tuple[tuple[str, int], ...] = ()
    elements: tuple[tuple[str, int], ...] = ()


class KernelAbi(NamedTuple):
    """The arguments in kernarg order and the grid; names stand for what a profile fixes."""

    arguments: tuple[AbiArgument, ...]
    grid: tuple[Dimension, ...]
    block: tuple[Dimension, ...] = ()
    """Work-items of a work-group; names stand for what a constant fixes."""
    modes: tuple[tuple[str, int], ...] = ()
    """Descriptor fields that the kernel's arithmetic depends on, with their values."""
    masked_grid: bool = False
    """Whether the kernel leaves alone what lies beyond the rows that a launch really has."""
    limits: Limits | None = None


def read_abi(library: Library, tactic: str) -> KernelAbi | None:
    """Return the ABI record of a tactic id, or None when the library keeps none.

    Raises ``BadInput`` when the record names another tactic, an unknown key or kind, a size
    that does not fit its kind, or kernargs that overlap or are out of order.
    """
    name = f"{ABI_FOLDER}/{tactic}.json"
    if not library.has(name):
        return None
    fields = Fields(library.read_object(name), library.location(name))
    fields.close(_ABI_KEYS)
    fields.word("format", (ABI_FORMAT,))
    fields.word("tactic", (tactic,))
    arguments = _read_arguments(fields)
    modes = fields.child("modes", {})
    modes.close(MODES)
    return KernelAbi(
        arguments=arguments,
        grid=_dimensions(fields, "grid"),
        block=_dimensions(fields, "block"),
        modes=tuple((key, modes.integer(key, value)) for key, value in MODES.items()),
        masked_grid=fields.boolean("masked_grid", False),
        limits=_limits(fields, arguments) if fields.has("limits") else None,
    )


def _read_arguments(fields: Fields) -> tuple[AbiArgument, ...]:
    """Return the kernargs, which have to stand in order and aligned to their size."""
    end = 0
    arguments = []
    for entry in fields.objects("arguments"):
        argument = _read_argument(entry)
        if argument.offset < end or argument.offset % argument.size:
            entry.refuse("offset overlaps or is not aligned", "offset", got=argument.offset)
        end = argument.offset + argument.size
        arguments.append(argument)
    return tuple(arguments)


def _read_argument(entry: Fields) -> AbiArgument:
    entry.close(_ARGUMENT_KEYS)
    kind = entry.word("kind", SIZE_BY_KIND)
    size = entry.integer("size", low=1)
    entry.equal("size does not fit the kind", "size", expected=SIZE_BY_KIND[kind], got=size)
    return AbiArgument(
        name=entry.text("name"),
        offset=entry.integer("offset", low=0),
        size=size,
        kind=kind,
        access=entry.word("access", ACCESS),
        dtype=entry.optional_text("dtype"),
        shape=_dimensions(entry, "shape") if entry.has("shape") else (),
        layout=entry.optional_text("layout"),
    )


def _limits(fields: Fields, arguments: tuple[AbiArgument, ...]) -> Limits:
    """Return the limits; ``BadInput`` for names that are no arguments of the right kind."""
    limits = fields.child("limits")
    limits.close("grid values elements")
    grid = _dimensions(limits, "grid")
    if len(grid) != 3 or not all(isinstance(size, int) for size in grid):
        limits.refuse("three numbers are needed", "grid")
    found = {}
    for key, kind in (("values", "u32"), ("elements", "pointer")):
        child = limits.child(key, {})
        child.close([one.name for one in arguments if one.kind == kind])
        found[key] = tuple((name, child.integer(name, low=0)) for name in child.value)
    x, y, z = (int(size) for size in grid)
    return Limits((x, y, z), found["values"], found["elements"])


def _dimensions(fields: Fields, key: str) -> tuple[Dimension, ...]:
    """Return sizes: positive numbers, or names that a profile or a constant fixes."""
    values = fields.array(key)
    for index, value in enumerate(values):
        is_size = type(value) is int and value > 0
        if not is_size and not (isinstance(value, str) and value):
            fields.refuse(f"element {index} is neither a positive number nor a name", key)
    return tuple(values)
