"""What answers at the door, and what must not be loaded for it."""

from __future__ import annotations

DOOR = {
    "netra_build.build",
    "netra_build.build.digests",
    "netra_build.build.freshness",
    "netra_build.build.run",
    "netra_build.core",
    "netra_build.build.run.build_lock",
    "netra_build.build.digests.distributions",
    "netra_build.core.errors",
    "netra_build.core.file_columns",
    "netra_build.core.folder_names",
    "netra_build.build.freshness.up_to_date",
    "netra_build.core.stamps",
}
"""Modules of both doors, that of SCons and that of the command line."""

HEAVY = {"jsonschema", "yaml", "rich", "elftools", "numpy", "msgpack"}
