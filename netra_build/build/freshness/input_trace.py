"""What was looked at while a build ran: the inputs of its decisions, complete by construction.

Not only the files that were read decide what is made, but also the folders that were listed, the
files that were looked for in vain, and the code that runs: our package, Python, the distributions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from netra_build.build.digests.action_digest import PACKAGE_FOLDER
from netra_build.build.digests.distributions import DISTRIBUTION_BY_IMPORT, plain_name
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES, PLAIN_NAME, AnyPath, RealDisk
from netra_build.core.own_code import READ
from netra_build.core.stamps import (
    Stamp,
    entries_below,
    hash_file,
    is_recent,
    stamp_of,
)
from netra_build.core.streams import file_digest

Listing = tuple[str, str | None, tuple[str, ...]]
"""A folder, the suffix of the names that count (None: all entries), folders left out."""


class InputTrace:
    """What was looked at, by absolute path; to be used by one thread."""

    def __init__(self, started_ns: int = 0) -> None:
        self.started_ns = started_ns
        """When the process started. A file that is younger is hashed when it is first seen."""
        self.files: dict[str, tuple[Stamp | None, str | None]] = {}
        """Path to the stamp when it was first seen, and the digest of what was read, if it was."""
        self.answers: dict[tuple[str, str], bool] = {}
        """Kind of question (``exists``, ``is_file``, ``is_folder``) and path, to its answer."""
        self.listings: dict[Listing, tuple[str, ...]] = {}
        """Folder, suffix and folders left out, to the relative names that lie below."""
        self.environment: dict[str, str | None] = {}
        """Environment variables that were asked for."""
        self.unsteady: set[str] = set()
        """What was seen in two states."""

    def saw_file(self, path: str, digest: str | None = None) -> None:
        """Remember that the contents of a file matter, and which they were if they were read."""
        stamp = stamp_of(path)
        if digest is None and path not in self.files:
            digest = self._digest_now(path, stamp)
        self.saw_state(path, stamp, digest)

    def saw_state(self, path: str, stamp: Stamp | None, digest: str | None) -> None:
        """Remember the stamp of a file whose contents matter, and its digest if it is known."""
        first_stamp, first_digest = self.files.get(path, (stamp, digest))
        if first_stamp != stamp or (first_digest and digest and first_digest != digest):
            self.unsteady.add(path)
        self.files[path] = (first_stamp, first_digest or digest)

    def got_answer(self, kind: str, path: str, answer: bool) -> None:
        """Remember the answer to a question about a path."""
        if self.answers.setdefault((kind, path), answer) != answer:
            self.unsteady.add(path)

    def saw_listing(
        self, folder: str, suffix: str | None, names: tuple[str, ...], skipped: tuple[str, ...] = ()
    ) -> None:
        """Remember which files lie below a folder; without a suffix all that lies there."""
        if self.listings.setdefault((folder, suffix, skipped), names) != names:
            self.unsteady.add(folder)

    def variable(self, environment: Mapping[str, str], name: str) -> str:
        """Return an environment variable, empty without one, and remember what it is."""
        self.environment[name] = environment.get(name)
        return environment.get(name, "")

    def digests_below(self, place: str) -> dict[str, str]:
        """Return the BLAKE3 of what was seen below a folder, or of a file, by the names there.

        What was not read yet is read now.
        """
        found = {}
        for path, (_, digest) in list(self.files.items()):
            if path == place or path.startswith(f"{place}/"):
                found[path.removeprefix(place)] = digest or file_digest(path)
                self.saw_file(path, found[path.removeprefix(place)])
        return found

    def _digest_now(self, path: str, stamp: Stamp | None) -> str | None:
        """Return the digest of what runs, or of a young file: either may be edited by the end."""
        if path in READ:
            return blake3_hex(READ[path])
        if stamp is None or not is_recent(stamp[1], stamp[2], self.started_ns):
            return None
        try:
            return hash_file(path)
        except OSError:
            return None


def joined(*traces: InputTrace) -> InputTrace:
    """Return what was looked at in any of them; what was seen differently counts as unsteady."""
    found = InputTrace(min(one.started_ns for one in traces))
    for one in traces:
        for path, (stamp, digest) in one.files.items():
            found.saw_state(path, stamp, digest)
        for (kind, path), answer in one.answers.items():
            found.got_answer(kind, path, answer)
        for (folder, suffix, skipped), names in one.listings.items():
            found.saw_listing(folder, suffix, names, skipped)
        found.environment = {**one.environment, **found.environment}
        found.unsteady |= one.unsteady
    return found


def absolute(path: Path | str) -> str:
    """Return the name under which a path is noted; links are left as they are."""
    name = os.fspath(path)
    if PLAIN_NAME.fullmatch(name) and (folder := os.getcwd()) != "/":
        return f"{folder}/{name}"  # there is nothing in it that could be left out
    return os.path.abspath(name)


class RecordingDisk(RealDisk):
    """The machine's file system; what is read and asked is noted, what is written is not."""

    def __init__(self, input_trace: InputTrace | None = None) -> None:
        self.input_trace = input_trace if input_trace is not None else InputTrace()

    def read_bytes(self, path: AnyPath, *, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return a regular file's bytes and note them."""
        name = os.path.abspath(path)
        self.input_trace.saw_file(name)
        data = super().read_bytes(path, max_bytes=max_bytes)
        self.input_trace.saw_file(name, blake3_hex(data))
        return data

    def is_file(self, path: AnyPath) -> bool:
        """Tell whether ``path`` is a regular file; who asks this means its contents too."""
        answer = super().is_file(path)
        name = os.path.abspath(path)
        if answer:
            self.input_trace.saw_file(name)
        else:
            self.input_trace.got_answer("is_file", name, answer)
        return answer

    def is_folder(self, path: Path) -> bool:
        """Tell whether ``path`` is a folder."""
        answer = super().is_folder(path)
        self.input_trace.got_answer("is_folder", os.path.abspath(path), answer)
        return answer

    def exists(self, path: Path) -> bool:
        """Tell whether there is anything at ``path``."""
        answer = super().exists(path)
        self.input_trace.got_answer("exists", os.path.abspath(path), answer)
        return answer

    def files_under(self, folder: Path, suffix: str = "") -> tuple[Path, ...]:
        """Return the regular files below ``folder`` and note their names."""
        paths = super().files_under(folder, suffix)
        names = tuple(path.relative_to(folder).as_posix() for path in paths)
        self.input_trace.saw_listing(os.path.abspath(folder), suffix, names)
        return paths


CACHES = ("__pycache__",)
"""Folders that Python writes by itself."""

RECORDS = ("METADATA", "RECORD")


def note_loaded_code(input_trace: InputTrace, distributions: Iterable[str] = ()) -> None:
    """Note our package, the interpreter, our distributions and those given by name.

    Which entry of Python's path each comes from is part of the request.
    """
    note_folder(input_trace, str(PACKAGE_FOLDER))
    input_trace.saw_file(os.path.realpath(sys.executable))
    wanted = {plain_name(name) for name in (*DISTRIBUTION_BY_IMPORT.values(), *distributions)}
    for entry in sys.path:
        _note_distributions(input_trace, entry, wanted)


def note_folder(input_trace: InputTrace, folder: str) -> None:
    """Note every file below a folder, and that there are no others, caches left out."""
    names = entries_below(folder, CACHES)
    input_trace.saw_listing(folder, None, names, CACHES)
    for name in names:
        if not name.endswith("/"):
            input_trace.saw_file(f"{folder}/{name}")


def _note_distributions(input_trace: InputTrace, entry: str, wanted: set[str]) -> None:
    try:
        names = os.listdir(entry or ".")
    except OSError:
        return
    for name in names:
        stem, _, suffix = name.rpartition(".")
        if suffix == "dist-info" and plain_name(stem.rpartition("-")[0]) in wanted:
            for record in RECORDS:
                input_trace.saw_file(os.path.abspath(f"{entry}/{name}/{record}"))
