"""Debug objects: the code of the shipped one, each instruction at the line its author wrote."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from netra_build import requests
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.source.line_table import with_line_table
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.disk import RealDisk
from netra_build.core.errors import Refused
from netra_build.formats.library import open_library
from netra_build.stages import debug_object

MAIN = "generated/kernel.s"
HEAD = """\
	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.include "lib/parts.inc"
	.text
	.globl kernel
	.p2align 8
	.type kernel,@function
kernel:
	v_mov_b32 v0, 0 // here
	ADD 2
	/* a comment
	v_nop
	*/ v_mov_b32 v3, 1
	EMIT v_sub_f32
	s_endpgm
.Lend:
	.size kernel, .Lend-kernel
"""
PARTS = """\
.macro ADD count
	.rept \\count
	v_add_f32 v1, v1, v2
	.endr
.endm
.macro EMIT op
	\\op v4, v4, v5
.endm
"""
PLACES = [
    (MAIN, 8, "v_mov_b32"),
    ("lib/parts.inc", 3, "v_add_f32"),
    ("lib/parts.inc", 3, "v_add_f32"),
    (MAIN, 12, "v_mov_b32"),
    ("lib/parts.inc", 7, "v_sub_f32"),
    (MAIN, 14, "s_endpgm"),
]
FILES = {MAIN: HEAD.encode(), "lib/parts.inc": PARTS.encode()}


@dataclass(frozen=True)
class LineTable:
    """What a debugger reads: names, and file and line by address."""

    unit: str
    folder: str
    files: tuple[str, ...]
    place_by_address: dict[int, tuple[str, int]]

    def at(self, address: int) -> tuple[str, int]:
        """Return file and line of the row that covers an address."""
        return self.place_by_address[max(a for a in self.place_by_address if a <= address)]


def read_line_table(data: bytes) -> LineTable:
    """Read the line table of an object's only compile unit, with pyelftools."""
    dwarf = ELFFile(io.BytesIO(data)).get_dwarf_info()
    [unit] = dwarf.iter_CUs()
    top = unit.get_top_DIE().attributes
    program = dwarf.line_program_for_CU(unit)
    folders = [b"", *program["include_directory"]]
    files = [
        (folders[entry.dir_index] + b"/" + entry.name).decode() for entry in program["file_entry"]
    ]
    states = [entry.state for entry in program.get_entries() if entry.state is not None]
    rows = {s.address: (files[s.file - 1], s.line) for s in states if not s.end_sequence}
    name, folder = top["DW_AT_name"].value, top["DW_AT_comp_dir"].value
    return LineTable(name.decode(), folder.decode(), tuple(files), rows)


def instructions(toolchain: Toolchain, data: bytes) -> list[tuple[int, str]]:
    """Return address and mnemonic of every instruction, encodings left out."""
    found = parse_disassembly(toolchain.disassemble(data)).instructions
    return [(one.address, one.mnemonic.removesuffix("_e32")) for one in found]


def test_every_instruction_has_the_place_of_its_author(toolchain: Toolchain) -> None:
    made = toolchain.link([toolchain.assemble_tree(with_line_table(FILES, MAIN), MAIN)])
    table = read_line_table(made)
    assert (table.unit, table.folder) == (MAIN, ".")
    assert table.files == (MAIN, "lib/parts.inc")
    found = [(*table.at(address), name) for address, name in instructions(toolchain, made)]
    assert found[: len(PLACES)] == PLACES


def test_the_code_is_that_without_a_line_table(toolchain: Toolchain) -> None:
    plain = toolchain.link([toolchain.assemble_tree(FILES, MAIN)])
    located = toolchain.link([toolchain.assemble_tree(with_line_table(FILES, MAIN), MAIN)])
    assert text_of(plain) == text_of(located)


def text_of(data: bytes) -> bytes:
    """Return the machine code, read with pyelftools."""
    return ELFFile(io.BytesIO(data)).get_section_by_name(".text").data()


PARAMETERS = {"hsaco": "hsaco/kernel.hsaco", "units": [MAIN]}


@pytest.fixture
def inputs(toolchain: Toolchain, root: Path) -> dict[str, bytes]:
    """Return a shipped code object and the unit that it is made from."""
    unit = (root / "golden/gfx950/moe_silu_quant_decode_m1/kernel.s").read_bytes()
    return {"hsaco": toolchain.link([toolchain.assemble(unit)]), MAIN: unit}


