"""Make a library of N synthetic kernels: ``./netra python bench/synthetic_kernels.py N OUT``.

The library has the formats of any other: templates that include their family's file, which
includes one file that all share; tactic catalogs, ABI records, a profile and one recipe of code
objects. Every kernel has about 60 instructions of its own, drawn from a seeded generator, so that
no two share code. A SConstruct in it builds the recipe as a user's would. The same N and seed give
the same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from netra_build.asm.source.includes import source_closure_sha256

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = "kernels/gfx950/templates"
COMMON = f"{TEMPLATES}/common/bench.inc"
RECIPE = "recipes/bench.yaml"
FAMILIES = 10
INSTRUCTIONS = 44
"""Of a kernel's own; the family adds 12 and the shared file 5."""

WORK_ITEMS = 64
KERNARG_BYTES = 24
NO_EVIDENCE = {"evidence_root": "evidence/none", "lock_name": "none", "lock_sha256": "0" * 64}
OPCODES = ("v_add_f32", "v_mul_f32", "v_max_f32", "v_min_f32", "v_xor_b32", "v_add_u32")

COMMON_TEXT = """\
// SPDX-License-Identifier: MIT
// What all kernels of this library share: entry, kernargs, descriptor and metadata.
.ifndef BENCH_COMMON_INC
.set BENCH_COMMON_INC, 1

// Opens the kernel and loads its two pointers and the count.
.macro BENCH_BEGIN entry
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6
	.text
	.protected \\entry
	.globl \\entry
	.p2align 8
	.type \\entry,@function
\\entry\\():
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	s_load_dword s8, s[0:1], 0x10
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
.endm

// Closes the kernel: its descriptor and its note.
.macro BENCH_END entry
	s_endpgm
	.size \\entry, .-\\entry
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel \\entry
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 16
		.amdhsa_accum_offset 32
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: \\entry
    .symbol: \\entry\\().kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .vgpr_count: 32
    .agpr_count: 0
    .sgpr_count: 22
    .args:
      - {.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: count, .offset: 16, .size: 4, .value_kind: by_value}
...
	.end_amdgpu_metadata
.endm

.endif
"""

FAMILY_TEXT = """\
// SPDX-License-Identifier: MIT
// Family {family}: how its kernels read their element and write the result.
.include "{common}"
.ifndef BENCH_FAMILY_{family}_INC
.set BENCH_FAMILY_{family}_INC, 1

.macro BENCH_LOAD_{family}
	global_load_dword v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
{loads}
.endm

.macro BENCH_STORE_{family}
	v_add_f32 v2, v2, v3
	global_store_dword v1, v2, s[6:7]
	s_waitcnt vmcnt(0)
.endm

.endif
"""

TEMPLATE_TEXT = """\
// SPDX-License-Identifier: MIT
// Synthetic kernel {index}.
.include "{family_file}"

.macro BENCH_KERNEL_{index} symbol
	BENCH_BEGIN \\symbol
	BENCH_LOAD_{family}
{body}
	BENCH_STORE_{family}
	BENCH_END \\symbol
.endm
"""

SCONSTRUCT = """\
from SCons.Script import DefaultEnvironment, Environment, PyPackageDir, SetOption

SetOption("max_drift", -1)
SetOption("hash_format", "sha256")
DefaultEnvironment(tools=[])
env = Environment(tools=["netra"], toolpath=[PyPackageDir("netra_build.scons")])
env.Default(env.Alias("asked", env.NetraRecipe("bench")))
"""


def kernel_name(index: int) -> str:
    """Return the tactic id of a kernel."""
    return f"bench_{index:05}"


def kernel_symbol(index: int) -> str:
    """Return the public symbol of a kernel, which also names its code object."""
    return f"netra_bench_{index:05}_gfx950"


def template_name(index: int) -> str:
    """Return the file of a kernel's template."""
    return f"{TEMPLATES}/family{index % FAMILIES}/{kernel_name(index)}.inc"


def library_files(count: int, seed: int = 1) -> dict[str, bytes]:
    """Return every file of a library of ``count`` kernels by name, schemas and profile left out."""
    texts = {COMMON: COMMON_TEXT, "SConstruct": SCONSTRUCT, RECIPE: _recipe(count)}
    for family in range(min(FAMILIES, count)):
        texts[_family_file(family)] = _family_text(family, seed)
    for index in range(count):
        texts[template_name(index)] = _template_text(index, seed)
    catalogs: dict[int, list[dict[str, Any]]] = {}
    for index in range(count):
        texts[f"manifests/gfx950/contracts/{kernel_name(index)}.json"] = _pretty(_abi(index))
        catalogs.setdefault(index % FAMILIES, []).append(_entry(index, texts))
    for family, entries in catalogs.items():
        texts[f"manifests/gfx950/tactics/family{family}.json"] = _pretty(_catalog(entries))
    return {name: text.encode() for name, text in texts.items()}


