"""A bench for the functional model: many small pieces of assembly in one kernel, one launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.model.findings import Checks
from netra_build.checkasm.model.launch import Options, Outcome, prepare

LANES = 64
SLOTS = 16
"""Vector inputs and outputs that one case may have."""

HEAD = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.globl bench
.p2align 8
.type bench,@function
bench:
"""
TAIL = """
.size bench, .-bench
.rodata
.p2align 6
.amdhsa_kernel bench
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_kernarg_size {kernarg}
  .amdhsa_user_sgpr_count {user_sgprs}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id {ids}
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 100
  .amdhsa_accum_offset {accum}
  .amdhsa_float_denorm_mode_32 {denorm}
  .amdhsa_ieee_mode 1
  .amdhsa_dx10_clamp 1
  .amdhsa_fp16_overflow {overflow}
{extra}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: bench
    .symbol: bench.kd
    .kernarg_segment_size: {kernarg}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: {vgprs}
    .max_flat_workgroup_size: 1024
    .args:
{args}
...
.end_amdgpu_metadata
"""


def argument(name: str, offset: int, size: int = 8, kind: str = "global_buffer") -> str:
    """Return one argument of the metadata note."""
    space = "\n        .address_space: global" if kind == "global_buffer" else ""
    return (
        f"      - .name: {name}\n        .offset: {offset}\n        .size: {size}\n"
        f"        .value_kind: {kind}{space}"
    )


@dataclass(frozen=True)
class Case:
    """One piece of assembly. Registers by number hold uint32[64]; scalars hold one number."""

    text: str
    vectors: Mapping[int, Sequence[int] | np.ndarray] = field(default_factory=dict)
    scalars: Mapping[int, int] = field(default_factory=dict)
    results: Sequence[int] = (40,)
    """Vector registers to look at afterwards."""
    scalar_results: Sequence[int] = ()


@dataclass
class Bench:
    """Assembles and runs."""

    toolchain: Toolchain

    def build(self, body: str, names: Sequence[str] = ("data",), **options: object) -> bytes:
        """Return a linked kernel ``bench`` with one pointer argument per name."""
        unit = self.unit(body, names, **options)
        return self.toolchain.link([self.toolchain.assemble(unit.encode())])

    @staticmethod
    def unit(body: str, names: Sequence[str] = ("data",), **options: object) -> str:
        """Return the text of that kernel."""
        values = {
            "lds": 0,
            "kernarg": 8 * len(names),
            "user_sgprs": 2,
            "ids": 2,
            "vgprs": 128,
            "accum": 128,
            "denorm": 3,
            "overflow": 0,
            "extra": "",
            "args": "\n".join(argument(name, 8 * at) for at, name in enumerate(names)),
        } | options
        return HEAD + body + "\ns_endpgm\n" + TAIL.format(**values)

    def launch(
        self,
        body: str,
        args: Mapping[str, object],
        *,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (64, 1, 1),
        checks: Checks | None = None,
        budget: int = 1_000_000,
        dynamic_lds: int = 0,
        **options: object,
    ) -> Outcome:
        """Assemble ``body`` and run it on named arrays."""
        hsaco = self.build(body, tuple(args), **options)
        run = Options(dynamic_lds, checks or Checks(), budget)
        return prepare(hsaco, "bench", self.toolchain, "bench").launch(grid, block, args, run)

    def twin(
        self, body: str, fault: tuple[str, str], args: Mapping[str, object], **options: object
    ) -> Outcome:
        """Run ``body`` as it is, which must be silent, and with one text replaced by a fault."""
        old, new = fault
        assert body.count(old) == 1
        assert self.lines(self.launch(body, args, **options)) == []
        return self.launch(body.replace(old, new), args, **options)

    @staticmethod
    def lines(outcome: Outcome) -> list[str]:
        """Return all findings as text."""
        return [finding.line() for finding in outcome.report.findings]

    @staticmethod
    def details(outcome: Outcome) -> list[tuple[str, str, str, int, int | None]]:
        """Return kind, fact, instruction, wave and lane of each finding: all but the address."""
        found = outcome.report.findings
        return [(f.kind, f.detail, f.instruction, f.wave, f.lane) for f in found]

    def run(self, cases: Sequence[Case], **options: object) -> list[list[np.ndarray]]:
        """Run all cases in one kernel; returns, per case, vector then scalar results."""
        data = np.zeros((len(cases), 3 * SLOTS, LANES), np.uint32)
        body = ["s_load_dwordx2 s[2:3], s[0:1], 0x0", "v_lshlrev_b32 v0, 2, v0"]
        body.append("s_waitcnt lgkmcnt(0)")
        for at, case in enumerate(cases):
            body += self._case(at, case, data)
        outcome = self.launch("\n".join(body), {"data": data}, **options)
        assert [f.line() for f in outcome.report.findings] == []
        after = outcome.outputs["data"]
        results = []
        for at, case in enumerate(cases):
            count = len(case.results) + len(case.scalar_results)
            results.append([after[at, 2 * SLOTS + i] for i in range(count)])
        return results

    def _case(self, at: int, case: Case, data: np.ndarray) -> list[str]:
        base = at * 3 * SLOTS * LANES * 4
        lines = [f"s_add_u32 s4, s2, {base:#x}", "s_addc_u32 s5, s3, 0"]
        for slot, (register, value) in enumerate(case.vectors.items()):
            data[at, slot] = np.asarray(value).astype(np.uint32)
            lines += self._offset(slot)
            lines.append(f"global_load_dword v{register}, v1, s[4:5]")
        for slot, (register, value) in enumerate(case.scalars.items()):
            data[at, SLOTS, slot] = value & 0xFFFFFFFF
            lines.append(f"s_load_dword s{register}, s[4:5], {(SLOTS * LANES + slot) * 4:#x}")
        lines += ["s_waitcnt vmcnt(0) lgkmcnt(0)", case.text]
        lines += ["s_waitcnt vmcnt(0) lgkmcnt(0)", "s_mov_b64 exec, -1"]
        slot = 2 * SLOTS
        for register in case.results:
            lines += self._offset(slot)
            lines.append(f"global_store_dword v1, v{register}, s[4:5]")
            slot += 1
        for register in case.scalar_results:
            lines.append(f"v_mov_b32 v2, s{register}")
            lines += self._offset(slot)
            lines.append("global_store_dword v1, v2, s[4:5]")
            slot += 1
        return lines

    @staticmethod
    def _offset(slot: int) -> list[str]:
        return [f"v_add_u32 v1, {slot * LANES * 4:#x}, v0"]


@pytest.fixture(scope="session")
def bench(toolchain: Toolchain) -> Bench:
    """Return the bench of this machine's tool chain."""
    return Bench(toolchain)


@pytest.fixture(scope="session")
def case() -> type[Case]:
    """Return the class of cases."""
    return Case
