"""What engines and code objects hold, as tables and a tree for people."""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.asm.objects.code_object import CodeObject, kernel_and_metadata
from netra_build.core.digests import sha256_hex
from netra_build.core.terminal import table_text
from netra_build.formats.fields import Fields
from netra_build.plan.engine_folder import MANIFEST, EngineFolder

OPERATION_COLUMNS = ("#", "operation", "runs", "tactic", "maturity", "grid", "block")
KERNEL_COLUMNS = ("kernel", "VGPR", "AGPR", "SGPR", "LDS", "kernargs", "work-items", "private")
OTHER_OPERATION = "operation mismatch"
ARGUMENT_COLUMNS = ("offset", "bytes", "kernarg", "kind")


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
    launch = operation.value.get("launch")
    sizes = ["", ""]
    if isinstance(launch, dict):
        sizes = ["x".join(map(str, launch.get(key, ()))) for key in ("grid", "block")]
    named = (operation.value.get(key) or "" for key in ("tactic", "maturity"))
    runs = operation.text("execution")
    if not operation.value.get("kernel_symbol"):
        runs = operation.text("fallback")
    return [
        str(operation.integer("index")),
        operation.text("name"),
        runs,
        *map(str, named),
        *sizes,
    ]


def code_text(code: CodeObject, location: str) -> str:
    """Return a code object as a tree of facts and a table of its kernels and their kernargs."""
    facts = [
        ("target", code.target),
        (".text", f"{len(code.text)} bytes, sha256 {sha256_hex(code.text)}"),
        ("kernels", str(len(code.kernels))),
    ]
    parts = [*tree_lines(location, facts), ""]
    rows, tables = [], []
    for kernel in code.kernels:
        _, metadata = kernel_and_metadata(code, kernel.symbol, location)
        rows.append(
            [
                kernel.symbol,
                metadata.vgpr_count,
                metadata.agpr_count or 0,
                metadata.sgpr_count,
                metadata.group_segment_fixed_size,
                metadata.kernarg_segment_size,
                metadata.max_flat_workgroup_size,
                metadata.private_segment_fixed_size,
            ]
        )
        arguments = [[a.offset, a.size, a.name, a.value_kind] for a in metadata.arguments]
        tables += ["", f"kernargs of {kernel.symbol}", table_text(ARGUMENT_COLUMNS, arguments)]
    return "\n".join([*parts, table_text(KERNEL_COLUMNS, rows), *tables])


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


def tree_lines(root: str, facts: list[tuple[str, str]]) -> Iterator[str]:
    """Yield a tree of one level: the root, then one branch per fact."""
    yield root
    for number, (name, value) in enumerate(facts, start=1):
        branch = "└──" if number == len(facts) else "├──"
        yield f"{branch} {name}: {value}" if value else f"{branch} {name}"
