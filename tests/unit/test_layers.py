"""The import rules of the layers, read from the source of every module."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import SCons.Tool
from package_sources import PACKAGE, Sources, nodes, parsed, part_of, read_sources

from netra_build.build.digests.action_digest import imported_modules

PAGE = Path(__file__).resolve().parents[2] / "docs" / "layout.md"
LAYERS = re.compile(r"```layers\n(.*?)```", re.DOTALL)


def levels_of(page: str) -> dict[str, int]:
    """Return folder or top module (``a.b`` for a folder in one) to level, as the page says."""
    (block,) = LAYERS.findall(page)
    rows = [row.split("#")[0].replace("/", ".").split() for row in block.splitlines()]
    return {name: level for level, row in enumerate(rows) for name in row}


LEVELS = levels_of(PAGE.read_text(encoding="utf-8"))
"""Folder or top module to level: it may import itself and what stands on a lower level."""


def layer_of(module: str) -> str:
    """Return the folder or top module that decides a module's level, ``""`` without one."""
    parts = module.split(".")[1:3]
    whole = ".".join(parts)
    return whole if whole in LEVELS else parts[0] if parts and parts[0] in LEVELS else ""


def edges(sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield every import of a module of ours by a module of ours."""
    for name, text in sources.items():
        for node in nodes(text):
            if isinstance(node, ast.ImportFrom) and node.module and is_ours(node.module):
                members = [f"{node.module}.{alias.name}" for alias in node.names]
                inner = [member for member in members if member in sources]
                yield from ((name, member) for member in inner)
                if len(inner) < len(members):
                    yield name, node.module
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from ((name, item) for item in imported_modules(node) if is_ours(item))


def is_ours(module: str) -> bool:
    """Tell whether a module lies in the package."""
    return module.split(".")[0] == PACKAGE


def layer_faults(sources: Sources) -> list[str]:
    """Report unknown parts and imports that go up or to a sibling."""
    inner = {name.partition(".")[0] for name in LEVELS}
    faults = [
        f'{name}: "{part_of(name)}" has no level'
        for name in sources
        if part_of(name) and not layer_of(name) and part_of(name) not in inner
    ]
    for importer, imported in edges(sources):
        here, there = layer_of(importer), layer_of(imported)
        if here == there or not there or (importer == PACKAGE and imported in LOADER):
            continue
        if LEVELS[there] >= LEVELS.get(here, -1):
            faults.append(f"{importer}: imports {imported}, which is no lower layer")
    return faults


def cycle_faults(sources: Sources) -> list[str]:
    """Report modules that reach themselves."""
    graph: dict[str, set[str]] = {name: set() for name in sources}
    for importer, imported in edges(sources):
        if importer != imported:
            graph[importer].add(imported)
    # What imports nothing, or is imported by nothing, is on no cycle; without it the next is.
    while True:
        imported_ones = set().union(*graph.values())
        kept = {name: set(ts) for name, ts in graph.items() if ts and name in imported_ones}
        kept = {name: targets & kept.keys() for name, targets in kept.items()}
        if kept == graph:
            return [
                f"{name}: imports itself over {', '.join(sorted(graph[name]))}" for name in graph
            ]
        graph = kept


def product_faults(sources: Sources) -> list[str]:
    """Report imports by which ``checkasm`` could not be a product of its own."""
    allowed = ("core", "asm", "formats", "checkasm")
    return [
        f"{importer}: imports {imported}, which checkasm does without"
        for importer, imported in edges(sources)
        if part_of(importer) == "checkasm" and part_of(imported) not in allowed
    ]


def stage_faults(sources: Sources) -> list[str]:
    """Report stages that import another stage."""
    stages = {name for name in sources if name.startswith("netra_build.stages.")}
    return [
        f"{importer}: is a stage and imports the stage {imported}"
        for importer, imported in edges(sources)
        if importer in stages and imported in stages
    ]


def import_form_faults(sources: Sources) -> list[str]:
    """Report imports that the code digest cannot follow."""
    faults = []
    for name, text in sources.items():
        for node in nodes(text):
            if isinstance(node, ast.ImportFrom) and node.level:
                faults.append(f"{name}: has a relative import")
            elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                faults.append(f"{name}: imports *")
            elif (
                dotted(node) in ("importlib.import_module", "__import__") and part_of(name) != "cli"
            ):
                faults.append(f"{name}: imports a module by a computed name")
    return faults


def name_faults(names: set[str]) -> list[str]:
    """Report modules with the name of a standard module or of a SCons tool."""
    faults = []
    for name in sorted(names - {"netra_build.inspect"}):  # a folder is never imported bare
        last = name.rpartition(".")[2]
        if last in sys.stdlib_module_names:
            faults.append(f'{name}: "{last}" is a module of the standard library')
        elif last in scons_tools() and part_of(name) != last:
            faults.append(f'{name}: "{last}" is a tool of SCons')
    return faults


def scons_tools() -> set[str]:
    """Return the names of the tools that the installed SCons brings."""
    folder = Path(SCons.Tool.__file__).parent
    return {path.stem for path in folder.iterdir() if not path.name.startswith("_")}


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` for a name or an attribute of names, otherwise ``""``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


LOADER = {"netra_build.core", "netra_build.core.own_code"}


def init_faults(sources: Sources) -> list[str]:
    """Report package files that hold more than a docstring and plain constants.

    The first one also brings what loads all others.
    """
    return [
        f"{name}: a package file holds code"
        for name, text in sources.items()
        if any(other.startswith(f"{name}.") for other in sources)
        and any(not isinstance(node, ast.Expr | ast.Assign) for node in parsed(text).body)
        and (name != "netra_build" or set(imported_modules(parsed(text))) != LOADER)
    ]


CHECKS = {
    check.__name__: check
    for check in (
        layer_faults,
        cycle_faults,
        product_faults,
        stage_faults,
        import_form_faults,
        init_faults,
    )
}


@pytest.mark.parametrize("check", CHECKS)
def test_the_package_keeps_the_rule(check):
    assert CHECKS[check](read_sources()) == []


def test_no_module_hides_another_one():
    assert name_faults(set(read_sources())) == []


BASE = {"netra_build": "", "netra_build.core.a": "", "netra_build.stages.a": "STAGE = 1"}

SEEDED = [
    (
        layer_faults,
        {"netra_build.core.b": "def f():\n    from netra_build.stages.a import x"},
        "netra_build.core.b: imports netra_build.stages.a, which is no lower layer",
    ),
    (
        layer_faults,
        {"netra_build.core.b": "from netra_build.stages import a"},
        "netra_build.core.b: imports netra_build.stages.a, which is no lower layer",
    ),
    (
        layer_faults,
        {"netra_build.core.b": "import netra_build.stages.a as x"},
        "netra_build.core.b: imports netra_build.stages.a, which is no lower layer",
    ),
    (
        layer_faults,
        {
            "netra_build.checkasm.model.b": "import netra_build.checkasm.hazards.c",
            "netra_build.checkasm.hazards.c": "",
        },
        "netra_build.checkasm.model.b: imports netra_build.checkasm.hazards.c, "
        "which is no lower layer",
    ),
    (layer_faults, {"netra_build.extra": ""}, 'netra_build.extra: "extra" has no level'),
    (
        cycle_faults,
        {"netra_build.core.b": "if 0:\n    import netra_build.core.b2", "netra_build.core.b2": ""}
        | {"netra_build.core.b2": "from netra_build.core.b import x"},
        "netra_build.core.b: imports itself over netra_build.core.b2",
    ),
    (
        product_faults,
        {"netra_build.checkasm.model.b": "import netra_build.build.b", "netra_build.build.b": ""},
        "netra_build.checkasm.model.b: imports netra_build.build.b, which checkasm does without",
    ),
    (
        stage_faults,
        {"netra_build.stages.b": "from netra_build.stages.a import STAGE as A\nSTAGE = A"},
        "netra_build.stages.b: is a stage and imports the stage netra_build.stages.a",
    ),
    (
        import_form_faults,
        {"netra_build.core.b": "from . import a"},
        "netra_build.core.b: has a relative import",
    ),
    (
        import_form_faults,
        {"netra_build.core.b": "from netra_build.core.a import *"},
        "netra_build.core.b: imports *",
    ),
    (
        import_form_faults,
        {"netra_build.core.b": "import importlib\nimportlib.import_module('x')"},
        "netra_build.core.b: imports a module by a computed name",
    ),
    (
        init_faults,
        {"netra_build.core": "import os"},
        "netra_build.core: a package file holds code",
    ),
]


@pytest.mark.parametrize(("check", "seeded", "fault"), SEEDED)
def test_a_seeded_fault_is_reported(check, seeded, fault):
    assert fault in check(BASE | seeded)
    assert check(BASE) == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("netra_build.core.inspect", '"inspect" is a module of the standard library'),
        ("netra_build.stages.m4", '"m4" is a tool of SCons'),
    ],
)
def test_a_seeded_module_name_is_reported(name, fault):
    assert name_faults({name, "netra_build.core.disk"}) == [f"{name}: {fault}"]
