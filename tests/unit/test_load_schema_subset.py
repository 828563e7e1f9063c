"""The subset of JSON Schema for library roots: every keyword, and schemas that are broken."""

from __future__ import annotations

import pytest

from netra_build.core.errors import BadInput
from netra_build.formats.schema_subset import check_document

SCHEMAS = [
    ({"type": "object", "required": ["a"]}, {}, 'lacks the required key "a"'),
    ({"properties": {"a": {"type": "integer"}}}, {"a": True}, "#/a is boolean, expected integer"),
    ({"properties": {}, "additionalProperties": False}, {"b": 1}, 'holds the unknown key "b"'),
    ({"items": {"minimum": 2}}, [1], "#/0 is below 2"),
    (
        {"prefixItems": [{"const": 1}], "items": {"const": 2}},
        [1, 3],
        "#/1 has another value than 2",
    ),
    ({"minItems": 2}, [1], "holds 1 items, expected at least 2"),
    ({"maxItems": 0}, [1], "holds 1 items, expected at most 0"),
    ({"enum": [1]}, True, "has a value outside of its list"),
    ({"pattern": "^a"}, "ba", "does not match the pattern '^a'"),
    ({"minLength": 2}, "a", "is shorter than 2 characters"),
    (
        {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
        1,
        "fits 2 of the schema's variants, expected exactly 1",
    ),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "null"}}}, 1, "is integer, expected null"),
]


@pytest.mark.parametrize(("schema", "value", "finding"), SCHEMAS)
def test_a_schema_of_the_subset_is_applied(schema, value, finding):
    with pytest.raises(BadInput) as caught:
        check_document(schema, value, "d.json", "s.json")
    assert caught.value.line() == f"d.json: document does not fit its schema: {finding}"


BROKEN_SCHEMAS = [
    ({"$ref": "#/$defs/none"}, 'schema reference "#/$defs/none" leads nowhere'),
    ({"$ref": "http://x/y"}, 'schema reference "http://x/y" is not local'),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "schema references run in a"),
    ({"type": "list"}, 'schema names the unknown type "list"'),
    ({"pattern": "("}, "schema pattern '(' is broken: "),
    ({"minLength": "x"}, "schema is malformed"),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": {"oneOf": [{"$ref": "#/$defs/a"}]}}},
        "schema takes too many steps to check",
    ),
]


@pytest.mark.parametrize(("schema", "fact"), BROKEN_SCHEMAS)
def test_a_broken_schema_is_refused(schema, fact):
    with pytest.raises(BadInput) as caught:
        check_document(schema, "text", "d.json", "s.json")
    assert caught.value.line().startswith(f"s.json: {fact}")
