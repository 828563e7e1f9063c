"""Statements as modules: what ran is what was hashed, and a mistake is one line with its place."""

from __future__ import annotations

import re
import sys

import pytest

from netra_build.checkasm.numerics.loader import load_entry, load_modules
from netra_build.checkasm.numerics.statement_source import HINT, Statement
from netra_build.checkasm.numerics.suite import load_suite
from netra_build.core.errors import BadInput

FAMILY = "statements/gfx950/family.py"
SHAPES = "statements/gfx950/shapes.py"
SOUND = """
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from netra_build.checkasm.numerics.scenario import Asked, Entry, Scenario, junk
from .shapes import DIM


@dataclass(frozen=True)
class Inputs:
    count: int
    least: ClassVar[int] = 1


def launch(asked: Asked) -> Scenario:
    out = junk("float32", Inputs(DIM).count)
    expected = {"out": np.zeros(DIM, np.float32)}
    return asked.launch({"out": out}, (1, 1, 1), (64, 1, 1), expected)


TACTICS = {"scale": Entry(launch, ("random", "zeros"))}
"""


def stated(family: str = SOUND, shapes: str = "DIM = 3\n") -> Statement:
    """Return the statement of one tactic in two files."""
    return Statement("scale", {FAMILY: family.encode(), SHAPES: shapes.encode()})


def refusal(family: str, shapes: str = "DIM = 3\n") -> str:
    """Return the message about the first launch of a statement."""
    with pytest.raises(BadInput) as refused:
        load_suite(stated(family, shapes)).scenario()
    assert refused.value.status == 2
    return str(refused.value)


def test_a_statement_is_made_from_the_bytes_that_are_given() -> None:
    """Nothing of it lies on the disk, and two of one name do not meet."""
    before = set(sys.modules)
    three, four = (load_suite(stated(shapes=f"DIM = {n}\n")) for n in (3, 4))
    assert [len(one.scenario().expected["out"]) for one in (three, four, three)] == [3, 4, 3]
    assert [one.label for one in three.launches({}, [1, 2])] == [
        "scale/random/1",
        "scale/random/2",
        "scale/zeros/1",
    ]
    assert not [name for name in set(sys.modules) - before if name.startswith("statements")]


def test_a_file_that_two_import_is_one_module() -> None:
    files = {
        SHAPES: b"KNOWN = []\n",
        "statements/gfx950/a.py": b"from .shapes import KNOWN\n",
        "statements/gfx950/b.py": b"def f():\n    return KNOWN\nfrom .shapes import KNOWN\n",
    }
    modules = load_modules(files)
    assert modules["statements/gfx950/a.py"].KNOWN is modules["statements/gfx950/b.py"].f()


def test_an_entry_says_what_its_file_states() -> None:
    entry = load_entry(stated())
    assert (entry.cases, entry.specializations) == (("random", "zeros"), {"": {}})
    alone = SOUND.replace('TACTICS = {"scale": ', "ENTRY = ").replace("})\n", "})\n")
    alone = alone.replace('"zeros"))}', '"zeros"))')
    files = {"statements/gfx950/scale.py": alone.encode(), SHAPES: b"DIM = 3\n"}
    assert load_entry(Statement("scale", files)).cases == ("random", "zeros")


def test_an_entry_that_only_a_docstring_declares_is_none() -> None:
    files = {"statements/gfx950/scale.py": b'"""For example:\nENTRY = ...\n"""\n'}
    with pytest.raises(BadInput) as refused:
        load_entry(Statement("scale", files))
    assert str(refused.value) == (
        'statements/gfx950/scale.py:2: tactic "scale" is not stated by an Entry'
    )


