"""``netra inspect``, ``explain`` and ``list-tactics``: what engines and libraries hold."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata, read_code_object
from netra_build.asm.objects.metadata import resources
from netra_build.cli.options import JSON, LIBRARY_AROUND, at_path, command, option
from netra_build.cli.places import library_of, refuse_other_target
from netra_build.core.canonical_json import Json, canonical_text
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.core.texts import table_text
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.fields import Fields
from netra_build.formats.vocabulary import TARGET
from netra_build.inspect.validate.engine_folder import MANIFEST, EngineFolder
from netra_build.plan.dense import dense_tactic_document

OPERATION_COLUMNS = ("#", "operation", "runs", "tactic", "maturity", "grid", "block")
KERNEL_COLUMNS = ("kernel", "VGPR", "AGPR", "SGPR", "LDS", "kernargs", "work-items", "private")
COUNTS = (
    *("vgpr_count", "agpr_count", "sgpr_count", "group_segment_fixed_size"),
    *("kernarg_segment_size", "max_flat_workgroup_size", "private_segment_fixed_size"),
)
ARGUMENT_COLUMNS = ("offset", "bytes", "kernarg", "kind")


@command(
    "show what an engine directory or a code object holds",
    at_path("path", "engine directory or code object", nargs="?"),
    at_path("--engine", "engine directory: print its engine.json"),
    JSON,
)
def inspect_command(options: argparse.Namespace) -> int:
    """Print tables and a tree, or JSON."""
    if one_of(options, "inspect") == options.engine:
        return write_file(options.engine / MANIFEST)
    path: Path = options.path
    if RealDisk().is_folder(path):
        if options.json:
            return write_file(path / MANIFEST)
        print(engine_text(EngineFolder(path, RealDisk())))
        return 0
    code = read_code_object(RealDisk().read_bytes(path), str(path))
    if options.json:
        print(canonical_text(_code_record(code, str(path))), end="")
    else:
        print(code_text(code, str(path)))
    return 0


def one_of(options: argparse.Namespace, word: str) -> Path:
    """Return the one path that was given; raise ``BadInput`` for none or two."""
    given = [path for path in (options.path, options.engine) if path is not None]
    if len(given) != 1:
        raise BadInput(
            "give one path", location=f"netra {word}", hint=f"netra {word} -h shows the options"
        )
    return Path(given[0])


def write_file(path: Path) -> int:
    """Write a file's bytes to standard output."""
    data = RealDisk().read_bytes(path)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return 0


def _code_record(code: CodeObject, location: str) -> dict[str, Json]:
    kernels: dict[str, Json] = {}
    for kernel in code.kernels:
        _, metadata = kernel_and_metadata(code, kernel.symbol, location)
        record: dict[str, Json] = dict(resources(metadata, metadata.max_flat_workgroup_size))
        record["arguments"] = [
            {"offset": a.offset, "size": a.size, "name": a.name, "value_kind": a.value_kind}
            for a in metadata.arguments
        ]
        kernels[kernel.symbol] = record
    record = {"target": code.target, "code_object_version": code.version}
    return {**record, "text_sha256": sha256_hex(code.text), "kernels": kernels}


def engine_text(engine: EngineFolder) -> str:
    """Return an engine as a tree of facts and a table of its operations."""
    manifest = engine.fields(MANIFEST)
    operations = list(manifest.objects("operations"))
    kernels = [item for item in operations if item.value.get("kernel_symbol")]
    profile = Fields(manifest.array("profiles")[0], manifest.location, "/profiles/0")
    memory = engine.fields("memory_plan.json")
    facts = [
        ("target", manifest.text("target")),
        ("profile", profile.text("name")),
        ("operations", f"{len(operations)}, {len(kernels)} of them kernels"),
        ("code objects", str(sum(name.endswith(".hsaco") for name in engine.names))),
        ("workspace", f"{manifest.integer('workspace_bytes')} bytes"),
        ("buffers", str(len(memory.array("buffers")))),
        ("sealed", "yes" if engine.has("netra.json") else "no"),
    ]
    rows = [_operation_row(operation) for operation in operations]
    return "\n".join(
        [*tree_lines(manifest.text("engine_id"), facts), "", table_text(OPERATION_COLUMNS, rows)]
    )


