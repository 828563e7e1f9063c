"""Include closures as the published reader follows them, refused where it would be misled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from netra_build.asm.published_scan import (
    INCLUDE,
    REQUIREMENT,
    published_closure,
    published_includes,
    published_text,
)
from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput
from netra_build.load.library import Library

_ANY_INCLUDE = re.compile(r"^[ \t]*\.(?:include|incbin)\b.*$", re.MULTILINE)
_ANY_GUARD = re.compile(
    r"^[ \t]*NETRA_REQUIRE_EQ[ \t]+[A-Za-z0-9_]+[ \t]*,[ \t]*[-+]?[0-9].*$", re.MULTILINE
)


def read_closure(library: Library, template: str, place: str) -> dict[str, bytes]:
    """Return the closure of ``template``, names to bytes, depth first.

    Raises ``BadInput`` for a missing or escaping file, an include cycle, and a line that the
    published reader would not see (an include or guard that is not bare).
    """
    files = published_closure(template, lambda name: library.read(name, place), place)
    text_by_name = {name: published_text(data, name) for name, data in files.items()}
    for name, text in text_by_name.items():
        _refuse_hidden_lines(library, name, text)
    _refuse_cycles(library, text_by_name)
    return files


def _refuse_hidden_lines(library: Library, name: str, text: str) -> None:
    for loose, exact in ((_ANY_INCLUDE, INCLUDE), (_ANY_GUARD, REQUIREMENT)):
        for match in loose.finditer(text):
            if not exact.match(match.group()):
                line = text.count("\n", 0, match.start()) + 1
                raise BadInput(
                    f"line is not seen by the published reader: {match.group().strip()[:120]}",
                    location=f"{library.location(name)}:{line}",
                    hint="write it bare: a quoted path or a decimal value, nothing behind it",
                )


def _refuse_cycles(library: Library, text_by_name: Mapping[str, str]) -> None:
    """Refuse a file that includes itself through others, without recursion."""
    below = {
        name: [relative_name(path, name) for _, path in published_includes(text)]
        for name, text in text_by_name.items()
    }
    done: set[str] = set()
    for start in below:
        path: dict[str, int] = {}
        stack = [(start, 0)]
        while stack:
            name, index = stack.pop()
            if index == 0:
                if name in done:
                    continue
                path[name] = 0
            if index < len(below[name]):
                stack.append((name, index + 1))
                following = below[name][index]
                if following in path:
                    raise BadInput(
                        f'file includes itself through "{name}"',
                        location=library.location(following),
                    )
                stack.append((following, 0))
            else:
                path.pop(name, None)
                done.add(name)