RAISES = "statement raises"
MISTAKES = [
    ("    out = junk(", "    out = 1 / 0\n    out = junk(", f"{FAMILY}:20: {RAISES} "
     "ZeroDivisionError: division by zero"),
    ("class Inputs:", "class Inputs(Missing):", f"{FAMILY}:14: {RAISES} NameError: name "
     "'Missing' is not defined"),
    ("from .shapes import DIM", "from .shapes import DEPTH", f"{FAMILY}:10: {RAISES} ImportError: "
     "cannot import name 'DEPTH' from 'statements_N.shapes' (statements/gfx950/shapes.py)"),
    ("from .shapes import DIM", "from .gone import DIM", f"{FAMILY}:10: {RAISES} ImportError: "
     '"statements/gfx950/gone.py" was not there when this build was planned'),
    ("    out = junk(", "    raise SystemExit\n    out = junk(",
     f"{FAMILY}:20: {RAISES} SystemExit"),
    ("    out = junk(", "    raise KeyboardInterrupt\n    out = junk(",
     f"{FAMILY}:20: {RAISES} KeyboardInterrupt"),
    ("    out = junk(", "    class X(BaseException):\n        def __str__(self): raise self\n"
     "    raise X\n    out = junk(", f"{FAMILY}:22: {RAISES} X: its text cannot be shown"),
    ("    out = junk(", "    return launch(asked)\n    out = junk(", f"{FAMILY}:20: {RAISES} "
     "RecursionError: maximum recursion depth exceeded"),
    ("    out = junk(", "    out = junk((", f"{FAMILY}:20: statement is no Python: '(' was never "
     "closed"),
    ("    expected = {", "   expected = {", f"{FAMILY}:21: statement is no Python: unindent does "
     "not match any outer indentation level"),
    ("DIM\n\n\n@", "DIM\nreturn\n\n@", f"{FAMILY}:11: statement is no Python: 'return' outside "
     "function"),
    ("def launch(asked: Asked)", "def launch()", f"{FAMILY}: {RAISES} TypeError: launch() takes 0 "
     "positional arguments but 1 was given"),
    ("    return asked.launch(", "    asked.launch(", f'{FAMILY}: launch of "scale" is no '
     "Scenario"),
    ("Entry(launch, (", "(launch, (", f'{FAMILY}:25: tactic "scale" is not stated by an Entry'),
    ('expected = {"out"', 'expected = {"outs"', f'{FAMILY}:22: expected output "outs" is no '
     "array among the kernargs"),
    ('"zeros"))}', '"zeros")), "other": 3}', f'{FAMILY}:25: tactic "other" is not stated by an '
     "Entry"),
    ('("random", "zeros")', "3", f'{FAMILY}:25: tactic "scale" is not stated by an Entry'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_one_line_with_its_place(old: str, new: str, message: str) -> None:
    assert SOUND.count(old) == 1
    said = refusal(SOUND.replace(old, new))
    assert "\n" not in said
    assert re.sub(r"statements_\d+\.", "statements_N.", said) == message


def test_a_mistake_in_a_neighbour_is_placed_in_the_neighbour() -> None:
    assert refusal(SOUND, "x = 1\nDIM = {}['a']\n") == f"{SHAPES}:2: {RAISES} KeyError: 'a'"


IMPORTS = [
    ("import os", "os"),
    ("import math, subprocess", "subprocess"),
    ("import typing\ntyping.operator", "typing"),
    ("import netra_build.checkasm.numerics.scenario", "netra_build.checkasm.numerics.scenario"),
    ("import os.path as p", "os.path"),
    ("from os import path", "os"),
    ("import importlib", "importlib"),
    ("import builtins", "builtins"),
    ("import numpy.ctypeslib", "numpy.ctypeslib"),
    ("from netra_build.core import disk", "netra_build.core"),
    ("from netra_build.checkasm.numerics import suite", "netra_build.checkasm.numerics"),
    ("from netra_build.checkasm.numerics.loader import sys",
     "netra_build.checkasm.numerics.loader"),
    ("from netra_build.checkasm.model import launch as m", "netra_build.checkasm.model"),
    ("from . import shapes", "."),
    ("from .. import gfx950", ".."),
    ("from ..gfx950 import shapes", "..gfx950"),
    ("from .shapes.more import X", ".shapes.more"),
    ("if True: from .shapes import DIM", ".shapes"),
    ("def f():\n    import socket", "socket"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "name"), IMPORTS)
def test_what_no_statement_needs_is_not_imported(line: str, name: str) -> None:
    place = f"{SHAPES}:{1 + (line.count(chr(10)) if line.startswith('def') else 0)}"
    hint = f"\nhint: {HINT}"
    assert refusal(SOUND, f"{line}\n") == f'{place}: statement imports "{name}"{hint}'


NAMES = [
    ('open("/etc/passwd")', "open"),
    ('exec("import os")', "exec"),
    ('eval("1")', "eval"),
    ('compile("1", "x", "eval")', "compile"),
    ('__import__("os")', "__import__"),
    ("f = open", "open"),
    ('getattr(1, "real")', "getattr"),
    ("globals()", "globals"),
    ("__builtins__", "__builtins__"),
    ("().__class__", "__class__"),
    ("import zlib as d\nd.sys", "sys"),
    ("from dataclasses import field\nfrom dataclasses import sys as s", "dataclasses.sys"),
    ("from collections import _sys", "collections._sys"),
    ("from enum import bltns", "enum.bltns"),
    ("from typing import get_type_hints", "typing.get_type_hints"),
    ("from numpy import _core", "numpy._core"),
    ("match 1:\n    case int(__class__=c): pass", "__class__"),
    ("(lambda: 0).__globals__", "__globals__"),
    ("from functools import __builtins__ as b", "functools.__builtins__"),
]


@pytest.mark.parametrize(("line", "name"), NAMES)
def test_what_leads_out_of_a_statement_is_not_used(line: str, name: str) -> None:
    assert refusal(SOUND, f"\n{line}\n") == (
        f'{SHAPES}:{2 + line.count(chr(10))}: statement uses "{name}"'
    )


def test_what_is_nested_too_deeply_is_refused() -> None:
    """By our words or by those of Python's parser, never with a traceback."""
    assert (
        refusal(SOUND, f"DIM = {'-' * 100_000}1\n") == f"{SHAPES}: statement is nested too deeply"
    )
    said = refusal(SOUND, f"DIM = {'(' * 500}1{')' * 500}\n")
    assert said == f"{SHAPES}:1: statement is no Python: too many nested parentheses"
