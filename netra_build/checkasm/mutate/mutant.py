"""Mutants, their sources (a unit, an instruction in its parts), and their verdicts."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from netra_build.asm.source.lexer import lex
from netra_build.asm.source.statement import Kind, Statement
from netra_build.core.texts import split_outside

WAIT_DELETE = "wait-delete"
WAIT_WEAKEN = "wait-weaken"
NOP_SHRINK = "nop-shrink"
NOP_DELETE = "nop-delete"
BARRIER_DROP = "barrier-drop"
SWAP = "swap-sources"
IMMEDIATE = "immediate"
MATRIX = "matrix-order"
REGISTER = "register"
DPP = "dpp-control"
CONDITION = "condition"
EXEC_BOUND = "exec-bound"
DELETE = "instruction-delete"
DESCRIPTOR = "descriptor"
METADATA = "metadata"
GUARD = "guard-drop"

SUMMARY_BY_KIND = {
    WAIT_DELETE: "an s_waitcnt is taken out",
    WAIT_WEAKEN: "one count of an s_waitcnt is larger, up to no wait at all",
    NOP_SHRINK: "an s_nop lasts one state less",
    NOP_DELETE: "an s_nop is taken out",
    BARRIER_DROP: "an s_barrier is taken out",
    SWAP: "two sources change places",
    IMMEDIATE: "an offset or a constant is one or one unit off",
    MATRIX: "a matrix instruction's operands or lanes change places",
    REGISTER: "an operand is the next register",
    DPP: "a DPP control or mask is another one",
    CONDITION: "a comparison or a branch asks for another condition",
    EXEC_BOUND: "a lane mask ends one lane earlier or later",
    DELETE: "an instruction is taken out",
    DESCRIPTOR: "a value of the kernel descriptor is one granule or one off",
    METADATA: "a size, an offset or a word of the metadata is another one",
    GUARD: "a template's guard is taken out",
}
"""What each kind does, in the order of reports."""

ORDERING = (WAIT_DELETE, WAIT_WEAKEN, NOP_SHRINK, NOP_DELETE, BARRIER_DROP)
DECLARED = (DESCRIPTOR, METADATA)
VALUE = (
    *(SWAP, IMMEDIATE, MATRIX, REGISTER, DPP, CONDITION, EXEC_BOUND, DELETE),
    *DECLARED,
    GUARD,
)
KINDS = (*ORDERING, *VALUE)

ASSEMBLER = "assembler"
STATIC = "static"
CONFORM = "conform"
MODEL = "model"
DYNAMIC = "dynamic"
NUMERICS = "numerics"
LONG_RUN = "long run"
GUARD_TEST = "guard"
CHECKS = (ASSEMBLER, STATIC, CONFORM, MODEL, DYNAMIC, NUMERICS, LONG_RUN, GUARD_TEST)
"""What can catch a mutant, in order of the checks; ``model`` refuses to execute it, ``long run``
are random inputs of further seeds, beyond the launches of every build."""

_MODIFIER = re.compile(r"[a-z][a-z0-9_]*(:.+)?")
REGISTER_NAME = re.compile(r"(?<![A-Za-z0-9_])([sva])(?:(\d+)|\[(\d+):(\d+)\])(?![A-Za-z0-9_\[])")
"""A single register or a tuple, with or without sign, bars or ``neg()`` around it."""

INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)")
FLOAT = re.compile(r"-?\d+\.\d+")

SMALL_KIND = 8
"""A kind with at most this many mutants is not sampled, as long as the sample has room."""


@dataclass(frozen=True)
class Mutant:
    """One fault: the statement ``index`` of a unit reads ``after`` instead of ``before``."""

    kind: str
    index: int
    line: int
    before: str
    after: str
    """Empty for a statement that is removed."""

    def change(self) -> str:
        """Return both texts on one line."""
        after = self.after.replace("\n", "; ")
        return f"{self.before} -> {after}" if after else f"{self.before} -> (nothing)"


@dataclass(frozen=True)
class Verdict:
    """The result for a mutant: the check that caught it, or a proof that nothing changed."""

    mutant: Mutant
    check: str
    """Empty for a survivor and for an equivalent."""
    detail: str
    proof: str = ""

    @property
    def is_survivor(self) -> bool:
        """Tell whether no check caught the mutant and no proof shows it harmless."""
        return not self.check and not self.proof


@dataclass(frozen=True)
class Source:
    """One flat unit as statements; ``statements`` have their line in the author's file."""

    name: str
    statements: tuple[Statement, ...]

    def instructions(self) -> list[int]:
        """Return the indices of the instructions that can be mutated, outside macro bodies too."""
        return [at for at, one in enumerate(self.statements) if one.kind is Kind.INSTRUCTION]

    def is_plain(self) -> bool:
        """Tell whether every instruction of the text is one instruction of the kernel."""
        return not any(
            one.depth or one.kind is Kind.MACRO_CALL or one.name.startswith((".if", ".macro"))
            for one in self.statements
        )

    def text(self, mutant: Mutant | None = None) -> bytes:
        """Return the unit, with the fault of ``mutant`` if there is one."""
        lines = [one.text for one in self.statements]
        if mutant is not None:
            lines[mutant.index] = mutant.after
        return "\n".join([*lines, ""]).encode()


