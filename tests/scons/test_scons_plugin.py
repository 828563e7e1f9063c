"""The installed plugin, in a SConstruct of another repository, on that repository's library."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from foreign import SCONSTRUCT, edit_kernel, scons, with_nodes
from project import tree_digests


def test_a_foreign_repository_builds_its_engine(repository: Path, installed: Path) -> None:
    done = scons(repository, installed, "-j2")
    assert done.status == 0, done.errors
    engine = tree_digests(repository / "out/engine")
    assert len([name for name in engine if name.endswith(".hsaco")]) == 2
    assert "netra.json" in engine
    objects = tree_digests(repository / "out/objects")
    assert [name for name in objects if name.endswith(".hsaco")] == ["hsaco/both.hsaco"]
    assert scons(repository, installed).actions == []


def test_old_time_stamps_do_not_hide_an_edit(repository: Path, installed: Path) -> None:
    """SCons's default reuses a stored hash when a file is three days old and its time is equal."""
    frame = repository / "library/kernels/gfx950/templates/own/frame.inc"
    old = frame.stat().st_mtime - 3 * 86400
    for path in repository.rglob("*"):
        if path.is_file():
            os.utime(path, (old, old))
    assert scons(repository, installed).status == 0
    before = tree_digests(repository / "out/engine")
    template = repository / "library/kernels/gfx950/templates/own/fill_b.inc"
    template.write_text(template.read_text().replace("v_mov_b32_e32 v1", "v_not_b32_e32 v1"))
    os.utime(template, (old, old))
    done = scons(repository, installed)
    assert done.status == 0, done.errors
    assert "ASM" in done.actions
    after = tree_digests(repository / "out/engine")
    changed = {name for name in before if before[name] != after.get(name)}
    assert [name for name in changed if name.endswith(".hsaco")] != []


def test_an_error_is_one_line_and_exit_code_two(repository: Path, installed: Path) -> None:
    (repository / "SConstruct").write_text(SCONSTRUCT.replace('"pair"', '"pear"', 1))
    done = scons(repository, installed)
    assert done.status == 2
    assert 'recipes: unknown recipe "pear"\nhint: did you mean "pair"?' in done.errors
    assert "Traceback" not in done.errors


def test_an_unknown_option_names_the_nearest(repository: Path, installed: Path) -> None:
    text = SCONSTRUCT.replace('NetraRecipe("objects", out=', 'NetraRecipe("objects", oout=')
    (repository / "SConstruct").write_text(text)
    done = scons(repository, installed)
    assert done.status == 2
    assert 'SConstruct: unknown option "oout"\nhint: did you mean "out"?' in done.errors


STORE = 'NETRA_LIBRARY_ROOT="library", NETRA_STORE="kept"'


def clean_copy(repository: Path, folder: Path) -> Path:
    """Return a copy of a repository without anything that was built or kept in it."""
    ignored = shutil.ignore_patterns("build", "out", ".sconsign*", "kept", "cache")
    shutil.copytree(repository, folder, ignore=ignored)
    return folder


def test_a_foreign_repository_has_a_store_only_where_it_names_one(
    repository: Path, installed: Path, tmp_path: Path
) -> None:
    assert scons(repository, installed, XDG_CACHE_HOME=str(tmp_path / "home")).status == 0
    assert not (tmp_path / "home").exists()
    expected = tree_digests(repository / "out")
    text = SCONSTRUCT.replace('NETRA_LIBRARY_ROOT="library"', STORE)
    other = clean_copy(repository, tmp_path / "other")
    (other / "SConstruct").write_text(text)
    assert scons(other, installed).status == 0
    third = clean_copy(other, tmp_path / "third")
    shutil.move(other / "kept", third / "kept")
    done = scons(third, installed)
    assert done.status == 0, done.errors
    assert "STORE" in done.actions
    assert not {"ASM", "LINK", "DIS"} & set(done.actions)
    assert tree_digests(third / "out") == tree_digests(other / "out") == expected


def test_a_cache_of_scons_s_never_serves_our_nodes(
    repository: Path, installed: Path, tmp_path: Path
) -> None:
    """SCons hands out what its cache holds unverified; the user's own nodes keep that cache."""
    text = SCONSTRUCT.replace(
        "env.Default(engine, objects)",
        'env.CacheDir("cache")\n'
        'own = env.Command("own", "SConstruct", Copy("$TARGET", "$SOURCE"))\n'
        "env.Default(engine, objects, own)",
    ).replace("import Environment,", "import Copy, Environment,")
    (repository / "SConstruct").write_text(text)
    assert scons(repository, installed).status == 0
    cached = [p for p in (repository / "cache").glob("*/*") if p.is_file()]
    assert [path.read_text() for path in cached] == [text]
    other = clean_copy(repository, tmp_path / "other")
    shutil.copytree(repository / "cache", other / "cache")
    done = scons(other, installed)
    assert done.status == 0, done.errors
    assert "Retrieved `own' from cache" in done.output
    assert done.actions.count("ASM") == 4


OWN = """
objects = [node for node in engine if str(node).startswith("out/engine/hsaco/")]
for index, node in enumerate(objects):
    env.Default(env.Command(f"own/{index}", node, Copy("$TARGET", "$SOURCE")))
"""


