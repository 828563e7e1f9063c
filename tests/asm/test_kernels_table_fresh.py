"""``docs/kernels.md`` says what the kernels are, and the kernels keep the bars of the library."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.kernel_statistics import (
    code_of,
    narrow_runs,
    transfers,
    waves_per_simd,
)
from netra_build.cli.author.kernel_minimums import SHAPE_BY_TACTIC
from netra_build.cli.author.kernels_table import DOCUMENT, KernelFacts, kernel_facts, kernels_text
from netra_build.core.disk import RealDisk
from netra_build.formats.library import Library, open_library

TEMPLATES = "kernels/gfx950/templates"
MEDIAN_LINES, MOST_LINES = 200, 500
TWIN_LINES = 6
NO_TWIN = re.compile(r"\.(include|set|macro|endm|rept|endr|if|else|endif)|NETRA_[SV]GPR\b")
RENAMED = re.compile(r"\\[a-z_0-9]+|\b\d+\b|NETRA_[SV]_\w+")

LLVM_KERNEL = """
target triple = "amdgcn-amd-amdhsa"
{lds}
define amdgpu_kernel void @k() #0 {{
  {store}
  call void asm sideeffect "; use", "{clobbers}"()
  ret void
}}
attributes #0 = {{ nounwind "amdgpu-flat-work-group-size"="{items},{items}" }}
"""
# VGPRs, SGPRs, LDS bytes and work-items; llc knows no work-group that does not fit as a whole.
OCCUPANCIES = [
    *((vgprs, 20, 0, 64) for vgprs in (24, 64, 65, 72, 73, 80, 81, 96, 97, 128, 129, 168, 169)),
    *((vgprs, 20, 0, 256) for vgprs in (256, 257, 512)),
    *((24, sgprs, 0, 64) for sgprs in (90, 94, 95, 101)),
    *((24, 20, lds, 256) for lds in (12800, 20480, 33280, 65280, 163840)),
    (24, 20, 34560, 512),
    (24, 20, 0, 1024),
]


@pytest.fixture(scope="module")
def library(root: Path) -> Library:
    return open_library(RealDisk(), root, ())


@pytest.fixture(scope="module")
def facts(library: Library, toolchain: Toolchain) -> list[KernelFacts]:
    """Return every specialization, built."""
    return kernel_facts(library, toolchain)


def test_the_document_is_that_of_the_kernels(library, toolchain, root):
    written = (root / DOCUMENT).read_text(encoding="utf-8")
    assert kernels_text(library, toolchain) == written, "run ./netra kernels --write"


def test_every_specialization_is_there(facts, root):
    folder = root / "golden/gfx950"
    labels = [path.parent.relative_to(folder).as_posix() for path in folder.rglob("expect.json")]
    assert [item.label for item in facts] == sorted(labels)


def test_no_kernel_needs_many_more_matrix_instructions_than_the_least(facts):
    judged = [item for item in facts if item.work is not None]
    assert {item.golden.tactic for item in judged} == set(SHAPE_BY_TACTIC)
    for item in judged:
        shape = SHAPE_BY_TACTIC[item.golden.tactic]
        assert item.work.ratio <= shape.bar, item.label
        assert item.work.ratio == 1 or shape.reason, item.label


def test_only_one_kernel_has_a_bar_of_its_own():
    bars = {tactic: shape.bar for tactic, shape in SHAPE_BY_TACTIC.items() if shape.bar != 1.25}
    assert bars == {"attention_splitseq_stage1": 1.6}


def test_runs_of_sixteen_bytes_are_moved_whole(facts):
    for item in facts:
        assert narrow_runs(transfers(code_of(item.listing))) == [], item.label


def test_templates_are_short(root):
    entries = [
        entry
        for path in (root / "manifests/gfx950/tactics").glob("*.json")
        for entry in json.loads(path.read_text(encoding="utf-8"))["tactics"]
    ]
    leaves = {entry["template"] for entry in entries}
    lengths = [(root / name).read_text(encoding="utf-8").count("\n") for name in leaves]
    assert len(lengths) > 10
    assert median(lengths) < MEDIAN_LINES
    files = (root / TEMPLATES).rglob("*.inc")
    assert max(path.read_text(encoding="utf-8").count("\n") for path in files) <= MOST_LINES


def twins(texts: dict[str, str]) -> list[set[str]]:
    """Return the places of equal instructions in files of different folders, names aside."""
    places: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, text in texts.items():
        lines = [" ".join(line.split("//")[0].split()) for line in text.split("\n")]
        lines = [RENAMED.sub("N", line) for line in lines if line and not NO_TWIN.match(line)]
        for at in range(len(lines) - TWIN_LINES + 1):
            places[tuple(lines[at : at + TWIN_LINES])].add(name)
    found = [names for names in places.values() if len({n.split("/")[0] for n in names}) > 1]
    return sorted(found, key=sorted)


def test_families_share_no_six_lines(root):
    folder = root / TEMPLATES
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.inc")
        if path.parent.name != "common"
    }
    assert len({name.split("/")[0] for name in texts}) >= 5
    assert twins(texts) == []


def test_renamed_twins_are_seen():
    lines = [f"\tv_add_f32 v[NETRA_V_A+{n}], v[NETRA_V_B], v[\\x] // {n}" for n in range(6)]
    other = [line.replace("V_A", "V_OTHER").replace("\\x", "\\y") for line in lines]
    one, two = "\n".join(lines), "\n".join(["\ts_nop 0", *other])
    assert twins({"moe/a.inc": one, "gdn/b.inc": two}) == [{"moe/a.inc", "gdn/b.inc"}]
    assert twins({"moe/a.inc": one, "moe/b.inc": two}) == []
    assert twins({"moe/a.inc": "\n".join(lines[:5]), "gdn/b.inc": two}) == []


@pytest.mark.parametrize(("vgprs", "sgprs", "lds", "items"), OCCUPANCIES)
def test_occupancy_is_what_llvm_says(toolchain, vgprs, sgprs, lds, items):
    registers = [f"v{min(vgprs, 256) - 1}", f"s{sgprs - 1}"]
    registers += [f"a{vgprs - 257}"] if vgprs > 256 else []
    source = LLVM_KERNEL.format(
        lds=f"@l = internal addrspace(3) global [{lds} x i8] poison, align 4" if lds else "",
        store="store volatile i8 1, ptr addrspace(3) @l" if lds else "",
        clobbers=",".join(f"~{{{name}}}" for name in registers),
        items=items,
    )
    llc = toolchain.assembler.path.parent / "llc"
    command = [str(llc), "-mcpu=gfx950", "-o", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    occupancy = re.search(r"^; Occupancy: (\d+)$", done.stdout, re.MULTILINE)
    assert occupancy is not None
    assert waves_per_simd(vgprs, sgprs, lds, items)[0] == int(occupancy[1])
