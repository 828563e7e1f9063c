"""The files of our package, each read once in a process: what runs is what its digest speaks of.

A module is loaded from the bytes that ``own_bytes`` returns to whoever asks for its digest. Kept
bytecode counts if it states the digest of these bytes, and its own; Python by itself would take
it if size and time of the source, in whole seconds, are those noted.

The package imports this module before any other, so that all others are loaded by it.
"""

from __future__ import annotations

import os
import sys
from _imp import source_hash
from importlib.machinery import FileFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any  # takes longer to load than a process that assembles

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHECKED = (3).to_bytes(4, "little")
"""Flags of bytecode that Python, too, compares with the digest of the source."""

READ: dict[str, bytes] = {}
"""What was read, by path; never read again."""


def own_bytes(path: str) -> bytes:
    """Return a file of the package as it was when it was first asked for; raises ``OSError``."""
    if path not in READ:
        with open(path, "rb") as stream:
            READ.setdefault(path, stream.read())
    return READ[path]


class OwnLoader(SourceFileLoader):
    """Loads a module from ``own_bytes``, or from bytecode that was made of them."""

    def get_data(self, path: str) -> bytes:
        """Return the source, or kept bytecode; ``OSError`` for bytecode of anything else."""
        if path == self.path:
            return own_bytes(path)
        data = super().get_data(path)
        if data[:16] != self._head(data[:4]) or source_hash(0, data[:-8]) != data[-8:]:
            raise OSError("bytecode of another source")
        return data

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Keep bytecode with the digest of its source, and its own behind it."""
        whole = self._head(data[:4]) + data[16:]
        super().set_data(path, whole + source_hash(0, whole), _mode=_mode)

    def _head(self, magic: bytes) -> bytes:
        return magic + CHECKED + source_hash(int.from_bytes(magic, "little"), own_bytes(self.path))


def _finder(folder: str) -> FileFinder:
    if not f"{folder}/".startswith(f"{PACKAGE}/"):
        raise ImportError(folder)
    return FileFinder(folder, (OwnLoader, [".py"]))


sys.path_hooks.insert(0, _finder)
for _folder in (PACKAGE, os.path.dirname(os.path.abspath(__file__))):
    sys.path_importer_cache.pop(_folder, None)  # looked into before this module was found
