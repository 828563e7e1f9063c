"""Texts that a new tactic starts from; ``$words`` are filled in by ``skeleton``."""

from __future__ import annotations

from string import Template

TEMPLATE = Template(r"""// SPDX-License-Identifier: MIT
// TODO say in one sentence what the kernel computes. The skeleton multiplies every element by
// $factor_text.
//
// void SYMBOL(
$prototype
//
// Grid (ceil($count / 64), 1, 1), 64 work-items: x = group of 64 elements. Elements from $count on
// are left alone.
//
//     $out[i] = $factor_text * $x[i]        one rounding, to nearest even
//
// SGPR  ARGUMENTS  copy of the kernarg segment
//       SOURCE, TARGET  addresses of the group's elements
// VGPR  LANE
//       OFFSET     byte offset of the lane's element in the group
//       INDEX      its index
//       VALUE      the element, then the product
// LDS   none
.include "kernels/gfx950/templates/common/guards.inc"
.include "kernels/gfx950/templates/common/module.inc"
.include "kernels/gfx950/templates/common/regs.inc"
.include "kernels/gfx950/templates/common/kernargs.inc"
.include "kernels/gfx950/templates/common/waits.inc"
.include "kernels/gfx950/templates/common/addressing.inc"
.include "kernels/gfx950/templates/common/memory.inc"
.include "kernels/gfx950/templates/common/transfers.inc"
.include "kernels/gfx950/templates/common/descriptor.inc"
.include "kernels/gfx950/templates/common/metadata.inc"

	NETRA_ARGUMENTS_BEGIN
$declarations
	.set NETRA_KERNARG_BYTES, $kernarg_bytes

.macro $macro symbol
	NETRA_REQUIRE_GFX950_WAVE64
	NETRA_REQUIRE_EQ NETRA_GROUP_ELEMENTS, 64
	.if NETRA_GUARDS_FAILED == 0
	NETRA_GFX950_MODULE_HEADER
	NETRA_KERNEL_ENTRY \symbol
	${macro}_REGISTERS
	${macro}_CODE .L\symbol\()_done
	NETRA_KERNEL_FUNCTION_END \symbol
	NETRA_KERNEL_DESCRIPTOR \symbol, NETRA_KERNARG_BYTES, 0, 1
	NETRA_KERNEL_METADATA \symbol, NETRA_KERNARG_BYTES, 0, NETRA_WAVE_SIZE
	.endif
.endm

.macro ${macro}_REGISTERS
	NETRA_REGISTERS_BEGIN 3
	NETRA_SGPR NETRA_S_ARGUMENTS, NETRA_KERNARG_BYTES/4, 4
	NETRA_SGPR NETRA_S_SOURCE, 2, 2
	NETRA_SGPR NETRA_S_TARGET, 2, 2
	NETRA_VGPR NETRA_V_OFFSET
	NETRA_VGPR NETRA_V_INDEX
	NETRA_VGPR NETRA_V_VALUE
$registers
.endm

.macro ${macro}_CODE done
	// The arguments; meanwhile the lane's byte offset and the index of its element.
$loads
	NETRA_LANE_OFFSET NETRA_V_OFFSET, NETRA_V_LANE, 4
	NETRA_TAKE_LOG2 NETRA_GROUP_ELEMENTS
	v_lshl_add_u32 v[NETRA_V_INDEX], s[NETRA_S_GROUP_X], NETRA_LOG2, v[NETRA_V_LANE]
	NETRA_WAIT_LGKM0

	// Lanes with an element go on.
	v_cmp_gt_u32 vcc, s[NETRA_S_$COUNT], v[NETRA_V_INDEX]
	s_mov_b64 exec, vcc
	s_cbranch_execz \done
	NETRA_ADD_ROWS_U64 NETRA_S_SOURCE, NETRA_S_$X, NETRA_S_GROUP_X, 4*NETRA_GROUP_ELEMENTS
	NETRA_ADD_ROWS_U64 NETRA_S_TARGET, NETRA_S_$OUT, NETRA_S_GROUP_X, 4*NETRA_GROUP_ELEMENTS
	NETRA_GLOBAL_LOAD_U32 NETRA_V_VALUE, NETRA_V_OFFSET, NETRA_S_SOURCE
	NETRA_WAIT_VM0 // the element
	v_mul_f32 v[NETRA_V_VALUE], $factor_operand, v[NETRA_V_VALUE]
	NETRA_GLOBAL_STORE_U32 NETRA_V_OFFSET, NETRA_V_VALUE, NETRA_S_TARGET
\done\():
	s_endpgm
.endm
""")

