"""A second run is answered before the graph is built, and every edit leads past the check.

Whatever is done to the project, the next build ends with the tree of a clean build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from project import ENGINE, Project, Run, tree_digests
from up_to_date_modules import HEAVY, UP_TO_DATE

from netra_build.asm.tools.tool_identity import loaded_libraries
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.freshness.up_to_date import body_digest
from netra_build.core.disk import RealDisk
from netra_build.core.stamps import columns_of, rows_in

ASKED = f"engine={ENGINE}"
NOTHING = re.compile(r"netra: nothing to do: (\d+) inputs and (\d+) outputs are as they were\n\Z")
COMMON = "kernels/gfx950/templates/common"
GUARDS = f"{COMMON}/guards.inc"
MANIFESTS = "build/.netra-finished"


def is_answered(run: Run) -> bool:
    """Tell whether the check answered: nothing was declared, nothing was built."""
    assert run.status == 0, run.errors
    found = NOTHING.search(run.output)
    assert found is None or "Building targets" not in run.output
    return found is not None


@pytest.fixture
def finished(built: Project) -> Project:
    """Return a built project whose manifest is that of its own folder."""
    assert not is_answered(built.scons(ASKED))
    assert is_answered(built.scons(ASKED))
    return built


def clean_tree(project: Project, folder: Path) -> dict[str, str]:
    """Return the engine of a clean build of the project's sources as they are."""
    clean = Project.copy_to(folder / "clean", project.folder)
    done = clean.scons(ASKED)
    assert done.status == 0, done.errors
    return tree_digests(clean.engine())


def test_nothing_to_do_is_said_in_one_line(finished: Project) -> None:
    run = finished.scons(ASKED)
    lines = run.output.splitlines()
    assert lines[0] == "scons: Reading SConscript files ..."
    assert NOTHING.fullmatch(lines[1] + "\n")
    assert len(lines) == 2
    assert run.errors == ""
    work = [finished.path(f"build/work/{part}") for part in ("engines", "golden")]
    made = sum(len(tree_digests(folder)) for folder in (finished.engine(), *work))
    assert int(NOTHING.fullmatch(lines[1] + "\n")[2]) == made
    assert finished.scons("-s", ASKED).output == ""


def test_the_check_loads_little_of_the_package(finished: Project) -> None:
    run = finished.run(sys.executable, "-P", "-X", "importtime", "-m", "SCons", ASKED)
    assert is_answered(run)
    loaded = {line.rpartition("|")[2].strip() for line in run.errors.splitlines()}
    ours = {name for name in loaded if name.split(".")[0] == "netra_build"}
    assert ours == UP_TO_DATE | {"netra_build", "netra_build.scons", "netra_build.scons.up_to_date"}
    assert not loaded & HEAVY


WORDS = [
    ["-c", ASKED],
    ["-n", ASKED],
    ["--tree=all", ASKED],
    ["--debug=explain", ASKED],
    ["--debug=time", ASKED],
    ["--warn=no-all", ASKED],
    ["-f", "SConstruct", ASKED],
    ["-q", ASKED],
    ["--max-drift=0", ASKED],
    ["-i", ASKED],
    ["--random", ASKED],
    [ASKED, "build/engines/qwen36_moe_m1/engine.json"],
    [ASKED, "product"],
    [ASKED, "locked=0"],
    [ASKED, "out=build/engines/qwen36_moe_m1"],
    [ASKED, "check-kernels"],
]


Sample = Callable[[list, int], list]


def test_other_words_lead_past_the_check(finished: Project, sample: Sample) -> None:
    for words in [["--debug=time", ASKED], *sample(WORDS, 3)]:
        run = finished.scons(*words)
        assert run.status == 0, (words, run.errors)
        assert NOTHING.search(run.output) is None, words
        assert words[0] != "--debug=time" or "scons: `product' is up to date.\n" in run.output


def test_words_that_change_nothing_of_what_is_made(finished: Project) -> None:
    for words in ("-j2", "-Q", "-k", "verbose=1", "verify=1"):
        assert is_answered(finished.scons(ASKED, words)), words


