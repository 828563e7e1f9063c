"""Recipes are read strictly: every message names the file and line."""

from __future__ import annotations

import pytest
import yaml

from netra_build.core.errors import BadInput
from netra_build.formats import yaml_text
from netra_build.formats.build_recipe import (
    ArtifactRecipe,
    EngineRecipe,
    MemberRecipe,
    ObjectsRecipe,
    read_recipe,
)

ENGINE = """\
# what it is for
format: netra-recipe-1
kind: engine
model: manifests/m.json
profile: decode_m1
"""
OBJECTS = """\
format: netra-recipe-1
kind: code_objects
deployment: some-deployment
artifacts:
  - name: first
    members:
      - tactic: t
        symbol: s
        definitions: {NETRA_WAVES: 4}
"""


@pytest.fixture(params=[yaml.CSafeLoader, yaml.SafeLoader], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test holds for the parser in C and for the one in Python."""
    monkeypatch.setattr(yaml_text, "_PARSER", request.param)


def refusal(text: str | bytes, file: str = "recipes/x.yaml") -> str:
    """Return the message of the refusal."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(BadInput) as caught:
        read_recipe(data, file)
    return str(caught.value)


def test_an_engine_recipe() -> None:
    recipe = read_recipe(ENGINE.encode(), "recipes/some.yaml")
    assert recipe == EngineRecipe("some", "recipes/some.yaml", "manifests/m.json", "decode_m1")


def test_options_of_an_engine_recipe() -> None:
    text = ENGINE + f"allow_experimental: true\ngolden: optional\ncheckpoint_hash: '{'0' * 64}'\n"
    recipe = read_recipe(text.encode(), "some.yaml")
    assert isinstance(recipe, EngineRecipe)
    assert recipe.allow_experimental
    assert recipe.golden == "optional"
    assert recipe.checkpoint_hash == "0" * 64


def test_a_code_object_recipe() -> None:
    member = MemberRecipe("t", "s", {"NETRA_WAVES": 4}, (), "recipes/y.yaml:7")
    expected = ObjectsRecipe(
        "y", "recipes/y.yaml", "some-deployment", (ArtifactRecipe("first", (member,)),)
    )
    assert read_recipe(OBJECTS.encode(), "recipes/y.yaml") == expected


def test_a_lock_is_known_by_its_line() -> None:
    text = OBJECTS.replace("    members", f"    locked_text_sha256: '{'1' * 64}'\n    members")
    recipe = read_recipe(text.encode(), "recipes/y.yaml")
    assert isinstance(recipe, ObjectsRecipe)
    (artifact,) = recipe.artifacts
    assert artifact.lock_location == "recipes/y.yaml:6"


def test_checks_of_a_code_object_recipe() -> None:
    def checks(more: str) -> tuple[bool, bool]:
        recipe = read_recipe((OBJECTS + more).encode(), "y.yaml")
        assert isinstance(recipe, ObjectsRecipe)
        return recipe.is_checked, recipe.is_simulated

    assert checks("") == checks("checks: all\n") == (True, True)
    assert checks("checks: static\n") == (True, False)
    assert checks("checks: none\n") == (False, False)
    assert refusal(OBJECTS + "checks: non\n") == (
        'recipes/x.yaml:10: unknown value "non"; did you mean "none"?'
    )
    assert refusal(ENGINE + "checks: none\n") == (
        'recipes/x.yaml:6: unknown key "checks"\nhint: did you mean "checkpoint_hash"?'
    )


CASES = [
    ("", "recipes/x.yaml: document is empty"),
    ("- a\n", "recipes/x.yaml:1: not a mapping of keys to values"),
    (ENGINE.replace("profile: decode_m1\n", ""), 'recipes/x.yaml:2: key "profile" is missing'),
    (
        ENGINE + "profil: x\n",
        'recipes/x.yaml:6: unknown key "profil"\nhint: did you mean "profile"?',
    ),
    (ENGINE + "profile: y\n", 'recipes/x.yaml:6: key "profile" appears twice in one mapping'),
    (ENGINE + "allow_experimental: yes\n", "recipes/x.yaml:6: not true or false"),
    (ENGINE + "checkpoint_hash: 12\n", None),
    (ENGINE + "golden: never\n", None),
    (
        ENGINE.replace("manifests/m", "../m"),
        'recipes/x.yaml:4: path "../m.json" leaves its root\nhint: remove the ".." segment',
    ),
    (ENGINE + "golden: &a required\n", "recipes/x.yaml:6: anchors and aliases are not allowed"),
    (ENGINE + "golden: !!str x\n", "recipes/x.yaml:6: tags are not allowed"),
    (ENGINE + "---\nformat: x\n", "recipes/x.yaml:6: not valid YAML: but found another document"),
    (b"\xff", "recipes/x.yaml: not valid UTF-8 at byte 0"),
    (b"a" * (1024 * 1024 + 1), None),
    ("a: " + "[" * 40, "recipes/x.yaml:1: nesting is deeper than 16 levels"),
    (OBJECTS.replace("4}", "0x4}"), "recipes/x.yaml:9: not a decimal number"),
    (OBJECTS.replace("4}", "9" * 30 + "}"), "recipes/x.yaml:9: not a decimal number"),
    (
        OBJECTS.replace("NETRA_WAVES", "waves"),
        'recipes/x.yaml:9: "waves" is not an assembler constant',
    ),
    (
        OBJECTS.replace("symbol: s", 'symbol: "s, t"'),
        'recipes/x.yaml:8: "s, t" is not an assembler symbol',
    ),
    (
        OBJECTS.replace("name: first", "name: ../first"),
        'recipes/x.yaml:5: "../first" is not a plain file name',
    ),
    (OBJECTS + OBJECTS[OBJECTS.index("  - name") :], 'recipes/x.yaml:10: "first" is named twice'),
    (ENGINE + "[a]: b\n", "recipes/x.yaml:6: key is not a text"),
    (ENGINE + "golden: *a\n", "recipes/x.yaml:6: anchors and aliases are not allowed"),
    (ENGINE + "golden:\n  &a [b]\n", "recipes/x.yaml:7: anchors and aliases are not allowed"),
    (ENGINE + "golden: ! x\n", "recipes/x.yaml:6: tags are not allowed"),
    (ENGINE + "&a golden: x\n", "recipes/x.yaml:6: anchors and aliases are not allowed"),
    ("- \n" * 3 + "- " * 18 + "a\n", "recipes/x.yaml:4: nesting is deeper than 16 levels"),
    (ENGINE + "golden:\n", "recipes/x.yaml:6: not a nonempty text"),
    (ENGINE + "golden: [a\nb: }\n", None),
    (ENGINE + "golden: \0\n", None),
]
EXACT = {
    6: 'recipes/x.yaml:6: "12" is not 64 lower-case hexadecimal digits',
    7: 'recipes/x.yaml:6: unknown value "never"; known names: optional, required',
    13: "recipes/x.yaml: file is too large; expected at most 1048576 bytes, got 1048577",
    28: "recipes/x.yaml:7: not valid YAML: ",
    29: "recipes/x.yaml: not valid YAML: unacceptable character #x0000: ",
}


@pytest.mark.parametrize("index", range(len(CASES)))
def test_refusals(index: int) -> None:
    text, message = CASES[index]
    wanted = message or EXACT[index]
    # What ends in a blank goes on in the words of the parser, which are not ours.
    found = refusal(text)
    assert found.startswith(wanted) if wanted.endswith(" ") else found == wanted


def test_the_name_of_a_recipe_is_a_plain_file_name() -> None:
    fact = 'recipe name "a b" is not a plain file name'
    assert refusal(ENGINE, "recipes/a b.yaml") == f"recipes/a b.yaml:2: {fact}"
