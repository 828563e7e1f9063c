"""The bars of the style that a program can measure, over every file of the tree."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from package_sources import nodes, parsed

from netra_build.core.canonical_json import parse_strict
from netra_build.core.errors import BadInput

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_OURS = {".git", ".venv", ".toolchain", ".toolchain.part", ".netra-setup", "build", "dist"}
NOT_OURS |= {"__pycache__", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
NOT_OURS |= {".benchmarks"}
NOT_OURS |= {"conformance"}  # vectors of the published formats, broken inputs included

MAX_FUNCTION_LINES = 50
P90_FUNCTION_LINES = 20
MAX_FILE_LINES = 400
MAX_MODULE_LINES = 300
MAX_FOLDER_FILES = 25
MAX_SCONSTRUCT_LINES = 80
MAX_TOOL_LINES = 130
MAY_PRINT = ("netra_build/cli/", "netra_build/scons/", "bench/", "tests/")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|home|root|tmp/bash_jobs)/")


def tree_files() -> Iterator[tuple[str, Path]]:
    """Yield the name, relative to the root, and the path of every file of the tree."""
    for base, folders, names in os.walk(ROOT):
        folders[:] = [name for name in sorted(folders) if is_ours(name, top=base == str(ROOT))]
        for name in sorted(names):
            if is_ours(name) and not name.startswith(".sconsign"):
                path = Path(base) / name
                yield path.relative_to(ROOT).as_posix(), path


def is_ours(name: str, *, top: bool = True) -> bool:
    """Tell whether a file or folder of this name is part of the project; ``top``: at its root."""
    return (name not in NOT_OURS or (name == "build" and not top)) and not name.endswith(
        ".egg-info"
    )


def texts(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Yield name and content of the text files with one of the suffixes; of all without any."""
    for name, path in tree_files():
        data = path.read_bytes() if not suffixes or path.suffix in suffixes else b"\0"
        if b"\0" not in data:
            yield name, data.decode("utf-8")


def python_texts() -> Iterator[tuple[str, str]]:
    """Yield name and text of all Python, the build script included."""
    yield from texts(".py")
    yield from ((name, text) for name, text in texts("") if name == "SConstruct")


def functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function, nested ones and methods included."""
    for node in nodes(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its decorators."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def size_faults(name: str, text: str) -> list[str]:
    """Report functions and files that are too long."""
    faults = [
        f"{name}:{node.lineno}: {node.name} has {length(node)} lines"
        for node in functions(text)
        if length(node) > MAX_FUNCTION_LINES
    ]
    lines = text.count("\n")
    most = MAX_MODULE_LINES if name.startswith("netra_build/") else MAX_FILE_LINES
    if lines > most and not is_table(text):
        faults.append(f"{name}: file has {lines} lines")
    return faults


def folder_faults(names: list[str]) -> list[str]:
    """Report folders of the package that hold too many files."""
    folders = Counter(name.rpartition("/")[0] for name in names if name.startswith("netra_build/"))
    return [
        f"{folder}: holds {count} files"
        for folder, count in folders.items()
        if count > MAX_FOLDER_FILES
    ]


def is_table(text: str) -> bool:
    """Tell whether a Python file is purely data: imports, assignments, docstrings."""
    data = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
    return all(isinstance(node, data) for node in parsed(text).body)


def docstring_faults(name: str, text: str) -> list[str]:
    """Report a module, and in the library a public class or function, without a docstring."""
    tree = parsed(text)
    faults = [] if ast.get_docstring(tree) else [f"{name}: no module docstring"]
    if name.startswith("tests/"):
        return faults
    return faults + [
        f"{name}:{node.lineno}: {node.name} has no docstring"
        for node in public_definitions(tree)
        if not ast.get_docstring(node) and not is_declaration(node)
    ]


def public_definitions(
    tree: ast.Module | ast.ClassDef,
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield public functions and classes, and the public methods of public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith("_"):
                continue
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node)


def is_declaration(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Tell whether a definition is a method of a protocol: its body is ``...`` alone."""
    (first, *rest) = node.body
    is_ellipsis = isinstance(first, ast.Expr) and getattr(first.value, "value", None) is ...
    return is_ellipsis and not rest


