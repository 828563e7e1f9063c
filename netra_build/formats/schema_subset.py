"""The subset of JSON Schema through which a library root's own schemas are read.

Honoured: $ref (local), oneOf, type, const, enum, required, properties, additionalProperties false,
minItems, maxItems, prefixItems, items, minLength, pattern, minimum, maximum. Other keywords have
no effect, as in the published reader.

Written by hand because every ``netra compile`` checks its model here, and no library does the
same: for a graph of 1,000 operations this takes 0.04 s, jsonschema 0.36 s and 0.06 s more to be
loaded, of 0.6 s altogether. jsonschema-rs takes 0.001 s, but accepts 1.0 as integer, has patterns
of another dialect and applies every keyword. Neither sets a bound to the steps of a hostile schema.
The tests of ``schemas/`` use jsonschema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.fields import escape_pointer, kind_of

MAX_REPORTED = 20
MAX_STEPS = 2_000_000
MAX_DEPTH = 100

_KINDS = ("object", "array", "string", "boolean", "null", "integer", "number")

Findings = Iterator[tuple[str, str]]
"""Pointer and fact of everything in a document that breaks its schema."""


def check_document(schema: Json, document: Json, location: str, schema_location: str) -> None:
    """Check ``document`` against ``schema``; raise ``BadInput`` with the first findings.

    A schema that cannot be followed (remote or unresolved reference, endless recursion, broken
    pattern) raises ``BadInput`` at ``schema_location``.
    """
    walker = _Walker(schema, schema_location)
    try:
        found = list(islice(walker.check(schema, document, "", 0), MAX_REPORTED))
    except (TypeError, AttributeError, KeyError):
        raise BadInput("schema is malformed", location=schema_location) from None
    findings = [f"#{pointer} {fact}" if pointer else fact for pointer, fact in found]
    if findings:
        raise BadInput(
            "document does not fit its schema: " + "; ".join(findings),
            location=location,
            hint=f"the schema is {schema_location}",
        )


class _Walker:
    """Checks one document; counts its steps so that hostile schemas cannot run on."""

    def __init__(self, root: Json, location: str) -> None:
        self.root = root
        self.location = location
        self.steps = 0

    def _broken(self, fact: str) -> BadInput:
        return BadInput(fact, location=self.location)

    def _resolve(self, schema: Json) -> dict[str, Json]:
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, dict):
                raise self._broken(f"schema is {kind_of(schema)}, not an object")
            if "$ref" not in schema:
                return schema
            schema = self._lookup(schema["$ref"])
        raise self._broken("schema references run in a circle")

    def _lookup(self, reference: Json) -> Json:
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise self._broken(f'schema reference "{reference}" is not local')
        node = self.root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or key not in node:
                raise self._broken(f'schema reference "{reference}" leads nowhere')
            node = node[key]
        return node

    def check(self, schema: Json, value: Json, pointer: str, depth: int) -> Findings:
        """Yield (pointer, fact) for everything in ``value`` that breaks ``schema``."""
        self.steps += 1
        if self.steps > MAX_STEPS or depth > MAX_DEPTH:
            raise self._broken("schema takes too many steps to check")
        rules = self._resolve(schema)
        kind = kind_of(value)
        if "type" in rules:
            words = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
            if not self._type_fits(words, kind):
                yield pointer, f"is {kind}, expected {' or '.join(words)}"
                return
        if "oneOf" in rules:
            found = (self.check(one, value, pointer, depth + 1) for one in rules["oneOf"])
            fitting = sum(next(findings, None) is None for findings in found)
            if fitting != 1:
                yield pointer, f"fits {fitting} of the schema's variants, expected exactly 1"
        if "const" in rules and not _same(rules["const"], value):
            yield pointer, f"has another value than {rules['const']!r}"
        if "enum" in rules and not any(_same(option, value) for option in rules["enum"]):
            yield pointer, "has a value outside of its list"
        if kind == "object":
            yield from self._object(rules, value, pointer, depth)
        elif kind == "array":
            yield from self._array(rules, value, pointer, depth)
        elif kind == "string":
            yield from self._text(rules, value, pointer)
        elif kind in ("integer", "number"):
            if value < rules.get("minimum", value):
                yield pointer, f"is below {rules['minimum']}"
            if value > rules.get("maximum", value):
                yield pointer, f"is above {rules['maximum']}"

    def _type_fits(self, words: list[Json], kind: str) -> bool:
        for word in words:
            if word not in _KINDS:
                raise self._broken(f'schema names the unknown type "{word}"')
            if word == kind or (word, kind) == ("number", "integer"):
                return True
        return False

    def _object(
        self, rules: dict[str, Json], value: dict[str, Json], pointer: str, depth: int
    ) -> Findings:
        for key in rules.get("required", ()):
            if key not in value:
                yield pointer, f'lacks the required key "{key}"'
        known = rules.get("properties", {})
        for key, rule in known.items():
            if key in value:
                below = f"{pointer}/{escape_pointer(key)}"
                yield from self.check(rule, value[key], below, depth + 1)
        if rules.get("additionalProperties") is False:
            for key in value:
                if key not in known:
                    yield pointer, f'holds the unknown key "{key}"'

    def _array(
        self, rules: dict[str, Json], value: list[Json], pointer: str, depth: int
    ) -> Findings:
        if len(value) < rules.get("minItems", 0):
            yield pointer, f"holds {len(value)} items, expected at least {rules['minItems']}"
        if len(value) > rules.get("maxItems", len(value)):
            yield pointer, f"holds {len(value)} items, expected at most {rules['maxItems']}"
        heads = rules.get("prefixItems", [])
        for index, item in enumerate(value):
            rule = heads[index] if index < len(heads) else rules.get("items")
            if isinstance(rule, dict):
                yield from self.check(rule, item, f"{pointer}/{index}", depth + 1)

    def _text(self, rules: dict[str, Json], value: str, pointer: str) -> Findings:
        if len(value) < rules.get("minLength", 0):
            yield pointer, f"is shorter than {rules['minLength']} characters"
        if "pattern" not in rules:
            return
        pattern = rules["pattern"]
        if not isinstance(pattern, str):
            raise self._broken("schema pattern is not a string")
        try:
            found = re.search(pattern, value)
        except re.error as error:
            raise self._broken(f"schema pattern {pattern!r} is broken: {error}") from None
        if not found:
            yield pointer, f"does not match the pattern {pattern!r}"


def _same(wanted: Json, value: Json) -> bool:
    """Compare as JSON does: true is not 1."""
    return wanted == value and isinstance(wanted, bool) == isinstance(value, bool)
