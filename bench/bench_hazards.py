"""Ask LLVM's hazard recogniser how many wait states every family member needs, by operand class.

    python bench/bench_hazards.py > tests/data/hazard_states.txt

Each producer stands in front of a few consumers of its result. ``llvm-mc -show-inst`` turns the
assembly into machine instructions, ``llc -run-pass post-RA-hazard-rec`` answers with the no-ops
it puts between the two. A test compares the table with what our check asks for.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.checkasm.hazards.effects import expand_braces, find_form
from netra_build.checkasm.hazards.instruction_table import MATRIX, VECTOR

ROOT = Path(__file__).resolve().parent.parent
BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "i8": 8}
FORMAT_REGISTERS = (8, 8, 6, 6, 4)
"""Registers of a source of 8, 6 or 4 bits by ``cbsz`` or ``blgp``."""

DPP = "row_shr:1 row_mask:0xf bank_mask:0xf"
VECTOR_USES = {
    "valu-read": "v_add_f32 v240, v0, v241",
    "trans-read": "v_exp_f32 v240, v0",
    "store": "global_store_dword v[242:243], v0, off",
    "valu-write": "v_mov_b32 v0, v240",
    "load": "global_load_dword v0, v[242:243], off",
    "matrix-ab": "v_mfma_f32_16x16x32_fp8_fp8 v[240:243], v[0:1], v[244:245], v[240:243]",
    "dpp": f"v_mov_b32_dpp v240, v0 {DPP}",
    "readlane": "v_readlane_b32 s3, v0, 2",
    "permlane": "v_permlane32_swap_b32 v0, v240",
}
MATRIX_USES = {
    **{name: VECTOR_USES[name] for name in ("valu-read", "store", "valu-write", "matrix-ab")},
    "load": VECTOR_USES["load"],
    "xdl-c": "v_mfma_f32_32x32x16_fp8_fp8 v[220:235], v[240:241], v[244:245], v[2:17]",
    "sgemm-c": "v_mfma_f32_32x32x2_f32 v[220:235], v240, v244, v[2:17]",
    "dgemm-c": "v_mfma_f64_16x16x4_f64 v[220:227], v[240:241], v[244:245], v[2:9]",
    "c-write": "v_mov_b32 v100, v240",
}
EXEC_USES = {
    "exec-read": "v_mov_b32 v240, exec_lo",
    "valu": "v_mov_b32 v240, v241",
    "dpp": f"v_mov_b32_dpp v240, v241 {DPP}",
    "readfirstlane": "v_readfirstlane_b32 s3, v241",
    "permlane": "v_permlane32_swap_b32 v240, v241",
    "matrix": "v_mfma_f32_16x16x32_fp8_fp8 v[240:243], v[246:247], v[244:245], v[240:243]",
}
STORE_USES = {
    "valu-write": VECTOR_USES["valu-write"],
    "matrix-write": "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[246:247], v[244:245], v[240:243]",
}
REGISTER_USES = {
    "getreg": "s_getreg_b32 s1, hwreg({register}, 0, 1)",
    "setreg": "s_setreg_b32 hwreg({register}, 0, 1), s1",
    "rfe": "s_rfe_b64 s[2:3]",
}
Pair = tuple[str, str, str]
"""Assembly of the producer and of the consumer, and the consumer's name."""


def registers(first: int, count: int, file: str = "v") -> str:
    """Return the assembler's name of consecutive registers."""
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def members(families: tuple, trait: str) -> list[str]:
    """Return the mnemonics of the instruction table that have a trait."""
    found = (name for one in families for name in expand_braces(one.mnemonics))
    return [name for name in found if trait in find_form(name).traits]