def except_faults(name: str, text: str) -> list[str]:
    """Report handlers that catch everything."""
    return [
        f"{name}:{node.lineno}: bare except"
        for node in nodes(text)
        if isinstance(node, ast.ExceptHandler) and node.type is None
    ]


def print_faults(name: str, text: str) -> list[str]:
    """Report print outside the front ends."""
    if name.startswith(MAY_PRINT):
        return []
    return [
        f"{name}:{node.lineno}: print outside cli and scons"
        for node in nodes(text)
        if isinstance(node, ast.Name) and node.id == "print"
    ]


def front_faults(name: str, text: str) -> list[str]:
    """Report a build script or a tool that has grown into a program."""
    limits = {"SConstruct": MAX_SCONSTRUCT_LINES, "site_scons/site_tools/netra.py": MAX_TOOL_LINES}
    limits["netra_build/scons/netra.py"] = MAX_TOOL_LINES
    if name not in limits:
        return []
    lines = text.count("\n")
    faults = [f"{name}: has {lines} lines"] if lines > limits[name] else []
    has_class = any(isinstance(node, ast.ClassDef) for node in nodes(text))
    return faults + ([f"{name}: has a class"] if has_class and name == "SConstruct" else [])


def whitespace_faults(name: str, text: str) -> list[str]:
    """Report trailing blanks, tabs mixed with blanks, carriage returns, a missing newline."""
    faults = [] if text.endswith("\n") or not text else [f"{name}: no final newline"]
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            faults.append(f"{name}:{number}: trailing blanks")
        indent = line[: len(line) - len(line.lstrip())]
        if "\t" in indent and " " in indent:
            faults.append(f"{name}:{number}: tabs and blanks mixed")
    return faults


def json_faults(name: str, data: bytes) -> list[str]:
    """Report JSON that a strict reader refuses, or without its final newline."""
    try:
        parse_strict(data, name)
    except BadInput as error:
        return [error.line()]
    return [] if data.endswith(b"\n") else [f"{name}: no final newline"]


def path_faults(name: str, text: str) -> list[str]:
    """Report absolute paths of somebody's machine."""
    return [
        f"{name}:{number}: path of a machine"
        for number, line in enumerate(text.split("\n"), 1)
        if MACHINE_PATH.search(line)
    ]


