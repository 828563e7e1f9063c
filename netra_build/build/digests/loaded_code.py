"""Note the code that runs as an input: our package, Python, the distributions it uses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from netra_build.build.digests.code_digest import PACKAGE_FOLDER
from netra_build.build.digests.distributions import DISTRIBUTION_BY_IMPORT, plain_name
from netra_build.build.freshness.input_trace import InputTrace
from netra_build.core.stamps import entries_below

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
