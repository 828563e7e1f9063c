"""Our in-process readers and writers against LLVM's programs, on every kernel we have."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from published_gaps import guard_requirements, published_gaps

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.elf import is_whole
from netra_build.asm.objects.listings import notes_text, parse_disassembly
from netra_build.asm.objects.rename import rename_symbols
from netra_build.asm.objects.rewrite import rewrite, strip
from netra_build.asm.source.closure import Closure, flatten, include_closure
from netra_build.asm.tools.toolchain import Toolchain

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "tests" / "unit" / "asm_samples"
GOLDEN = sorted(ROOT.glob("golden/gfx950/**/kernel.s"))
CATALOGS = sorted(ROOT.glob("manifests/gfx950/tactics/*.json"))
TACTICS = [t for path in CATALOGS for t in json.loads(path.read_text())["tactics"]]

OPENCL = """
__constant int table[4] = {1, 2, 3, 4};
__attribute__((noinline)) float helper(float x, int n) {
  float b[64];
  for (int i = 0; i < n; i++) b[i & 63] = x * i;
  return b[n & 63];
}
__kernel void first(__global float *a, int n) {
  __local float l[256];
  int i = __builtin_amdgcn_workitem_id_x();
  l[i] = a[i];
  __builtin_amdgcn_s_barrier();
  a[i] = l[255 - i] * table[n & 3];
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void second(__global int *a, float f) {
  a[__builtin_amdgcn_workgroup_id_x()] = helper(f, a[0]);
}
__kernel void a_kernel_with_a_rather_long_name(__global int *a, __constant int *b, float4 f) {
  a[0] = b[1] + f.x;
}
"""


def llvm(toolchain: Toolchain, program: str) -> str:
    """Return the LLVM program next to the assembler."""
    return str(toolchain.assembler.path.parent / program)


SEALING = ("--strip-all", "--remove-section=.comment")


def objcopied(toolchain: Toolchain, data: bytes, folder: Path, *flags: str) -> bytes:
    """Return what llvm-objcopy makes of an object."""
    (folder / "in").write_bytes(data)
    command = [llvm(toolchain, "llvm-objcopy"), *flags, "in", "out"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "out").read_bytes()


def readobj_notes(toolchain: Toolchain, data: bytes, folder: Path) -> str:
    """Return what llvm-readobj prints for an object called ``k.hsaco``."""
    (folder / "k.hsaco").write_bytes(data)
    command = [llvm(toolchain, "llvm-readobj"), "--notes", "k.hsaco"]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def read(name: str) -> bytes:
    return (ROOT / name).read_bytes()


def unit_of(tactic: dict, symbol: str) -> tuple[bytes, Closure]:
    """Return one instance of a tactic with the first value of every constant, and its closure."""
    closure = include_closure(tactic["template"], read, tactic["id"])
    constants = {"NETRA_TARGET_GFX": 950, "NETRA_WAVE_SIZE": 64}
    for requirement in guard_requirements(closure):
        constants.setdefault(requirement.name, requirement.value)
    for table in (tactic.get("contract_constants", {}), tactic["compile_definitions"]):
        for name, values in table.items():
            constants[name] = values if isinstance(values, int) else min(values)
    for name, span in tactic.get("compile_ranges", {}).items():
        constants[name] = span["min"]
    macro = tactic["instantiation_macro"]
    line = re.search(rf"^\s*\.macro {macro} (.*)$", read(tactic["template"]).decode(), re.MULTILINE)
    assert line is not None
    others = [p.split("=")[0].strip() for p in line[1].split(",")[1:]]
    symbols = [symbol, *(f"{symbol}_{name.removesuffix('_symbol')}" for name in others)]
    lines = [f"\t.set {name}, {value}" for name, value in constants.items()]
    lines += [f'\t.include "{tactic["template"]}"', f"\t{macro} {', '.join(symbols)}", ""]
    return "\n".join(lines).encode(), closure


@pytest.fixture(scope="session")
def linked(toolchain: Toolchain) -> dict[str, bytes]:
    """Return linked objects of many kinds: the sample and every golden kernel."""
    sources = {"sample": SAMPLES / "two_kernels.s"}
    sources |= {str(path.parent.relative_to(ROOT)): path for path in GOLDEN}
    return {
        name: toolchain.link([toolchain.assemble(path.read_bytes())])
        for name, path in sources.items()
    }


@pytest.fixture(scope="session")
def compiled(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return objects that the OpenCL compiler and unusual linker options give."""
    folder = tmp_path_factory.mktemp("opencl")
    (folder / "k.cl").write_text(OPENCL)
    found = {}
    for level, version, options in (
        ("0", "4", []),
        ("1", "5", ["-soname=k.so"]),
        ("2", "6", ["-z", "norelro"]),
        ("3", "6", ["--hash-style=gnu", "-z", "nognustack"]),
        ("s", "5", ["-s"]),
    ):
        flags = ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx950"]
        flags += ["-nogpulib", f"-O{level}", f"-mcode-object-version={version}", "-w"]
        command = [llvm(toolchain, "clang"), *flags, "-c", "-o", "k.o", "k.cl"]
        subprocess.run(command, cwd=folder, check=True)
        link = [str(toolchain.linker.path), "-shared", "--build-id=none", *options]
        subprocess.run([*link, "-o", "k.hsaco", "k.o"], cwd=folder, check=True)
        found[f"-O{level} v{version} {' '.join(options)}"] = (folder / "k.hsaco").read_bytes()
    return found


def test_the_committed_samples_are_what_this_tool_chain_makes(toolchain, linked, tmp_path):
    def sample(name: str) -> bytes:
        return base64.b64decode((SAMPLES / f"{name}.base64").read_text())

    assert toolchain.assemble((SAMPLES / "two_kernels.s").read_bytes()) == sample("two_kernels.o")
    sealed = objcopied(toolchain, linked["sample"], tmp_path, *SEALING)
    assert sealed == sample("two_kernels.sealed")
    printed = toolchain.disassemble(linked["sample"], label="two_kernels.hsaco")
    assert printed == (SAMPLES / "two_kernels.dis").read_text()
    notes = readobj_notes(toolchain, linked["sample"], tmp_path)
    assert notes.replace("File: k.hsaco", "File: two_kernels.hsaco") == (
        (SAMPLES / "two_kernels.notes.txt").read_text()
    )


def test_sealing_equals_objcopy(toolchain, linked, compiled, tmp_path):
    different = [
        name
        for name, data in {**linked, **compiled}.items()
        if strip(data, name) != objcopied(toolchain, data, tmp_path, *SEALING)
    ]
    assert different == []


def test_rewriting_equals_a_plain_objcopy(toolchain, linked, compiled, tmp_path):
    different = [
        name
        for name, data in {**linked, **compiled}.items()
        if rewrite(data, name) != objcopied(toolchain, data, tmp_path)
    ]
    assert different == []


def test_notes_equal_readobj(toolchain, linked, compiled, tmp_path):
    different = [
        name
        for name, data in {**linked, **compiled}.items()
        if notes_text(read_code_object(data, name), "k.hsaco")
        != readobj_notes(toolchain, data, tmp_path)
    ]
    assert different == []


def test_descriptors_of_compiled_kernels_have_no_reserved_bit(compiled):
    kernels = [k for data in compiled.values() for k in read_code_object(data, "k").kernels]
    assert len(kernels) == 15
    assert [k.symbol for k in kernels if k.descriptor.reserved()] == []
    counts = [(k.descriptor.user_sgpr_dwords(), k.descriptor.user_sgpr_count) for k in kernels]
    assert all(asked == given for asked, given in counts)


def instructions_in(code: bytes, address: int) -> Iterator[tuple[int, int]]:
    """Yield (address, word) of machine code."""
    for at in range(0, len(code), 4):
        yield address + at, int.from_bytes(code[at : at + 4], "little")


def test_the_disassembly_covers_the_code_of_every_golden_kernel(toolchain, linked):
    for name, data in linked.items():
        code = read_code_object(data, name)
        printed = parse_disassembly(toolchain.disassemble(data), name)
        words = dict(instructions_in(code.text, code.text_address))
        for instruction in printed.instructions:
            for index, word in enumerate(instruction.words):
                assert words.pop(instruction.address + 4 * index) == word, name
        assert set(words.values()) <= {0}, name
        assert {k.symbol for k in code.kernels} <= {label.name for label in printed.labels}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_golden_source_and_its_flat_form_give_one_object(toolchain, path):
    source = path.read_bytes()
    assert toolchain.assemble(flatten(source, Closure({}, ()))) == toolchain.assemble(source)


@pytest.mark.parametrize("tactic", TACTICS, ids=[t["id"] for t in TACTICS])
def test_a_template_and_its_flat_unit_give_one_object(toolchain, tactic):
    unit, closure = unit_of(tactic, "netra_instance_gfx950")
    flat = flatten(unit, closure)
    tree = toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit}, "unit.s")
    assert toolchain.assemble(flat) == tree
    assert published_gaps(closure) == ()