def function_p90(sources: list[str]) -> int:
    """Return the length that nine of ten functions do not exceed, in lines."""
    sizes = sorted(length(node) for text in sources for node in functions(text))
    return sizes[max(0, -(-len(sizes) * 9 // 10) - 1)] if sizes else 0


PYTHON_CHECKS = {
    check.__name__: check
    for check in (size_faults, docstring_faults, except_faults, print_faults, front_faults)
}


@pytest.mark.parametrize("check", PYTHON_CHECKS)
def test_python_keeps_the_rule(check):
    assert [fault for item in python_texts() for fault in PYTHON_CHECKS[check](*item)] == []


def test_no_folder_of_the_package_is_crowded():
    assert folder_faults([name for name, _ in python_texts()]) == []


def test_a_crowded_folder_is_reported():
    names = [f"netra_build/a/m{number}.py" for number in range(26)]
    assert folder_faults(names) == ["netra_build/a: holds 26 files"]
    assert folder_faults(names[1:]) == []


def test_nine_of_ten_functions_are_short():
    library = [text for name, text in python_texts() if name.startswith("netra_build/")]
    assert function_p90(library) <= P90_FUNCTION_LINES


def test_assembly_and_text_files_are_clean():
    suffixes = (".s", ".inc", ".py", ".md", ".json", ".yaml", ".toml", ".cpp", ".h", ".c", "")
    assert [fault for item in texts(*suffixes) for fault in whitespace_faults(*item)] == []


def test_json_is_strict():
    found = [(name, path) for name, path in tree_files() if path.suffix == ".json"]
    ours = [item for item in found if not item[0].startswith("tests/")]
    assert [fault for name, path in ours for fault in json_faults(name, path.read_bytes())] == []


def test_no_file_names_a_place_of_a_machine():
    assert [fault for item in texts() for fault in path_faults(*item)] == []


def body(lines: int) -> str:
    return '"""Doc."""\n\n\ndef _f():\n' + "    pass\n" * (lines - 1)


SEEDED = [
    (size_faults, "a.py", body(51), "a.py:4: _f has 51 lines"),
    (size_faults, "a.py", "_f()\nif x:\n    pass\n" * 134, "a.py: file has 402 lines"),
    (
        size_faults,
        "netra_build/a.py",
        "_f()\nif x:\n    pass\n" * 101,
        "netra_build/a.py: file has 303 lines",
    ),
    (docstring_faults, "a.py", "x = 1\n", "a.py: no module docstring"),
    (docstring_faults, "a.py", '"""D."""\n\n\ndef f(): pass\n', "a.py:4: f has no docstring"),
    (docstring_faults, "a.py", '"""D."""\nclass A: pass\n', "a.py:2: A has no docstring"),
    (
        docstring_faults,
        "a.py",
        '"""D."""\nclass A:\n    """D."""\n    def f(self): return 1\n',
        "a.py:4: f has no docstring",
    ),
    (except_faults, "a.py", "try:\n    pass\nexcept:\n    pass\n", "a.py:3: bare except"),
    (
        print_faults,
        "netra_build/plan/a.py",
        "print(1)\n",
        "netra_build/plan/a.py:1: print outside cli and scons",
    ),
    (front_faults, "SConstruct", "x = 1\n" * 81, "SConstruct: has 81 lines"),
    (front_faults, "SConstruct", "class A: pass\n", "SConstruct: has a class"),
    (
        front_faults,
        "site_scons/site_tools/netra.py",
        "x = 1\n" * 131,
        "site_scons/site_tools/netra.py: has 131 lines",
    ),
    (whitespace_faults, "a.s", "s_endpgm", "a.s: no final newline"),
    (whitespace_faults, "a.s", "s_endpgm \n", "a.s:1: trailing blanks"),
    (whitespace_faults, "a.s", "s_nop 0\r\n", "a.s:1: trailing blanks"),
    (whitespace_faults, "a.s", "  \ts_endpgm\n", "a.s:1: tabs and blanks mixed"),
    (json_faults, "a.json", b'{"a":1}', "a.json: no final newline"),
    (json_faults, "a.json", b'{"a":1,"a":1}\n', 'a.json: key "a" appears twice in one object'),
    (path_faults, "a.md", "see " + "/home" + "/me/x\n", "a.md:1: path of a machine"),
    (path_faults, "a.md", "\n=" + "/work" + "/x\n", "a.md:2: path of a machine"),
]


@pytest.mark.parametrize(("check", "name", "content", "fault"), SEEDED)
def test_a_seeded_fault_is_reported(check, name, content, fault):
    assert check(name, content) == [fault]


def test_clean_content_has_no_fault():
    clean = '"""Doc."""\n\n\nclass A:\n    """Doc."""\n\n    def f(self): ...\n'
    checks = [*PYTHON_CHECKS.values(), whitespace_faults, path_faults]
    assert [fault for check in checks for fault in check("netra_build/a.py", clean)] == []
    assert json_faults("a.json", b"{}\n") == []
    assert path_faults("a.md", "build/work/x, a.home/ and /opt/rocm are no such paths\n") == []


def test_the_table_exception_covers_data_only():
    table = '"""Doc."""\n' + "A = 1\n" * 500
    assert size_faults("a.py", table) == []
    assert size_faults("a.py", table + "def f():\n    pass\n") == ["a.py: file has 503 lines"]


def test_p90_is_the_length_of_the_ninth_of_ten():
    sources = [body(lines) for lines in (2, 3, 4, 5, 6, 7, 8, 9, 10, 40)]
    assert function_p90(sources) == 10
    assert function_p90([*sources, body(50)]) == 40
