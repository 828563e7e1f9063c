"""Actions that other processes carry out: the same bytes, messages and records as without them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import ENGINE, ROOT, Project, Run, tree_digests

SCONSTRUCT = """\
import os
from SCons.Script import ARGUMENTS, Environment, PyPackageDir
from netra_build.build.run import executor
from netra_build.scons import nodes as steps

steps.FEW = 0
steps.most_workers = lambda jobs: int(ARGUMENTS["workers"])
BUILDER, really, fault = os.getpid(), executor.ActionRun.make, ARGUMENTS.get("fault", "")

def make(run, store, decision):
    here = "here" if os.getpid() == BUILDER else "by worker"
    with open("who", "a") as stream:
        stream.write(f"{run.action.stage.name} {here}\\n")
    if here == "by worker" and run.action.stage.name == fault:
        os._exit(9)
    return really(run, store, decision)

executor.ActionRun.make = make
if fault == "fork":
    def fork():
        raise BlockingIOError(11, "no more processes")
    os.fork = fork
env = Environment(tools=["netra"], toolpath=[PyPackageDir("netra_build.scons")],
                  NETRA_LIBRARY_ROOT="library", NETRA_STORE=ARGUMENTS.get("store", ""))
env.Default(env.NetraEngine("pair", out="out/engine"))
"""


NEVER_KEPT = ("copy", "emit", "instantiate")


class Repository:
    """A repository with a kernel library of its own; its script says who carries out what."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "tests/data/plugin", folder)
        (folder / "SConstruct").write_text(SCONSTRUCT)
        (folder / "library/schemas").mkdir(exist_ok=True)
        for path in (ROOT / "schemas").glob("netra-*.schema.json"):
            shutil.copyfile(path, folder / "library/schemas" / path.name)

    def scons(self, *words: str) -> Run:
        """Build with two jobs."""
        (self.folder / "who").unlink(missing_ok=True)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-P", "-m", "SCons", "-j2", *words]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True)
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    def who(self) -> list[str]:
        """Return stage and place of every action that ran, sorted."""
        path = self.folder / "who"
        return sorted(path.read_text().splitlines()) if path.exists() else []

    def engine(self) -> dict[str, str]:
        """Return the digests of the product."""
        return tree_digests(self.folder / "out/engine")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.fixture
def expected(tmp_path: Path) -> Repository:
    """Return a repository that was built without any other process."""
    other = Repository(tmp_path / "expected")
    done = other.scons("workers=0")
    assert done.status == 0, done.errors
    assert {line.partition(" ")[2] for line in other.who()} == {"here"}
    return other


def test_all_but_the_seal_is_done_by_a_worker_with_the_same_bytes(
    repository: Repository, expected: Repository
) -> None:
    done = repository.scons("workers=2")
    assert done.status == 0, done.errors
    assert repository.engine() == expected.engine()
    here = [line for line in repository.who() if line.endswith(" here")]
    assert here == ["engine_seal here"]
    assert [line.split()[0] for line in repository.who()] == [
        line.split()[0] for line in expected.who()
    ]
    assert repository.scons("workers=2").actions == []


def test_where_no_process_can_be_made_all_is_done_here(
    repository: Repository, expected: Repository
) -> None:
    done = repository.scons("workers=2", "fault=fork")
    assert done.status == 0, done.errors
    assert repository.engine() == expected.engine()
    assert {line.partition(" ")[2] for line in repository.who()} == {"here"}


def test_what_another_checkout_kept_is_restored_by_a_worker(
    repository: Repository, expected: Repository, tmp_path: Path
) -> None:
    store = f"store={tmp_path / 'store'}"
    other = Repository(tmp_path / "other")
    assert other.scons("workers=2", store).status == 0
    done = repository.scons("workers=2", store)
    assert done.status == 0, done.errors
    assert repository.engine() == expected.engine()
    assert set(repository.who()) == {f"{stage} by worker" for stage in NEVER_KEPT}
    assert "STORE" in done.actions


def test_a_refusal_is_the_same_by_a_worker(repository: Repository, tmp_path: Path) -> None:
    other = Repository(tmp_path / "other")
    runs = []
    for one, workers in ((repository, "2"), (other, "0")):
        template = one.folder / "library/kernels/gfx950/templates/own/fill_b.inc"
        template.write_text(template.read_text().replace("v_mov_b32_e32 v1", "v_move v1"))
        runs.append(one.scons(f"workers={workers}"))
    assert runs[0].status == runs[1].status == 2
    assert sorted(runs[0].failure.splitlines()) == sorted(runs[1].failure.splitlines())
    assert "invalid instruction" in runs[0].failure
    assert not (repository.folder / "out/engine/netra.json").exists()


def test_a_process_that_ends_costs_one_line_and_nothing_else(
    repository: Repository, expected: Repository
) -> None:
    done = repository.scons("workers=2", "fault=link")
    assert done.status == 2
    assert done.failure.endswith("the process that worked on it ended with 9\nhint: build again")
    assert "Traceback" not in done.errors
    assert not (repository.folder / "out/engine/netra.json").exists()
    again = repository.scons("workers=2")
    assert again.status == 0, again.errors
    assert repository.engine() == expected.engine()


NO_THREADS = "netra: the system starts 0 of 2 threads; -j1 is used\n"
WITHOUT_THREADS = """\
import sys, threading
def start(*given, **named):
    raise RuntimeError("can't start new thread")
threading._start_new_thread = threading._start_joinable_thread = start
import SCons.Script
SCons.Script.main()
"""


def test_where_no_thread_can_be_had_one_job_builds_all(built: Project) -> None:
    before = tree_digests(built.engine())
    shutil.rmtree(built.folder / "build/.netra-finished")
    built.path(f"build/engines/{ENGINE}/engine.json").unlink()
    done = built.run(sys.executable, "-P", "-c", WITHOUT_THREADS, "-j2", f"engine={ENGINE}")
    assert (done.status, done.errors) == (0, NO_THREADS)
    assert tree_digests(built.engine()) == before