@pytest.mark.parametrize("tactic", TACTICS[:3], ids=[t["id"] for t in TACTICS[:3]])
@pytest.mark.parametrize("new", ["k", "zz_" + "y" * 300, "Odd.name$1"])
def test_a_renamed_object_is_the_object_of_the_other_unit(toolchain, tactic, new):
    def assembled(symbol: str) -> bytes:
        return toolchain.assemble(flatten(*unit_of(tactic, symbol)))

    renamed = rename_symbols(assembled("netra_old_gfx950"), {"netra_old_gfx950": new})
    direct = assembled(new)
    assert renamed == direct
    assert strip(toolchain.link([renamed])) == strip(toolchain.link([direct]))


def test_two_kernels_are_renamed_like_two_sources(toolchain):
    source = (SAMPLES / "two_kernels.s").read_bytes()
    names = {"sample_first": "b_second", "sample_second": "a_first"}
    other = source.replace(b"sample_first", b"b_second").replace(b"sample_second", b"a_first")
    renamed = rename_symbols(toolchain.assemble(source), names)
    assert strip(toolchain.link([renamed])) == strip(toolchain.link([toolchain.assemble(other)]))


def test_sealing_forgets_the_name_of_a_constant(toolchain):
    source = (SAMPLES / "two_kernels.s").read_bytes()
    other = source.replace(b"SAMPLE_CONSTANT", b"ANOTHER_NAME")
    first, second = (toolchain.link([toolchain.assemble(text)]) for text in (source, other))
    assert first != second
    assert strip(first) == strip(second)


