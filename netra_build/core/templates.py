"""Jinja templates, which are files beside the modules that use them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def texts_in(
    folder: Path, *, is_html: bool = False, finalize: Callable[[Any], Any] | None = None
) -> Environment:
    """Return what fills in the templates of a folder; a name that has no value is an error.

    In HTML every value is escaped. ``finalize`` changes each value before. Jinja is loaded here
    alone: it takes longer than most commands run.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=is_html,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
