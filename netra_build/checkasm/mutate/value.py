"""Mutants that change what a kernel computes: sources, constants, registers, lanes, conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from netra_build.checkasm.hazards.effects import find_form
from netra_build.checkasm.mutate.mutant import (
    CONDITION,
    DELETE,
    DPP,
    EXEC_BOUND,
    FLOAT,
    IMMEDIATE,
    INTEGER,
    MATRIX,
    REGISTER,
    SWAP,
    Mutant,
    Parts,
    Source,
    register_neighbours,
    same_base,
    split_instruction,
)

ORDER_ONLY = ("s_waitcnt", "s_nop", "s_barrier")
"""Instructions that ``ordering`` mutates; they compute nothing."""

_ANY_ORDER = re.compile(
    r"v_(pk_)?(add|mul|max|min)(_|3_)|v_(and|or|xor|xnor|mul|max3|min3|add3|med3)_|v_addc?_co_"
    r"|s_(add|addc|mul|and|or|xor|max|min|nand|nor|xnor)_|[sv]_cmp_(eq|lg|ne|neq|lg)_"
)
_FIRST_TWO = re.compile(r"v_(pk_)?(fma|mad|fmac|mac)_|v_mad_|v_(and_or|or3|xad|add_lshl)_|v_dot\d")
_BYTES = (("dwordx4", 16), ("dwordx3", 12), ("dwordx2", 8), ("dword", 4), ("short", 2), ("byte", 1))
_DS_BYTES = (("b128", 16), ("b96", 12), ("b64", 8), ("b32", 4), ("16", 2), ("8", 1))
_SCALAR_LOAD = ("s_load_", "s_buffer_load_", "s_store_")
_PAIRS = (("scc0", "scc1"), ("vccz", "vccnz"), ("execz", "execnz"))
_OPPOSITE = dict(_PAIRS) | {right: left for left, right in _PAIRS}
_STEPS = (("lt", "le"), ("gt", "ge"), ("eq", "lg"))
_NEIGHBOUR = dict(_STEPS) | {right: left for left, right in _STEPS} | {"ne": "eq", "neq": "eq"}
_COMPARE = re.compile(r"([sv]_cmpx?k?_)([a-z]+)(_.*)")
_CONTROL = re.compile(r"(row_shl|row_shr|row_ror|wave_shl|wave_shr|wave_ror|wave_rol|row_newbcast)")
_TUPLE = re.compile(r"v\[(\d+):\d+\]")
_SETTLED = "\n\ts_nop 7\n\ts_nop 7\n\t"
"""Inserted after an exchange of registers, so that only the values multiplied differ."""


def value_mutants(source: Source) -> Iterator[Mutant]:
    """Yield every mutant of the value kinds but guards, in the order of the statements.

    Texts that an earlier kind has made already are not repeated.
    """
    for index in source.instructions():
        statement = source.statements[index]
        if statement.name in ORDER_ONLY or "\\" in statement.text:
            continue
        parts = split_instruction(statement.text)
        seen = {parts.text(), statement.text}
        for kind, make in MAKERS.items():
            for after in make(parts):
                if after not in seen:
                    seen.add(after)
                    yield Mutant(kind, index, statement.line, statement.text, after)


def sources_of(parts: Parts) -> range:
    """Return the positions of the source operands; empty for memory and control."""
    form = find_form(parts.mnemonic)
    if form is None or form.kind not in ("valu", "salu", "mfma"):
        return range(0)
    return range(form.destinations, len(parts.operands))


def _swaps(parts: Parts) -> Iterator[str]:
    """Exchange two sources where the order matters; where it does not, nothing is made."""
    if is_matrix(parts) or _ANY_ORDER.match(parts.mnemonic):
        return
    places = [at for at in sources_of(parts) if parts.operands[at] not in ("vcc", "exec")]
    for left in places:
        for right in places:
            if left >= right or (_FIRST_TWO.match(parts.mnemonic) and right == places[0] + 1):
                continue
            ours, theirs = parts.operands[left], parts.operands[right]
            yield parts.with_operand(left, theirs).with_operand(right, ours).text()


def _immediates(parts: Parts) -> Iterator[str]:
    unit = _unit(parts.mnemonic)
    if unit:
        yield from _offsets(parts, unit)
    smem = parts.mnemonic.startswith(_SCALAR_LOAD)
    if parts.mnemonic.startswith(("s_cbranch", "s_branch", "s_endpgm")):
        return
    for at, operand in enumerate(parts.operands):
        if INTEGER.fullmatch(operand):
            number = int(operand, 0)
            # The hardware ignores the two lowest bits of a scalar load's address.
            for changed in (number + 4, number - 4) if smem else (number + 1, number - 1):
                if changed >= 0 or (number <= 0 and not smem):
                    yield parts.with_operand(at, same_base(changed, operand)).text()
        elif FLOAT.fullmatch(operand):
            for factor in ("2.0", "0.5"):
                changed_text = f"{float(operand) * float(factor):.1f}"
                yield parts.with_operand(at, changed_text).text()


def _unit(mnemonic: str) -> int:
    """Return the bytes of one access of a vector memory or LDS instruction, else 0."""
    if mnemonic.startswith("ds_"):
        return next((size for name, size in _DS_BYTES if name in mnemonic), 4)
    if mnemonic.startswith(("global_", "buffer_", "flat_")):
        return next((size for name, size in _BYTES if name in mnemonic), 4)
    return 0


def _offsets(parts: Parts, unit: int) -> Iterator[str]:
    found = [at for at, one in enumerate(parts.modifiers) if one.startswith("offset:")]
    if not found:
        yield Parts(parts.mnemonic, parts.operands, (f"offset:{unit}", *parts.modifiers)).text()
        return
    written = parts.modifiers[found[0]].removeprefix("offset:")
    if not INTEGER.fullmatch(written):
        return
    for step in dict.fromkeys((unit, -unit, 1)):
        changed = same_base(int(written, 0) + step, written)
        if step > 0 or int(written, 0) + step >= 0:
            yield parts.with_modifier(found[0], f"offset:{changed}").text()


def is_matrix(parts: Parts) -> bool:
    """Tell whether this is a matrix instruction with its four operands written out."""
    return parts.mnemonic.startswith("v_mfma") and len(parts.operands) == 4


def _matrices(parts: Parts) -> Iterator[str]:
    """Exchange A and B, exchange two registers of one of them, change the lane selection."""
    if not is_matrix(parts):
        return
    left, right = parts.operands[1], parts.operands[2]
    yield parts.with_operand(1, right).with_operand(2, left).text()
    for operand in dict.fromkeys((left, right)):
        if match := _TUPLE.fullmatch(operand):
            first = int(match[1])
            yield f"v_swap_b32 v{first}, v{first + 1}{_SETTLED}{parts.text()}"
    for name in ("cbsz", "abid", "blgp"):
        places = [at for at, one in enumerate(parts.modifiers) if one.startswith(f"{name}:")]
        if places:
            yield parts.with_modifier(places[0], "").text()
        elif name != "abid":
            extended = (*parts.modifiers, f"{name}:1")
            yield Parts(parts.mnemonic, parts.operands, extended).text()


def _registers(parts: Parts) -> Iterator[str]:
    for at, operand in enumerate(parts.operands):
        for changed in register_neighbours(operand):
            yield parts.with_operand(at, changed).text()


def _dpp(parts: Parts) -> Iterator[str]:
    for at, modifier in enumerate(parts.modifiers):
        for changed in _dpp_neighbours(modifier):
            yield parts.with_modifier(at, changed).text()


def _dpp_neighbours(modifier: str) -> Iterator[str]:
    name, _, value = modifier.partition(":")
    if name in ("row_mask", "bank_mask") and INTEGER.fullmatch(value):
        yield f"{name}:{int(value, 0) ^ 1:#x}"
        yield f"{name}:{int(value, 0) ^ 8:#x}"
    elif name == "quad_perm" and len(value) > 2:
        order = [int(one) for one in value[1:-1].split(",")]
        yield f"quad_perm:[{','.join(str(one ^ 1) for one in order)}]"
        yield f"quad_perm:[{order[1]},{order[0]},{order[2]},{order[3]}]"
    elif name == "row_bcast":
        yield f"row_bcast:{ {'15': '31', '31': '15'}.get(value, '15') }"
    elif _CONTROL.fullmatch(name) and value.isdecimal():
        for number in (int(value) + 1, int(value) - 1):
            if 1 <= number <= 15:
                yield f"{name}:{number}"
    elif name in ("row_mirror", "row_half_mirror"):
        yield "row_half_mirror" if name == "row_mirror" else "row_mirror"


def _conditions(parts: Parts) -> Iterator[str]:
    if parts.mnemonic.startswith("s_cbranch_"):
        condition = parts.mnemonic.removeprefix("s_cbranch_")
        if condition in _OPPOSITE:
            yield Parts(f"s_cbranch_{_OPPOSITE[condition]}", parts.operands).text()
    elif match := _COMPARE.fullmatch(parts.mnemonic):
        changed = _NEIGHBOUR.get(match[2])
        if changed == "lg" and (match[1][0] == "v" and "_f" not in match[3]):
            changed = "ne"
        if changed:
            mnemonic = f"{match[1]}{changed}{match[3]}"
            yield Parts(mnemonic, parts.operands, parts.modifiers).text()


def _exec_bounds(parts: Parts) -> Iterator[str]:
    """Move the bounds of a literal lane mask."""
    if not parts.operands or not parts.operands[0].startswith("exec"):
        return
    width = 32 if parts.operands[0] in ("exec_lo", "exec_hi") else 64
    for at, operand in enumerate(parts.operands[1:], start=1):
        if INTEGER.fullmatch(operand):
            everything = (1 << width) - 1
            mask = int(operand, 0) & everything
            moved = (mask << 1 & everything, mask >> 1, (mask | mask << 1) & everything)
            for changed in (one for one in moved if one != mask):
                yield parts.with_operand(at, f"{changed:#x}").text()


def _deleted(parts: Parts) -> Iterator[str]:
    yield ""


MAKERS: dict[str, Callable[[Parts], Iterator[str]]] = {
    SWAP: _swaps,
    CONDITION: _conditions,
    EXEC_BOUND: _exec_bounds,
    IMMEDIATE: _immediates,
    MATRIX: _matrices,
    REGISTER: _registers,
    DPP: _dpp,
    DELETE: _deleted,
}
"""The functions that make the texts of each kind from one instruction."""