@pytest.mark.parametrize(
    ("files", "main"),
    [
        (
            {
                "u.s": '.include "a.inc"\n.include "b.inc"\n M 1 // c\n say x  y // z\n',
                "a.inc": '.ifndef A\n.set A, 1\n.include "b.inc"\n.endif\n s_nop A /* c */\n',
                "b.inc": '.ifndef B\n B = 2 ; c\n.macro M n\n s_nop \\n // "\n.endm\n'
                '.macro say text:vararg\n .ascii "\\text"\n.endm\n.endif\n s_nop B\n',
            },
            "u.s",
        ),
        (
            {
                "u.s": "#c\n x: y: s_nop 0 ; \"\n.byte '\"', ';' // c\n.ascii \"//;/*\" /* \n */\n"
                ".irp r,  1,  2\n s_nop \\r // c\n.endr\n.rept 2\n s_nop 3\n.endr\n"
                ".ifc a  b, a  b\n s_nop 4\n.endif\n",
            },
            "u.s",
        ),
    ],
)
def test_tricky_text_gives_one_object_flat_and_as_files(toolchain, files, main):
    data = {name: text.encode() for name, text in files.items()}
    closure = include_closure(main, lambda name: data[name], "u")
    assert toolchain.assemble(flatten(data[main], closure)) == toolchain.assemble_tree(data, main)


def test_an_object_may_have_any_number_of_sections(toolchain):
    """From 65280 on their number stands elsewhere in the file."""
    text = "".join(f" .section s{number}\n" for number in range(65300))
    data = toolchain.assemble(text.encode())
    assert data[60:62] == b"\0\0"
    assert is_whole(data)
    assert not is_whole(data[:-1])
