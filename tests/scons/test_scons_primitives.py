"""One instruction changed in a shared primitive reruns the kernels that use it, and no other."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from project import Project, tree_digests

TEMPLATES = "kernels/gfx950/templates"
PRIMITIVES = sorted(
    path.name for path in (Path(__file__).parents[2] / TEMPLATES / "common").glob("*.inc")
)
INCLUDE = re.compile(r'^\s*\.include "([^"]+)"', re.MULTILINE)
INSTRUCTION = re.compile(r"^\t([sv]_|global_|ds_|buffer_)\w+ ")
WORD = re.compile(r"[A-Za-z_]\w*")
AFTER_ASSEMBLY = ("LINK", "STRIP", "DIS", "EQUIV")


@dataclass(frozen=True)
class Change:
    """One instruction of one macro of a primitive file, by its line."""

    file: str
    macro: str
    line: int

    def apply(self, project: Project) -> None:
        """Put another instruction in its place."""
        path = project.path(f"{TEMPLATES}/common/{self.file}")
        lines = path.read_text(encoding="utf-8").split("\n")
        lines[self.line] = "\ts_sleep 5"
        path.write_text("\n".join(lines), encoding="utf-8")


def outer_macros(text: str) -> dict[str, list[int]]:
    """Return the lines of each macro that is not defined inside another; ``""`` is the rest."""
    found: dict[str, list[int]] = {"": []}
    stack: list[str] = []
    for number, line in enumerate(text.split("\n")):
        words = line.split("//")[0].split()
        if words[:1] == [".macro"]:
            stack.append(words[1].rstrip(","))
        found.setdefault(stack[0] if stack else "", []).append(number)
        if words[:1] == [".endm"]:
            stack.pop()
    return found


def changes_of(root: Path, file: str) -> list[Change]:
    """Return the first instruction of each macro of a primitive file."""
    text = (root / TEMPLATES / "common" / file).read_text(encoding="utf-8")
    lines = text.split("\n")
    found = []
    for macro, numbers in outer_macros(text).items():
        here = [number for number in numbers if INSTRUCTION.match(lines[number])]
        if macro and here:
            found.append(Change(file, macro, here[0]))
    return found


def closure(root: Path, name: str, seen: dict[str, str] | None = None) -> dict[str, str]:
    """Return the text of every file that a template reaches, by name."""
    seen = {} if seen is None else seen
    if name not in seen:
        seen[name] = (root / name).read_text(encoding="utf-8")
        for included in INCLUDE.findall(seen[name]):
            closure(root, included, seen)
    return seen


def used_macros(texts: dict[str, str], entry: str) -> set[str]:
    """Return the macros that text outside macros, or a used macro, names."""
    words_by_macro: dict[str, set[str]] = {}
    for text in texts.values():
        lines = [line.split("//")[0] for line in text.split("\n")]
        for macro, numbers in outer_macros(text).items():
            words = {word for number in numbers for word in WORD.findall(lines[number])}
            words_by_macro[macro] = words_by_macro.get(macro, set()) | words
    waiting, used = [entry, ""], set()
    while waiting:
        macro = waiting.pop()
        if macro not in used:
            used.add(macro)
            waiting += words_by_macro[macro] & words_by_macro.keys()
    return used


@pytest.fixture(scope="module")
def users(root: Path) -> dict[str, tuple[set[str], set[str]]]:
    """Return, for each specialization, the files of its closure and the macros that it uses."""
    found = {}
    for path in sorted((root / "manifests/gfx950/tactics").glob("*.json")):
        for tactic in json.loads(path.read_text(encoding="utf-8")).get("tactics", []):
            texts = closure(root, tactic["template"])
            value = (set(texts), used_macros(texts, tactic["instantiation_macro"]))
            folder = root / "golden/gfx950" / tactic["id"]
            for record in sorted(folder.rglob("expect.json")):
                label = record.parent.relative_to(folder.parent).as_posix()
                found[label] = value
    return found


def outputs(project: Project) -> dict[str, str]:
    """Return the digests of what was made from templates."""
    return tree_digests(project.path("build/work/tactics"))


def rerun(built: Project, folder: Path, change: Change) -> tuple[dict[str, set[str]], set[str]]:
    """Change a private copy; return what ran, specializations by label, and which files differ."""
    shutil.copytree(built.folder, folder, copy_function=shutil.copy2)
    project = Project(folder)
    before = outputs(project)
    change.apply(project)
    done = project.scons("-j2", "-k", "check-equivalence")
    ran: dict[str, set[str]] = {}
    for line in done.action_lines:
        label, target = line.split()[0], line.rpartition(" -> ")[2]
        if target.startswith("tactics/"):
            ran.setdefault(label, set()).add(specialization(target.removeprefix("tactics/")))
    after = outputs(project)
    shutil.rmtree(folder)
    names = before.keys() | after.keys()
    return ran, {name for name in names if before.get(name) != after.get(name)}


def specialization(place: str) -> str:
    """Return the golden label in ``LABEL/metadata/...`` and its like."""
    return re.split(r"/(?:metadata|hsaco|generated|compared)/", place)[0]


def rerun_faults(ran: dict[str, set[str]], changed: set[str], expected: set[str]) -> list[str]:
    """Report what ran, or came out otherwise, without need, and what did not and had to.

    Every user is assembled again; the actions behind go on where the object came out otherwise
    (a macro may be used under a condition that does not hold).
    """
    objects = {specialization(name) for name in changed if name.endswith(".o")}
    texts = {specialization(name) for name in changed if not name.endswith(".closure.json")}
    wanted = {"ASM": expected, **dict.fromkeys(AFTER_ASSEMBLY, objects), "files": expected}
    found = {**ran, "files": texts}
    return [
        f"{what} of {sorted(found.get(what, set()) ^ labels)}"
        for what, labels in wanted.items()
        if found.get(what, set()) != labels
    ] + ([] if objects <= expected else ["objects of others"])


@pytest.mark.parametrize("file", PRIMITIVES)
def test_a_changed_instruction_reruns_exactly_its_users(
    file: str,
    root: Path,
    users: dict[str, tuple[set[str], set[str]]],
    built_whole: Project,
    tmp_path: Path,
    chosen: list[Change],
) -> None:
    failures = []
    for change in [change for change in chosen if change.file == file]:
        name = f"{TEMPLATES}/common/{file}"
        expected = {
            label
            for label, (files, macros) in users.items()
            if name in files and change.macro in macros
        }
        ran, changed = rerun(built_whole, tmp_path / "copy", change)
        assert any(name.endswith(".o") for name in changed), change
        failures += [f"{change.macro}: {fault}" for fault in rerun_faults(ran, changed, expected)]
    assert failures == []


@pytest.fixture(scope="module")
def chosen(root: Path, sample: Callable[[list, int], list]) -> list[Change]:
    """Return a few instructions of all primitives, all of them with ``--full``."""
    every = [change for file in PRIMITIVES for change in changes_of(root, file)]
    assert len(every) > 40
    return sample(every, 2)


def test_every_instruction_has_users_and_most_have_kernels_that_are_none(
    root: Path, users: dict[str, tuple[set[str], set[str]]]
) -> None:
    """So a rerun of everything, or of nothing, is a fault that would be seen."""
    every = [change for file in PRIMITIVES for change in changes_of(root, file)]
    counts = [sum(change.macro in macros for _, macros in users.values()) for change in every]
    assert [change for change, count in zip(every, counts, strict=True) if count == 0] == []
    assert sum(count < len(users) for count in counts) > 40


def test_the_users_of_a_macro_are_found() -> None:
    texts = {
        "a.inc": ".macro A x\n\tB \\x\n.endm\n.macro B y\n\ts_nop 0 // C\n.endm\n",
        "b.inc": ".macro C\n.macro D\n.endm\n\tB 1\n.endm\n\tE_BEGIN\n.macro E_BEGIN\n.endm\n",
    }
    assert used_macros(texts, "A") == {"", "A", "B", "E_BEGIN"}
    assert used_macros(texts, "C") == {"", "B", "C", "E_BEGIN"}


def test_a_rerun_too_many_or_too_few_is_a_fault() -> None:
    every = {key: {"a"} for key in AFTER_ASSEMBLY}
    changed = {"a/compared/k.o", "a/compared/k.flat.s", "b/compared/k.closure.json"}
    assert rerun_faults({"ASM": {"a"}, **every}, changed, {"a"}) == []
    assert rerun_faults({"ASM": {"a", "b"}, **every}, changed, {"a"}) == ["ASM of ['b']"]
    assert rerun_faults({"ASM": set(), **every}, changed, {"a"}) == ["ASM of ['a']"]
    assert rerun_faults({"ASM": {"a"}, **every, "DIS": {"a", "b"}}, changed, {"a"}) == [
        "DIS of ['b']"
    ]
    more = changed | {"b/metadata/k.dis"}
    assert rerun_faults({"ASM": {"a"}, **every}, more, {"a"}) == ["files of ['b']"]