def test_nodes_of_a_user_follow_the_bytes_of_ours(repository: Path, installed: Path) -> None:
    with_nodes(repository, OWN)
    assert scons(repository, installed).output.count("Copy(") == 2
    template = repository / "library/kernels/gfx950/templates/own/fill_b.inc"
    template.write_text(template.read_text() + "// a remark\n")
    done = scons(repository, installed)
    assert "CLOSE" in done.actions
    assert "Copy(" not in done.output
    edit_kernel(repository)
    done = scons(repository, installed)
    assert done.status == 0, done.errors
    [line] = [line for line in done.output.splitlines() if line.startswith("Copy(")]
    source = line.split('"')[3]
    copy = repository / line.split('"')[1]
    assert source.startswith("out/engine/hsaco/")
    assert copy.read_bytes() == (repository / source).read_bytes()
    assert "Copy(" not in scons(repository, installed).output


def test_an_action_of_ours_follows_what_a_user_makes_it_depend_on(
    repository: Path, installed: Path
) -> None:
    with_nodes(repository, 'env.Depends(engine[-1], "policy")\n')
    policy = repository / "policy"
    done = scons(repository, installed)
    assert done.status == 2
    assert "Explicit dependency `policy' not found" in done.errors

    def say(text: str) -> None:
        """Edit the file and leave its time as it was, which is old enough for SCons to trust."""
        policy.write_text(text)
        os.utime(policy, (10**9, 10**9))

    say("one")
    assert scons(repository, installed).status == 0
    assert scons(repository, installed).actions == []
    say("two")
    done = scons(repository, installed, "--debug=explain")
    assert done.actions == ["SEALED"]
    assert 'something changed that a SConstruct makes it depend on: "policy"' in done.output
    say("one")
    assert scons(repository, installed).actions == ["SEALED"]
    assert scons(repository, installed).actions == []


def test_a_file_is_not_made_in_two_ways(repository: Path, installed: Path) -> None:
    other = 'env.Command("out/engine/engine.json", "SConstruct", Copy("$TARGET", "$SOURCE"))\n'
    text = SCONSTRUCT.replace("import Environment,", "import Copy, Environment,")
    (repository / "SConstruct").write_text(text.replace("engine =", f"{other}engine =", 1))
    done = scons(repository, installed)
    assert done.status == 2
    assert "out/engine/engine.json is made in two ways" in done.errors
    assert not (repository / "out").exists()


def test_questions_of_scons_are_answered(repository: Path, installed: Path) -> None:
    would = scons(repository, installed, "-n")
    assert would.status == 0, would.errors
    assert not (repository / "out").exists()
    assert scons(repository, installed, "-q").status == 1
    done = scons(repository, installed)
    assert would.actions == done.actions
    assert scons(repository, installed, "-q").status == 0
    edit_kernel(repository)
    assert scons(repository, installed, "-q").status == 1
    shown = scons(repository, installed, "-n")
    assert set(shown.actions) >= {"INST", "CLOSE", "ASM", "LINK", "SEALED"}
    tree = scons(repository, installed, "--tree=all", "-n").output
    assert "library/kernels/gfx950/templates/own/fill_b.inc" in tree
    assert ".linked.hsaco" in tree


INSTALLING = """
objects = [node for node in engine if str(node).startswith("out/engine/hsaco/")]
env.Depends(env.Install("lib", objects), engine[-1])
"""


def test_what_depends_on_the_seal_is_installed_after_it_alone(
    repository: Path, installed: Path
) -> None:
    with_nodes(repository, INSTALLING)
    done = scons(repository, installed, "lib")
    assert done.status == 0, done.errors
    assert len(list((repository / "lib").iterdir())) == 2
    lines = done.output.splitlines()
    sealed = next(i for i, line in enumerate(lines) if line.startswith("SEALED"))
    assert all(i > sealed for i, line in enumerate(lines) if line.startswith("Install "))


def test_environments_that_are_no_clones_share_the_records(
    repository: Path, installed: Path
) -> None:
    head, _, rest = SCONSTRUCT.partition("engine =")
    other = head.partition("\n\n")[2].replace("env =", "other =")
    text = f"{head}{other}engine ={rest}".replace("objects = env.", "objects = other.")
    (repository / "SConstruct").write_text(text)
    assert text.count("Environment(tools") == 2
    assert scons(repository, installed).status == 0
    assert scons(repository, installed).actions == []


def test_a_record_that_cannot_be_written_is_said(repository: Path, installed: Path) -> None:
    (repository / "build/work/outputs.json").mkdir(parents=True)
    done = scons(repository, installed)
    assert done.status == 0
    line = "netra: build/work/outputs.json: cannot write: is a directory; not on record"
    assert [one for one in done.errors.splitlines() if "outputs.json" in one] == [line]
    assert "Traceback" not in done.errors


def test_a_script_in_another_folder_is_refused(repository: Path, installed: Path) -> None:
    """SCons would look for the files there, and the actions write them at the top."""
    (repository / "sub").mkdir()
    (repository / "sub/SConscript").write_text(SCONSTRUCT)
    (repository / "SConstruct").write_text('SConscript("sub/SConscript")\n')
    done = scons(repository, installed)
    assert done.status == 2
    hint = "hint: call it in the SConstruct, and pass the nodes on with Export"
    assert f"sub: called from a SConscript in another folder\n{hint}" in done.errors
    assert not (repository / "out").exists()