def test_flags_of_the_environment_are_options_too(finished: Project) -> None:
    assert not is_answered(finished.scons(ASKED, SCONSFLAGS="--debug=explain"))
    assert not is_answered(finished.scons(ASKED))
    assert is_answered(finished.scons(ASKED))


def replace_keeping_times(path: Path, old: str, new: str) -> None:
    """Edit a file to the same size and give it its old time stamps back."""
    assert len(old) == len(new)
    before = path.stat()
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def age(path: Path, nanoseconds: int) -> None:
    """Append a comment and set the time."""
    path.write_text(path.read_text() + "// aged\n")
    os.utime(path, ns=(nanoseconds, nanoseconds))


def rename_include(project: Project) -> None:
    """Give an include another name, everywhere."""
    project.path(f"{COMMON}/reductions.inc").rename(project.path(f"{COMMON}/reduced.inc"))
    for path in project.path("kernels").rglob("*"):
        if path.is_file() and "common/reductions.inc" in path.read_text():
            path.write_text(path.read_text().replace("common/reductions.inc", "common/reduced.inc"))


SOURCE_EDITS: dict[str, Callable[[Project], object]] = {
    "touch": lambda p: os.utime(p.path(GUARDS)),
    "comment": lambda p: p.path(GUARDS).write_text(p.path(GUARDS).read_text() + "// remark\n"),
    "same size, times restored": lambda p: replace_keeping_times(
        p.path(f"manifests/gfx950/models/{ENGINE}.json"), "qwen36-moe-m1", "qwen99-moe-m1"
    ),
    "time two days ago": lambda p: age(p.path(GUARDS), time.time_ns() - 3 * 86_400 * 10**9),
    "time of the epoch": lambda p: age(p.path(GUARDS), 0),
    "time in the future": lambda p: age(p.path(GUARDS), time.time_ns() + 10**18),
    "renamed include": rename_include,
    "recipe in a listed folder": lambda p: shutil.copy(
        p.path(f"recipes/{ENGINE}.yaml"), p.path("recipes/another.yaml")
    ),
    "profile in a listed folder": lambda p: p.path("manifests/gfx950/profiles/new.json").write_text(
        p.path("manifests/gfx950/profiles/decode_m1.json")
        .read_text()
        .replace("decode_m1", "decode_new")
    ),
    "recipe": lambda p: p.path(f"recipes/{ENGINE}.yaml").write_text(
        p.path(f"recipes/{ENGINE}.yaml").read_text() + f"checkpoint_hash: '{'7' * 64}'\n"
    ),
    "package": lambda p: p.edit(
        "netra_build/stages/engine_documents.py", '"""Documents of', '"""Documents (as ever) of'
    ),
}


def test_every_edit_of_a_source_ends_as_a_clean_build(
    finished: Project, tmp_path: Path, sample: Sample, is_full: bool
) -> None:
    """One edit after the other; with ``--full`` each is compared, else the last."""
    edits = sample(list(SOURCE_EDITS), 2)
    for number, edit in enumerate(edits):
        SOURCE_EDITS[edit](finished)
        done = finished.scons(ASKED)
        assert done.status == 0, (edit, done.errors)
        assert is_answered(done) == (edit == "touch"), edit
        if is_full or number == len(edits) - 1:
            clean = clean_tree(finished, tmp_path / str(number))
            assert tree_digests(finished.engine()) == clean, edit


def test_two_edits_within_one_second(finished: Project) -> None:
    """Each builds the state of its own, also when size and whole-second time are the same."""
    path, seals = finished.path(GUARDS), []
    text, now = path.read_text(), int(time.time())
    for remark in ("// a\n", "// b\n", "// a\n"):
        path.write_text(text + remark)
        os.utime(path, (now, now))
        assert not is_answered(finished.scons(ASKED))
        seals.append((finished.engine() / "netra.json").read_bytes())
    assert seals[0] == seals[2] != seals[1]


def engine_file(project: Project, pattern: str) -> Path:
    """Return the first file of the engine that the pattern fits."""
    return sorted(project.engine().glob(pattern))[0]


