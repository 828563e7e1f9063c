"""Canonical JSON out, strict and bounded JSON in.

Writing follows the published engine format, section 0.1: keys sorted by code point, separators
without blanks, non-ASCII raw, floats as Python prints them, one final newline, UTF-8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from json.encoder import encode_basestring
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, NoReturn, cast

from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 200
MAX_DIGITS = 40

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def lower(value: object) -> Json:
    """Return ``value`` as plain JSON: enums, paths, records, mappings and tuples are lowered."""
    kind = type(value)  # plain values are nearly all there is, and the exact type is cheap
    if kind is str or kind is int or value is None or kind is bool or kind is float:
        return value
    if kind is dict or kind is MappingProxyType:  # the second for what records hold read-only
        pairs = cast(Mapping[object, object], value).items()
        return {k if type(k) is str else str(lower(k)): lower(item) for k, item in pairs}
    if kind is list or kind is tuple:
        return [lower(item) for item in cast(list[object], value)]
    return _lower_other(value)


def _lower_other(value: object) -> Json:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, PurePath):
        return value.as_posix()
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: lower(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(lower(key)): lower(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [lower(item) for item in value]
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def canonical_text(value: object) -> str:
    """Return the canonical JSON text of ``value``, with its final newline.

    Raises ``TypeError`` or ``ValueError`` (NaN, infinities) for what JSON cannot express.
    """
    return _ENCODER.encode(lower(value)) + "\n"


def canonical_bytes(value: object) -> bytes:
    """Return the canonical JSON of ``value`` as UTF-8 bytes."""
    return canonical_text(value).encode("utf-8", "surrogatepass")


def plain_text(value: Json) -> str:
    """Return the text of ``canonical_text`` without its final newline, of plain JSON alone.

    Nothing is lowered, which is what large documents spend their time on. Raises ``TypeError``
    for records and mappings of other kinds; keys have to be strings.
    """
    return _ENCODER.encode(value)


def plain_canonical_bytes(value: Json) -> bytes:
    """Return the bytes of ``canonical_bytes``, of plain JSON alone as ``plain_text``."""
    return (plain_text(value) + "\n").encode("utf-8", "surrogatepass")


def pretty_bytes(value: object) -> bytes:
    """Return sorted JSON with an indent of two, for files that people read and diff."""
    return (_pretty(lower(value), "\n") + "\n").encode("utf-8", "surrogatepass")


def _pretty(value: Json, line: str) -> str:
    """Return a value as ``json`` with an indent of two writes it, in a third of the time.

    ``line`` is what begins a line of the text around it.
    """
    if type(value) is str:
        return encode_basestring(value)
    if not value or type(value) not in (dict, list):
        return _ENCODER.encode(value)
    inner = line + "  "
    if type(value) is list:
        return "[" + inner + ("," + inner).join([_pretty(v, inner) for v in value]) + line + "]"
    pairs = [f"{encode_basestring(key)}: {_pretty(value[key], inner)}" for key in sorted(value)]
    return "{" + inner + ("," + inner).join(pairs) + line + "}"


def plain_stable_hash(value: Json) -> str:
    """Return the same digest as ``stable_hash`` for a value that is plain JSON already."""
    return sha256_hex(plain_canonical_bytes(value))


def stable_hash(value: object) -> str:
    """Return the SHA-256 (hexadecimal) of the canonical bytes, final newline included."""
    return sha256_hex(canonical_bytes(value))


def parse_strict(data: bytes, location: str, *, max_bytes: int = MAX_BYTES) -> Json:
    """Parse JSON and refuse what readers disagree about or what could exhaust the machine.

    Refused with ``BadInput``: more than ``max_bytes``, nesting deeper than ``MAX_DEPTH``,
    invalid UTF-8, a byte order mark, duplicate keys, NaN and infinities, numbers of more than
    ``MAX_DIGITS`` digits, lone surrogates, text after the document.
    """
    if len(data) > max_bytes:
        raise BadInput(
            "file is too large",
            location=location,
            expected=f"at most {max_bytes} bytes",
            got=len(data),
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"not valid UTF-8 at byte {error.start}", location=location) from None
    if text.startswith("\ufeff"):
        raise BadInput(
            "file starts with a byte order mark", location=location, hint="save it as plain UTF-8"
        )
    if not _is_shallow(data):
        _refuse_depth(text, location)
    try:
        value = _decoder().decode(text)
    except _Unusable as error:
        raise BadInput(str(error), location=location) from None
    except json.JSONDecodeError as error:
        place = f"{location}:{error.lineno}:{error.colno}"
        raise BadInput(f"not valid JSON: {error.msg.lower()}", location=place) from None
    _refuse_surrogates(text, value, location)
    return value


def parse_object(data: bytes, location: str, *, max_bytes: int = MAX_BYTES) -> dict[str, Json]:
    """Parse strictly and require the document to be an object."""
    value = parse_strict(data, location, max_bytes=max_bytes)
    if not isinstance(value, dict):
        raise BadInput("document is not an object", location=location)
    return value


class _Unusable(ValueError):
    """Raised by the decoder hooks, with a message that lacks the location."""


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_unique_pairs,
        parse_constant=_refuse_constant,
        parse_int=_bounded_int,
        parse_float=_bounded_float,
    )


def _unique_pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Unusable(f'key "{key}" appears twice in one object')
            seen.add(key)
    return result


def _refuse_constant(word: str) -> NoReturn:
    raise _Unusable(f"{word} is not a JSON number")


def _bounded_int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _Unusable(f"number has {len(text)} digits; expected at most {MAX_DIGITS}")
    return int(text)


def _bounded_float(text: str) -> float:
    if len(text) > MAX_DIGITS:
        raise _Unusable(f"number has {len(text)} digits; expected at most {MAX_DIGITS}")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Unusable(f"number {text} is outside the range of a double")
    return value


# A string without its end counts as one, so that no text is looked at twice.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]+")


_ANY_BRACKET = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
MOST_BRACKETS = 1024 * 1024
"""Limit for the quick test of the depth, which removes the brackets level by level."""


def _is_shallow(data: bytes) -> bool:
    """Tell quickly whether a text nests no deeper than ``MAX_DEPTH``; False if it is not certain.

    Strings are removed, and then the innermost pairs of brackets, pass after pass.
    """
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return True
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    left = b"".join(data.split(b'"')[::2]).translate(_ANY_BRACKET, _NO_BRACKETS)
    for _ in range(MAX_DEPTH if len(left) <= MOST_BRACKETS else 0):
        if not left:
            break
        left = left.replace(b"[]", b"")
    return not left


def _refuse_depth(text: str, location: str) -> None:
    """Refuse nesting deeper than ``MAX_DEPTH`` without recursion, in one pass over the text."""
    depth = 0
    for run in _BRACKETS.findall(_STRING.sub("", text)):
        for bracket in run:
            if bracket in "[{":
                depth += 1
                if depth > MAX_DEPTH:
                    raise BadInput(f"nesting is deeper than {MAX_DEPTH} levels", location=location)
            else:
                depth -= 1


def _refuse_surrogates(text: str, value: Json, location: str) -> None:
    """Refuse escaped lone surrogates, which cannot be written as UTF-8 again."""
    if "\\u" not in text and "\\U" not in text:
        return
    try:
        canonical_text(value).encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("string holds a lone surrogate escape", location=location) from None
