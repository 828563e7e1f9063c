"""The operand text of the disassembler as records: registers, constants and modifiers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netra_build.asm.objects.listings import Instruction
from netra_build.core.errors import BadInput

VCC = 106
M0 = 124
EXEC = 126

PAIRS = {"flat_scratch": 102, "xnack_mask": 104, "vcc": VCC, "exec": EXEC}
_HALVES = {
    f"{name}_{half}": first + at
    for name, first in PAIRS.items()
    for at, half in enumerate(("lo", "hi"))
}
SCALAR_INDEX = {**PAIRS, **_HALVES, "m0": M0}
"""Scalar registers with a name of their own, by their number in the encoding."""

_SCALAR_NAMES = {index: name for name, index in SCALAR_INDEX.items() if name not in PAIRS}


def scalar_name(index: int) -> str:
    """Return the name under which a single scalar register is printed."""
    return _SCALAR_NAMES.get(index, f"s{index}")


_REGISTER = re.compile(r"(s|v|a|ttmp)(?:(\d{1,3})|\[(\d{1,3}):(\d{1,3})\])")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|\d{1,10})")
_FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")
_MODIFIER = re.compile(r"([a-z_0-9A-Z]+)(?::(.*))?")
_OUTSIDE = r"(?![^\[(]*[\])])"
"""Matches where the next bracket, if any, does not close."""

_ENCODING = re.compile(r"_(e32|e64|dpp|sdwa)$")


DTYPE: dict[str, np.dtype[Any]] = {
    "u32": np.dtype(np.uint32),
    "b32": np.dtype(np.uint32),
    "i32": np.dtype(np.int32),
    "f32": np.dtype(np.float32),
    "u64": np.dtype(np.uint64),
    "b64": np.dtype(np.uint64),
    "i64": np.dtype(np.int64),
    "f64": np.dtype(np.float64),
}
"""Element type of an operand kind that is not narrower than a register."""

NARROW = ("u16", "b16", "i16", "f16", "bf16")
"""Kinds that use half a register: integers arrive as 32 bits, floats as float32."""

WIDE = ("u64", "b64", "i64", "f64")
"""Kinds that use two registers."""

_INLINE_FLOATS = {
    "0.5": 0.5,
    "1.0": 1.0,
    "2.0": 2.0,
    "4.0": 4.0,
    "0.15915494": 0.15915494309189532,
    "0.15915494309189532": 0.15915494309189532,
}
"""Constants by how they are printed; the last one is 1 / (2 pi)."""


@dataclass(frozen=True)
class Operand:
    """One operand. ``kind`` is v, a, s, int, float, or word for anything else."""

    kind: str
    text: str
    index: int = 0
    """Number of the first register."""
    dwords: int = 1
    """Registers that the operand names."""
    value: int = 0
    """The constant, for kind int."""
    is_literal: bool = False
    """True for a constant that the encoding holds as 32 bits instead of inline."""
    negate: bool = False
    absolute: bool = False
    sign_extend: bool = False


@dataclass(frozen=True)
class Decoded:
    """One instruction, ready for a semantics builder."""

    source: Instruction
    base: str
    """Mnemonic without the suffix of its encoding."""
    encoding: str
    """e32, e64, dpp, sdwa, or empty."""
    operands: tuple[Operand, ...]
    modifiers: Mapping[str, str] = field(default_factory=dict)
    """Modifier by name; the value is empty for a bare flag."""

    @property
    def pc(self) -> int:
        """Address of the instruction in the code object."""
        return self.source.address

    @property
    def text(self) -> str:
        """The instruction as printed."""
        return self.source.text

    @property
    def next_pc(self) -> int:
        """Address behind the instruction."""
        return self.source.address + self.source.size_bytes

    def flag_list(self, name: str, count: int, default: int) -> tuple[int, ...]:
        """Return a modifier such as ``op_sel:[0,1]`` as ``count`` numbers of 0 and 1."""
        text = self.modifiers.get(name)
        if text is None:
            return (default,) * count
        values = tuple(int(part) for part in re.findall(r"\d+", text))
        return values + (default,) * (count - len(values))

    def number(self, name: str, default: int = 0) -> int:
        """Return a numeric modifier such as ``offset:16``."""
        text = self.modifiers.get(name)
        return default if text is None else int(text, 0)

    def allow(self, *names: str) -> None:
        """Refuse any modifier that is not among ``names``; ``Unsupported`` names the first."""
        for name in self.modifiers:
            if name not in names:
                raise Unsupported(f'modifier "{name}"')


class Unsupported(Exception):
    """Raised by builders for a form that the model does not implement; carries what it is."""


def decode(instruction: Instruction) -> Decoded:
    """Split one disassembled instruction; ``Unsupported`` when an operand cannot be read."""
    if instruction.doubt:
        raise Unsupported(f"the {instruction.doubt},")
    match = _ENCODING.search(instruction.mnemonic)
    base = instruction.mnemonic[: match.start()] if match else instruction.mnemonic
    encoding = match[1] if match else ""
    if base in ("s_waitcnt", "s_endpgm", "s_sendmsg"):
        return Decoded(instruction, base, encoding, ())
    *parts, last = re.split("," + _OUTSIDE, instruction.operands)
    last, *words = re.split(" +" + _OUTSIDE, last.strip())
    modifiers = dict(_read_modifier(word) for word in words)
    # An instruction without operands may still start with a modifier.
    operands = tuple(_read_operand(part.strip()) for part in (*parts, last) if part)
    return Decoded(instruction, base, encoding, operands, modifiers)


def _read_modifier(word: str) -> tuple[str, str]:
    match = _MODIFIER.fullmatch(word)
    if match is None:
        raise Unsupported(f'modifier "{word}"')
    return match[1], match[2] or ""


def _read_operand(text: str) -> Operand:
    body, negate, absolute, extend = text, False, False, False
    if body.startswith("-") and not _NUMBER.fullmatch(body) and not _FLOAT.fullmatch(body):
        negate, body = True, body[1:]
    if body.startswith("|") and body.endswith("|") and len(body) > 2:
        absolute, body = True, body[1:-1]
    if body.startswith("sext(") and body.endswith(")"):
        extend, body = True, body[5:-1]
    plain = _read_plain(body)
    if plain.kind == "word" and (negate or absolute or extend):
        raise Unsupported(f'operand "{text}"')
    return replace(plain, text=text, negate=negate, absolute=absolute, sign_extend=extend)


def _read_plain(text: str) -> Operand:
    if text.startswith("lit(") and text.endswith(")") and _NUMBER.fullmatch(text[4:-1]):
        # A constant that would fit inline, but is encoded as a literal.
        return Operand("int", text, value=int(text[4:-1], 0), is_literal=True)
    if match := _REGISTER.fullmatch(text):
        first = int(match[2] or match[3])
        last = int(match[4] or first)
        if match[1] == "ttmp" or last < first or last - first > 31:
            raise Unsupported(f'operand "{text}"')
        return Operand(match[1], text, first, last - first + 1)
    if text in SCALAR_INDEX:
        return Operand("s", text, SCALAR_INDEX[text], 2 if text in PAIRS else 1)
    if _NUMBER.fullmatch(text):
        value = int(text, 0)
        is_literal = text.lstrip("-").startswith("0x") or not -16 <= value <= 64
        return Operand("int", text, value=value, is_literal=is_literal)
    if _FLOAT.fullmatch(text):
        return Operand("float", text)
    return Operand("word", text)


def scalar_row(operand: Operand, dwords: int = 1) -> int:
    """Return the number of a scalar register operand; ``Unsupported`` for anything else."""
    if operand.kind != "s" or operand.index + dwords > 128:
        raise Unsupported(f'operand "{operand.text}"')
    if operand.dwords != dwords:
        raise Unsupported(f'the size of operand "{operand.text}"')
    return operand.index


def is_vector(operand: Operand) -> bool:
    """True for a VGPR or AGPR."""
    return operand.kind in ("v", "a")


# Constants


def constant(operand: Operand, kind: str) -> Any:
    """Return a constant operand as the bits that ``kind`` sees."""
    if kind in WIDE:
        return np.uint64(_bits_64(operand, kind)).view(DTYPE[kind])
    if kind in NARROW:
        return np.uint32(_bits_16(operand, kind))
    bits = _float_bits(operand, "f32") if operand.kind == "float" else operand.value
    return np.uint32(bits & 0xFFFFFFFF).view(DTYPE[kind])


def _float_bits(operand: Operand, kind: str) -> int:
    sign = -1.0 if operand.text.startswith("-") else 1.0
    number = np.array(sign * _INLINE_FLOATS[operand.text.lstrip("-")], f"f{int(kind[1:]) // 8}")
    return int.from_bytes(number.tobytes(), "little")


def _bits_16(operand: Operand, kind: str) -> int:
    if operand.kind != "float":
        return operand.value & 0xFFFF
    if kind == "bf16":
        return _float_bits(operand, "f32") >> 16
    if kind == "f16":
        return _float_bits(operand, "f16")
    raise Unsupported(f'operand "{operand.text}"')


def _bits_64(operand: Operand, kind: str) -> int:
    if operand.kind == "float":
        return _float_bits(operand, "f64")
    if operand.is_literal and kind == "f64":
        return (operand.value & 0xFFFFFFFF) << 32
    if operand.is_literal and kind == "i64" and operand.value & 0x80000000:
        raise Unsupported(f'the literal "{operand.text}" as a 64-bit integer')
    return operand.value & 0xFFFFFFFFFFFFFFFF


def refuse(decoded: Instruction, location: str, what: str) -> BadInput:
    """Return the error for an instruction that the model cannot execute."""
    return BadInput(
        f'cannot execute {what} in "{decoded.text}" at {decoded.address:#x}',
        location=location,
        hint="the functional model refuses what it does not implement, it never guesses",
    )
