"""Numbers in variables: of the environment, and of SCons."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.core.errors import BadInput


def number_in(
    variables: Mapping[str, object],
    name: str,
    usual: int,
    least: int,
    most: int,
    unit: str,
    location: str,
) -> int:
    """Return the number in a variable, ``usual`` without one; ``BadInput`` for any other text."""
    text = str(variables.get(name, ""))
    if not text:
        return usual
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
    if not is_number or not least <= int(text) <= most:
        raise BadInput(
            f"{name} is not usable",
            location=location,
            expected=f"{least} to {most} {unit}",
            got=text[:40],
        )
    return int(text)
