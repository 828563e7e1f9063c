"""Deeply immutable JSON values, so that a record cannot be changed through its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from netra_build.core.canonical_json import Json


def freeze(value: Json) -> Json:
    """Return ``value`` with objects as read-only mappings and arrays as tuples."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple([freeze(item) for item in value])
    return value


def thaw(value: Json) -> Json:
    """Return a frozen value as plain dictionaries and lists again."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [thaw(item) for item in value]
    return value
