"""How full a store is, kept right by many processes, and what leaves it when it is too full.

The ledger is a file of signed numbers, one a line, whose sum is what the store takes. A writer
appends *before* it writes, so a killed one leaves the store fuller on paper than it is, never the
other way round. Counting anew, which follows every eviction, writes a new ledger.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from netra_build.build.cache.files import FoundFile, StoreFiles, occupied_bytes

LEDGER = "ledger"
LOCK = "lock"
FOLDERS = ("blobs", "actions", "records")
"""What counts towards the bound and can be evicted."""

KEPT_SHARE = 0.8
"""How much of the bound an eviction leaves in use, so that not every write evicts."""

MAX_LEDGER_BYTES = 64 * 1024 * 1024
LONG_LEDGER_BYTES = 256 * 1024
TRIES = 8
PORTIONS = 2048
"""A process reserves such a part of the bound at a time; what it leaves unused is counted until
the next counting, which costs a look at every file and nothing else."""
FUTURE_NS = 3600 * 10**9
"""A use so far in the future is a wrong clock's, and counts as the oldest."""


class Ledger:
    """The space of one store; safe to use from several threads and processes."""

    def __init__(self, files: StoreFiles, max_bytes: int) -> None:
        self.files = files
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._inode = -1
        self._offset = 0
        self._total = 0
        self._spare = 0

    def reserve(self, size_bytes: int) -> bool:
        """Make room for a file of this size; False when there is none. Raises ``OSError``."""
        needed = occupied_bytes(size_bytes)
        with self._lock:
            if needed > self.max_bytes // 2:
                return False
            if self._spare < needed:
                portion = max(needed, self.max_bytes // PORTIONS)
                if not self._has_room(portion):
                    self._evict(int(self.max_bytes * KEPT_SHARE) - portion)
                    if not self._has_room(portion):
                        return False
                self._spare += portion
            self._spare -= needed
            return True

    def release(self, size_bytes: int) -> None:
        """Say that a file of this size is gone. Raises ``OSError``."""
        with self._lock:
            self._add(-occupied_bytes(size_bytes))

    def evict(self, kept_bytes: int) -> tuple[int, int] | None:
        """Remove what was used longest ago until at most so much is left, and count anew.

        Returns the files and bytes removed, None while another process does the same.
        """
        with self._lock:
            return self._evict(kept_bytes)

    def _has_room(self, needed: int) -> bool:
        """Reserve so many bytes, or take them back and return False if that is too much."""
        total = self._add(needed)
        if total is not None and total > self.max_bytes:
            self._add(-needed)
        return total is not None and total <= self.max_bytes

    def _add(self, change: int) -> int | None:
        """Append a change and return the sum, the changes of other processes included.

        None when another process is counting anew all the while.
        """
        line = b"%d\n" % change
        for _ in range(TRIES):
            with self._opened() as handle:
                if handle is not None:
                    os.write(handle, line)
                    total = self._read(handle)
                    # A ledger that was replaced meanwhile may lack the line: write it again.
                    if total is not None and self._is_current(handle):
                        if self._offset > LONG_LEDGER_BYTES:
                            self._shorten()
                        return total
                    if total is not None:
                        continue
            self._count_anew()
        return None

    @contextmanager
    def _opened(self) -> Iterator[int | None]:
        try:
            handle = self.files.open_own(LEDGER, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            yield None
            return
        try:
            yield handle
        finally:
            os.close(handle)

    def _read(self, handle: int) -> int | None:
        """Return the sum of the ledger, reading only what is new; None when it is damaged."""
        status = os.fstat(handle)
        if status.st_ino != self._inode or status.st_size < self._offset:
            self._inode, self._offset, self._total = status.st_ino, 0, 0
        if status.st_size > MAX_LEDGER_BYTES:
            return None
        data = os.pread(handle, status.st_size - self._offset, self._offset)
        try:
            self._total += sum(map(int, data.split()))
        except ValueError:
            self._inode = -1
            return None
        self._offset += len(data)
        return self._total

    def _is_current(self, handle: int) -> bool:
        try:
            return os.stat(self.files.path(LEDGER)).st_ino == os.fstat(handle).st_ino
        except FileNotFoundError:
            return False

    def _evict(self, kept_bytes: int) -> tuple[int, int] | None:
        removed = freed = 0
        with self._exclusive() as is_mine:
            if not is_mine:
                return None
            before = self._sum()
            self.files.remove_old_parts()
            found = sorted(self._files(), key=_last_use)
            total = sum(occupied_bytes(file.size_bytes) for file in found)
            for file in found:
                if total - freed <= kept_bytes:
                    break
                if self.files.find(file.name) == file:  # not used since it was seen
                    self.files.remove(file.name)
                    removed += 1
                    freed += occupied_bytes(file.size_bytes)
            meanwhile = max(0, self._sum() - before)  # what others have begun to write
            self._write(total - freed + meanwhile)
        return removed, freed

    def _count_anew(self) -> None:
        with self._exclusive() as is_mine:
            if is_mine:
                self._write(sum(occupied_bytes(file.size_bytes) for file in self._files()))

    def _shorten(self) -> None:
        with self._exclusive() as is_mine:
            if is_mine:
                self._write(self._sum())

    def _sum(self) -> int:
        with self._opened() as handle:
            total = None if handle is None else self._read(handle)
        return 0 if total is None else total

    def _files(self) -> Iterator[FoundFile]:
        for folder in FOLDERS:
            yield from self.files.scan(folder)

    def _write(self, total: int) -> None:
        self.files.write(LEDGER, b"%d\n" % total)

    @contextmanager
    def _exclusive(self) -> Iterator[bool]:
        """Hold the lock of the store if nobody else does; a killed holder holds nothing."""
        handle = self.files.open_own(LOCK, os.O_RDWR | os.O_CREAT)
        try:
            yield _is_locked(handle)
        finally:
            os.close(handle)


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _last_use(file: FoundFile) -> tuple[int, str]:
    is_future = file.used_ns > time.time_ns() + FUTURE_NS
    return (0 if is_future else file.used_ns), file.name
