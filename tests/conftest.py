"""Options, seeds and fixtures that all test tiers share."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from netra_build.asm.tools.toolchain import Toolchain, find_toolchain

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_SEED = 1

# Derandomised: a failure on one machine is a failure on every machine. No deadline: these tests
# say what is right, not how fast it is.
settings.register_profile("netra", derandomize=True, deadline=None, database=None)
settings.register_profile("netra sample", settings.get_profile("netra"), max_examples=25)
settings.load_profile("netra")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options of the project."""
    group = parser.getgroup("netra")
    group.addoption("--full", action="store_true", help="run every case, not a seeded sample")
    group.addoption(
        "--netra-seed", type=int, default=DEFAULT_SEED, help="seed of the samples and inputs"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples a property is held against, before any test is imported."""
    settings.load_profile("netra" if config.getoption("--full") else "netra sample")


def pytest_report_header(config: pytest.Config) -> str:
    """Print what makes this run repeatable."""
    return f"netra: seed {config.getoption('--netra-seed')}, {_extent(config)}"


def _extent(config: pytest.Config) -> str:
    return "every case" if config.getoption("--full") else "a seeded sample of the cases"


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give this run an empty store: what a user has built before must never answer for it."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project root, to be read only."""
    return ROOT


@pytest.fixture(scope="session")
def is_full(request: pytest.FixtureRequest) -> bool:
    """Tell whether every case was asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of this run."""
    return int(request.config.getoption("--netra-seed"))


@pytest.fixture
def rng(seed: int, request: pytest.FixtureRequest) -> random.Random:
    """Return a generator of this test's own: its numbers do not depend on the other tests."""
    return random.Random(f"{seed} {request.node.nodeid}")


@pytest.fixture(scope="session")
def sample(request: pytest.FixtureRequest, is_full: bool) -> Callable[[list, int], list]:
    """Return ``sample(cases, count)``: ``count`` seeded cases in order, all with ``--full``."""
    seed = int(request.config.getoption("--netra-seed"))

    def choose(cases: list, count: int) -> list:
        if is_full or len(cases) <= count:
            return list(cases)
        chosen = random.Random(seed).sample(range(len(cases)), count)
        return [cases[index] for index in sorted(chosen)]

    return choose


@pytest.fixture(scope="session")
def sample_of_each(
    sample: Callable[[list, int], list],
) -> Callable[[list, Callable[[Any], Hashable], int], list]:
    """Return ``sample_of_each(cases, kind_of, count)``: ``count`` seeded cases of every kind."""

    def choose(cases: list, kind_of: Callable[[Any], Hashable], count: int) -> list:
        numbers: dict[Hashable, list[int]] = {}
        for number, case in enumerate(cases):
            numbers.setdefault(kind_of(case), []).append(number)
        chosen = (number for group in numbers.values() for number in sample(group, count))
        return [cases[number] for number in sorted(chosen)]

    return choose


@pytest.fixture(scope="session")
def made_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """Return ``made_once(name, make)``: a folder that ``make`` fills once for all test processes.

    It is to be read only.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once"

    def make_once(name: str, make: Callable[[Path], object]) -> Path:
        shared.mkdir(exist_ok=True)
        folder, done = shared / name, shared / f"{name}.done"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return make_once


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """Return the tool chain of this machine; a machine without one fails the test."""
    rocm_path = os.environ.get("ROCM_PATH")
    return find_toolchain(
        rocm_path=Path(rocm_path) if rocm_path else None,
        local=ROOT / ".toolchain",
        path=os.environ.get("PATH", ""),
    )


@pytest.fixture
def write_tree(tmp_path: Path) -> Callable[[dict[str, str | bytes]], Path]:
    """Return ``write_tree({name: content})``: writes files below a new folder and returns it."""

    def write(files: dict[str, str | bytes]) -> Path:
        folder = tmp_path / "tree"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    return write
