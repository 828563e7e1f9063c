"""Read the kernel ABIs that a library keeps beside its catalogs (``netra-kernel-abi-1``)."""

from __future__ import annotations

from netra_build.core.errors import BadInput
from netra_build.load.fields import Fields
from netra_build.load.library import Library
from netra_build.records.abi import AbiArgument, KernelAbi
from netra_build.records.ir import Dimension
from netra_build.records.vocabulary import DTYPE_BYTES, FORMAT_ABI, TARGET, UINT32_MAX

ABI_KEYS = ("format", "tactic", "arguments", "grid", "block", "notes")
ARGUMENT_KEYS = ("name", "offset", "size", "kind", "access", "dtype", "shape", "layout")


def load_abis(library: Library) -> dict[str, KernelAbi]:
    """Return the ABI of each tactic that has one, by full tactic name; raise ``BadInput``."""
    found: dict[str, KernelAbi] = {}
    for name in library.json_names(f"manifests/{TARGET}/contracts"):
        fields = Fields(library.read_object(name), library.location(name))
        if fields.value.get("format") == FORMAT_ABI:
            abi = read_abi(fields)
            if abi.tactic in found:
                fields.refuse(f'tactic "{abi.tactic}" has two kernel ABIs', "tactic")
            found[abi.tactic] = abi
    return found


def read_abi(fields: Fields) -> KernelAbi:
    """Return one kernel ABI."""
    fields.close(ABI_KEYS)
    grid = tuple(_dimension(fields, "grid", value) for value in fields.array("grid"))
    if len(grid) != 3:
        fields.refuse("grid has the wrong number of dimensions", "grid", expected=3, got=len(grid))
    return KernelAbi(
        tactic=f"{TARGET}.{fields.text('tactic')}",
        arguments=tuple(_argument(item) for item in fields.objects("arguments")),
        grid=grid,
        location=fields.location,
    )


def _argument(fields: Fields) -> AbiArgument:
    fields.close(ARGUMENT_KEYS)
    kind = fields.word("kind", ("pointer", "u32"))
    return AbiArgument(
        name=fields.text("name"),
        offset=fields.integer("offset", high=UINT32_MAX),
        size=fields.integer("size", low=1, high=8),
        kind=kind,
        access=fields.word("access", ("read", "write", "read_write", "value")),
        dtype=fields.word("dtype", (*DTYPE_BYTES, "u32")) if fields.has("dtype") else None,
        shape=tuple(_dimension(fields, "shape", value) for value in fields.array("shape", [])),
        layout=fields.optional_text("layout"),
    )


def _dimension(fields: Fields, key: str, value: object) -> Dimension:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadInput(
            "dimension is neither a positive integer nor a name", location=fields.place(key)
        )
    return value
