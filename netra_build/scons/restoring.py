"""Restore a whole request from the store before its graph is declared, and keep what others can."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from netra_build.build.cache.build_trace import (
    Present,
    digests_below,
    fits,
    keep_trace,
    kept_traces,
    restore,
    trace_of,
)
from netra_build.build.cache.trace_parts import Made, TracedProduct
from netra_build.build.digests.code_digest import PACKAGE_FOLDER
from netra_build.build.digests.distributions import DISTRIBUTION_BY_IMPORT, installed_version
from netra_build.build.digests.loaded_code import note_folder, note_loaded_code
from netra_build.build.freshness.finished import Finished, confirmed, write_manifest
from netra_build.build.freshness.input_trace import Looks, absolute, joined
from netra_build.build.freshness.up_to_date import request_key
from netra_build.core.canonical_json import Json, plain_canonical_bytes
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import NetraError
from netra_build.scons.declared import Declared
from netra_build.scons.door import BUILD, Door
from netra_build.scons.tools import toolchain_of


def restore_request(env: Any, door: Door) -> Made | None:
    """Restore all that the request makes if the same was made elsewhere; None if it was not.

    Whatever stands against it, the graph decides then.
    """
    declared: Declared = env["NETRA_DECLARED"]
    store = declared.store(env) if door.is_usable and not door.verify else None
    key = _key(door)
    traces = list(kept_traces(store, key)) if store is not None and key else []
    if store is None or not traces:
        return None
    base, code = absolute(".") + "/", _code(env)
    present = Present(base, declared.noted)
    for trace in traces:
        looks = Looks(declared.looks.started_ns)
        looks.environment.update(declared.looks.environment)
        try:
            if not fits(trace, code, base, looks, present):
                continue
            written = restore(trace.made, base, store)
            if written is not None:
                _note(env, trace.made, written)
                _remember(declared, door, trace.made, looks, written)
                return trace.made
        except NetraError:
            continue
    return None


def _note(env: Any, made: Made, written: dict[str, str]) -> None:
    """Put on record what was restored.

    What the record of runs says of an action holds as long as its outputs were of this digest.
    """
    declared: Declared = env["NETRA_DECLARED"]
    record, makers = declared.record(env), made.makers()
    same = {n for digest, names in makers if record.action_digest(names) == digest for n in names}
    unlike = [name for name in written if name not in same]
    declared.run_record(env).restored(made.requests, written, unlike)
    record.note(written)
    for digest, names in makers:
        record.note_action(names, digest)


def _remember(
    declared: Declared, door: Door, made: Made, looks: Looks, written: dict[str, str]
) -> None:
    """Write the manifest of what was restored."""
    moment_ns = time.time_ns()
    outputs = confirmed(written)
    if outputs is None:
        return
    products = {absolute(product.folder): product.names for product in made.products}
    finished = Finished(
        looks=joined(looks, declared.system_looks),
        started_ns=looks.started_ns,
        moment_ns=moment_ns,
        base=absolute(".") + "/",
        outputs=outputs,
        products=products,
        said=made.said,
        is_shared=not declared.has_path_tools,
        noted=declared.noted,
    )
    write_manifest(RealDisk(), BUILD, door.request, finished)


def keep_request(
    env: Any, door: Door, finished: Finished, actions: Sequence[tuple[str, int]]
) -> None:
    """Keep the trace of a finished request in the store, if there is one to keep it in.

    ``actions`` are those of ``Confirmed``.
    """
    declared: Declared = env["NETRA_DECLARED"]
    store, key = declared.store(env), _key(door)
    if store is None or not key:
        return
    base = finished.base
    products = [
        TracedProduct(folder.removeprefix(base), seal, tuple(sorted(names)))
        for folder, seal, names in declared.traced_products()
    ]
    made = finished.outputs, actions, products, finished.said, declared.run_record(env).asked()
    trace = trace_of(declared.looks, base, _code(env), *made)
    if trace is not None:
        keep_trace(store, key, trace, base, RealDisk())


def note_running(declared: Declared) -> None:
    """Note all that runs as it is now: Python, our package, the SConstruct.

    It is done before anything is made: what is edited while the build runs is then seen.
    """
    looks = declared.system_looks
    note_loaded_code(looks, ["scons"])
    note_folder(looks, absolute("site_scons"))
    looks.saw_file(absolute("SConstruct"))


def _key(door: Door) -> str:
    """Return the name of the request in any checkout, empty when it names places of this one."""
    asked = {name: door.request[name] for name in ("front", "variables", "targets")}
    return "" if any("/" in text for text in asked["variables"].values()) else request_key(asked)


def _code(env: Any) -> str:
    """Return the digest of all that runs, wherever it lies; ``note_running`` has been called."""
    declared: Declared = env["NETRA_DECLARED"]
    if not declared.code:
        toolchain_of(env)
        names = sorted({*DISTRIBUTION_BY_IMPORT.values(), "scons"})
        places = str(PACKAGE_FOLDER), absolute("site_scons"), absolute("SConstruct")
        looks, noted = declared.system_looks, declared.noted
        parts: dict[str, Json] = {
            "files": [digests_below(looks, place, noted) for place in places],
            "python": sys.version,
            "distributions": {name: installed_version(name) or "" for name in names},
            "tools": {**declared.tool_identity},
        }
        declared.code = blake3_hex(plain_canonical_bytes(parts))
    return declared.code