def _operation_row(operation: Fields) -> list[str]:
    given, launch = operation.value, operation.value.get("launch")
    sizes = launch if isinstance(launch, dict) else {}
    runs = operation.text("execution")
    if not given.get("kernel_symbol"):
        runs = operation.text("fallback")
    return [
        str(operation.integer("index")),
        operation.text("name"),
        runs,
        *(str(given.get(key) or "") for key in ("tactic", "maturity")),
        *("x".join(map(str, sizes.get(key, ()))) for key in ("grid", "block")),
    ]


def code_text(code: CodeObject, location: str) -> str:
    """Return a code object as a tree of facts and tables of its kernels and their kernargs."""
    facts = [
        ("target", f"{code.target}, code object version {code.version}"),
        (".text", f"{len(code.text)} bytes, sha256 {sha256_hex(code.text)}"),
        ("kernels", str(len(code.kernels))),
    ]
    parts = [*tree_lines(location, facts), ""]
    rows, tables = [], []
    for kernel in code.kernels:
        _, metadata = kernel_and_metadata(code, kernel.symbol, location)
        rows.append([kernel.symbol, *(getattr(metadata, name) or 0 for name in COUNTS)])
        arguments = [[a.offset, a.size, a.name, a.value_kind] for a in metadata.arguments]
        tables += ["", f"kernargs of {kernel.symbol}", table_text(ARGUMENT_COLUMNS, arguments)]
    return "\n".join([*parts, table_text(KERNEL_COLUMNS, rows), *tables])


def tree_lines(root: str, facts: list[tuple[str, str]]) -> Iterator[str]:
    """Yield a tree of one level: the root, then one branch per fact."""
    yield root
    for number, (name, value) in enumerate(facts, start=1):
        branch = "└──" if number == len(facts) else "├──"
        yield f"{branch} {name}: {value}" if value else f"{branch} {name}"


OTHER_OPERATION = "operation mismatch"


@command(
    "say why each tactic of an engine was chosen or rejected",
    at_path("path", "engine directory", nargs="?"),
    at_path("--engine", "engine directory: print its explain.json"),
    JSON,
)
def explain_command(options: argparse.Namespace) -> int:
    """Print one tree per operation, or the bytes of explain.json."""
    path = one_of(options, "explain")
    if options.json or path == options.engine:
        return write_file(path / "explain.json")
    print(explanation_text(EngineFolder(path, RealDisk())))
    return 0


def explanation_text(engine: EngineFolder) -> str:
    """Return, for every operation, what was chosen and why other tactics of its kind were not.

    Tactics of other operations are only counted; ``--json`` names each.
    """
    lines: list[str] = []
    for operation in engine.fields("explain.json").objects("operations"):
        chosen = operation.value.get("selected") or f"fallback {operation.text('fallback')}"
        rows, others = [], 0
        for candidate in operation.objects("candidates"):
            tactic = candidate.value.get("tactic") or "-"
            verdict = "chosen" if candidate.boolean("selected") else "rejected"
            reasons = candidate.texts("reasons", [])
            if OTHER_OPERATION in reasons:
                others += 1
            else:
                why = ", ".join(reasons)
                if not why and verdict == "rejected":
                    why = "fits too, ranked behind"
                rows.append((f"{tactic} {verdict}", why))
        if others:
            rows.append((f"{others} more", "for other operations"))
        lines += tree_lines(f"{operation.text('name')}: {chosen}", rows)
    return "\n".join(lines)


@command(
    "list the tactics of a kernel library",
    option("--target", required=True, help=f'only "{TARGET}"'),
    LIBRARY_AROUND,
)
def list_tactics_command(options: argparse.Namespace) -> int:
    """Print all tactics sorted by name."""
    refuse_other_target(options)
    catalog = load_catalog(library_of(options))
    catalog.require_sound()
    records = [tactic.document() for tactic in catalog.tactics] + [dense_tactic_document()]
    records.sort(key=lambda record: str(record["name"]))
    print(canonical_text({"target": TARGET, "tactics": records}), end="")
    return 0
