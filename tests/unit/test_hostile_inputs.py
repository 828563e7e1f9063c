"""Five hundred generated hostile inputs at the command line: one line, exit code 2, no trace.

A run of every day takes some of every kind for every file.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netra_build.cli.main import main

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance" / "negative"
TACTIC = "lib/manifests/gfx950/tactics/one.json"
PROFILE = "lib/manifests/gfx950/profiles/p1.json"
SCHEMA = "lib/schemas/netra-model.schema.json"
TEMPLATE = "lib/kernels/gfx950/templates/one.inc"
DEPLOYMENT = {
    "format": "netra-compatibility-build-1",
    "target": "gfx950",
    "wave_size": 64,
    "deployment": "hostile",
    "evidence": {"lock": "a/b.json", "lock_sha256": "0" * 64},
    "artifacts": [
        {
            "name": "one",
            "locked_text_sha256": "0" * 64,
            "locked_hsaco_sha256": "0" * 64,
            "members": [{"tactic": "one", "symbol": "one_gfx950", "definitions": {"ONE_WAVES": 1}}],
        }
    ],
}
COMPILE = (
    *("compile", "--model", "{T}/model.json", "--target", "gfx950", "--profile", "p1"),
    *("--library-root", "{T}/lib", "--output", "{T}/out"),
)
RECIPE = ("recipe", "--repo-root", "{T}/lib", "--deployment", "../deployment.json")
VALIDATE = ("validate", "--engine", "{T}/engine", "--library-root", "{T}/lib")
COMMANDS = {
    "model.json": COMPILE,
    TACTIC: COMPILE,
    PROFILE: COMPILE,
    SCHEMA: COMPILE,
    "deployment.json": (*RECIPE, "--output", "{T}/out"),
    "engine/engine.json": VALIDATE,
    "engine/graph.json": VALIDATE,
    "engine/validation_plan.json": VALIDATE,
}
YAML = ("rebuild", "{T}/recipe.yaml", "--library-root", "{T}/lib", "--out", "{T}/out")
RECIPE_TEXT = "format: netra-recipe-1\nkind: engine\nmodel: model.json\nprofile: p1\n"
SCALAR = re.compile(rb'(?<=[\s\[:,])(?:"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)(?=\s*[,\]}])')
PATHS = ["../x", "/etc/passwd", "a/../../x", "..", "", "a\0b", "a//../../b", "x" * 5000, "\u202ex"]

Case = tuple[str, str, tuple[str, ...], Callable[[Path], None]]
"""Kind, file, command line, and what is done to the folder first."""


def rewrite(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / name
        path.write_bytes(change(path.read_bytes()))

    return apply


def swap(name: str, pointer: tuple[Any, ...], value: Any) -> Callable[[Path], None]:
    def change(data: bytes) -> bytes:
        document = json.loads(data)
        node = document
        for key in pointer[:-1]:
            node = node[key]
        node[pointer[-1]] = value
        return json.dumps(document).encode()

    return rewrite(name, change)


def instead(position: float, text: bytes) -> Callable[[bytes], bytes]:
    """Return a change that puts ``text`` in the place of one scalar value."""

    def change(data: bytes) -> bytes:
        spans = [found.span() for found in SCALAR.finditer(data)]
        start, end = spans[int(position * len(spans))]
        return data[:start] + text + data[end:]

    return change


def cut(position: float) -> Callable[[bytes], bytes]:
    return lambda data: data[: int(position * (len(data.rstrip()) - 1))]


def insert(position: float, text: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[: int(position * len(data))] + text + data[int(position * len(data)) :]


def twice(data: bytes) -> bytes:
    key = json.dumps(next(iter(json.loads(data)))).encode()
    return data.replace(b"{", b"{" + key + b": null,", 1)


def byte_cases(rng: random.Random) -> Iterator[Case]:
    """Yield bytes that are no strict JSON, whatever they are meant to say."""
    for name, words in COMMANDS.items():
        for _ in range(12):
            yield "truncation", name, words, rewrite(name, cut(rng.random()))
        for text in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x80"):
            yield "invalid UTF-8", name, words, rewrite(name, insert(rng.random(), text))
        yield "byte order mark", name, words, rewrite(name, lambda data: b"\xef\xbb\xbf" + data)
        deep = [b"[" * 100_000, b"[" * 5_000 + b"]" * 5_000, b'{"a":' * 3_000 + b"1" + b"}" * 3_000]
        for text in deep:
            yield "deep nesting", name, words, rewrite(name, instead(rng.random(), text))
        huge = [
            b"1" * 5_000,
            b"-" + b"9" * 400_000,
            b"1e400",
            b"NaN",
            b"-Infinity",
            b"1" + b"0" * 400,
        ]
        for text in huge:
            yield "huge number", name, words, rewrite(name, instead(rng.random(), text))
        yield "repeated key", name, words, rewrite(name, twice)
        yield "not an object", name, words, rewrite(name, lambda data: b"[" + data + b"]")
        yield "nothing", name, words, rewrite(name, lambda data: b"")


OPERATION = ("graph", "operations", 0)
ARTIFACT = ("artifacts", 0)
POINTERS: dict[str, list[tuple[tuple[Any, ...], type]]] = {
    "model.json": [
        (("format",), str),
        (("configuration",), dict),
        (("graph",), dict),
        (("graph", "tensors"), list),
        (("graph", "tensors", 0, "shape"), list),
        (("graph", "tensors", 0, "dtype"), str),
        (("graph", "operations"), list),
        ((*OPERATION, "name"), str),
        ((*OPERATION, "outputs"), list),
        ((*OPERATION, "attributes", "constants"), dict),
        ((*OPERATION, "attributes", "semantics"), dict),
        ((*OPERATION, "attributes", "launch_grid"), list),
        ((*OPERATION, "attributes", "arguments"), list),
    ],
    "deployment.json": [
        (("format",), str),
        (("artifacts",), list),
        ((*ARTIFACT, "name"), str),
        ((*ARTIFACT, "locked_text_sha256"), str),
        ((*ARTIFACT, "members"), list),
        ((*ARTIFACT, "members", 0, "symbol"), str),
        ((*ARTIFACT, "members", 0, "definitions"), dict),
    ],
    PROFILE: [(("format",), str), (("name",), str), (("guards",), dict)],
    TACTIC: [(("tactics",), list), (("evidence_sets",), dict), (("tactics", 0, "id"), str)],
    "engine/engine.json": [(("operations",), list), (("target",), str), (("engine_id",), str)],
    "engine/graph.json": [(("operations",), list), (("tensors",), list), (("name",), str)],
    "engine/validation_plan.json": [(("candidates",), list), (("static",), str)],
}
WRONG: list[Any] = [None, True, -1, 0.5, 2**70, "", "x", [], {}, [None], {"x": {}}]


def typed_cases() -> Iterator[Case]:
    """Yield values of another type in places that have to have theirs."""
    for name, pointers in POINTERS.items():
        for pointer, kind in pointers:
            for value in WRONG:
                if type(value) is not kind:
                    yield "type swap", name, COMMANDS[name], swap(name, pointer, value)


def path_cases() -> Iterator[Case]:
    """Yield names that lead elsewhere, wherever a file name is read."""
    for path in PATHS:
        name = "deployment.json"
        yield "path", name, COMMANDS[name], swap(name, (*ARTIFACT, "name"), path)
        yield "path", TACTIC, COMPILE, swap(TACTIC, ("tactics", 0, "template"), path)
        escaped = json.dumps(path).encode()
        text = b".include " + escaped + b"\n"
        yield "path", TEMPLATE, COMPILE, rewrite(TEMPLATE, lambda data, text=text: text + data)
        yield (
            "path",
            "recipe.yaml",
            YAML,
            rewrite("recipe.yaml", lambda data, text=escaped: data.replace(b"model.json", text)),
        )
        given = [word if word != "p1" else path.replace("\0", "") for word in COMPILE]
        yield "path", "--profile", tuple(given), lambda folder: None
        candidate = ("candidates", 0, "source")
        name = "engine/validation_plan.json"
        yield "path", name, VALIDATE, swap(name, candidate, path)


def link(name: str, target: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        os.symlink(target.replace("{T}", str(folder)), path)

    return apply


def link_cases() -> Iterator[Case]:
    """Yield links that lead out of the folder, to nothing, to themselves and to devices."""
    outside = ("/etc/passwd", "/nowhere", "/dev/zero", "/proc/self/mem", ".")
    for target in outside:
        for name in (TACTIC, PROFILE, TEMPLATE, "engine/graph.json", "engine/engine.json"):
            words = VALIDATE if name.startswith("engine") else COMPILE
            yield "link", name, words, link(name, target)
        yield "link", "model.json", COMPILE, link("model.json", target)
    yield "link", "out", COMPILE, link("out", "{T}/elsewhere")
    yield "link", "engine/generated", VALIDATE, link("engine/generated", "{T}/elsewhere")


def yaml_cases(rng: random.Random) -> Iterator[Case]:
    texts = [
        b"model: model.json\n",
        b"a: &a [*a]\n",
        b"model: !!python/object/apply:os.system [x]\n",
        b"x: " + b"[" * 20_000,
        b"\xff\xfe",
        b"kind: [engine]\n",
        b"profile: " + b"9" * 400_000 + b"\n",
        b"<<: {format: x}\n",
        b"- a\n",
        b"? {a: b}\n: c\n",
        b"---\nformat: x\n",
    ]
    for text in texts:
        yield "YAML", "recipe.yaml", YAML, rewrite("recipe.yaml", lambda data, t=text: data + t)
        at = rng.randrange(1, 70)
        cutter = rewrite("recipe.yaml", lambda data, at=at: data[:at] + b"\0")
        yield "YAML", "recipe.yaml", YAML, cutter


def cases(seed: int) -> list[Case]:
    rng = random.Random(f"hostile {seed}")
    return [*byte_cases(rng), *typed_cases(), *path_cases(), *link_cases(), *yaml_cases(rng)]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a library, a model, recipes and an engine, all of them good."""
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copytree(DATA / "library", folder / "lib")
    shutil.copyfile(DATA / "one-model.json", folder / "model.json")
    shutil.copyfile(DATA / "one-model.json", folder / "lib" / "model.json")
    (folder / "deployment.json").write_text(json.dumps(DEPLOYMENT, indent=1))
    (folder / "recipe.yaml").write_text(RECIPE_TEXT)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "keep").write_text("mine")
    words = [word.replace("{T}", str(folder)).replace("/out", "/engine") for word in COMPILE]
    assert main(words) == 0
    return folder


