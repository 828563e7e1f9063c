"""Which modules may touch files, start programs, read the environment and import SCons."""

from __future__ import annotations

import ast
from functools import cache

import pytest
from package_sources import Sources, nodes, parsed, part_of, read_sources

from netra_build.build.digests.action_digest import imported_modules

STARTS_PROGRAMS = (
    "netra_build.asm.tools.programs",
    "netra_build.asm.native",
    "netra_build.checkasm.mutate.campaign",
    "netra_build.build.run.workers",
    "netra_build.core.confined",
)
"""What starts programs, keeps an assembler in a process, spreads mutants over processes, and makes
copies of this one, for work that is divided and for code of others."""

MAY_TOUCH_FILES = ("core", "build", "tensors")

TOUCHES_FILES = {
    "netra_build.asm.tools.tool_identity": "follows links of the libraries of a program",
    "netra_build.scons.nodes": "asks nodes of SCons, whose methods are called like those of paths",
}
"""Modules outside those folders with leave to touch files, each with its reason."""

READS_ENVIRONMENT = ("cli", "scons")

FILE_MODULES = {"fcntl", "fileinput", "glob", "mmap", "shutil", "tempfile"}
PROGRAM_MODULES = {"multiprocessing", "pty", "subprocess"}
PROGRAM_CALLS = {"os.system", "os.popen", "os.fork", "os.posix_spawn", "os.posix_spawnp"}
PURE_OS = {"os.fspath", "os.sep", "os.linesep", "os.PathLike", "os.environ", "os.getenv"}
PURE_OS_PATH = {"basename", "commonpath", "commonprefix", "dirname", "join", "normpath", "split"}
PURE_OS_PATH |= {"splitext", "isabs", "relpath"}
# Path methods that touch files, with the number of positional arguments of the Path form: a Disk
# has methods of the same names, which take the path as one more argument.
PATH_METHODS = {
    **dict.fromkeys(("read_bytes", "read_text", "exists", "is_file", "is_dir", "iterdir"), 0),
    **dict.fromkeys(("unlink", "rmdir", "touch", "stat", "lstat", "resolve", "mkdir"), 0),
    **dict.fromkeys(("write_bytes", "write_text", "glob", "rglob", "symlink_to", "chmod"), 1),
}


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` for a name or an attribute of names, otherwise ``""``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


@cache
def foreign_imports(text: str) -> set[str]:
    """Return the top names of all imported modules."""
    return {name.split(".")[0] for name in imported_modules(parsed(text))}


def imported_members(text: str) -> set[str]:
    """Return ``module.member`` for every member imported by name."""
    return {
        f"{node.module}.{alias.name}"
        for node in nodes(text)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def uses(text: str) -> set[str]:
    """Return every dotted name that the source uses, members imported by name resolved."""
    return {dotted(node) for node in nodes(text)} | imported_members(text)


def scons_faults(sources: Sources) -> list[str]:
    """Report imports of SCons outside the plugin."""
    return [
        f"{name}: imports SCons"
        for name, text in sources.items()
        if "SCons" in foreign_imports(text) and part_of(name) != "scons"
    ]


def environment_faults(sources: Sources) -> list[str]:
    """Report reads of the environment outside the front ends."""
    names = {"os.environ", "os.environb", "os.getenv", "os.getenvb"}
    return [
        f"{name}: reads the environment"
        for name, text in sources.items()
        if uses(text) & names and part_of(name) not in READS_ENVIRONMENT
    ]


def program_faults(sources: Sources) -> list[str]:
    """Report the start of programs outside the modules that may."""
    faults = []
    for name, text in sources.items():
        used = uses(text)
        starts = used & PROGRAM_CALLS or any(
            item.startswith(("os.exec", "os.spawn")) for item in used
        )
        if (starts or foreign_imports(text) & PROGRAM_MODULES) and not may_start_programs(name):
            faults.append(f"{name}: starts programs")
    return faults


def may_start_programs(name: str) -> bool:
    """Tell whether a module is one of those that start programs, or lies inside one."""
    return any(name == allowed or name.startswith(f"{allowed}.") for allowed in STARTS_PROGRAMS)


def file_faults(sources: Sources) -> list[str]:
    """Report file operations outside core and the modules that may."""
    faults = []
    for name, text in sources.items():
        if part_of(name) in MAY_TOUCH_FILES or name in TOUCHES_FILES:
            continue
        faults += [f"{name}: touches files ({item})" for item in sorted(file_touches(text))]
    return faults


def file_touches(text: str) -> set[str]:
    """Return every file operation of a source."""
    found = {touch(node) for node in nodes(text)} - {""}
    found |= foreign_imports(text) & FILE_MODULES
    return found | {item for item in imported_members(text) if is_os_touch(item)}


def is_os_touch(name: str) -> bool:
    """Tell whether a member of ``os`` or ``os.path`` touches the file system."""
    if name.startswith("os.path."):
        return name.split(".")[2] not in PURE_OS_PATH
    is_pure = name in PURE_OS or name.startswith("os.environ.") or name == "os.path"
    return name.startswith("os.") and not is_pure


def touch(node: ast.AST) -> str:
    """Return the file operation that a node is, or ``""``."""
    if not isinstance(node, ast.Call):
        return ""
    function = dotted(node.func)
    if function in ("open", "io.open") or is_os_touch(function):
        return function
    attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return attribute if PATH_METHODS.get(attribute) == len(node.args) else ""


CHECKS = {
    check.__name__: check
    for check in (scons_faults, environment_faults, program_faults, file_faults)
}


@pytest.mark.parametrize("check", CHECKS)
def test_the_package_keeps_the_rule(check):
    assert CHECKS[check](read_sources()) == []


def test_every_leave_to_touch_files_is_used():
    sources = read_sources()
    named = {name: sources[name] for name in TOUCHES_FILES}
    assert {name for name, text in named.items() if file_touches(text)} == set(TOUCHES_FILES)


BASE = {"netra_build": "", "netra_build.core.a": "import os\nos.unlink('x')"}

SEEDED = [
    (
        scons_faults,
        {"netra_build.stages.b": "def f():\n    import SCons.Node"},
        "netra_build.stages.b: imports SCons",
    ),
    (
        environment_faults,
        {"netra_build.plan.b": "import os\nx = os.environ"},
        "netra_build.plan.b: reads the environment",
    ),
    (
        environment_faults,
        {"netra_build.plan.b": "from os import getenv"},
        "netra_build.plan.b: reads the environment",
    ),
    (
        program_faults,
        {"netra_build.plan.b": "from subprocess import run"},
        "netra_build.plan.b: starts programs",
    ),
    (
        program_faults,
        {"netra_build.plan.b": "import os\nos.execv('x', [])"},
        "netra_build.plan.b: starts programs",
    ),
    (
        file_faults,
        {"netra_build.plan.b": "open('x')"},
        "netra_build.plan.b: touches files (open)",
    ),
    (
        file_faults,
        {"netra_build.plan.b": "import os\nos.path.exists('x')"},
        "netra_build.plan.b: touches files (os.path.exists)",
    ),
    (
        file_faults,
        {"netra_build.plan.b": "from os import unlink"},
        "netra_build.plan.b: touches files (os.unlink)",
    ),
    (
        file_faults,
        {"netra_build.plan.b": "def f(p):\n    p.write_text('x')"},
        "netra_build.plan.b: touches files (write_text)",
    ),
    (
        file_faults,
        {"netra_build.plan.b": "import shutil"},
        "netra_build.plan.b: touches files (shutil)",
    ),
]


@pytest.mark.parametrize(("check", "seeded", "fault"), SEEDED)
def test_a_seeded_fault_is_reported(check, seeded, fault):
    assert check(BASE | seeded) == [fault]
    assert check(BASE) == []


def test_only_the_tool_chain_may_start_programs():
    source = "import subprocess"
    names = (
        "netra_build.asm.tools.programs",
        "netra_build.asm.native.x",
        "netra_build.asm.native2",
    )
    faults = program_faults(dict.fromkeys(names, source))
    assert faults == ["netra_build.asm.native2: starts programs"]


def test_a_disk_method_is_no_file_operation():
    source = "def f(disk, path):\n    disk.read_bytes(path)\n    disk.write_bytes(path, b'')"
    assert file_faults({"netra_build.plan.b": source}) == []
