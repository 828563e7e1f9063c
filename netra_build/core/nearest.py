"""Nearest known name, for every message about an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean "x"?``, or the known names when none is close, or ``""`` if none."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f'did you mean "{close[0]}"?'
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"known names: {shown}"