def cut(path: Path) -> None:
    """Leave the first ten bytes of a file."""
    path.write_bytes(path.read_bytes()[:10])


def flip(path: Path) -> None:
    """Change one byte of a file and give it its times back."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def link_away(path: Path) -> None:
    """Move a file or folder away and leave a link to it."""
    away = path.with_name(f"{path.name}.away")
    path.rename(away)
    path.symlink_to(away.name)


OUTPUT_EDITS: dict[str, Callable[[Project], object]] = {
    "deleted": lambda p: engine_file(p, "metadata/*.dis").unlink(),
    "cut off": lambda p: cut(engine_file(p, "hsaco/*.hsaco")),
    "emptied": lambda p: engine_file(p, "metadata/*.text").write_bytes(b""),
    "flipped": lambda p: flip(engine_file(p, "hsaco/*.hsaco")),
    "document flipped": lambda p: flip(p.engine() / "memory_plan.json"),
    "seal deleted": lambda p: (p.engine() / "netra.json").unlink(),
    "extra file": lambda p: (p.engine() / "hsaco/mine.hsaco").write_bytes(b"x"),
    "extra folder": lambda p: (p.engine() / "empty").mkdir(),
    "extra link": lambda p: (p.engine() / "link").symlink_to("/etc/passwd"),
    "file is a link": lambda p: link_away(p.engine() / "engine.json"),
    "folder is a link": lambda p: link_away(p.engine() / "metadata"),
    "work file cut off": lambda p: cut(sorted(p.path("build/work/engines").rglob("*.o"))[0]),
    "everything": lambda p: shutil.rmtree(p.path("build")),
}


def test_what_happens_to_outputs_is_found_and_made_good(finished: Project, sample: Sample) -> None:
    before = tree_digests(finished.engine())
    for edit in sample(list(OUTPUT_EDITS), 3):
        OUTPUT_EDITS[edit](finished)
        assert not is_answered(finished.scons(ASKED)), edit
        assert tree_digests(finished.engine()) == before, edit
        assert is_answered(finished.scons(ASKED)), edit


def test_in_a_folder_of_the_users_own_their_files_stay(finished: Project, tmp_path: Path) -> None:
    out = f"out={tmp_path}/mine"
    assert finished.scons(ASKED, out).status == 0
    assert is_answered(finished.scons(ASKED, out))
    (tmp_path / "mine/notes.txt").write_text("kept")
    assert is_answered(finished.scons(ASKED, out))
    (tmp_path / "mine/engine.json").unlink()
    assert not is_answered(finished.scons(ASKED, out))
    assert (tmp_path / "mine/notes.txt").read_text() == "kept"


def test_an_output_touched_or_written_anew_is_as_it_was(finished: Project) -> None:
    path = engine_file(finished, "hsaco/*.hsaco")
    os.utime(path, (1, 1))
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    assert is_answered(finished.scons(ASKED))
    assert is_answered(finished.scons(ASKED, "verify=1"))


def read_manifest(path: Path) -> dict:
    """Return the document of a manifest."""
    return json.loads(path.read_bytes().partition(b"\n")[2])


def manifests(project: Project) -> list[str]:
    """Return the names of the manifests of requests that were made in this very folder."""
    paths = sorted(project.path(MANIFESTS).iterdir())
    here = str(project.folder)
    return [path.name for path in paths if read_manifest(path)["request"]["folder"] == here]


def test_a_request_that_failed_leaves_no_manifest(finished: Project) -> None:
    (kept,) = manifests(finished)
    path = finished.path(GUARDS)
    text = path.read_text()
    path.write_text(text + '\t.error "no"\n')
    assert finished.scons(ASKED).status != 0
    assert manifests(finished) == []
    path.write_text(text)
    assert not is_answered(finished.scons(ASKED))
    assert manifests(finished) == [kept]


def test_the_table_of_all_proofs_is_shown_each_time(finished: Project) -> None:
    first = finished.scons("check-equivalence")
    table = "3 compared, 0 differing"
    assert table in first.output.splitlines()
    again = finished.scons("check-equivalence")
    assert is_answered(again)
    shown = again.output.splitlines()[1:-1]
    assert table in shown
    assert "\n".join(shown) in first.output


def test_notes_are_shown_each_time(finished: Project) -> None:
    path = finished.path(GUARDS)
    path.write_text(path.read_text() + "// a remark\n")
    note = f"netra: {ENGINE}: not pinned: moe_down_reduce_decode_m1 (netra pin)"
    assert note in finished.scons(ASKED).output.splitlines()
    again = finished.scons(ASKED)
    assert is_answered(again)
    assert note in again.output.splitlines()


def test_another_value_of_the_environment_leads_past_the_check(
    finished: Project, tmp_path: Path
) -> None:
    assert not is_answered(finished.scons(ASKED, ROCM_PATH=str(tmp_path)))
    assert is_answered(finished.scons(ASKED, ROCM_PATH=str(tmp_path)))


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder with copies of the programs of this machine."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("llvm-mc", "ld.lld", "llvm-objdump"):
        programs = (Path(f"/usr/lib/llvm-{number}/bin/{name}") for number in range(40, 19, -1))
        shutil.copy(next(path for path in programs if path.exists()), folder / name)
    return folder


def test_a_tool_swapped_under_its_path_leads_past_the_check(finished: Project, tools: Path) -> None:
    words = (ASKED, f"toolchain={tools}")
    assert [is_answered(finished.scons(*words)) for _ in range(2)] == [False, True]
    before = (tools / "llvm-mc").stat()
    with (tools / "llvm-mc").open("ab") as stream:
        stream.write(b"another")
    os.utime(tools / "llvm-mc", ns=(before.st_atime_ns, before.st_mtime_ns))
    done = finished.scons(*words)
    assert not is_answered(done)
    assert "ASM" in done.actions


def test_a_script_as_a_tool_leads_past_the_check(finished: Project, tools: Path) -> None:
    (tools / "ld.lld").rename(tools / "real")
    (tools / "ld.lld").write_text(f'#!/bin/bash\nexec -a ld.lld "{tools}/real" "$@"\n')
    (tools / "ld.lld").chmod(0o755)
    assert finished.scons(ASKED, f"toolchain={tools}").status == 0
    assert not is_answered(finished.scons(ASKED, f"toolchain={tools}"))


def test_all_that_runs_is_among_the_inputs(finished: Project, toolchain: Toolchain) -> None:
    """What makes an action, wherever it lies: a cache of ours must not hide it from the record."""
    (name,) = manifests(finished)
    inputs = read_manifest(finished.path(MANIFESTS) / name)["inputs"]["names"]
    for program in (toolchain.assembler, toolchain.linker, toolchain.disassembler):
        assert str(program.path) in inputs
        for _, path in loaded_libraries(program.path, toolchain.library_path, RealDisk()):
            assert path is None or str(path) in inputs
    assert {
        "SConstruct",
        "site_scons/site_tools/netra.py",
        "netra_build/stages/engine_documents.py",
    } <= {*inputs}
    assert os.path.realpath(sys.executable) in inputs
    assert any(name.endswith("dist-info/RECORD") and "numpy" in name for name in inputs)


SEEDED_FAULTS = {
    "kernels/": SOURCE_EDITS["comment"],
    "recipes/": SOURCE_EDITS["recipe"],
    "manifests/": SOURCE_EDITS["same size, times restored"],
    "netra_build/": SOURCE_EDITS["package"],
}


@pytest.mark.parametrize("part", SEEDED_FAULTS)
def test_an_input_left_out_of_the_manifest_would_be_missed(finished: Project, part: str) -> None:
    """The faults that the tests above are there for, put into the manifest."""
    (name,) = manifests(finished)
    path = finished.path(MANIFESTS) / name
    document = read_manifest(path)
    rows = rows_in(document["inputs"])
    left = {entry: row for entry, row in rows.items() if not entry.startswith(part)}
    assert len(left) < len(rows)
    document["inputs"] = columns_of(left)
    body = json.dumps(document).encode()
    path.write_bytes(body_digest(body) + b"\n" + body)
    SEEDED_FAULTS[part](finished)
    assert is_answered(finished.scons(ASKED))
