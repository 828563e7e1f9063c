"""What a bounded cache holds, and what leaves it first."""

from __future__ import annotations

import pytest

from netra_build.asm.source.source_file import BoundedCache


def asked(cache: BoundedCache[str, str], names: str, cost: int = 4) -> list[str]:
    """Return the names that were made anew when each of ``names`` was asked for."""
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name.upper()

    for name in names:
        assert cache.get(name, cost, lambda name=name: make(name)) == name.upper()
    return made


def test_what_is_held_is_made_once():
    assert asked(BoundedCache(100), "abab") == ["a", "b"]


def test_the_least_used_leaves_first():
    cache: BoundedCache[str, str] = BoundedCache(8)
    assert asked(cache, "abac") == ["a", "b", "c"]
    assert asked(cache, "ab") == ["b"]
    assert cache.held == 8


def test_what_costs_more_than_all_is_made_each_time_and_drives_nothing_out():
    cache: BoundedCache[str, str] = BoundedCache(8)
    asked(cache, "ab")
    assert asked(cache, "cc", cost=9) == ["c", "c"]
    assert asked(cache, "ab") == []


def test_what_fails_is_asked_again():
    cache: BoundedCache[str, str] = BoundedCache(8)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", 1, lambda: str(1 // 0))
    assert asked(cache, "a") == ["a"]


def test_one_that_another_thread_has_made_meanwhile_counts_once():
    cache: BoundedCache[str, str] = BoundedCache(8)
    cache.get("a", 4, lambda: cache.get("a", 4, lambda: "A"))
    assert cache.held == 4
