"""Deeply immutable JSON values, so that a record cannot be changed through its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from netra_build.core.canonical_json import Json


def freeze(value: Json) -> Json:
    """Return ``value`` with objects as read-only mappings and arrays as tuples."""
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind is dict or kind is MappingProxyType or isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if kind is list or kind is tuple:
        return tuple([freeze(item) for item in value])
    return value


def thaw(value: Json) -> Json:
    """Return a frozen value as plain dictionaries and lists again."""
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind is MappingProxyType or kind is dict or isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if kind is tuple or kind is list:
        return [thaw(item) for item in value]
    return value
