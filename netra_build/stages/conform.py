"""Conform: hold a code object against the contract that it was built for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netra_build.asm.code_object import CodeObject, Kernel, read_code_object
from netra_build.asm.metadata import ArgumentMetadata
from netra_build.asm.resources import kernel_by_symbol
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.errors import Refused
from netra_build.core.graph import Inputs, Outputs, Parameters, Stage

MACHINE_GFX950 = 0x4F
"""EF_AMDGPU_MACH of gfx950, the low byte of the ELF flags."""

ABI_VERSION_V6 = 4
"""ELF ABI version byte of code object version 6."""

DENORMALS_ON = 3
ROUND_TO_NEAREST = 0

Fact = tuple[str, object, object]
"""What is compared, what the contract says, what the code object says."""


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the report of all comparisons; raise ``Refused`` with the first that differs.

    Parameters: ``hsaco`` and ``symbol``; ``contract`` with ``kernarg_size``, ``launch`` (block
    and lds_bytes) and ``arguments`` (name, kind, offset).
    """
    hsaco, symbol = parameters["hsaco"], parameters["symbol"]
    code = read_code_object(inputs["hsaco"], hsaco)
    kernel = kernel_by_symbol(code, symbol, hsaco)
    facts = list(compare(code, kernel, parameters["contract"]))
    for what, expected, got in facts:
        if expected != got:
            raise Refused(
                f"{what} of {symbol} differs from its contract",
                location=hsaco,
                expected=expected,
                got=got,
            )
    rows = [{"fact": what, "value": got} for what, _, got in facts]
    report = {"format": "netra-conformity-1", "hsaco": hsaco, "symbol": symbol, "facts": rows}
    return {"report": pretty_bytes(report)}


def compare(code: CodeObject, kernel: Kernel, contract: dict[str, Any]) -> Iterator[Fact]:
    """Yield every fact of the contract beside what the code object says, in a fixed order."""
    yield from _object_facts(code)
    yield from _size_facts(kernel, contract)
    yield from _mode_facts(kernel)
    yield from _argument_facts(kernel, contract["arguments"])


def _object_facts(code: CodeObject) -> Iterator[Fact]:
    yield "machine flag", MACHINE_GFX950, code.e_flags & 0xFF
    yield "ABI version", ABI_VERSION_V6, code.abi_version
    yield "target", "amdgcn-amd-amdhsa--gfx950", code.target


def _size_facts(kernel: Kernel, contract: dict[str, Any]) -> Iterator[Fact]:
    descriptor, metadata = kernel.descriptor, kernel.metadata
    kernarg_size, launch = contract["kernarg_size"], contract["launch"]
    threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
    lds = launch["lds_bytes"]
    yield "wavefront size", 64, metadata.wavefront_size
    yield "wave32 flag", 0, descriptor.fields()["enable_wavefront_size32"]
    yield "kernarg size (descriptor)", kernarg_size, descriptor.kernarg_size
    yield "kernarg size (metadata)", kernarg_size, metadata.kernarg_segment_size
    yield "fixed LDS (descriptor)", lds, descriptor.group_segment_fixed_size
    yield "fixed LDS (metadata)", lds, metadata.group_segment_fixed_size
    yield "private segment (descriptor)", 0, descriptor.private_segment_fixed_size
    yield "private segment (metadata)", 0, metadata.private_segment_fixed_size
    most = metadata.max_flat_workgroup_size
    yield "work-group size", threads, min(threads, most) if threads > 0 else most
    yield from _register_facts(kernel)


def _register_facts(kernel: Kernel) -> Iterator[Fact]:
    """Registers that the metadata names fit what the descriptor allocates."""
    descriptor, metadata = kernel.descriptor, kernel.metadata
    vectors, accumulators = metadata.vgpr_count, metadata.agpr_count or 0
    total = max(vectors, descriptor.accum_offset + accumulators) if accumulators else vectors
    allocated = descriptor.allocated_vgprs
    yield "registers beyond the allocation", 0, max(0, total - allocated)
    yield "idle register granules", 0, max(0, allocated - total) // 8
    below = min(vectors - accumulators if accumulators else vectors, descriptor.accum_offset)
    yield "accumulation offset", max(4, -(-below // 4) * 4), descriptor.accum_offset


def _mode_facts(kernel: Kernel) -> Iterator[Fact]:
    fields = kernel.descriptor.fields()
    yield "f32 denormal mode", DENORMALS_ON, fields["float_denorm_mode_32"]
    yield "f16 and f64 denormal mode", DENORMALS_ON, fields["float_denorm_mode_16_64"]
    yield "f32 round mode", ROUND_TO_NEAREST, fields["float_round_mode_32"]
    yield "f16 and f64 round mode", ROUND_TO_NEAREST, fields["float_round_mode_16_64"]
    yield "IEEE mode", 1, fields["ieee_mode"]
    yield "clamp mode", 1, fields["dx10_clamp"]
    yield "kernarg pointer", 1, fields["enable_sgpr_kernarg_segment_ptr"]
    yield "dynamic stack", 0, fields["uses_dynamic_stack"]


def _argument_facts(kernel: Kernel, arguments: list[dict[str, Any]]) -> Iterator[Fact]:
    """Yield count, and of each argument its offset, size and value kind; hidden ones not."""
    visible = [a for a in kernel.metadata.arguments if not a.value_kind.startswith("hidden_")]
    yield "number of kernargs", len(arguments), len(visible)
    for index, (wanted, found) in enumerate(zip(arguments, visible, strict=False)):
        yield from _one_argument(f'kernarg {index} "{wanted["name"]}"', wanted, found)


def _one_argument(what: str, wanted: dict[str, Any], found: ArgumentMetadata) -> Iterator[Fact]:
    is_pointer = wanted["kind"] == "pointer"
    yield f"offset of {what}", wanted["offset"], found.offset
    yield f"size of {what}", 8 if is_pointer else 4, found.size
    yield f"value kind of {what}", "global_buffer" if is_pointer else "by_value", found.value_kind


STAGE = Stage("conform", "CONF", __name__, run)
