"""Descriptor and metadata against what the code uses and against the target's limits."""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.asm.objects.code_object import CodeObject, Kernel
from netra_build.checkasm.hazards.findings import Finding, make_finding
from netra_build.checkasm.hazards.flow import Flow
from netra_build.checkasm.hazards.registers import (
    AGPR_BASE,
    SGPR_BASE,
    SGPR_COUNT,
    VCC_MASK,
    VGPR_BASE,
    highest,
)

LDS_LIMIT_BYTES = 163_840
WAVE_SIZE = 64
VGPR_LIMIT = 512
MACH_BY_TARGET = {"gfx942": 0x4C, "gfx950": 0x4F}
_MACH_MASK = 0xFF
_LDS_TRAITS = {"lds_read", "lds_write", "lds_dma"}


def check_target(code: CodeObject, kernel: str, target: str) -> list[Finding]:
    """Compare the ELF flags and the metadata's target with the declared one."""
    findings = []
    expected = MACH_BY_TARGET[target]
    mach = code.e_flags & _MACH_MASK
    if mach != expected:
        text = f"ELF flags name another processor; expected {expected:#x}, got {mach:#x}"
        findings.append(make_finding("target", kernel, text))
    wanted = f"amdgcn-amd-amdhsa--{target}"
    if code.target.split(":")[0] != wanted:
        text = f'metadata names another target; expected "{wanted}", got "{code.target}"'
        findings.append(make_finding("target", kernel, text))
    return findings


def check_allocation(kernel: Kernel, flow: Flow) -> list[Finding]:
    """Return the findings about registers, LDS, wave size and the metadata's own numbers."""
    used = _used_registers(flow)
    texts = [
        *_register_faults(kernel, used),
        *_limit_faults(kernel, flow),
        *_metadata_faults(kernel, used),
    ]
    return [make_finding(rule, kernel.symbol, text) for rule, text in texts]


Fault = tuple[str, str]


def _used_registers(flow: Flow) -> int:
    used = 0
    for index in flow.reachable:
        used |= flow.effects[index].reads | flow.effects[index].writes
    return used


def _register_faults(kernel: Kernel, used: int) -> Iterator[Fault]:
    descriptor = kernel.descriptor
    vgprs = highest(used, VGPR_BASE, 256)
    agprs = highest(used, AGPR_BASE, 256)
    sgprs = highest(used, SGPR_BASE, SGPR_COUNT)
    allocated, offset = descriptor.allocated_vgprs, descriptor.accum_offset
    needed = offset + agprs if agprs else vgprs
    if max(needed, vgprs) > allocated:
        yield (
            "vgpr-allocation",
            f"{vgprs} VGPRs and {agprs} AGPRs (from {offset}) are used; "
            f"expected at most {allocated}, got {max(needed, vgprs)}",
        )
    if not 4 <= offset <= 256 or offset > VGPR_LIMIT:
        yield "accum-offset", f"accum_offset is out of range; expected 4 to 256, got {offset}"
    if vgprs > offset:
        rule = "accum-offset" if agprs else "accum-offset-vgpr"
        yield rule, f"VGPRs reach above accum_offset; expected at most {offset}, got {vgprs}"
    extra = 2 if used & VCC_MASK else 0
    if sgprs + extra > descriptor.allocated_sgprs:
        what = f"{sgprs} SGPRs{' and vcc' if extra else ''} are used"
        yield (
            "sgpr-allocation",
            f"{what}; expected at most {descriptor.allocated_sgprs}, got {sgprs + extra}",
        )


def _limit_faults(kernel: Kernel, flow: Flow) -> Iterator[Fault]:
    descriptor = kernel.descriptor
    size = descriptor.group_segment_fixed_size
    if size > LDS_LIMIT_BYTES:
        yield "lds-size", f"static LDS is too large; expected at most {LDS_LIMIT_BYTES}, got {size}"
    if size == 0 and any(flow.effects[i].traits & _LDS_TRAITS for i in flow.reachable):
        yield "lds-undeclared", "the kernel touches LDS and the descriptor declares none"
    if descriptor.wavefront_size32:
        yield "wave-size", "descriptor asks for wavefronts of 32; expected 64"


def _metadata_faults(kernel: Kernel, used: int) -> Iterator[Fault]:
    metadata, descriptor = kernel.metadata, kernel.descriptor
    if metadata is None:
        yield "metadata-missing", "the code object metadata does not list the kernel"
        return
    if metadata.wavefront_size != WAVE_SIZE:
        got = metadata.wavefront_size
        yield "wave-size", f"metadata states another wavefront size; expected 64, got {got}"
    for name, stated, real in (
        ("kernarg size", metadata.kernarg_segment_size, descriptor.kernarg_size),
        ("LDS size", metadata.group_segment_fixed_size, descriptor.group_segment_fixed_size),
        (
            "private segment size",
            metadata.private_segment_fixed_size,
            descriptor.private_segment_fixed_size,
        ),
    ):
        if stated != real:
            yield (
                "metadata-mismatch",
                f"{name} of metadata and descriptor differ; expected {real}, got {stated}",
            )
    vgprs = highest(used, VGPR_BASE, 256)
    agprs = highest(used, AGPR_BASE, 256)
    total = descriptor.accum_offset + agprs if agprs else vgprs
    counts = (
        (".vgpr_count", metadata.vgpr_count, total if metadata.agpr_count is not None else vgprs),
        (".agpr_count", metadata.agpr_count, agprs),
        (".sgpr_count", metadata.sgpr_count, highest(used, SGPR_BASE, SGPR_COUNT)),
    )
    for key, stated_count, needed in counts:
        if stated_count is not None and stated_count < needed:
            text = f'metadata "{key}" is too small; expected at least {needed}, got {stated_count}'
            yield "metadata-count", text
