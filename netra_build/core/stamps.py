"""Stamps of files and folders, and when an equal stamp means that a file is unchanged."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from blake3 import blake3

from netra_build.core.errors import BadInput

Stamp = tuple[int, int, int, int, int]
"""Size in bytes, mtime and ctime in nanoseconds, inode, device."""

FileState = tuple[int, ...]
"""What changes when the bytes of a file do; nothing for no file."""

FINE_MARGIN_NS = 50_000_000
COARSE_MARGIN_NS = 2_100_000_000
SECOND_NS = 1_000_000_000
REGULAR, FOLDER, KIND_OF_FILE = 0o100000, 0o040000, 0o170000
ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def refuse_hidden(error: OSError) -> None:
    """Raise ``BadInput`` unless the error says that nothing is there: it may just not be shown."""
    if error.errno not in ABSENT:
        reason = (error.strerror or "cannot be looked at").lower()
        raise BadInput(reason, location=os.fspath(error.filename)) from None


def kind_at(path: str | os.PathLike[str]) -> int:
    """Return the kind of file that ``path`` leads to, 0 for nothing, as ``refuse_hidden``."""
    try:
        return os.stat(path).st_mode & KIND_OF_FILE
    except OSError as error:
        refuse_hidden(error)
    except ValueError:  # no file can have such a name
        pass
    return 0


def is_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether ``path`` leads to a regular file; ``BadInput`` if that is not shown."""
    return kind_at(path) == REGULAR


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether ``path`` leads to a folder; ``BadInput`` if that is not shown."""
    return kind_at(path) == FOLDER


def exists(path: str | os.PathLike[str]) -> bool:
    """Tell whether ``path`` leads to anything; ``BadInput`` if that is not shown."""
    return kind_at(path) != 0


def stamp_of(path: str) -> Stamp | None:
    """Return the stamp of the regular file that ``path`` leads to, None when there is none."""
    try:
        return status_stamp(os.stat(path))
    except (OSError, ValueError):
        return None


def own_stamp_of(path: str) -> Stamp | None:
    """Return the stamp of the regular file at ``path`` itself, None for a link to one."""
    try:
        return status_stamp(os.lstat(path))
    except (OSError, ValueError):
        return None


def status_stamp(status: os.stat_result) -> Stamp | None:
    """Return the stamp in a status, None unless it is of a regular file."""
    if status.st_mode & KIND_OF_FILE != REGULAR:
        return None
    return status_state(status)


def status_state(status: os.stat_result) -> Stamp:
    """Return the state of whatever a status is of."""
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_dev,
    )


def is_recent(mtime_ns: int, ctime_ns: int, moment_ns: int) -> bool:
    """Tell whether a change after ``moment_ns`` could have left these very times.

    A file system notes times in steps of milliseconds, some in whole seconds. A file whose times
    are not older than the moment by such a step may change once more without a new stamp.
    """
    margin_ns = FINE_MARGIN_NS if ctime_ns % SECOND_NS else COARSE_MARGIN_NS
    return max(mtime_ns, ctime_ns) >= moment_ns - margin_ns


def process_start_ns() -> int:
    """Return when this process was started, in nanoseconds of the clock that files use."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as stream:
            ticks = int(stream.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        age = time.process_time() + 1.0
    return time.time_ns() - int((max(age, 0.0) + 0.02) * SECOND_NS)


FolderStamp = tuple[int, int, int, int]
"""Mtime and ctime in nanoseconds, inode, device of one folder."""


def names_below(folder: str, suffix: str = "", skipped: Collection[str] = ()) -> tuple[str, ...]:
    """Return the relative names of the regular files below ``folder``, in path order.

    With a suffix also what is called so and is none - a device, a link to nothing or to a folder.
    Folders that are symlinks are not entered, nor those called as in ``skipped``.
    ``BadInput`` for a folder that is there and cannot be listed, as for all that look below one.
    """
    return _in_order(
        here + name
        for here, base, names in _walked(folder, skipped)
        for name in names
        if name.endswith(suffix) and (suffix or is_file(f"{base}/{name}"))
    )


def entries_below(folder: str, skipped: Collection[str] = ()) -> tuple[str, ...]:
    """Return the relative name of everything below ``folder`` that is no folder, links included.

    An empty folder is named with a slash at the end. Folders called as in ``skipped`` are left out.
    """
    walked = _walked(folder, skipped)
    return _in_order(here + name for here, _, names in walked for name in names)


def _walked(folder: str, skipped: Collection[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each folder as a prefix of names and as a path, with its files and links.

    An empty folder below the first one holds the name ``""``.
    """
    for base, folders, names in os.walk(folder, onerror=refuse_hidden):
        here = "" if base == folder else base[len(folder) :].lstrip("/") + "/"
        links = [name for name in folders if os.path.islink(f"{base}/{name}")]
        yield here, base, names + links if names or folders or not here else [""]
        folders[:] = [name for name in folders if name not in skipped]


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in the order of the lists of their parts: nothing sorts before the slash."""
    return tuple(sorted(names, key=lambda name: name.replace("/", "\0")))


def folder_stamps(folder: str, skipped: Collection[str] = ()) -> dict[str, FolderStamp]:
    """Return the stamp of ``folder`` and of every folder below it; nothing if it is none."""
    stamps = {}
    for base, folders, _ in os.walk(folder, onerror=refuse_hidden):
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


Row = tuple[Stamp, str]
"""Stamp and digest of a file."""

NO_STAMP: Stamp = (0, 0, 0, 0, 0)
"""A stamp that no file has, so that it never equals one."""

STAMP_PARTS = len(NO_STAMP)


def columns_of(rows: Mapping[str, Row]) -> dict[str, Any]:
    """Return files by name as plain JSON, in their order."""
    return {
        "names": list(rows),
        "stamps": list(chain.from_iterable([stamp for stamp, _ in rows.values()])),
        "digests": [digest for _, digest in rows.values()],
    }


def rows_in(columns: Any) -> dict[str, Row]:
    """Return the files in a document of ``columns_of``.

    Raises ``KeyError``, ``TypeError`` or ``ValueError`` for any other document.
    """
    names, stamps, digests = (columns[part] for part in ("names", "stamps", "digests"))
    check_texts(names)
    check_texts(digests)
    if not isinstance(stamps, list) or not set(map(type, stamps)) <= {int}:
        raise TypeError("not a list of numbers")
    rows = dict(zip(names, zip(each_stamp(stamps), digests, strict=True), strict=True))
    if len(rows) != len(names):
        raise ValueError("a file is named twice")
    return rows


def each_stamp(numbers: Sequence[int]) -> Iterable[Stamp]:
    """Return the stamps in the column of their numbers; ``ValueError`` when one is cut off."""
    return zip(*[iter(numbers)] * STAMP_PARTS, strict=True)


def check_texts(texts: Any) -> None:
    """Raise ``TypeError`` for anything but a list of texts."""
    if not isinstance(texts, list) or not set(map(type, texts)) <= {str}:
        raise TypeError("not a list of texts")


def groups_in(names: Iterable[str], counts: Any) -> list[tuple[str, ...]]:
    """Return the first names in groups of so many each.

    Raises ``TypeError`` or ``ValueError`` unless ``counts`` is a list of such numbers, of which
    none is zero.
    """
    if not isinstance(counts, list) or not set(map(type, counts)) <= {int}:
        raise TypeError("not a list of numbers")
    left = iter(names)
    groups = [tuple(islice(left, count)) for count in counts]
    if list(map(len, groups)) != counts or 0 in counts:
        raise ValueError("another number of files")
    return groups


def hash_file(path: str) -> str:
    """Return the BLAKE3 of a file; raises ``OSError``."""
    with open(path, "rb", opener=at_once) as stream:
        hasher = blake3()
        while piece := stream.read(1 << 20):
            hasher.update(piece)
    return str(hasher.hexdigest())


def at_once(path: str, flags: int) -> int:
    """Open what may be a pipe that nobody writes to, without waiting for who does."""
    return os.open(path, flags | os.O_NONBLOCK)
