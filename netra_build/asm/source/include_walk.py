"""The walk over files that include each other, for every way of finding the includes of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput, NetraError

MAX_FILES = 4096
MAX_CLOSURE_BYTES = 64 * 1024 * 1024

Reader = Callable[[str], bytes]
"""Gives the bytes of a root-relative name; raises a ``NetraError`` when it cannot."""

Includes = Callable[[str, bytes], Iterable[tuple[int, str]]]
"""Gives the (line, name as written) of each include in a file of a name and bytes."""


def walk_includes(
    template: str, read: Reader, location: str, includes: Includes
) -> dict[str, bytes]:
    """Return the closure of ``template``: names to bytes, depth first, each at its first visit.

    Raises ``BadInput``, at the including file and line (for the template at ``location``): a name
    that leaves the root or cannot be read, more than ``MAX_FILES`` files or ``MAX_CLOSURE_BYTES``.
    """
    found: dict[str, bytes] = {}
    held = 0
    waiting = [(template, location)]
    while waiting:
        written, place = waiting.pop()
        name = relative_name(written, place)
        if name in found:
            continue
        found[name] = _read(name, read, place)
        held += len(found[name])
        if len(found) > MAX_FILES or held > MAX_CLOSURE_BYTES:
            raise BadInput(
                "include closure is too large",
                location=place,
                expected=f"at most {MAX_FILES} files of {MAX_CLOSURE_BYTES} bytes",
                got="more",
            )
        rows = list(includes(name, found[name]))
        waiting.extend((written, f"{name}:{line}") for line, written in reversed(rows))
    return found


def _read(name: str, read: Reader, place: str) -> bytes:
    try:
        return read(name)
    except NetraError as error:
        raise BadInput(
            f'included file "{name}" cannot be used: {error.fact}', location=place
        ) from None