def test_the_stage_makes_it_and_holds_it_against_the_code_object(
    toolchain: Toolchain, inputs: dict[str, bytes]
) -> None:
    made = debug_object.run(inputs, PARAMETERS, toolchain)["debug"]
    assert text_of(made) == text_of(inputs["hsaco"])
    assert read_line_table(made).unit == MAIN


def test_the_stage_refuses_other_code(toolchain: Toolchain, inputs: dict[str, bytes]) -> None:
    shipped = sha256(text_of(inputs["hsaco"])).hexdigest()
    inputs[MAIN] = inputs[MAIN].replace(b"\ts_endpgm", b"\ts_nop 0\n\ts_endpgm")
    made = sha256(text_of(toolchain.link([toolchain.assemble(inputs[MAIN])]))).hexdigest()
    with pytest.raises(Refused) as caught:
        debug_object.run(inputs, PARAMETERS, toolchain)
    assert str(caught.value) == (
        "hsaco/kernel.hsaco: debug object has another .text than the code object; "
        f"expected {shipped}, got {made}"
    )


KERNELS = ("moe_silu_quant", "moe_gate_up", "moe_down_reduce")


@pytest.mark.parametrize("name", KERNELS)
def test_the_lines_of_a_kernel_hold_its_instructions(
    toolchain: Toolchain, root: Path, name: str
) -> None:
    """Every instruction stands, by its mnemonic, on the line that the table names."""
    golden = root / f"golden/gfx950/{name}_decode_m1/kernel.s"
    files = {"golden/kernel.s": golden.read_bytes()}
    made = toolchain.link(
        [toolchain.assemble_tree(with_line_table(files, "golden/kernel.s"), "golden/kernel.s")]
    )
    table, lines = read_line_table(made), golden.read_text().split("\n")
    listed = [(a, m) for a, m in instructions(toolchain, made) if a in table.place_by_address]
    assert len(listed) > 50
    for address, mnemonic in listed:
        written = lines[table.at(address)[1] - 1].split()[0]
        assert mnemonic.startswith(written.removesuffix("_e32")), (address, mnemonic, written)


def raw_units(root: Path) -> list[tuple[str, dict[str, bytes]]]:
    """Return the unit of every kernel of the library, by name, with the files that it includes."""
    graph = requests.equivalence_graph(open_library(RealDisk(), root, ()))
    found = []
    for action in graph.actions:
        hints = dict(action.hints)
        main = next((role for role in hints if role.startswith("main:")), "")
        maker = graph.producers.get(hints[main]) if main else None
        if maker is not None:
            unit = maker.stage.run({}, dict(maker.parameters), None)["unit"]
            included = {r: (root / p.name).read_bytes() for r, p in hints.items() if r != main}
            name = main.removeprefix("main:")
            found.append((name, {name: unit, **included}))
    return found


def test_every_kernel_has_the_same_code_with_line_tables(
    toolchain: Toolchain, root: Path, sample: Callable[[list, int], list]
) -> None:
    units = raw_units(root)
    assert len(units) >= 10
    for name, files in sample(units, 4):
        plain = toolchain.link([toolchain.assemble_tree(files, name)])
        located = toolchain.link([toolchain.assemble_tree(with_line_table(files, name), name)])
        assert text_of(plain) == text_of(located), name
        table = read_line_table(located)
        assert set(table.files) == set(files)
        for address, (file, line) in table.place_by_address.items():
            assert files[file].decode().split("\n")[line - 1].strip(), (name, address)


def test_a_code_object_of_two_kernels_has_the_lines_of_both(
    toolchain: Toolchain, root: Path
) -> None:
    units = {
        f"generated/{name}.s": (root / f"golden/gfx950/{name}_decode_m1/kernel.s").read_bytes()
        for name in KERNELS[:2]
    }
    shipped = toolchain.link([toolchain.assemble(unit) for unit in units.values()])
    parameters = {"hsaco": "hsaco/both.hsaco", "units": list(units)}
    made = debug_object.run({"hsaco": shipped, **units}, parameters, toolchain)["debug"]
    dwarf = ELFFile(io.BytesIO(made)).get_dwarf_info()
    tops = [unit.get_top_DIE().attributes for unit in dwarf.iter_CUs()]
    assert [top["DW_AT_name"].value.decode() for top in tops] == list(units)
    ends = [top["DW_AT_low_pc"].value + top["DW_AT_high_pc"].value for top in tops]
    assert tops[0]["DW_AT_low_pc"].value < ends[0] <= tops[1]["DW_AT_low_pc"].value < ends[1]
