"""A block that is bound by the permissions of files, whoever runs the tests."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

VERSION_3 = 0x20080522
OVERRIDES = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, by which root reads what nobody may."""

_Sets = ctypes.c_uint32 * 6
"""Effective, permitted and inheritable capabilities, the first 32 of them and then the others."""


@contextmanager
def bound_by_permissions() -> Iterator[None]:
    """Give up for a block what lets root look at files without permission."""
    header, former = (ctypes.c_uint32 * 2)(VERSION_3, 0), _Sets()
    _ask("capget", header, former)
    less = _Sets(*former)
    less[0] &= ~OVERRIDES
    _ask("capset", header, less)
    try:
        yield
    finally:
        _ask("capset", header, former)


def _ask(call: str, header: ctypes.Array, sets: ctypes.Array) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), call)(header, sets):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), call)
