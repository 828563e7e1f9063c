"""The measure of structure: lines, files, functions and near-duplicates of a small package."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "structure.py"
STRUCTURE = runpy.run_path(str(SCRIPT))

LOAD = '''\
"""Load."""


def load(path, limit):
    found = path.read(limit, 1)
    if found is None and limit > 0:
        raise ValueError("nothing", path)
    total = sum(item.size for item in found)
    names = [item.name for item in found]
    return dict(zip(names, found)), total
'''
SAME_BUT_FOR_NAMES = '''\
"""Take, with another name for everything, a comment and a docstring."""

import os


def take(source, most):
    """Take."""
    rows = source.take(most, 7)
    # Nothing was there.
    if rows is None and most > 3:
        raise KeyError("no rows", source)

    weight = sum(row.weight for row in rows)
    words = [row.word for row in rows]
    return dict(zip(words, rows)), weight
'''
OF_ANOTHER_SHAPE = SAME_BUT_FOR_NAMES.replace("rows is None and", "not rows or")


def short_functions(count: int) -> str:
    return '"""Short."""\n' + "".join(f"\n\ndef f{i}():\n    return {i}\n" for i in range(count))


def long_function(lines: int) -> str:
    return '"""Long."""\n\n\ndef long():\n' + "    x = 1\n" * (lines - 1)


def tree(folder: Path, texts: dict[str, str]) -> Path:
    """Write a checkout whose package has these files and, in each folder, a package file."""
    for name, text in texts.items():
        path = folder / "netra_build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "__init__.py").write_text('"""A folder."""\n')
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    texts = {
        "asm/load.py": LOAD,  # 10 lines
        "asm/take.py": SAME_BUT_FOR_NAMES,  # 15 lines
        "asm/native.cpp": "int x;\n" * 7,
        "asm/notes.txt": "no code\n" * 100,
        "build/long.py": long_function(60),  # 63 lines
        "build/short.py": short_functions(18),  # 73 lines
        "scons/front.py": '"""Nothing."""\n',
    }
    return tree(tmp_path, texts)


def test_what_a_small_package_measures(small: Path) -> None:
    assert STRUCTURE["figures"](small) == {
        "lines of product code": 10 + 15 + 7 + 63 + 73 + 1 + 3,
        "of these the build engine (`build/`, `scons/`)": 63 + 73 + 1 + 2,
        "modules": 5,
        "files in the fullest folder": 3,
        "lines of the longest module": 73,
        "lines of a function, nine of ten": 7,
        "lines of the longest function": 60,
        "pairs of near-duplicates": 1,
    }


def test_a_line_of_another_shape_ends_a_run(small: Path) -> None:
    (small / "netra_build/asm/take.py").write_text(OF_ANOTHER_SHAPE)
    assert STRUCTURE["figures"](small)["pairs of near-duplicates"] == 0


def test_short_lines_are_no_near_duplicate(small: Path) -> None:
    fields = "class Row:\n" + "".join(f"    field{i}: int\n" for i in range(12))
    for name in ("asm/load.py", "asm/take.py"):
        (small / "netra_build" / name).write_text(fields)
    assert STRUCTURE["figures"](small)["pairs of near-duplicates"] == 0


def test_a_file_can_repeat_itself_and_each_pair_of_files_counts_once(small: Path) -> None:
    (small / "netra_build/asm/load.py").write_text(LOAD + LOAD.partition("\n")[2])
    assert STRUCTURE["figures"](small)["pairs of near-duplicates"] == 2


def test_the_table_shows_another_checkout_beside_this_one() -> None:
    now, before = {"modules": 5, "lines": 1234}, {"modules": 1600, "lines": 2}
    assert STRUCTURE["table"](now, None) == (
        "| figure | now |\n|---|---|\n| modules | 5 |\n| lines | 1,234 |\n"
    )
    assert STRUCTURE["table"](now, before) == (
        "| figure | before | now |\n|---|---|---|\n| modules | 1,600 | 5 |\n| lines | 2 | 1,234 |\n"
    )
