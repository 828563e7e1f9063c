"""What a listing says of an instruction is what its words are, or the instruction is refused."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from instruction_words import words
from rule_cases import Unit

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import Instruction, parse_disassembly
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.effects import decode_effects, find_form, operand_mask, union
from netra_build.cli.main import main
from netra_build.core.errors import BadInput

INSTRUCTIONS = (Path(__file__).parent.parent / "data/instructions.txt").read_text().splitlines()
"""One of each mnemonic that public kernels have."""

SLOT_WORDS = 8
NO_OPERATION = 0xBF800000
REGISTER = re.compile(
    r"\b(?:[vas]\d+\b|ttmp\d+\b|(?:[vas]|ttmp)\[\d+:\d+\]|(?:vcc|exec|flat_scratch|xnack_mask)(?:_lo"
    r"|_hi)?\b|m0\b|src_(?:vccz|execz|scc)\b)"
)
SINGLE = "v7 a7 s7 ttmp3 vcc_lo vcc_hi exec_lo m0 flat_scratch_lo xnack_mask_hi src_scc 1 -16 0.5"
SINGLE += " 0x12345 src_shared_base -v7 |v7|"
WIDE = (
    "v[8:9] a[8:9] s[8:9] vcc exec flat_scratch ttmp[4:5] v[8:11] a[8:11] s[8:11] v[8:15] s[8:15]"
)
WIDE += " v[8:23] a[8:23]"

DOUBTFUL = [
    (
        (0xD3CC801F, 0x04820502),
        "v_mfma_f32_32x32x8_f16 a[31:46]/*Invalid register, operand has 'AReg_512_Align2' register "
        "class*/, v[2:3], v[2:3], a[32:47]",
    ),
    (
        (0xDC548000, 0xC9040001),
        "global_load_dwordx2 v[201:202]/*Invalid register, operand has 'AV_64_Align2' register "
        "class*/, v1, s[4:5]",
    ),
    (
        (0xDC548000, 0x05040001),
        "global_load_dwordx2 v[5:6]/*Invalid register, operand has 'AV_64_Align2' register class*/"
        ", v1, s[4:5]",
    ),
    (
        (0xD3C10000, 0x00150000),
        "v_mfma_f32_16x16x1_4b_f32 v[0:15], s0/*Invalid register, operand has 'AV_32' register "
        "class*/, 0/*Invalid immediate*/, s[4:19]/*Invalid register, operand has "
        "'VReg_512_Align2' register class*/",
    ),
    ((0xD1030000, 0x0001FE00, 0xBF810000), "v_subrev_f32_e64 v0, s0, 0xbf810000"),
]
WRONG = "to which the text does not assemble back"
HINT = "nothing is known about what it reads and writes: remove it or extend the table"


def listed(toolchain: Toolchain, cases: Iterable[tuple[int, ...]]) -> list[Instruction]:
    """Return the instruction that each case begins with, behind a symbol."""
    slots = [(*case, *[NO_OPERATION] * (SLOT_WORDS - len(case))) for case in cases]
    unit = "k:\n" + "".join(f".long {', '.join(map(hex, slot))}\n" for slot in slots)
    listing = toolchain.disassemble(toolchain.link([toolchain.assemble(unit.encode())]))
    found = {one.address: one for one in parse_disassembly(listing).instructions}
    first = min(found)
    return [found[first + 4 * SLOT_WORDS * at] for at in range(len(slots))]


def survivors(toolchain: Toolchain, cases: list[tuple[int, ...]]) -> list[Instruction]:
    """Return what is listed, without the few words at which the disassembler itself crashes."""
    try:
        return listed(toolchain, cases)
    except BadInput as error:
        if not error.fact.endswith("ended by signal SIGSEGV"):
            raise
    half = len(cases) // 2
    parts = (cases[:half], cases[half:]) if half else ()
    return [one for part in parts for one in survivors(toolchain, part)]


def vanished(one: Instruction) -> int:
    """Return the registers that stand in the text and not in what the checks know of it."""
    effects = decode_effects(one)
    named = union(map(operand_mask, REGISTER.findall(one.operands)))
    return named & ~(effects.reads | effects.writes)


def is_refused(one: Instruction) -> bool:
    """Tell whether the checks and the model refuse an instruction by its address."""
    return bool(one.doubt) or find_form(one.mnemonic) is None


def unread(found: Iterable[Instruction]) -> list[str]:
    """Return what is neither refused nor understood."""
    return [
        one.text
        for one in found
        if not is_refused(one) and (decode_effects(one).kind == "unknown" or vanished(one))
    ]


@pytest.mark.parametrize(("case", "text"), DOUBTFUL, ids=lambda v: v if isinstance(v, str) else "")
def test_text_that_does_not_assemble_back_is_refused_by_address(
    toolchain: Toolchain,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    case: tuple[int, ...],
    text: str,
) -> None:
    """In the static check and in the model, with the words."""
    path = str(tmp_path / "k.hsaco")
    # The last word of a literal may take the place of the end of the program.
    body = [f".long {word:#x}" for word in case] + ["s_endpgm"] * 2
    hsaco = toolchain.link([toolchain.assemble(Unit("\n".join(body)).source().encode())])
    Path(path).write_bytes(hsaco)
    entry = read_code_object(hsaco, "k").kernels[0].entry_address
    doubt = f"words {' '.join(f'{word:08x}' for word in case)}, {WRONG}"
    assert main(["check", path]) == 1
    line = f"{path}: k at {entry:#x}: error: {doubt} (unknown-instruction) [{text}]\nhint: {HINT}\n"
    assert line in capsys.readouterr().out
    assert main(["simulate", path, *(f"--arg=arg{at}=null" for at in range(3))]) == 2
    assert f'netra: {path}: cannot execute the {doubt}, in "{text}" at {entry:#x}\n' in (
        capsys.readouterr().err
    )


def test_every_encoding_is_read_to_its_registers_or_refused(
    toolchain: Toolchain, sample: Callable[[list, int], list]
) -> None:
    """Every opcode with every kind of operand field."""
    assert unread(listed(toolchain, sample(list(words()), 4000))) == []


def test_random_words_are_read_to_their_registers_or_refused(
    toolchain: Toolchain, rng: random.Random, is_full: bool
) -> None:
    """Whatever they are."""
    cases = [
        tuple(rng.getrandbits(32) for _ in range(2)) for _ in range(100_000 if is_full else 3000)
    ]
    found = survivors(toolchain, cases)
    assert len(found) > 0.99 * len(cases)
    assert unread(found) == []
    assert 0.02 < sum(bool(one.doubt) for one in found) / len(found) < 0.5


def accepted(toolchain: Toolchain, texts: list[str]) -> dict[str, Instruction]:
    """Return the texts that the assembler takes, each with how it is listed."""
    while True:
        unit = "k:\n" + "".join(f"{text}\n.p2align 5\n" for text in texts)
        try:
            made = toolchain.link([toolchain.assemble(unit.encode())])
        except AssemblyFailed as error:
            wrong = {(one.line - 2) // 2 for one in error.diagnostics if one.severity == "error"}
            texts = [text for at, text in enumerate(texts) if at not in wrong]
            continue
        found = {
            one.address: one for one in parse_disassembly(toolchain.disassemble(made)).instructions
        }
        first = min(found)
        return {text: found[first + 32 * at] for at, text in enumerate(texts)}


def with_every_operand(text: str) -> list[str]:
    """Return an instruction as it is, and with one operand after the other of every class."""
    mnemonic, _, rest = text.partition(" ")
    operands = rest.split(", ")
    varied = [text]
    for at, former in enumerate(operands):
        first, *modifiers = former.split(" ")
        for other in (SINGLE + " " + WIDE).split():
            changed = [*operands[:at], " ".join([other, *modifiers]), *operands[at + 1 :]]
            varied += [f"{mnemonic} {', '.join(changed)}"] if first else []
    return varied


def test_every_mnemonic_with_every_operand_is_read_as_it_was_written(
    toolchain: Toolchain, sample: Callable[[list, int], list]
) -> None:
    """The assembler decides what an operand may be; the listing says the same registers."""
    chosen = sample(INSTRUCTIONS, 60)
    read = accepted(toolchain, [t for text in chosen for t in with_every_operand(text)])
    assert set(chosen) <= read.keys()
    assert len(read) > 10 * len(chosen)
    assert unread(read.values()) == []
    # The assembler takes constants as destinations, of which the disassembler makes what is none.
    refused = [text for text, one in read.items() if is_refused(one)]
    assert [text for text in refused if "src_s" not in text] == []
    for text, one in read.items():
        named, shown = (set(REGISTER.findall(t.partition(" ")[2])) for t in (text, one.text))
        # A pair that stands for its first register is the one thing that changes.
        assert text in refused or named <= shown or "_dpp" in text, one.text


@pytest.mark.parametrize("name", ["kill -SEGV $$", "kill -ABRT $$"])
def test_a_disassembler_that_crashes_is_a_fault_of_the_object(
    toolchain: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Exit 2, with the object and no path of a program."""
    for program in ("llvm-mc", "ld.lld"):
        (tmp_path / program).symlink_to(toolchain.assembler.path.parent / program)
    crashing = tmp_path / "llvm-objdump"
    crashing.write_text(f"#!/bin/bash\n{name}\n")
    crashing.chmod(0o755)
    path = tmp_path / "k.hsaco"
    path.write_bytes(toolchain.link([toolchain.assemble(Unit("s_endpgm").source().encode())]))
    assert main(["check", str(path), "--toolchain", str(tmp_path)]) == 2
    fact = f"the tool was ended by signal SIG{name.split()[1][1:]}"
    assert capsys.readouterr().err == f"netra: {path}: cannot be disassembled: {fact}\n"
