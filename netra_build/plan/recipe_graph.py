"""Which operation waits for which: the launch order that a graph capture has to keep."""

from __future__ import annotations

from collections.abc import Sequence

from netra_build.core.canonical_json import Json
from netra_build.formats.models.graph import Graph
from netra_build.formats.plan import OperationPlan
from netra_build.formats.vocabulary import FORMAT_GRAPH_RECIPE


def dependencies(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """Return, per operation, the sorted operations it waits for (RAW, WAW and WAR)."""
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    tensors = graph.tensor_by_name
    result = []
    for index, operation in enumerate(graph.operations):
        inputs = {tensors[name].storage_name for name in operation.inputs}
        outputs = {tensors[name].storage_name for name in operation.outputs}
        waits = {writer[name] for name in inputs | outputs if name in writer}
        for name in outputs:
            waits.update(readers.get(name, ()))
        result.append(tuple(sorted(waits - {index})))
        for name in inputs:
            readers.setdefault(name, []).append(index)
        for name in outputs:
            writer[name] = index
            readers[name] = []
    return tuple(result)


def graph_recipe_document(
    profile: str, operations: Sequence[OperationPlan], depends_on: Sequence[Sequence[int]]
) -> dict[str, Json]:
    """Return graph_recipe.json."""
    return {
        "format": FORMAT_GRAPH_RECIPE,
        "profile": profile,
        "capture_at_initialization": True,
        "portable_serialized_hip_graph": False,
        "operations": [
            {
                "index": plan.index,
                "depends_on": list(waits),
                "execution": plan.selection.execution,
                "kernel_symbol": plan.selection.symbol,
                "launch": launch_document(plan),
                "bindings": bindings_document(plan),
                "workspace_offset": plan.workspace_offset,
            }
            for plan, waits in zip(operations, depends_on, strict=True)
        ],
    }


def launch_document(plan: OperationPlan) -> Json:
    """Return the launch object of an operation, or None."""
    launch = plan.selection.launch
    return launch.document() if launch else None


def bindings_document(plan: OperationPlan) -> Json:
    """Return the tensor names of an operation."""
    operation = plan.operation
    return {"inputs": list(operation.inputs), "outputs": list(operation.outputs)}
