"""The instruction table knows every mnemonic that the disassembler can print for gfx950."""

from __future__ import annotations

import struct
import subprocess

import pytest
from instruction_words import words

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.effects import base_mnemonic, find_form, known_mnemonics


@pytest.fixture(scope="module")
def printed(toolchain: Toolchain) -> set[str]:
    """Return every mnemonic that the disassembler prints for the words."""
    text = "\n".join(
        " ".join(f"{byte:#04x}" for word in each for byte in struct.pack("<I", word))
        for each in words()
    )
    program = toolchain.disassembler.path.parent / "llvm-mc"
    command = [program, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-disassemble"]
    answer = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=120, check=False
    )
    lines = (line.strip() for line in answer.stdout.splitlines())
    return {line.split()[0] for line in lines if line and not line.startswith(".")}


def test_the_sweep_reaches_every_encoding(printed: set[str]) -> None:
    """A sweep that finds little would prove little."""
    assert len(printed) > 1700
    bases = {base_mnemonic(mnemonic) for mnemonic in printed}
    for mnemonic in (
        "v_mfma_scale_f32_16x16x128_f8f6f4",
        "ds_read_b64_tr_b8",
        "flat_load_dword",
        "scratch_store_dwordx4",
        "global_load_lds_dwordx4",
        "buffer_inv",
        "s_load_dwordx16",
        "v_permlane32_swap_b32",
    ):
        assert mnemonic in bases


def test_every_printed_mnemonic_is_known(printed: set[str]) -> None:
    """Silence about an instruction that we do not understand is not possible."""
    assert sorted(m for m in printed if find_form(m) is None) == []


def test_every_known_mnemonic_is_printed(printed: set[str]) -> None:
    """The table holds no misspelt word."""
    bases = {base_mnemonic(mnemonic) for mnemonic in printed}
    assert sorted(known_mnemonics() - bases) == ["v_clrexcp", "v_nop"]


def test_words_without_operands_are_known_too(toolchain: Toolchain) -> None:
    """The two that the sweep cannot print: their operand fields must be zero."""
    toolchain.assemble(b"v_clrexcp\nv_nop\n")
    assert find_form("v_clrexcp") is not None
    assert find_form("v_nop") is not None
