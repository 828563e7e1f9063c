"""Take turns with other builds of the same folder."""

from __future__ import annotations

import sys

from netra_build.build.run.build_lock import take_lock


def wait_for_build(build: str) -> None:
    """Take the lock of a build folder; say on standard error whom it is waited for."""
    command = " ".join(["netra", *sys.argv[1:]])
    take_lock(build, command, lambda line: print(f"netra: {line}", file=sys.stderr))
