"""Which modules of the package run while a command runs, in all its processes.

``traced`` gives an environment whose Python notes a module of ours when code of it runs for the
first time, be it only that it is imported. Package files do not count: they hold no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NOTES = "NETRA_TEST_TRACE"

HOOK = '''\
"""Note each module of the package when code of it first runs."""
import os
import sys
import threading

PACKAGE = os.sep + "netra_build" + os.sep
seen = set()
notes = os.open(os.environ["NETRA_TEST_TRACE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def note(frame, event, argument):
    name = frame.f_code.co_filename
    if event == "call" and name not in seen:
        seen.add(name)
        if PACKAGE in name and not name.endswith("__init__.py"):
            os.write(notes, (name.rpartition(PACKAGE)[2] + "\\n").encode())


sys.setprofile(note)
threading.setprofile(note)
'''


def traced(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return ``environment`` with the tracing switched on; its notes lie in ``folder``."""
    (folder / "sitecustomize.py").write_text(HOOK)
    paths = [str(folder), environment.get("PYTHONPATH", "")]
    more = {"PYTHONPATH": ":".join(filter(None, paths)), NOTES: str(folder / "notes")}
    return {**environment, **more}


def modules(folder: Path) -> set[str]:
    """Return the modules that ran, as paths relative to the package."""
    return set((folder / "notes").read_text().splitlines())