def write_library(folder: Path, count: int, seed: int = 1) -> None:
    """Write the library into ``folder``, which must be new or empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder}: folder is not empty")
    shutil.copytree(ROOT / "schemas", folder / "schemas")
    shutil.copytree(ROOT / "manifests/gfx950/profiles", folder / "manifests/gfx950/profiles")
    for name, data in library_files(count, seed).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _family_file(family: int) -> str:
    return f"{TEMPLATES}/family{family}/family.inc"


def _instructions(generator: random.Random, count: int) -> list[str]:
    """Return vector instructions that read and write v2 to v27."""
    lines = []
    for _ in range(count):
        opcode = generator.choice(OPCODES)
        result, left, right = (generator.randrange(2, 28) for _ in range(3))
        lines.append(f"\t{opcode} v{result}, v{left}, v{right}")
    return lines


def _family_text(family: int, seed: int) -> str:
    moves = [f"\tv_mov_b32 v{register}, {register}" for register in range(3, 10)]
    generator = random.Random(f"{seed} family {family}")
    loads = "\n".join(generator.sample(moves, len(moves)))
    return FAMILY_TEXT.format(family=family, common=COMMON, loads=loads)


def _template_text(index: int, seed: int) -> str:
    family = index % FAMILIES
    own = [f"\tv_mov_b32 v10, {index}"]
    own += _instructions(random.Random(f"{seed} kernel {index}"), INSTRUCTIONS - 1)
    return TEMPLATE_TEXT.format(
        index=index, family=family, family_file=_family_file(family), body="\n".join(own)
    )


def _abi(index: int) -> dict[str, Any]:
    def pointer(name: str, offset: int, access: str) -> dict[str, Any]:
        shape = {"dtype": "fp32", "layout": "row_major", "shape": ["rows"]}
        return {"name": name, "kind": "pointer", "offset": offset, "size": 8, **shape} | {
            "access": access
        }

    count = {"name": "count", "kind": "u32", "access": "value", "dtype": "u32"}
    return {
        "format": "netra-kernel-abi-1",
        "tactic": kernel_name(index),
        "block": [WORK_ITEMS, 1, 1],
        "grid": ["rows", 1, 1],
        "arguments": [
            pointer("in", 0, "read"),
            pointer("out", 8, "write"),
            {**count, "offset": 16, "size": 4, "shape": []},
        ],
    }


def _entry(index: int, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return a kernel's entry in its catalog, pinned to the texts."""
    names = [template_name(index), _family_file(index % FAMILIES), COMMON]
    return {
        "id": kernel_name(index),
        "operation": f"bench_{index % FAMILIES}",
        "family": f"bench.family{index % FAMILIES}",
        "maturity": "experiment",
        "acceptance_scope": "none",
        "rank": index,
        "template": names[0],
        "template_sha256": sha256(texts[names[0]].encode()).hexdigest(),
        "source_closure_sha256": source_closure_sha256(
            {name: texts[name].encode() for name in names}
        ),
        "instantiation_macro": f"BENCH_KERNEL_{index}",
        "symbols": [kernel_symbol(index)],
        "compile_definitions": {},
        "kernarg_size": KERNARG_BYTES,
        "launch_block": WORK_ITEMS,
        "metadata_contract": {
            "group_segment_fixed_size": 0,
            "kernarg_segment_size": KERNARG_BYTES,
            "max_flat_workgroup_size": WORK_ITEMS,
        },
        "semantics": {
            "abi": "bench.ptr2_u32.v1",
            "dtypes": "f32.v1",
            "layouts": "row_major.v1",
            "numerical": "none.v1",
            "quantization": "none.v1",
        },
    }


def _catalog(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": "netra-fixed-tactic-catalog-1",
        "catalog_version": 1,
        "target": "gfx950",
        "wave_size": 64,
        "default_evidence_set": "none",
        "evidence_sets": {"none": NO_EVIDENCE},
        "tactics": entries,
    }


def _recipe(count: int) -> str:
    lines = ["format: netra-recipe-1", "kind: code_objects", "deployment: bench"]
    lines += ["allow_experimental: true", "checks: none", "artifacts:"]
    for index in range(count):
        symbol = kernel_symbol(index)
        member = f"{{tactic: {kernel_name(index)}, symbol: {symbol}}}"
        lines.append(f"  - {{name: {symbol}, members: [{member}]}}")
    return "\n".join([*lines, ""])


def _pretty(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def main() -> int:
    """Write a library."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kernels", type=int, help="how many")
    parser.add_argument("folder", type=Path, help="new or empty")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write_library(options.folder, options.kernels, options.seed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