GOLDEN = Template(r"""// SPDX-License-Identifier: MIT
// TODO say in one sentence what the kernel computes. The skeleton multiplies every element by
// $factor_text.
//
// void $symbol(
$prototype
//
// Grid (ceil($count / 64), 1, 1), 64 work-items: x = group of 64 elements. Elements from $count on
// are left alone.
//
//     $out[i] = $factor_text * $x[i]        one rounding, to nearest even
//
// SGPR  0:1    kernarg segment, until the arguments are read
//       2      work-group x
$argument_registers
//       $source  addresses of the group's elements to read
//       $target  addresses of the group's elements to write
// VGPR  0      lane
//       1      byte offset of the lane's element in the group, 4 * lane
//       2      index of the element, 64 * x + lane
//       3      the element, then the product
// LDS   none

	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6

	.text
	.protected $symbol
	.globl $symbol
	.p2align 8
	.type $symbol,@function
$symbol:
// The arguments; meanwhile the lane's byte offset and the index of its element.
$golden_loads
	v_lshlrev_b32 v1, 2, v0                       // 4 * lane
	v_lshl_add_u32 v2, s2, 6, v0                  // 64 * x + lane
	s_waitcnt lgkmcnt(0)                          // the arguments

// Lanes with an element go on.
	v_cmp_gt_u32 vcc, $s_count, v2
	s_mov_b64 exec, vcc
	s_cbranch_execz .L${symbol}_done
	s_lshl_b32 $source_low, s2, 8                         // $x + 256 * group
	s_lshr_b32 $source_high, s2, 24
	s_add_u32 $source_low, $s_x, $source_low
	s_addc_u32 $source_high, $s_x_high, $source_high
	s_lshl_b32 $target_low, s2, 8                         // $out + 256 * group
	s_lshr_b32 $target_high, s2, 24
	s_add_u32 $target_low, $s_out, $target_low
	s_addc_u32 $target_high, $s_out_high, $target_high
	global_load_dword v3, v1, s[$source]
	s_waitcnt vmcnt(0)                            // the element
	v_mul_f32 v3, $s_factor, v3
	global_store_dword v1, v3, s[$target]
.L${symbol}_done:
	s_endpgm
	.size $symbol, .-$symbol

	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel $symbol
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size $kernarg_bytes
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr $sgprs
		.amdhsa_accum_offset 4
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: $symbol
    .symbol: $symbol.kd
    .kernarg_segment_size: $kernarg_bytes
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 4
    .agpr_count: 0
    .sgpr_count: $sgprs
    .args:
$golden_arguments
...
	.end_amdgpu_metadata
""")

STATEMENT = Template('''"""What $name computes: elements times $factor_python."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from netra_build.checkasm.numerics.formats import F32, multiply
from netra_build.checkasm.numerics.scenario import Array, Entry, Scenario, generator, junk
from netra_build.checkasm.numerics.scenarios_flat import floats

COUNTS = {"nothing": 0, "one": 1, "before_edge": 63, "edge": 64, "behind_edge": 65}
CASES = ("random", *COUNTS, "zeros", "subnormals", "largest")


def scaled(x: F32, factor: np.float32) -> F32:
    """Return ``factor`` times every element, rounded once to nearest even."""
    return multiply(x, factor)


def launch(tactic: str, specialization: Mapping[str, int], case: str, seed: int) -> Scenario:
    """Return a launch over some elements; the arrays are one element longer than is written."""
    rng = generator(tactic, case, seed)
    count = COUNTS.get(case, 1 + 37 * seed % 500)
    x = floats(case, rng, count + 1)
    factor = $factor_value
    out = junk("float32", count + 1)
    expected = np.append(scaled(x[:count], factor), out[count:])
    values: dict[str, Array | int] = {
$values
    }
    return Scenario(
        label=f"{tactic}/{case}/{seed}",
        tactic=tactic,
        specialization=specialization,
        values=values,
        grid=(1 + count // 64, 1, 1),
        block=(64, 1, 1),
        expected={"$out": expected},
    )


ENTRY = Entry(launch, CASES, {"": {}})
''')

TEST = Template('''"""$name in the functional model."""

from __future__ import annotations

import pytest

from netra_build.asm.objects.code_object import read_code_object
from netra_build.checkasm.numerics.scenarios import SCENARIOS, scenario
from netra_build.checkasm.model.launch import Options, prepare

TACTIC = "$name"


def run(toolchain, source: bytes, case: str):
    """Assemble and launch a kernel; return the report and the outputs that are wrong."""
    hsaco = toolchain.link([toolchain.assemble(source)])
    symbol = read_code_object(hsaco, TACTIC).kernels[0].symbol
    launch = scenario(TACTIC, "", case, 1)
    prepared = prepare(hsaco, symbol, toolchain, symbol)
    arguments = list(launch.values.values())
    outcome = prepared.launch(launch.grid, launch.block, arguments, Options())
    pointers = [name for name, value in launch.values.items() if not isinstance(value, int)]
    outputs = dict(zip(pointers, outcome.outputs.values(), strict=True))
    return outcome.report, [r.line() for r in launch.compare(outputs) if not r.is_equal]


@pytest.fixture
def golden(root) -> bytes:
    return (root / "golden/gfx950" / TACTIC / "kernel.s").read_bytes()


@pytest.mark.parametrize("case", SCENARIOS[TACTIC].cases)
def test_the_golden_source_is_exact_and_silent(toolchain, golden, case):
    report, wrong = run(toolchain, golden, case)
    assert [finding.line() for finding in report.findings] == []
    assert wrong == []


def test_another_operation_is_seen(toolchain, golden):
    changed = golden.replace(b"v_mul_f32 v3", b"v_add_f32 v3")
    assert changed != golden
    assert len(run(toolchain, changed, "random")[1]) == 1


def test_a_missing_wait_is_seen(toolchain, golden):
    changed = golden.replace(b"s_waitcnt vmcnt(0)", b"s_nop 0")
    assert changed != golden
    assert not run(toolchain, changed, "random")[0].is_clean
''')