def read_unit(name: str, data: bytes) -> Source:
    """Return a flat unit; raises what ``lex`` raises."""
    return Source(name, lex(data, name, {}))


def choose(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return about ``count`` mutants in their order: all of a small kind, a share of the others.

    The choice depends on ``seed`` and the mutants alone.
    """
    if len(mutants) <= count:
        return list(mutants)
    by_kind: dict[str, list[int]] = {}
    for at, mutant in enumerate(mutants):
        by_kind.setdefault(mutant.kind, []).append(at)
    least = max(1, min(SMALL_KIND, count // len(by_kind)))
    chosen: list[int] = []
    for kind, places in by_kind.items():
        share = max(least, -(-count * len(places) // len(mutants)))
        generator = random.Random(f"{seed} {kind}")
        chosen += generator.sample(places, min(share, len(places)))
    return [mutants[at] for at in sorted(chosen)]


@dataclass(frozen=True)
class Parts:
    """Mnemonic, operands and the modifiers behind the last operand."""

    mnemonic: str
    operands: tuple[str, ...]
    modifiers: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the instruction as one line."""
        tail = " ".join([", ".join(self.operands), *self.modifiers]).strip()
        return f"{self.mnemonic} {tail}".strip()

    def with_operand(self, at: int, operand: str) -> Parts:
        """Return the parts with one operand replaced."""
        return replace(self, operands=(*self.operands[:at], operand, *self.operands[at + 1 :]))

    def with_modifier(self, at: int, modifier: str) -> Parts:
        """Return the parts with one modifier replaced, or removed when it is empty."""
        middle = (modifier,) if modifier else ()
        return replace(self, modifiers=(*self.modifiers[:at], *middle, *self.modifiers[at + 1 :]))


def split_instruction(text: str) -> Parts:
    """Split one instruction; words behind the last operand that are no modifiers stay with it."""
    mnemonic, _, rest = text.partition(" ")
    operands = _split(rest.strip(), ",")
    if not operands:
        return Parts(mnemonic, ())
    words = _split(operands[-1], " ")
    if len(words) > 1 and all(_MODIFIER.fullmatch(word) for word in words[1:]):
        return Parts(mnemonic, (*operands[:-1], words[0]), tuple(words[1:]))
    return Parts(mnemonic, tuple(operands))


def _split(text: str, separator: str) -> list[str]:
    """Split outside brackets and parentheses; pieces are stripped, empty ones dropped."""
    pieces = (piece.strip() for piece in split_outside(text, separator))
    return [piece for piece in pieces if piece]


def register_neighbours(operand: str) -> Iterator[str]:
    """Yield an operand with its register one further and one back.

    A tuple moves by its own alignment, so that the assembler takes it: vector tuples by two,
    scalar ones by their width up to four.
    """
    match = REGISTER_NAME.search(operand)
    if match is None:
        return
    file = match[1]
    first = int(match[2] or match[3])
    width = 1 if match[2] else int(match[4]) - first + 1
    step = 1 if width == 1 else min(width, 4) if file == "s" else 2
    for moved in (first + step, first - step):
        if moved >= 0:
            name = f"{file}{moved}" if match[2] else f"{file}[{moved}:{moved + width - 1}]"
            yield operand[: match.start()] + name + operand[match.end() :]


def same_base(number: int, written: str) -> str:
    """Return ``number`` in the base, and for hexadecimal with the digits, of ``written``."""
    if "0x" not in written:
        return str(number)
    digits = len(written.lstrip("-")) - 2
    return f"{'-' if number < 0 else ''}{abs(number):#0{digits + 2}x}"
