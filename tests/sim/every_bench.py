"""Runs rows of the instruction tables: one kernel for many rows, one statement per lane."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from every_operands import IMPLICIT, LANES, WORD, Kind, Row, operands

# Kernels


@dataclass
class Placed:
    """A row with its registers and its place in memory."""

    row: Row
    base: int
    names: dict[str, str]
    sources: list[int]
    results: list[int]
    scratch: int


def span(bank: str, first: int, count: int) -> str:
    return f"{bank}[{first}:{first + count - 1}]" if count > 1 else f"{bank}{first}"


def allot(kinds: Iterable[Kind], vector: int, scalar: int) -> tuple[list[int], list[str]]:
    """Give each operand its registers."""
    numbers, names = [], []
    for kind in kinds:
        if kind.is_scalar:
            scalar += -scalar % min(4, kind.words)
            numbers.append(scalar)
            names.append("vcc" if kind.text == "vcc" else span("s", scalar, kind.words))
            scalar += kind.words
        else:
            vector += vector % 2
            numbers.append(vector)
            names.append(span("v", vector, kind.words))
            vector += kind.words
    return numbers, names


def place(row: Row, base: int) -> Placed:
    sources, source_names = allot(row.sources, 8, 16)
    results, result_names = allot(row.results, 80, 40)
    names = dict(zip("xyz", result_names, strict=False)) | dict(
        zip("abcdeg", source_names, strict=False)
    )
    shown = [
        name
        for kinds, texts in ((row.results, result_names), (row.sources, source_names))
        for kind, name in zip(kinds, texts, strict=True)
        if kind.text not in IMPLICIT
    ]
    names["plain"] = f"{row.name} {', '.join(shown)}"
    names |= {"p": "v7", "f": "v[4:5]", "r": "s[8:11]", "l": "v6", "n": f"{base}"}
    words = sum(kind.words for kind in (*row.sources, *row.results))
    return Placed(row, base, names, sources, results, words)


def size_of(row: Row) -> int:
    """Return the words per lane that a row needs: operands, results, four of scratch."""
    return sum(kind.words for kind in (*row.sources, *row.results)) + 4


PROLOGUE = """
s_mul_i32 s6, s2, {wave_bytes}
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v3, 4, v0
v_xor_b32 v6, 0x150, v3
v_lshlrev_b32 v0, 2, v0
s_waitcnt lgkmcnt(0)
s_add_u32 s2, s2, s6
s_addc_u32 s3, s3, 0
s_mov_b32 s10, 0x7fffffff
s_mov_b32 s11, 0x27000
"""
SET_UP = """
s_mov_b64 exec, -1
s_add_u32 s4, s2, {base}
s_addc_u32 s5, s3, 0
v_add_u32 v7, {scratch}, v6
v_add_co_u32 v4, vcc, s4, v7
v_mov_b32 v5, s5
v_addc_co_u32 v5, vcc, 0, v5, vcc
s_mov_b32 s8, s4
s_mov_b32 s9, s5
"""


def text_of(placed: Placed) -> list[str]:
    """Return the assembly of one row: load operands, run it, store results."""
    row = placed.row
    lines = [SET_UP.format(base=placed.base * 256, scratch=placed.scratch * 256)]
    slot = 0
    for kind, register in zip(row.sources, placed.sources, strict=True):
        for at in range(kind.words):
            lines.append(f"v_add_u32 v1, {(slot + at) * 256}, v0")
            if kind.is_scalar:
                lines.append(f"s_load_dword s{register + at}, s[4:5], {(slot + at) * 256:#x}")
            else:
                lines.append(f"global_load_dword v{register + at}, v1, s[4:5]")
        slot += kind.words
    lines.append("s_waitcnt vmcnt(0) lgkmcnt(0)")
    late = []
    for kind, register in zip(row.sources, placed.sources, strict=True):
        if kind.text in ("vcc", "vcc!"):
            lines.append(f"s_mov_b64 vcc, s[{register}:{register + 1}]")
        elif kind.text == "scc":
            late.append(f"s_cmp_lg_u32 s{register}, 0")
        elif kind.text == "exec":
            late.append(f"s_mov_b64 exec, s[{register}:{register + 1}]")
    lines += [row.before.format(**placed.names), *late]
    lines += [(row.text or "{plain}").format(**placed.names), *after(placed, slot)]
    return lines


def after(placed: Placed, slot: int) -> list[str]:
    """Return the lines that store the results; SCC and EXEC are saved first."""
    lines, stores = [], []
    for kind, register in zip(placed.row.results, placed.results, strict=True):
        if kind.text == "scc":
            lines.append(f"s_cselect_b32 s{register}, 1, 0")
        elif kind.text in ("exec", "vcc", "vcc!"):
            lines.append(f"s_mov_b64 s[{register}:{register + 1}], {kind.text[:4].strip('!')}")
        for at in range(kind.words):
            stores.append(f"v_add_u32 v1, {slot * 256}, v0")
            if kind.is_scalar:
                stores += [f"v_mov_b32 v2, s{register + at}", "global_store_dword v1, v2, s[4:5]"]
            else:
                stores.append(f"global_store_dword v1, v{register + at}, s[4:5]")
            slot += 1
    return [*lines, "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_mov_b64 exec, -1", *stores]


SETTINGS = {"lds": 8192, "vgprs": 256, "accum": 128}


# Comparison


def assert_same(kind: Kind, found: int, wanted: int) -> bool:
    """Compare one result; any NaN equals any NaN of the same format."""
    if kind.text.endswith("_lo"):
        found, wanted = found & kind.mask, wanted & kind.mask
    elif kind.text.endswith("_hi"):
        found, wanted = found >> kind.bits, wanted & kind.mask
    f = kind.format
    if f is None:
        return found == wanted & ((1 << 32 * kind.words) - 1)
    if found >> kind.count * kind.bits:
        return False
    part = (1 << kind.bits) - 1
    for at in range(0, kind.count * kind.bits, kind.bits):
        x, y = found >> at & part, wanted >> at & part
        if x != y and not (f.is_nan(x) and f.is_nan(y)):
            return False
    return True


def given(kind: Kind, column: list[int], lane: int) -> int:
    """Return what the statement of one lane sees of an operand."""
    return column[lane] >> lane & 1 if kind.is_mask else column[lane] & kind.mask


def expected(row: Row, columns: list[list[int]]) -> list[list[int | None]]:
    """Return, per result, what each lane must hold."""
    several = len(row.results) > 1
    if row.is_whole:
        args = [c[0] if k.is_scalar else c for k, c in zip(row.sources, columns, strict=True)]
        results = row.fn(*args)
        results = results if several else (results,)
        return [list(r) if isinstance(r, list) else [r] * 64 for r in results]
    lanes = []
    for lane in LANES:
        pairs = zip(row.sources, columns, strict=True)
        result = row.fn(*(given(kind, column, lane) for kind, column in pairs))
        lanes.append(result if several else (result,))
    tables = []
    for kind, column in zip(row.results, zip(*lanes, strict=True), strict=True):
        if kind.is_mask:
            column = [sum(bool(bit) << lane for lane, bit in enumerate(column))] * 64
        tables.append(list(column))
    return tables


def compare(row: Row, columns: list[list[int]], found: np.ndarray) -> str | None:
    """Return the first difference as text."""
    slot, stated = 0, 0
    for at, (kind, wanted) in enumerate(zip(row.results, expected(row, columns), strict=True)):
        words = found[slot : slot + kind.words].tolist()
        slot += kind.words
        for lane in LANES:
            value = sum(words[i][lane] << 32 * i for i in range(kind.words))
            if wanted[lane] is None:
                continue
            stated += 1
            if not assert_same(kind, value, int(wanted[lane])):
                seen = ", ".join(f"{column[lane]:#x}" for column in columns)
                hope = int(wanted[lane]) & ((1 << 32 * kind.words) - 1)
                return f"result {at} lane {lane}: {value:#x} instead of {hope:#x} from {seen}"
    return None if stated >= 16 else "hardly anything is stated"


def all_placed(rows: Sequence[Row]) -> tuple[list[Placed], int]:
    """Give each row its place in memory; return also the words per lane of all."""
    placed, base = [], 0
    for each in rows:
        placed.append(place(each, base))
        base += size_of(each)
    return placed, base


def run_rows(
    bench: Any, rows: Sequence[Row], seed: int, waves: int = 2, *, is_checked: bool = True
) -> dict[str, str]:
    """Run rows in one kernel on ``waves`` work-groups; return a difference by row's text.

    ``is_checked`` says that nothing may be found on the way: no use of unset registers, no missing
    wait, no access outside memory.
    """
    placed, base = all_placed(rows)
    data = np.zeros((waves, base, 64), np.uint32)
    columns: dict[tuple[int, int], list[list[int]]] = {}
    for at, each in enumerate(placed):
        for wave in range(waves):
            rng = random.Random(f"{seed} {wave} {each.row.name} {each.row.text}")
            columns[at, wave] = operands(rng, each.row)
            fill(data[wave], each, columns[at, wave])
    lines = [PROLOGUE.format(wave_bytes=base * 256)]
    for each in placed:
        lines += text_of(each)
    outcome = bench.launch(
        "\n".join(lines), {"data": data}, grid=(waves, 1, 1), budget=1 << 24, **SETTINGS
    )
    assert not is_checked or bench.lines(outcome) == []
    memory, wrong = outcome.outputs["data"], {}
    for (at, wave), lists in columns.items():
        each = placed[at]
        first = each.base + sum(kind.words for kind in each.row.sources)
        count = sum(kind.words for kind in each.row.results)
        difference = compare(each.row, lists, memory[wave, first : first + count])
        if difference:
            wrong.setdefault(f"{each.row.name} {each.row.text}".strip(), difference)
    return wrong


def helpers(rows: Sequence[Row]) -> set[str]:
    """Return the instructions that rows use beside the one that they are for."""
    names = set()
    for each in all_placed(rows)[0]:
        text = "\n".join([PROLOGUE, *text_of(each)])
        for line in text.splitlines():
            word = line.split()[0] if line.split() else ""
            names.add("" if word == each.row.name else word)
    return names


def fill(data: np.ndarray, placed: Placed, columns: list[list[int]]) -> None:
    slot = placed.base
    for kind, column in zip(placed.row.sources, columns, strict=True):
        for at in range(kind.words):
            data[slot + at] = [value >> 32 * at & WORD for value in column]
        slot += kind.words
