"""Facts of a contract compared with those of a code object: sizes, registers, modes, arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata
from netra_build.asm.objects.descriptor import SGPR_GRANULE, KernelDescriptor
from netra_build.asm.objects.metadata import ArgumentMetadata, KernelMetadata
from netra_build.formats.launch import KernelAbi

ABI_VERSIONS = range(2, 5)
"""ELF ABI version bytes of code object versions 4, 5 and 6."""

KERNARG_ALIGNMENT = 8
SPECIAL_SGPRS = 6
"""VCC, XNACK mask and flat scratch, which are allocated after the counted ones."""

ACTUAL_ACCESS = {"read": "read_only", "write": "write_only", "read_write": "read_write"}

Fact = tuple[str, object, object]
"""Name of the fact, its value in the contract, its value in the code object."""

PUBLISHED = (
    *("target", "wavefront size", "launch block"),
    *("kernarg size (metadata)", "fixed LDS (metadata)"),
)
"""What a contract of the published formats states; all other facts are conventions of ours."""


def is_published(what: str) -> bool:
    """Tell whether the published formats hold a code object to the fact of this name."""
    return what.partition(" of ")[0] in PUBLISHED


def abi_facts(abi: KernelAbi, max_threads: int) -> dict[str, Any]:
    """Return what an ABI record adds to the contract of a kernel."""
    return {
        "abi": [{**one.document(), "access": one.access} for one in abi.arguments],
        "modes": dict(abi.modes),
        "block": list(abi.block),
        "grid": list(abi.grid),
        "max_threads": max_threads,
    }


def all_facts(code: CodeObject, contracts: Mapping[str, Any], location: str) -> Iterator[Fact]:
    """Yield the facts of a code object, then those of each kernel, with its symbol.

    ``contracts`` are those of the stage ``conform``; ``BadInput`` when a kernel or
    its metadata is missing.
    """
    yield from _object_facts(code, len(contracts))
    for named, contract in contracts.items():
        symbol = code.emitted(named, *contract.get("otherwise", ()))
        kernel, metadata = kernel_and_metadata(code, symbol, location)
        if "otherwise" in contract:
            yield "symbol", named, symbol
        for what, expected, got in compare(kernel.descriptor, metadata, contract):
            yield f"{what} of {symbol}", expected, got


def compare(
    descriptor: KernelDescriptor,
    metadata: KernelMetadata,
    contract: dict[str, Any],
) -> Iterator[Fact]:
    """Yield every fact with both values, contract and code object, in a fixed order."""
    yield from _size_facts(descriptor, metadata, contract)
    yield from _register_facts(descriptor, metadata)
    yield from _mode_facts(descriptor, contract.get("modes", {}))
    if "arguments" in contract:
        yield from _argument_facts(metadata, contract["arguments"], "")
    if "abi" in contract:
        yield from _argument_facts(metadata, contract["abi"], " (ABI record)")
        yield from _record_facts(metadata, contract)
        yield from _start_facts(descriptor, metadata, contract)


def _object_facts(code: CodeObject, kernels: int) -> Iterator[Fact]:
    version = code.abi_version
    yield "ABI version", version if version in ABI_VERSIONS else "2 to 4", version
    yield "target", "amdgcn-amd-amdhsa--gfx950", code.target
    yield "number of kernels", kernels, len(code.kernels)


def _size_facts(
    descriptor: KernelDescriptor, metadata: KernelMetadata, contract: dict[str, Any]
) -> Iterator[Fact]:
    kernarg_size, launch = contract["kernarg_size"], contract["launch"]
    threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
    lds, most = launch["lds_bytes"], metadata.max_flat_workgroup_size
    yield "wavefront size", 64, metadata.wavefront_size
    yield "wave32 flag", False, descriptor.wavefront_size32
    yield "kernarg size (descriptor)", kernarg_size, descriptor.kernarg_size
    yield "kernarg size (metadata)", kernarg_size, metadata.kernarg_segment_size
    yield "fixed LDS (descriptor)", lds, descriptor.group_segment_fixed_size
    yield "fixed LDS (metadata)", lds, metadata.group_segment_fixed_size
    yield "private segment (descriptor)", 0, descriptor.private_segment_fixed_size
    yield "private segment (metadata)", 0, metadata.private_segment_fixed_size
    yield "launch block", f"at most {most}", f"at most {most}" if threads <= most else threads


def _register_facts(descriptor: KernelDescriptor, metadata: KernelMetadata) -> Iterator[Fact]:
    """Yield the register counts of the metadata and the allocation of the descriptor.

    Metadata without a count of AGPRs say nothing about where these begin.
    """
    accumulators, allocated = metadata.agpr_count, descriptor.allocated_vgprs
    if accumulators is None:
        yield "VGPRs beyond the allocation", 0, max(0, metadata.vgpr_count - allocated)
    else:
        vectors = metadata.vgpr_count - accumulators
        offset = max(4, -(-vectors // 4) * 4)
        total = offset + accumulators if accumulators else vectors
        yield "accumulation offset", offset, descriptor.accum_offset
        yield "allocated VGPRs", max(8, -(-total // 8) * 8), allocated
    sgprs = metadata.sgpr_count
    yield "SGPRs beyond the allocation", 0, max(0, sgprs - descriptor.allocated_sgprs)


def _mode_facts(descriptor: KernelDescriptor, modes: dict[str, int]) -> Iterator[Fact]:
    fields = descriptor.fields()
    for name, value in modes.items():
        yield name, value, fields[name]
    yield "kernarg pointer", True, descriptor.user_sgpr_kernarg_segment_ptr
    yield "dynamic stack", False, descriptor.uses_dynamic_stack
    yield "reserved bits", {}, descriptor.reserved()


def _record_facts(metadata: KernelMetadata, contract: dict[str, Any]) -> Iterator[Fact]:
    """Yield the facts of the ABI record alone: names of kernargs and a block of fixed size."""
    visible = [a for a in metadata.arguments if not a.value_kind.startswith("hidden_")]
    for index, (wanted, found) in enumerate(zip(contract["abi"], visible, strict=False)):
        if found.name is not None:
            yield f"name of kernarg {index} (ABI record)", wanted["name"], found.name
        if found.actual_access is not None:
            access = ACTUAL_ACCESS.get(wanted["access"])
            yield f"access of kernarg {index} (ABI record)", access, found.actual_access
    block = contract.get("block", [])
    if block and all(isinstance(size, int) for size in block):
        yield "launch block (ABI record)", block, contract["launch"]["block"]


def _start_facts(
    descriptor: KernelDescriptor, metadata: KernelMetadata, contract: dict[str, Any]
) -> Iterator[Fact]:
    """Yield the facts of an ABI record about the start of the kernel by the hardware."""
    ids = (descriptor.workgroup_id_x, descriptor.workgroup_id_y, descriptor.workgroup_id_z)
    wanted = (True, *(size != 1 for size in contract["grid"][1:]))
    yield "work-group ids (ABI record)", _axes(wanted), _axes(ids)
    wide = [axis for axis, size in enumerate(contract["block"]) if size != 1]
    yield "work-item id mode (ABI record)", max(wide, default=0), descriptor.workitem_id_mode
    wanted_sgprs, got_sgprs = descriptor.user_sgpr_dwords(), descriptor.user_sgpr_count
    yield "number of user SGPRs (ABI record)", wanted_sgprs, got_sgprs
    yield "alignment of kernargs (ABI record)", KERNARG_ALIGNMENT, metadata.kernarg_segment_align
    most = contract["max_threads"]
    yield "largest work-group (ABI record)", most, metadata.max_flat_workgroup_size
    sgprs = -(-(metadata.sgpr_count + SPECIAL_SGPRS) // SGPR_GRANULE) * SGPR_GRANULE
    yield "allocated SGPRs (ABI record)", sgprs, descriptor.allocated_sgprs


def _axes(taken: Iterable[bool]) -> str:
    return "".join(axis for axis, is_taken in zip("xyz", taken, strict=True) if is_taken)


def _argument_facts(
    metadata: KernelMetadata, arguments: list[dict[str, Any]], origin: str
) -> Iterator[Fact]:
    """Yield count, and offset, size and value kind of each argument that is not hidden."""
    visible = [a for a in metadata.arguments if not a.value_kind.startswith("hidden_")]
    yield f"number of kernargs{origin}", len(arguments), len(visible)
    for index, (wanted, found) in enumerate(zip(arguments, visible, strict=False)):
        yield from _one_argument(f'kernarg {index} "{wanted["name"]}"{origin}', wanted, found)


def _one_argument(what: str, wanted: dict[str, Any], found: ArgumentMetadata) -> Iterator[Fact]:
    is_pointer = wanted["kind"] == "pointer"
    yield f"offset of {what}", wanted["offset"], found.offset
    yield f"size of {what}", 8 if is_pointer else 4, found.size
    yield f"value kind of {what}", "global_buffer" if is_pointer else "by_value", found.value_kind
