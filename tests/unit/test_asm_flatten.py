"""The flat unit: includes expanded, guards kept, comments gone."""

from __future__ import annotations

import pytest

from netra_build.asm.source.closure import Closure, flatten, include_closure
from netra_build.core.errors import BadInput

GUARD = ".ifndef G_INC\n.set G_INC, 1\n.macro G\n.endm\n.endif\n"
FILES = {
    "t.inc": '// template\n.include "a.inc"\n.include "g.inc"\n'
    ".macro T symbol\n\\symbol: // entry\n    s_endpgm\n.endm\n",
    "a.inc": '.include "g.inc" // first\n.set A,  1\n',
    "g.inc": f"// guard\n{GUARD}s_nop 0\n",
}
UNIT = '// SPDX\n\t.set ROWS, 4\n\n\t.include "t.inc"\n\tT kernel\n'


def closure_of(files: dict[str, str], template: str = "t.inc") -> Closure:
    return include_closure(template, lambda name: files[name].encode(), "unit")


def flat(unit: str, files: dict[str, str]) -> str:
    return flatten(unit.encode(), closure_of(files)).decode()


def fault(unit: str, files: dict[str, str]) -> str:
    with pytest.raises(BadInput) as caught:
        flat(unit, files)
    return str(caught.value)


def test_includes_are_replaced_and_a_guard_is_written_once():
    assert flat(UNIT, FILES) == (
        f".set ROWS, 4\n{GUARD}s_nop 0\n.set A, 1\ns_nop 0\n"
        ".macro T symbol\n\\symbol:\ns_endpgm\n.endm\nT kernel\n"
    )


def test_a_flat_unit_is_flat():
    once = flat(UNIT, FILES)
    assert flat(once, FILES) == once
    assert ".include" not in once
    assert "//" not in once


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_comment_changes_no_byte(name):
    changed = {**FILES, name: "/* new\n */ // comment\n" + FILES[name].replace("\n", " ; c\n")}
    assert flat(UNIT, changed) == flat(UNIT, FILES)
    assert flat("# new\n" + UNIT, FILES) == flat(UNIT, FILES)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_new_instruction_changes_the_unit(name):
    assert flat(UNIT, {**FILES, name: FILES[name] + "s_nop 7\n"}) != flat(UNIT, FILES)


def test_a_guarded_cycle_ends_and_an_open_one_is_refused():
    guarded = {
        "t.inc": '.ifndef T\n.set T, 1\n.include "a.inc"\n.endif\n',
        "a.inc": '.include "t.inc"\n',
    }
    assert flat('.include "t.inc"', guarded) == ".ifndef T\n.set T, 1\n.endif\n"
    endless = {"t.inc": 's_nop 0\n.include "a.inc"\n', "a.inc": '\n.include "t.inc"\n'}
    assert fault('.include "t.inc"', endless) == (
        'a.inc:2: file "t.inc" includes itself\n'
        "hint: put the include under the file's own include guard"
    )


def test_files_that_double_each_other_are_refused_in_bounded_time():
    files = {f"{i}.inc": f'.include "{i + 1}.inc"\n' * 2 for i in range(60)} | {"60.inc": ""}
    files["t.inc"] = '.include "0.inc"\n'
    line = fault('.include "t.inc"', files)
    assert line.endswith("flat unit is too large; expected at most 33554432 bytes, got more")


def test_an_include_outside_the_closure_is_refused():
    assert fault('\n.include "other.inc"', FILES) == (
        'unit.s:2: included file "other.inc" is not in the closure'
    )


def test_a_unit_that_sets_an_include_guard_is_refused():
    files = {"t.inc": '.ifndef T\n.set T, 1\n.include "a.inc"\n.endif\n', "a.inc": ""}
    assert fault('.set T, 0\n.include "t.inc"', files) == (
        't.inc:1: symbol "T" of an include guard is also set elsewhere; '
        "expected one place, got t.inc:2, unit.s:1"
    )


def test_a_deep_chain_is_no_danger():
    files = {f"{i}.inc": f'.include "{i + 1}.inc"\n' for i in range(3000)} | {"3000.inc": "s_nop 0"}
    files["t.inc"] = '.include "0.inc"\n'
    assert flat('.include "t.inc"', files) == "s_nop 0\n"
