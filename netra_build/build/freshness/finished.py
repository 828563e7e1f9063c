"""Write the manifest of a request that has just been finished, for ``up_to_date`` to judge by.

It is written only if nothing that it would name may have changed while the build ran: what was
read must be what lies there now.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from netra_build.build.freshness import up_to_date
from netra_build.build.freshness.input_trace import InputTrace, Listing, absolute
from netra_build.core import stamps
from netra_build.core.disk import Disk
from netra_build.core.errors import NetraError
from netra_build.core.stamps import Row, Stamp
from netra_build.core.streams import file_digest, remember_digest

MOST_MANIFESTS = 64


class Unsteady(Exception):
    """Something may have changed while the build ran; the message says what."""


def trust_noted(noted: Mapping[str, Any]) -> None:
    """Hash no input again in this process whose stamp vouches for its digest in a manifest.

    ``noted`` is what a verdict holds of the manifest; what cannot be read of it knows nothing.
    """
    try:
        rows, written_ns = stamps.rows_in(noted["inputs"]), int(noted["written_ns"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return
    for stamp, digest in rows.values():
        if not stamps.is_recent(stamp[1], stamp[2], written_ns):
            remember_digest(stamp, digest)


@dataclass
class Finished:
    """All that one finished request consists of."""

    input_trace: InputTrace
    started_ns: int
    """When the process started: what was changed since may have been read in two states."""
    moment_ns: int
    """When the collection of what follows began; what is younger is not trusted by its stamp."""
    base: str
    """Folder with a slash at the end; names below it are kept relative to it."""
    outputs: Mapping[str, Row] = field(default_factory=dict)
    """Absolute path of every output to its stamp and the digest that was written."""
    products: Mapping[str, Iterable[str]] = field(default_factory=dict)
    """Absolute folder of every product to the names of all files that may lie in it."""
    said: Iterable[str] = ()
    is_shared: bool = False
    """Whether another front that is asked the same would make the same."""


def confirmed(written: Mapping[str, str]) -> dict[str, Row] | None:
    """Return stamp and digest of files by absolute path; None unless they are as written."""
    found = {}
    for path, digest in written.items():
        stamp = stamps.own_stamp_of(path)
        try:
            if stamp is None or stamps.hash_file(path) != digest:
                return None
        except OSError:
            return None
        found[absolute(path)] = (stamp, digest)
    return found


def write_manifest(disk: Disk, build: str, request: up_to_date.Request, finished: Finished) -> str:
    """Write the manifest and return ``""``, or the reason why there is none."""
    up_to_date.forget(build, request)
    try:
        manifest = _manifest(request, finished)
    except Unsteady as reason:
        return str(reason)
    body = json.dumps(manifest, separators=(",", ":")).encode("ascii")
    path = Path(up_to_date.manifest_path(build, request))
    disk.write_bytes(path, up_to_date.body_digest(body) + b"\n" + body)
    _drop_oldest(disk, path.parent)
    return ""


def _manifest(request: up_to_date.Request, finished: Finished) -> dict[str, Any]:
    input_trace = finished.input_trace
    if input_trace.unsteady:
        raise Unsteady(f'"{min(input_trace.unsteady)}" changed while the build ran')
    inputs, links = _inputs(finished)
    return {
        "format": up_to_date.FORMAT,
        "request": request,
        "is_shared": finished.is_shared,
        "base": finished.base,
        "written_ns": finished.moment_ns,
        "environment": dict(input_trace.environment),
        "answers": _answers(finished),
        "listings": _listings(finished),
        "inputs": _columns(inputs, finished),
        "links": links,
        "outputs": _columns(finished.outputs, finished),
        "said": list(finished.said),
    }


def _columns(rows: Mapping[str, Row], finished: Finished) -> dict[str, Any]:
    return stamps.columns_of({_short(path, finished): row for path, row in rows.items()})


def _inputs(finished: Finished) -> tuple[dict[str, Row], dict[str, str]]:
    """Return all inputs, and where those lie that are reached over a symlink."""
    rows, links = {}, {}
    real_folder = cache(os.path.realpath)
    for path in finished.input_trace.files:
        if path in finished.outputs:
            continue
        stamp = stamps.own_stamp_of(path)
        is_link = stamp is None
        rows[path] = _input(path, stamp or stamps.stamp_of(path), finished)
        folder = path.rpartition("/")[0] or "/"
        if is_link or real_folder(folder) != folder:
            links[_short(path, finished)] = os.path.realpath(path)
    return rows, links


def _input(path: str, stamp: Stamp | None, finished: Finished) -> Row:
    """Return stamp and digest of one input; ``Unsteady`` unless it is what was read."""
    first, digest = finished.input_trace.files[path]
    if stamp is None or stamp != first:
        raise Unsteady(f'"{path}" changed while the build ran')
    if stamps.is_recent(stamp[1], stamp[2], finished.started_ns):
        # Its time alone cannot say that it was read in this state.
        if digest is None or _hashed(path) != digest:
            raise Unsteady(f'"{path}" changed while the build ran, or right before')
        return stamp, digest
    # One that is old enough is known by its state.
    return stamp, digest or _hashed(path, file_digest)


def _hashed(path: str, read: Callable[[str], str] = stamps.hash_file) -> str:
    try:
        return read(path)
    except (OSError, NetraError):
        raise Unsteady(f'"{path}" cannot be read') from None


def _answers(finished: Finished) -> dict[str, dict[str, bool]]:
    answers: dict[str, dict[str, bool]] = {kind: {} for kind in up_to_date.QUESTIONS}
    for (kind, path), answer in finished.input_trace.answers.items():
        if up_to_date.QUESTIONS[kind](path) is not answer:
            raise Unsteady(f'"{path}" came or went while the build ran')
        answers[kind][_short(path, finished)] = answer
    return answers


def _listings(finished: Finished) -> list[dict[str, Any]]:
    listings: dict[Listing, tuple[str, ...]] = dict(finished.input_trace.listings)
    for folder, names in finished.products.items():
        listings[folder, None, ()] = tuple(names)
    return [_listing(listing, names) for listing, names in listings.items()]


def _listing(listing: Listing, expected: tuple[str, ...]) -> dict[str, Any]:
    """Return what lies below a folder, the stamps taken before the look."""
    folder, suffix, skipped = listing
    before = stamps.folder_stamps(folder, skipped)
    names = up_to_date.look_below(folder, suffix, skipped)
    if set(expected) != set(names):
        raise Unsteady(f'other files lie in "{folder}" than were expected')
    return {
        "folder": folder,
        "suffix": suffix,
        "skipped": skipped,
        "names": up_to_date.names_digest(names),
        "stamps": before,
    }


def _short(path: str, finished: Finished) -> str:
    return path.removeprefix(finished.base)


def _drop_oldest(disk: Disk, folder: Path) -> None:
    paths = disk.files_under(folder, ".json")
    if len(paths) > MOST_MANIFESTS:
        found = {path: stamps.stamp_of(str(path)) or stamps.NO_STAMP for path in paths}
        for path in sorted(paths, key=lambda path: found[path][1])[:-MOST_MANIFESTS]:
            disk.remove(path)
