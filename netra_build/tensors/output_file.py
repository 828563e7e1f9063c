"""Write one file of any size piece by piece: it is there whole at the end, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from netra_build.core.errors import BadInput


def write_pieces(path: Path, pieces: Iterable[bytes]) -> int:
    """Write all pieces to ``path`` and return their bytes.

    They go into a neighbour called ``.NAME.part``, which takes the name at the end. When a piece
    cannot be made or written, ``path`` stays as it was. Raises ``BadInput`` for what the file
    system refuses, and whatever making a piece raises.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            size = sum(map(stream.write, pieces))
        os.replace(part, path)
    except OSError as error:
        raise _cannot_write(path, error) from None
    finally:
        part.unlink(missing_ok=True)
    return size


def is_same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file that exists."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _cannot_write(path: Path, error: OSError | ValueError) -> BadInput:
    reason = getattr(error, "strerror", None) or "path cannot be used"
    return BadInput(f"cannot write: {reason.lower()}", location=str(path))