def matrix_producers() -> Iterator[str]:
    """Yield every matrix instruction, those of chosen formats with every choice."""
    for mnemonic in (name for one in MATRIX for name in expand_braces(one.mnemonics)):
        rows, columns, depth = map(int, re.search(r"(\d+)x(\d+)x(\d+)", mnemonic).groups())
        blocks = int(match[1]) if (match := re.search(r"_(\d+)b_", mnemonic)) else 1
        wide = 2 if "f64" in mnemonic else 1
        result = rows * columns * blocks * wide // 64
        d, c = registers(0, result), registers(100, result)
        if "f8f6f4" in mnemonic:
            scales = ", v238, v239" if "scale" in mnemonic else ""
            for a, b in product(range(5), repeat=2):
                sources = (registers(180, FORMAT_REGISTERS[a]), registers(190, FORMAT_REGISTERS[b]))
                yield f"{mnemonic} {d}, {', '.join(sources)}, {c}{scales} cbsz:{a} blgp:{b}"
            continue
        bits = BITS[mnemonic.rsplit("_", 1)[1]]
        a, b = (max(1, rows * depth * blocks * bits // 2048) for _ in range(2))
        if mnemonic.startswith("v_smfmac"):
            yield f"{mnemonic} {d}, {registers(180, a // 2)}, {registers(190, b)}, v200"
        else:
            yield f"{mnemonic} {d}, {registers(180, a)}, {registers(190, b)}, {c}"


def convert_producers() -> Iterator[str]:
    """Yield the instructions that write a part of their register, with every ``op_sel``."""
    for mnemonic in expand_braces("v_cvt_pk_{fp8,bf8}_f32"):
        yield from selected(f"{mnemonic} v0, v200, v201", "0,0,x")
    for mnemonic in expand_braces("v_cvt_sr_{fp8,bf8}_f32"):
        yield from selected(f"{mnemonic} v0, v200, v201", "0,0,x,x")
    for kind, source in (("f32", "v200, v201"), ("f16", "v200"), ("bf16", "v200")):
        zeros = "0,0,0" if kind == "f32" else "0,0"
        for mnemonic in expand_braces(f"v_cvt_scalef32_pk_{{fp8,bf8}}_{kind}"):
            yield from selected(f"{mnemonic} v0, {source}, v202", f"{zeros},x")
        yield from selected(f"v_cvt_scalef32_pk_fp4_{kind} v0, {source}, v202", "0,0,x,x")
        wide = "v[200:201]" if kind == "f32" else "v200"
        sr_fp4 = f"v_cvt_scalef32_sr_pk_fp4_{kind} v0, {wide}, v203, v202"
        yield from selected(sr_fp4, "0,0,x,x")
        for mnemonic in expand_braces(f"v_cvt_scalef32_sr_{{fp8,bf8}}_{kind}"):
            yield from selected(f"{mnemonic} v0, v200, v203, v202", "0,0,x,x")
    for mnemonic in expand_braces("v_cvt_scalef32_f16_{fp8,bf8}"):
        yield from selected(f"{mnemonic} v0, v200, v202", "x,x,0,x")
    for mnemonic in expand_braces("v_cvt_sr_{f16,bf16}_f32"):
        yield from selected(f"{mnemonic} v0, v200, v201", "0,0,0,x")


def selected(text: str, choices: str) -> Iterator[str]:
    """Yield an instruction with every ``op_sel``, both values where ``choices`` has an x."""
    for bits in product("01", repeat=choices.count("x")):
        select = choices.replace("x", "{}").format(*bits)
        yield f"{text} op_sel:[{select}]"


def sized(mnemonic: str) -> str:
    """Return a unary instruction with registers of its type's size."""
    count = 2 if mnemonic.endswith("f64") else 1
    return f"{mnemonic} {registers(0, count)}, {registers(200, count)}"


def vector_producers() -> Iterator[str]:
    """Yield the other vector instructions whose results need wait states."""
    yield from map(sized, members(VECTOR, "transcendental"))
    for mnemonic in members(VECTOR, "dot"):
        third = "" if "c_" in mnemonic else ", v202"
        yield f"{mnemonic} v0, v200, v201{third}"
    for mnemonic in ("v_add_f16", "v_add_u16"):
        for select in expand_braces("BYTE_{0,1,2,3} WORD_{0,1} DWORD"):
            pad = "dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD"
            yield f"{mnemonic}_sdwa v0, v200, v201 dst_sel:{select} {pad}"
    yield from ("v_mov_b32 v0, v200", "v_add_f32 v0, v200, v201", "v_pk_add_f16 v0, v200, v201")
    yield "v_permlane32_swap_b32 v0, v200"
    yield "v_permlane16_swap_b32 v0, v200"


def store_producers() -> Iterator[str]:
    """Yield stores of every width and offset."""
    for width, suffix in ((1, ""), (2, "x2"), (3, "x3"), (4, "x4")):
        data = registers(0, width)
        for offset in ("0", "s4"):
            yield f"buffer_store_dword{suffix} {data}, v200, s[8:11], {offset} offen"
        yield f"global_store_dword{suffix} v[200:201], {data}, off"
        yield f"flat_store_dword{suffix} v[200:201], {data}"
        yield f"scratch_store_dword{suffix} v200, {data}, off"
    for offset in ("0", "s4"):
        yield f"buffer_store_format_xyzw v[0:3], v200, s[8:11], {offset} offen"


def compare_producers() -> Iterator[str]:
    """Yield every compare that writes EXEC."""
    for mnemonic in members(VECTOR, "compare"):
        if mnemonic.startswith("v_cmpx"):
            wide = 2 if mnemonic.endswith("64") else 1
            second = 1 if "class" in mnemonic else wide
            yield f"{mnemonic} vcc, {registers(200, wide)}, {registers(202, second)}"


def all_pairs() -> Iterator[Pair]:
    """Yield every pair of the table in its order."""
    groups = (
        (matrix_producers(), MATRIX_USES),
        (convert_producers(), VECTOR_USES),
        (vector_producers(), VECTOR_USES),
        (store_producers(), STORE_USES),
        (compare_producers(), EXEC_USES),
    )
    for producers, uses in groups:
        for producer in producers:
            yield from ((producer, text, name) for name, text in uses.items())
    for register in ("HW_REG_MODE", "HW_REG_STATUS", "HW_REG_TRAPSTS"):
        producer = f"s_setreg_b32 hwreg({register}, 0, 1), s0"
        for name, text in REGISTER_USES.items():
            yield producer, text.format(register=register), name


def machine_instructions(toolchain: Toolchain, texts: list[str]) -> dict[str, str]:
    """Return the machine IR of instructions."""
    programs = toolchain.disassembler.path.parent
    command = [programs / "llvm-mc", "-triple=amdgcn", "-mcpu=gfx950", "-show-inst"]
    shown = answer_of(command, "\n".join(texts) + "\n")
    found = re.findall(r"<MCInst #\d+ (\w+)((?:\s*;\s*<MCOperand [^>]*>)*)", shown)
    assert len(found) == len(texts), f"{len(found)} of {len(texts)} instructions were read"
    return {text: machine_instruction(text, *one) for text, one in zip(texts, found, strict=True)}


def machine_instruction(text: str, opcode: str, shown: str) -> str:
    """Return one instruction as machine IR: pseudo opcode, results, operands."""
    operands = [operand_of(*one) for one in re.findall(r"(Reg|Imm|DFPImm):([\w.-]*)", shown)]
    form = find_form(text.split()[0])
    count = form.destinations
    if text.startswith("v_cmpx"):
        operands, count = operands[-2:] if "e64" not in opcode else operands[1:], 0
    name = re.sub(r"(_VE)?_(gfx940_vcd|gfx\d+a?|vi)$", "", opcode)
    name += "_vgprcd_e64" * opcode.endswith("_vcd") + "_e64" * name.startswith(
        ("V_SMFMAC", "V_CVT")
    )
    results = f"{', '.join(operands[:count])} = " if count else ""
    return f"{results}{name} {', '.join(operands[count:])}"


def operand_of(kind: str, value: str) -> str:
    """Return one operand as machine IR."""
    return f"${value.lower()}" if kind == "Reg" else value


def answer_of(command: list, source: str) -> str:
    """Run a program of the tool chain on a source."""
    ended = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ValueError(ended.stderr)
    return ended.stdout


def recognised(toolchain: Toolchain, pairs: list[Pair], machine: dict[str, str]) -> list[int]:
    """Return the states that the recogniser puts between each pair."""
    llc = toolchain.disassembler.path.parent / "llc"
    command = [llc, "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-x=mir", "-o", "-"]
    command += ["-run-pass=post-RA-hazard-rec", "-"]
    implied = implied_operands(command, {opcode_of(line): line for line in machine.values()})
    bodies = [[completed(machine[text], implied) for text in pair[:2]] for pair in pairs]
    return states_of(answer_of(command, functions(bodies)), len(pairs))


def functions(bodies: list[list[str]]) -> str:
    """Return functions of machine IR."""
    head = "---\nname: c{}\ntracksRegLiveness: false\nbody: |\n  bb.0:\n"
    return "".join(
        head.format(number) + "".join(f"    {line}\n" for line in body) + "...\n"
        for number, body in enumerate(bodies)
    )


def implied_operands(command: list, line_by_opcode: dict[str, str]) -> dict[str, list[str]]:
    """Return the implied operands of every opcode; the parser names one that lacks at a time."""
    usual = ["implicit $mode", "implicit $exec"]
    implied = {opcode: usual * opcode.startswith("V_") for opcode in line_by_opcode}
    for opcode, line in line_by_opcode.items():
        while True:
            try:
                answer_of(command, functions([[completed(line, implied)]]))
                break
            except ValueError as failure:
                lacks = re.search(r"missing implicit register operand '(.*?)'", str(failure))
                if lacks is None:
                    raise
                implied[opcode].append(lacks[1])
    return implied


def opcode_of(line: str) -> str:
    """Return the opcode of machine IR."""
    return re.search(r"[A-Z]\w+_?\w*", re.sub(r"\$\w+", "", line))[0]


def completed(line: str, implied: dict[str, list[str]]) -> str:
    """Return an instruction with its implied operands."""
    more = implied.get(opcode_of(line), [])
    return f"{line}, {', '.join(more)}" if more else line


def states_of(answer: str, count: int) -> list[int]:
    """Return the wait states of each function that ``llc`` printed."""
    states = [0] * count
    number = 0
    for line in answer.splitlines():
        if line.startswith("name:"):
            number = int(line.split()[1][1:])
        elif match := re.match(r"\s+S_NOP (\d+)", line):
            states[number] += int(match[1]) + 1
    return states


def table(pairs: list[Pair], states: list[int]) -> str:
    """Return one line per producer: its consumers with their states."""
    lines: dict[str, list[str]] = {}
    for (producer, _, name), count in zip(pairs, states, strict=True):
        lines.setdefault(producer, []).append(f"{name}={count}")
    return "".join(f"{producer} | {' '.join(uses)}\n" for producer, uses in lines.items())


def main() -> None:
    """Print the table."""
    toolchain = find_toolchain(local=ROOT / ".toolchain", path=os.environ.get("PATH", ""))
    pairs = list(all_pairs())
    texts = list(dict.fromkeys(text for pair in pairs for text in pair[:2]))
    machine = machine_instructions(toolchain, texts)
    print(table(pairs, recognised(toolchain, pairs, machine)), end="")


if __name__ == "__main__":
    main()
