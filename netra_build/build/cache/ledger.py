"""How full a store is, kept right by many processes, and what leaves it when it is too full.

The ledger is a file of signed numbers, one a line, whose sum is what the store takes. A writer
appends *before* it writes, so a killed one leaves the store fuller on paper than it is, never the
other way round. Counting anew, which follows every eviction, writes a new ledger. Both are done
with the lock of the store, which a process holds for a moment, or as long as it evicts.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from netra_build.build.cache.files import PARTS, FoundFile, StoreFiles, UnsoundFile, occupied_bytes

LEDGER = "ledger"
LOCK = "lock"
FOLDERS = ("blobs", "actions", "records")
"""What counts towards the bound and can be evicted."""

KEPT_SHARE = 0.8
"""How much of the bound an eviction leaves in use, so that not every write evicts."""
MAX_LEDGER_BYTES = 1024 * 1024
"""A longer ledger is counted anew."""
PORTIONS = 2048
"""A process reserves such a part of the bound at a time; what it leaves unused is counted until
the next counting, which costs a look at every file and nothing else."""
PART_SECONDS = 3600
"""Age from which a part is nobody's any more."""
FUTURE_NS = 3600 * 10**9
"""A use so far in the future is a wrong clock's, and counts as the oldest."""
MOST_WAITS, WAIT_SECONDS = 200, 0.01
"""How often a process waits for the lock, all its writes together, and how long each time."""


class Ledger:
    """The space of one store; safe to use from several threads and processes."""

    def __init__(self, files: StoreFiles, max_bytes: int) -> None:
        self.files = files
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._spare = 0
        self._waits = 0

    def reserve(self, size_bytes: int) -> bool:
        """Make room for a file of this size; False when there is none. Raises ``OSError``."""
        needed = occupied_bytes(size_bytes)
        with self._lock:
            if needed > self.max_bytes // 2:
                return False
            if self._spare < needed:
                portion = max(needed, self.max_bytes // PORTIONS)
                if not self._has_taken(portion):
                    return False
                self._spare += portion
            self._spare -= needed
            return True

    def release(self, size_bytes: int) -> None:
        """Say that a file of this size is gone: this process may write so much more."""
        with self._lock:
            self._spare += occupied_bytes(size_bytes)

    def evict(self, kept_bytes: int) -> tuple[int, int] | None:
        """Remove what was used longest ago until at most so much is left, and count anew.

        Returns the files and bytes removed, None while another process does the same.
        """
        with self._lock, self._locked() as is_mine:
            return self._evict(kept_bytes) if is_mine else None

    def _has_taken(self, portion: int) -> bool:
        """Take a portion of the bound; False when there is no room for it."""
        with self._locked() as is_mine:
            if not is_mine:
                return False
            if self._sum() is None:
                self._evict(self.max_bytes)
            if not self._has_room(portion):
                self._evict(int(self.max_bytes * KEPT_SHARE) - portion)
            if not self._has_room(portion):
                return False
            handle = self.files.open_own(LEDGER, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(handle, b"%d\n" % portion)
            finally:
                os.close(handle)
            return True

    def _has_room(self, portion: int) -> bool:
        total = self._sum()
        return total is not None and total + portion <= self.max_bytes

    def _sum(self) -> int | None:
        """Return what the store takes on paper; None when the ledger is gone or damaged."""
        try:
            data = self.files.read(LEDGER, MAX_LEDGER_BYTES)
            return sum(map(int, data.split())) if data else None
        except (UnsoundFile, ValueError):
            return None

    def _evict(self, kept_bytes: int) -> tuple[int, int]:
        removed = freed = 0
        self._remove_old_parts()
        found = [file for folder in FOLDERS for file in self.files.scan(folder)]
        found.sort(key=_last_use)
        total = sum(occupied_bytes(file.size_bytes) for file in found)
        for file in found:
            if total - freed <= kept_bytes:
                break
            if self.files.find(file.name) == file:  # not used since it was seen
                self.files.remove(file.name)
                removed += 1
                freed += occupied_bytes(file.size_bytes)
        self.files.write(LEDGER, b"%d\n" % (total - freed))
        return removed, freed

    def _remove_old_parts(self) -> None:
        oldest = time.time_ns() - PART_SECONDS * 10**9
        for part in self.files.scan(PARTS):
            if part.used_ns < oldest:
                self.files.remove(part.name)

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Hold the lock of the store; False if another process keeps it. A killed one does not."""
        handle = self.files.open_own(LOCK, os.O_RDWR | os.O_CREAT)
        try:
            yield self._takes(handle)
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)  # a copy of this process may have the handle, too
            os.close(handle)

    def _takes(self, handle: int) -> bool:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if self._waits >= MOST_WAITS:
                    return False
                self._waits += 1
                time.sleep(WAIT_SECONDS)


def _last_use(file: FoundFile) -> tuple[int, str]:
    is_future = file.used_ns > time.time_ns() + FUTURE_NS
    return (0 if is_future else file.used_ns), file.name
