"""How compile time and memory grow with the model: ``./netra python bench/bench_compile.py``.

Each size is one process that plans an explicit graph over the small kernel library of the tests,
makes every document and writes the engine directory, as ``netra compile`` does; its start, the
interpreter with our imports, counts as it does there. A fourth of the
operations each: kernels with a grid of their own, kernels with a private workspace, dense
projections with checkpoint tensors, and fallbacks. Times are processor seconds, the best of
``--runs``; the wall clock, which a busy machine stretches, is printed beside them. Exit code 1
when the last model takes ``--limit`` times as long as the first.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netra_build.core.canonical_json import lower
from netra_build.core.disk import RealDisk, sealed_folder
from netra_build.core.folders import publish_folder
from netra_build.core.processes import collector_paused
from netra_build.formats.fields import Fields
from netra_build.formats.library import open_library
from netra_build.formats.models.dense import dense_attributes, expand_dense
from netra_build.formats.models.model import load_model
from netra_build.plan.documents import engine_files
from netra_build.plan.plan import PlanOptions, plan_engine

LIBRARY = Path(__file__).resolve().parent.parent / "tests" / "data" / "conformance" / "library"
PROFILE = "decode_rows1"
DENSE = {
    "n": 512,
    "k": 256,
    "checkpoint_layout": "checkpoint_row_major_fp8_block128",
    "checkpoint_scale_dtype": "bf16",
    "kernel_scale_dtype": "fp32",
}
PARTS = ("start", "plan", "documents", "write")

Record = dict[str, Any]


def semantics(abi: str, dtypes: str, numerical: str) -> Record:
    """Return the semantics of a kernel of the library."""
    words = {"abi": abi, "dtypes": dtypes, "numerical": numerical}
    return {**words, "layouts": "linear", "quantization": "none"}


def pointer(name: str, offset: int, access: str, **more: str) -> Record:
    """Return one pointer argument."""
    return {"name": name, "kind": "pointer", "access": access, "offset": offset, **more}


def add_operation(index: int, given: str, made: str) -> Record:
    """Return a kernel operation whose grid no other operation has."""
    count = {"name": "count", "kind": "u32_constant", "access": "value", "offset": 24}
    attributes = {
        "family": "elementwise_add",
        "operation": "vector_add",
        "constants": {"NETRA_BLOCK_X": 256, "NETRA_ELEMENT_BYTES": 4},
        "semantics": semantics("conf_abc_count_v1", "fp32_fp32_to_fp32", "fp32_add_rne"),
        "launch_grid": [index + 1, 1, 1],
        "arguments": [
            pointer("a", 0, "read", tensor=given),
            pointer("b", 8, "read", tensor="bias"),
            pointer("out", 16, "write", tensor=made),
            count | {"value": 256},
        ],
        "fallback": "framework.add",
    }
    return operation(f"op{index}.add", "fixed_kernel", [given, "bias"], [made], attributes)


def stage_operation(index: int, given: str, made: str) -> Record:
    """Return a kernel operation with a private workspace; all of them share one kernel."""
    count = {"name": "count", "kind": "u32_constant", "access": "value", "offset": 24}
    attributes = {
        "family": "reduce_staged",
        "operation": "staged_sum",
        "constants": {"NETRA_STAGE_BYTES": 4096},
        "semantics": semantics(
            "conf_x_out_scratch_count_v1", "fp32_to_fp32", "fp32_mul_add_unfused"
        ),
        "launch_grid": [1, 1, 1],
        "arguments": [
            pointer("x", 0, "read", tensor=given),
            pointer("out", 8, "write", tensor=made),
            pointer("scratch", 16, "read_write", source="workspace"),
            count | {"value": 64},
        ],
        "fallback": "framework.stage",
    }
    return operation(f"op{index}.stage", "fixed_kernel", [given], [made], attributes)


def operation(
    name: str, kind: str, inputs: list[str], outputs: list[str], attributes: Record
) -> Record:
    """Return one operation of a graph."""
    record = {"name": name, "kind": kind, "inputs": inputs, "outputs": outputs}
    return {**record, "attributes": attributes}


def tensor(name: str, role: str = "temporary", size: int = 256) -> Record:
    """Return a flat fp32 tensor."""
    record = {"name": name, "shape": [size], "dtype": "fp32", "layout": "row_major", "role": role}
    return {**record, "persistent": role == "weight"}


def dense_parts(index: int) -> tuple[list[Record], Record]:
    """Return tensors and operation of one dense projection with checkpoint tensors."""
    name = f"op{index}.dense"
    names = {
        "checkpoint_tensors": [f"{name}.weight"],
        "checkpoint_scale_tensors": [f"{name}.scale"],
    }
    record = dense_attributes(Fields({**DENSE, **names}, name), Fields({}, name), "framework.dense")
    tensors, made = expand_dense(name, record)
    return [lower(item) for item in tensors], lower(made)


def model(count: int) -> Record:
    """Return a model description of ``count`` operations: one long chain, dense ones beside it."""
    tensors, operations = [tensor("x", "input"), tensor("bias", "weight")], []
    inputs, outputs, last = ["x"], [], "x"
    for index in range(count):
        if index % 4 == 2:
            some, made = dense_parts(index)
            tensors += some
            operations.append(made)
            inputs += [item["name"] for item in some if item["role"] == "input"]
            outputs += [item["name"] for item in some if item["role"] == "output"]
            continue
        tensors.append(tensor(f"t{index}", size=64 * (1 + index % 5)))
        named = (index, last, f"t{index}")
        if index % 4 == 0:
            operations.append(add_operation(*named))
        elif index % 4 == 1:
            operations.append(stage_operation(*named))
        else:
            some_fallback = {"fallback": "framework.custom"}
            operations.append(
                operation(f"op{index}.custom", "custom", [last], [f"t{index}"], some_fallback)
            )
        last = f"t{index}"
    graph = {"format": "netra-ir-1", "name": "bench", "tensors": tensors, "inputs": inputs}
    graph |= {"operations": operations, "outputs": outputs}
    head = {"format": "netra-model-1", "name": "bench", "family": "synthetic_graph"}
    return {**head, "configuration": {"tensor_parallel": 1}, "graph": graph}


def measure(count: int) -> Record:
    """Compile one model in this process; processor seconds of each part, peak memory in MiB."""
    with collector_paused():
        return _measure(count)


def _measure(count: int) -> Record:
    start, started = time.perf_counter(), time.process_time()
    with sealed_folder() as folder:
        path = folder / "model.json"
        path.write_text(json.dumps(model(count)), encoding="utf-8")
        ticks = [time.process_time()]
        library = open_library(RealDisk(), LIBRARY, ())
        asked = load_model(path, library.disk, library)
        plan = plan_engine(library, asked, PROFILE, PlanOptions(allow_experimental=True))
        ticks.append(time.process_time())
        files = engine_files(plan)
        ticks.append(time.process_time())
        publish_folder(folder / "engine", files, ("generated",), lambda name: False)
        ticks.append(time.process_time())
    seconds = {part: ticks[i + 1] - ticks[i] for i, part in enumerate(PARTS[1:])}
    seconds = {"start": started, **seconds}
    kernels = sum(plan.selection.symbol is not None for plan in plan.operations)
    return {
        "operations": count,
        "kernel_operations": kernels,
        "files": len(files),
        "size_bytes": sum(map(len, files.values())),
        "seconds": seconds,
        "total": sum(seconds.values()),
        "wall": time.perf_counter() - start,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measured_apart(count: int, runs: int) -> Record:
    """Measure in processes of their own, so that peak memory is that of one model; the best."""
    command = [sys.executable, __file__, "--one", str(count)]
    results: list[Record] = [
        json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        for _ in range(runs)
    ]
    return min(results, key=lambda result: result["total"])


def table_lines(results: list[Record]) -> Iterator[str]:
    """Yield a table of the results, and how each number grew from the first to the last."""
    heads = (
        "operations",
        "kernels",
        "files",
        "MB",
        *PARTS,
        "total s",
        "wall s",
        "us/op",
        "peak MiB",
    )
    yield "".join(f"{head:>12}" for head in heads)
    for result in results:
        cells = [result["operations"], result["kernel_operations"], result["files"]]
        times = [*result["seconds"].values(), result["total"], result["wall"]]
        row = "".join(f"{cell:12}" for cell in cells) + f"{result['size_bytes'] / 1e6:12.1f}"
        row += "".join(f"{seconds:12.3f}" for seconds in times)
        each = result["total"] / result["operations"] * 1e6
        yield row + f"{each:12.0f}{result['peak_mib']:12.0f}"
    first, last = results[0], results[-1]
    ratios = [last[key] / first[key] for key in ("operations", "kernel_operations", "files")]
    ratios.append(last["size_bytes"] / first["size_bytes"])
    ratios += [last["seconds"][part] / first["seconds"][part] for part in PARTS]
    ratios += [last[key] / first[key] for key in ("total", "wall")]
    row = "".join(f"{ratio:11.2f}x" for ratio in ratios)
    yield f"{row}{'':12}{last['peak_mib'] / first['peak_mib']:11.2f}x"


def main() -> int:
    """Measure the sizes asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1000, 10_000])
    parser.add_argument("--limit", type=float, default=10.0, help="largest ratio of total time")
    parser.add_argument("--runs", type=int, default=3, help="runs of each size")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.one)))
        return 0
    results = [measured_apart(count, options.runs) for count in options.sizes]
    print("\n".join(table_lines(results)))
    return int(results[-1]["total"] > options.limit * results[0]["total"])


if __name__ == "__main__":
    sys.exit(main())
