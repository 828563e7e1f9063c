"""What ``netra build`` does when there is something to do."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netra_build.build.freshness.finished import Finished, confirmed, write_manifest
from netra_build.build.freshness.input_trace import InputTrace, absolute, note_loaded_code
from netra_build.build.freshness.up_to_date import forget
from netra_build.build.graph.product import refuse_unfinished
from netra_build.cli.build.published import build_engine, refuse_sealed
from netra_build.cli.build.rebuild import Rebuilt, rebuild
from netra_build.cli.options import wait_for_build
from netra_build.cli.places import library_of, toolchain_of
from netra_build.core.canonical_json import canonical_text
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.stamps import process_start_ns
from netra_build.inspect.validate.engine import verify_engine
from netra_build.inspect.validate.engine_folder import (
    MANIFEST,
    EngineFolder,
    refuse_former_sources,
)


def run(options: argparse.Namespace, request: Mapping[str, Any]) -> int:
    """Build an engine directory as ``validate --build`` does, a recipe's product as ``rebuild``."""
    folder = Path(options.engine)
    if not RealDisk().is_file(folder / MANIFEST):
        return _build_recipe(options, request)
    for name in ("out", "profile", "golden_root", "locked"):
        if getattr(options, name):
            raise BadInput(
                f"--{name.replace('_', '-')} is for recipes, not for an engine directory",
                location=str(folder),
            )
    refuse_unfinished(folder, RealDisk())
    refuse_sealed(EngineFolder(folder, RealDisk()))
    library = library_of(options)
    result = verify_engine(folder, RealDisk(), library).summary
    engine = EngineFolder(folder, RealDisk())
    refuse_former_sources(engine)
    result["built"] = build_engine(engine, toolchain_of(options, library))
    print(canonical_text(result), end="")
    return 0


def _build_recipe(options: argparse.Namespace, request: Mapping[str, Any]) -> int:
    input_trace = InputTrace(process_start_ns())
    input_trace.got_answer("is_file", absolute(Path(options.engine) / MANIFEST), False)
    library = library_of(options, input_trace)
    build = f"{library.root}/build"
    wait_for_build(build)
    forget(build, request)
    rebuilt = rebuild(options, library, input_trace)
    print(rebuilt.line())
    _remember(build, request, input_trace, rebuilt)
    return 0


def _remember(
    build: str, request: Mapping[str, Any], input_trace: InputTrace, rebuilt: Rebuilt
) -> None:
    """Note the request as finished, so that the next one is answered by the up-to-date check."""
    moment_ns = time.time_ns()
    note_loaded_code(input_trace)
    outputs = confirmed(rebuilt.written)
    if outputs is None:
        return
    product, notes = rebuilt.execution.product, rebuilt.execution.graph.notes
    is_alone = product is not None and product.is_alone
    finished = Finished(
        input_trace=input_trace,
        started_ns=input_trace.started_ns,
        moment_ns=moment_ns,
        base=os.path.join(absolute("."), ""),
        outputs=outputs,
        products={absolute(rebuilt.out): product.names} if product and is_alone else {},
        said=notes,
    )
    try:
        write_manifest(RealDisk(), build, request, finished)
    except NetraError:
        return  # a disk that is full or read-only: the next run builds again
