"""Restore a whole request from the store before its graph is declared; keep what others can."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from netra_build.asm.tools.tool_identity import is_binary
from netra_build.build.cache import request_trace
from netra_build.build.cache.request_trace import Made
from netra_build.build.digests.action_digest import PACKAGE_FOLDER
from netra_build.build.digests.distributions import DISTRIBUTION_BY_IMPORT, installed_version
from netra_build.build.freshness.finished import Finished, confirmed, write_manifest
from netra_build.build.freshness.input_trace import (
    InputTrace,
    absolute,
    joined,
    note_folder,
    note_loaded_code,
)
from netra_build.build.freshness.up_to_date import request_key
from netra_build.build.graph.product import Product
from netra_build.build.record.reasons import Ending
from netra_build.core.canonical_json import Json, plain_canonical_bytes
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import NetraError
from netra_build.core.stamps import Row
from netra_build.scons.context import BuildContext
from netra_build.scons.up_to_date import BUILD, UpToDateCheck


def restore_request(env: Any, check: UpToDateCheck) -> Made | None:
    """Restore all that the request makes if the same was made elsewhere; None if it was not.

    Whatever stands against it, the graph decides then.
    """
    context: BuildContext = env["NETRA_CONTEXT"]
    store = context.store(env) if check.is_usable and not check.verify else None
    key = _key(check)
    if store is None or not key:
        return None
    base = absolute(".") + "/"
    for trace in request_trace.kept_traces(store, key):
        input_trace = InputTrace(context.input_trace.started_ns)
        input_trace.environment.update(context.input_trace.environment)
        try:
            if trace.code != _code(env) or not request_trace.fits(trace.asked, base, input_trace):
                continue
            made, written = trace.made, request_trace.restore(trace.made, base, store)
            if written is not None:
                _note(env, made, written)
                moment_ns, outputs = time.time_ns(), confirmed(written)
                if outputs is None:
                    continue  # something was altered at once
                result = outputs, made.products_in(base), made.said
                finished = _finished(context, input_trace, moment_ns, *result)
                write_manifest(RealDisk(), BUILD, check.request, finished)
                return made
        except NetraError:
            continue
    return None


def _note(env: Any, made: Made, written: dict[str, str]) -> None:
    """Put on record what was restored.

    What the record of runs says of an action holds as long as its outputs were of this digest.
    """
    context: BuildContext = env["NETRA_CONTEXT"]
    record, makers = context.record(env), made.makers()
    same = {n for digest, names in makers if record.action_digest(names) == digest for n in names}
    unlike = [name for name in written if name not in same]
    context.run_record(env).restored(made.requests, written, unlike)
    record.note(written)
    for digest, names in makers:
        record.note_action(names, digest)


def _finished(
    context: BuildContext,
    input_trace: InputTrace,
    moment_ns: int,
    outputs: dict[str, Row],
    products: Sequence[Product],
    said: Sequence[str],
) -> Finished:
    return Finished(
        input_trace=joined(input_trace, context.system_trace),
        started_ns=input_trace.started_ns,
        moment_ns=moment_ns,
        base=absolute(".") + "/",
        outputs=outputs,
        products={absolute(product.folder): product.names for product in products},
        said=said,
        is_shared=not context.has_path_tools,
    )


def keep_request(env: Any, check: UpToDateCheck, moment_ns: int) -> None:
    """Note a request as finished: for the next run here, and in the store for any other checkout.

    Raises ``BadInput`` if an output is not what was written. Nothing is noted if more than files
    decides what the tools do. ``moment_ns`` is when the build ended.
    """
    context: BuildContext = env["NETRA_CONTEXT"]
    groups = context.confirmed()
    if not _is_all_known_by_files(context):
        return
    said = [*context.said, *(f"netra: {note}" for note in context.notes)]
    products, rows = context.products(), {p: row for _, made in groups for p, row in made.items()}
    finished = _finished(context, context.input_trace, moment_ns, rows, products, said)
    # A disk may be full or read-only: the next run decides without what cannot be written.
    with suppress(NetraError):
        is_whole = not write_manifest(RealDisk(), BUILD, check.request, finished)
        if is_whole and (context.tally.count(Ending.RAN) or context.tally.count(Ending.RESTORED)):
            store, key = context.store(env), _key(check)
            if store is not None and key:
                base, requests = finished.base, context.run_record(env).asked
                trace = request_trace.trace_of(
                    context.input_trace, base, groups, products, said, requests
                )
                if trace is not None:
                    request_trace.keep_trace(store, key, _code(env), *trace, base)


def _is_all_known_by_files(context: BuildContext) -> bool:
    """Tell whether files alone decide what the tools do: a script may start anything."""
    programs = context.toolchain.programs().values() if context.toolchain is not None else ()
    return all(is_binary(program.path) for program in programs)


def note_running(context: BuildContext) -> None:
    """Note all that runs as it is now: Python, our package, the SConstruct.

    It is done before anything is made: what is edited while the build runs is then seen.
    """
    input_trace = context.system_trace
    note_loaded_code(input_trace, ["scons"])
    note_folder(input_trace, absolute("site_scons"))
    input_trace.saw_file(absolute("SConstruct"))


def _key(check: UpToDateCheck) -> str:
    """Return the name of the request in any checkout, empty when it names places of this one."""
    asked = {name: check.request[name] for name in ("front", "variables", "targets")}
    return "" if any("/" in text for text in asked["variables"].values()) else request_key(asked)


def _code(env: Any) -> str:
    """Return the digest of all that runs, wherever it lies; ``note_running`` has been called."""
    context: BuildContext = env["NETRA_CONTEXT"]
    if not context.code:
        context.tools(env)
        names = sorted({*DISTRIBUTION_BY_IMPORT.values(), "scons"})
        places = str(PACKAGE_FOLDER), absolute("site_scons"), absolute("SConstruct")
        parts: dict[str, Json] = {
            "files": [context.system_trace.digests_below(place) for place in places],
            "python": sys.version,
            "distributions": {name: installed_version(name) or "" for name in names},
            "tools": {**context.tool_identity},
        }
        context.code = blake3_hex(plain_canonical_bytes(parts))
    return context.code
