"""What commands say of the sources of another engine that an engine directory keeps."""

from __future__ import annotations

import sys
from pathlib import Path

from netra_build.core.errors import printable


def say_kept(folder: Path, names: tuple[str, ...]) -> None:
    """Say which sources of other engines lie in ``folder``, as one note."""
    if len(names) == 1:
        fact = f'keeps "{names[0]}" of another engine; compile --replace removes it'
    else:
        fact = (
            f'keeps {len(names)} sources of other engines, the first is "{names[0]}";'
            " compile --replace removes them"
        )
    print(f"netra: note: {printable(f'{folder}: {fact}')}", file=sys.stderr)
