"""One kernel of a code object: found by symbol, and the resources that its metadata names."""

from __future__ import annotations

from netra_build.asm.code_object import CodeObject, Kernel
from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

WAVE_SIZE = 64


def kernel_by_symbol(code: CodeObject, symbol: str, location: str) -> Kernel:
    """Return the kernel named ``symbol``; refuse one that is missing or lacks metadata."""
    for kernel in code.kernels:
        if kernel.symbol == symbol:
            if kernel.metadata is None:
                raise BadInput(f'kernel "{symbol}" has no metadata', location=location)
            return kernel
    known = [kernel.symbol for kernel in code.kernels]
    hint = nearest_hint(symbol, known)
    raise BadInput(f'no kernel "{symbol}" in the code object', location=location, hint=hint)


def resources(kernel: Kernel, threads: int) -> dict[str, int | str]:
    """Return the resource record of the published format, section 10; sizes in bytes."""
    metadata = kernel.metadata
    if metadata is None:
        raise BadInput(f'kernel "{kernel.symbol}" has no metadata')
    record: dict[str, int | str] = {
        "target": "gfx950",
        "wave_size": WAVE_SIZE,
        "kernarg_size": metadata.kernarg_segment_size,
        "threads": threads,
        "max_threads": metadata.max_flat_workgroup_size,
        "lds_bytes": metadata.group_segment_fixed_size,
    }
    for name in ("vgpr_count", "sgpr_count", "agpr_count", "private_segment_fixed_size"):
        value = getattr(metadata, name)
        if value is not None:
            record[name] = value
    return record
