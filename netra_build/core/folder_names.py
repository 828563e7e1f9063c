"""The names of the files below a folder, and the stamps that say whether they may have changed."""

from __future__ import annotations

import os
from collections.abc import Collection

FolderStamp = tuple[int, int, int, int]
"""Mtime and ctime in nanoseconds, inode, device of one folder."""


def names_below(folder: str, suffix: str = "", skipped: Collection[str] = ()) -> tuple[str, ...]:
    """Return the relative names of the regular files below ``folder``, in path order.

    With a suffix also what is called so and is none - a device, a link to nothing or to a folder.
    Folders that are symlinks are not entered, nor those called as in ``skipped``.
    """
    found = []
    for base, folders, names in os.walk(folder, followlinks=False):
        here = "" if base == folder else base[len(folder) :].lstrip("/") + "/"
        links = [name for name in folders if suffix and os.path.islink(f"{base}/{name}")]
        folders[:] = [name for name in folders if name not in skipped]
        for name in (*names, *links):
            if name.endswith(suffix) and (suffix or os.path.isfile(f"{base}/{name}")):
                found.append(here + name)
    return tuple(sorted(found, key=_by_parts))


def entries_below(folder: str, skipped: Collection[str] = ()) -> tuple[str, ...]:
    """Return the relative name of everything below ``folder`` that is no folder, links included.

    An empty folder is named with a slash at the end. Folders called as in ``skipped`` are left out.
    """
    found = []
    for base, folders, names in os.walk(folder, followlinks=False):
        here = "" if base == folder else base[len(folder) :].lstrip("/") + "/"
        links = [name for name in folders if os.path.islink(f"{base}/{name}")]
        if here and not names and not folders:
            found.append(here)
        folders[:] = [name for name in folders if name not in skipped]
        found += [here + name for name in (*names, *links)]
    return tuple(sorted(found, key=_by_parts))


def _by_parts(name: str) -> str:
    """Return what orders names as the lists of their parts: nothing sorts before the slash."""
    return name.replace("/", "\0")


def folder_stamps(folder: str, skipped: Collection[str] = ()) -> dict[str, FolderStamp]:
    """Return the stamp of ``folder`` and of every folder below it; nothing if it is none."""
    stamps = {}
    for base, folders, _ in os.walk(folder, followlinks=False):
        folders[:] = [name for name in folders if name not in skipped]
        stamp = folder_stamp(base)
        if stamp is not None:
            stamps[base] = stamp
    return stamps


def folder_stamp(folder: str) -> FolderStamp | None:
    """Return the stamp of one folder, None if there is none."""
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev
