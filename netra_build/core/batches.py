"""Sequences cut into pieces of bounded length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batched(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield the items in order, at most ``most`` at a time; nothing of nothing."""
    for start in range(0, len(items), most):
        yield items[start : start + most]
