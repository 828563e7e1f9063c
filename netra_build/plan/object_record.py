"""What a built code object says of itself, in the published records, and what it must say."""

from __future__ import annotations

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata
from netra_build.asm.objects.metadata import KernelMetadata, resources
from netra_build.core.canonical_json import Json
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.launch import Launch, read_launch

TARGET_NAME = "amdgcn-amd-amdhsa--gfx950"


def object_record(
    code: CodeObject, candidate: Fields, digest: str, *, hsaco: str, location: str
) -> dict[str, Json]:
    """Return ``metadata/SYMBOL.json`` of a generated code object."""
    _, metadata = kernel_and_metadata(code, candidate.text("symbol"), location)
    threads = read_launch(candidate.child("launch")).block[0]
    return {
        "source": candidate.text("source"),
        "hsaco": hsaco,
        "sha256": digest,
        "text_sha256": sha256_hex(code.text),
        "resources": resources(metadata, threads),
    }


def golden_record(
    code: CodeObject, operation: Fields, digest: str, location: str
) -> dict[str, Json]:
    """Return ``metadata/STEM.json`` of a golden code object."""
    symbol = operation.text("kernel_symbol")
    _, metadata = kernel_and_metadata(code, symbol, location)
    threads = read_launch(operation.child("launch")).work_items
    return {
        "hsaco": operation.text("hsaco"),
        "sha256": digest,
        "symbol": symbol,
        "resources": resources(metadata, threads),
        "artifact_kind": operation.text("artifact_kind"),
    }


def check_notes(
    code: CodeObject, kernel: Fields, location: str, *, symbol_key: str = "symbol"
) -> None:
    """Hold a code object's own metadata against a candidate or an operation record.

    Raises ``BadInput`` for another target, wave size, kernarg size, LDS size or a work-group
    that is larger than the code object allows.
    """
    symbol = kernel.text(symbol_key)
    _, metadata = kernel_and_metadata(code, symbol, location)
    launch = read_launch(kernel.child("launch"))
    for what, expected, got in _facts(code, metadata, launch, kernel.integer("kernarg_size")):
        if expected != got:
            raise BadInput(
                f'{what} of "{symbol}" differs from its contract',
                location=location,
                expected=expected,
                got=got,
            )
    if launch.work_items > metadata.max_flat_workgroup_size:
        raise BadInput(
            f'work-group of "{symbol}" is larger than its code object allows',
            location=location,
            expected=f"at most {metadata.max_flat_workgroup_size}",
            got=launch.work_items,
        )


def _facts(
    code: CodeObject, metadata: KernelMetadata, launch: Launch, kernarg_size: int
) -> list[tuple[str, object, object]]:
    return [
        ("target", TARGET_NAME, code.target),
        ("wave size", 64, metadata.wavefront_size),
        ("kernarg size", kernarg_size, metadata.kernarg_segment_size),
        ("fixed LDS", launch.lds_bytes, metadata.group_segment_fixed_size),
    ]
