"""What makes up the up-to-date check, and what must not be loaded for it."""

from __future__ import annotations

UP_TO_DATE = {
    "netra_build.build",
    "netra_build.build.digests",
    "netra_build.build.freshness",
    "netra_build.build.run",
    "netra_build.core",
    "netra_build.build.run.build_lock",
    "netra_build.build.digests.distributions",
    "netra_build.core.errors",
    "netra_build.core.own_code",
    "netra_build.core.stamps",
    "netra_build.build.freshness.up_to_date",
}
"""Modules of both checks, that of SCons and that of the command line."""

HEAVY = {"jsonschema", "yaml", "rich", "elftools", "numpy", "msgpack"}