def tree(folder: Path) -> dict[str, bytes | str]:
    """Return every file and link below ``folder``; links are not followed."""
    found: dict[str, bytes | str] = {}
    for base, folders, names in os.walk(folder, followlinks=False):
        for name in (*folders, *names):
            path = Path(base) / name
            key = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[key] = os.readlink(path)
            elif path.is_file():
                found[key] = path.read_bytes()
    return found


def test_there_are_five_hundred_of_every_kind(seed):
    kinds = Counter(kind for kind, _, _, _ in cases(seed))
    assert sum(kinds.values()) >= 500
    for kind in ("truncation", "type swap", "deep nesting", "huge number", "path", "link"):
        assert kinds[kind] >= 20, kind
    assert kinds["invalid UTF-8"] >= 20


@pytest.mark.parametrize("part", range(8))
def test_a_hostile_input_ends_in_one_line(part, inputs, seed, capsys, tmp_path, sample_of_each):
    wrong = []
    chosen = sample_of_each(cases(seed), lambda case: case[:2], 3)
    for number, (kind, name, words, damage) in enumerate(chosen):
        if number % 8 != part:
            continue
        folder = tmp_path / str(number)
        shutil.copytree(inputs, folder, symlinks=True)
        damage(folder)
        before = tree(folder)
        code = main([word.replace("{T}", str(folder)) for word in words])
        captured = capsys.readouterr()
        first, *rest = captured.err.splitlines() or [""]
        is_one_line = first.startswith("netra: ") and all(r.startswith("hint: ") for r in rest)
        after = tree(folder)
        if code != 2 or not is_one_line or len(rest) > 1 or captured.out or after != before:
            wrong.append((number, kind, name, code, captured.err[-300:], captured.out[:100]))
        shutil.rmtree(folder)
    assert wrong == []
