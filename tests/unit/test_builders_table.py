"""The manual's tables of the builders say what the builders take."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

import pytest

from netra_build.releasing import ReleaseRequest
from netra_build.scons import methods, netra

MANUAL = Path(__file__).resolve().parent.parent.parent / "docs/manual.md"
ROW = re.compile(r"^\| `(Netra\w+)\((\w*)\)`(?:, `kind=\"(\w+)\"`)? \| (.*) \|$", re.MULTILINE)
EVERYWHERE = {"out", "library_root"}


class Environment(dict):
    """Takes the methods of the tool, and what they read of an environment."""

    def SetDefault(self, **values):
        self.update(values)

    def Decider(self, decide):
        self["decider"] = decide

    def AddMethod(self, method, name):
        self.setdefault("methods", {})[name] = method


@pytest.fixture(scope="module")
def section() -> str:
    text = MANUAL.read_text(encoding="utf-8")
    return text.partition("### Builders\n")[2].partition("\n## ")[0]


@pytest.fixture
def env() -> Environment:
    made = Environment()
    netra.generate(made)
    return made


def arguments_of(env: Environment, monkeypatch, name: str, kind: str) -> tuple[str, set[str]]:
    """Return what a builder takes by place, and all that it takes by name."""
    planned = []
    monkeypatch.setattr(methods, "_declare", lambda env, what, *rest: planned.append(what))
    method = env["methods"][name]
    _, *first = [
        name
        for name, parameter in signature(method).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    defaults = {n for n, p in signature(method).parameters.items() if p.default is not p.empty}
    method(env, *["1" for _ in first], **({"kind": kind} if kind else {}))
    [what] = planned
    known = (methods.known_options(what) | defaults) - {*first}
    return "".join(first), known


def test_the_table_has_every_builder_with_what_it_takes(section, env, monkeypatch):
    rows = ROW.findall(section)
    assert {name for name, *_ in rows} == set(env["methods"])
    for name, first, kind, said in rows:
        found = arguments_of(env, monkeypatch, name, kind)
        by_name = set(re.findall(r"`(\w+)`", said)) | ({"kind"} if kind else set())
        assert (first, by_name) == found, f"{name} {kind}"
    assert {kind for _, _, kind, _ in rows} - {""} == set(methods.PRODUCTS)


def test_every_argument_is_explained(section):
    named = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    used = {
        word for _, first, _, said in ROW.findall(section) for word in (first, *said.split("`"))
    }
    assert named == {word for word in used if re.fullmatch(r"[a-z]\w*", word)} | EVERYWHERE | {
        "kind"
    }
    assert methods.SHARED_OPTIONS == EVERYWHERE


def test_a_recorded_release_can_be_planned_again():
    assert {*signature(ReleaseRequest).parameters} >= methods.RELEASE_OPTIONS


def test_what_a_builder_takes_by_place_is_no_option():
    assert methods.known_options("equivalence") == {"locked", "tactic"}
