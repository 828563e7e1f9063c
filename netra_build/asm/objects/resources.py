"""Resources that the metadata of one kernel names, in the form of the published records."""

from __future__ import annotations

from netra_build.asm.objects.code_object import CodeObject, Kernel
from netra_build.asm.objects.metadata import KernelMetadata
from netra_build.core.errors import BadInput

WAVE_SIZE = 64


def kernel_and_metadata(
    code: CodeObject, symbol: str, location: str
) -> tuple[Kernel, KernelMetadata]:
    """Return the kernel ``symbol`` with its metadata; ``BadInput`` when either is missing."""
    kernel = code.kernel(symbol, location)
    if kernel.metadata is None:
        raise BadInput(f'kernel "{symbol}" has no metadata', location=location)
    return kernel, kernel.metadata


def resources(metadata: KernelMetadata, threads: int) -> dict[str, int | str]:
    """Return the resource record of the published format, section 10; sizes in bytes."""
    record: dict[str, int | str] = {
        "target": "gfx950",
        "wave_size": WAVE_SIZE,
        "kernarg_size": metadata.kernarg_segment_size,
        "threads": threads,
        "max_threads": metadata.max_flat_workgroup_size,
        "lds_bytes": metadata.group_segment_fixed_size,
        "vgpr_count": metadata.vgpr_count,
        "sgpr_count": metadata.sgpr_count,
        "private_segment_fixed_size": metadata.private_segment_fixed_size,
    }
    if metadata.agpr_count is not None:
        record["agpr_count"] = metadata.agpr_count
    return record
