"""An action that has run before is restored; one that failed or may be wrong is never kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from netra_build.build.cache.store import Store, open_store
from netra_build.build.graph.actions import (
    Action,
    Graph,
    Inputs,
    Outputs,
    Parameters,
    Place,
    Root,
    Stage,
)
from netra_build.build.graph.product import JOURNAL
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_action, run_graph
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError, Refused, ToolchainFailed

SOURCE = Place(Root.SOURCE, "in.txt")
PRODUCT = Place(Root.OUT, "product")
SEAL = Place(Root.OUT, "seal.json")
MODULE = "netra_build.core.digests"


@dataclass
class Tools:
    """Counts the calls of stages; its version is its identity."""

    version: str = "1"
    calls: list[str] = field(default_factory=list)
    meanwhile: Any = None
    """Called while a stage runs."""

    def identity(self) -> dict[str, str]:
        return {"tool": self.version}


def shout(inputs: Inputs, parameters: Parameters, tools: Tools) -> Outputs:
    """Return the input in capitals."""
    tools.calls.append("shout")
    if tools.meanwhile is not None:
        tools.meanwhile()
    if inputs["text"] == b"bad":
        raise Refused("no")
    return {"made": inputs["text"].upper() + parameters["end"].encode()}


def close(inputs: Inputs, parameters: Parameters, tools: Tools) -> Outputs:
    """Return a seal that names the product."""
    tools.calls.append("close")
    return {"seal": b'{"files": {"product": 0}}'}


SHOUT = Stage("shout", "SHOUT", MODULE, shout, uses_tools=True)
CLOSE = Stage("close", "CLOSE", MODULE, close)
MAKE = Action(SHOUT, "it", (("made", PRODUCT),), (("text", SOURCE),), (("end", "!"),))
FINISH = Action(CLOSE, "it", (("seal", SEAL),), (("product", PRODUCT),))
GRAPH = Graph("g", (MAKE, FINISH), SEAL)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store")


def execution(folder: Path, tools: Tools, text: str = "hello", graph: Graph = GRAPH) -> Execution:
    (folder / "source").mkdir(parents=True, exist_ok=True)
    (folder / "source" / "in.txt").write_text(text)
    return Execution(graph, Folders({root: folder / root for root in Root}), RealDisk(), tools)


def kept(store: Store) -> int:
    """Return of how many actions a store has the outputs."""
    return sum(file.name.startswith("actions/") for file in store.files.scan(""))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


def test_another_folder_is_restored_whole(tmp_path: Path, store: Store) -> None:
    tools = Tools()
    run_graph(execution(tmp_path / "a", tools), store)
    assert tools.calls == ["shout", "close"]
    other = execution(tmp_path / "b" / "deeper", tools)
    written = [run_action(action, other, store) for action in GRAPH.actions]
    assert tools.calls == ["shout", "close"]
    assert contents(tmp_path / "b" / "deeper") == contents(tmp_path / "a")
    assert sorted(contents(tmp_path / "a")) == ["product", "seal.json"]
    again = [run_action(action, execution(tmp_path / "b" / "deeper", tools)) for action in (MAKE,)]
    assert written[:1] == again
    counts = other.tally.counts([])
    assert (counts.ran, counts.restored) == (0, 2)


def test_without_a_store_everything_runs(tmp_path: Path, store: Store) -> None:
    tools = Tools()
    run_graph(execution(tmp_path / "a", tools), store)
    run_graph(execution(tmp_path / "b", tools))
    assert tools.calls == ["shout", "close"] * 2


def test_a_restored_product_is_open_until_its_seal_is_there(tmp_path: Path, store: Store) -> None:
    run_graph(execution(tmp_path / "a", Tools()), store)
    run_graph(execution(tmp_path / "a", Tools(), "other"), store)
    running = execution(tmp_path / "a", Tools())
    run_action(MAKE, running, store)
    assert sorted(contents(tmp_path / "a")) == [".netra-unfinished.json", "product"]
    run_action(FINISH, running, store)
    assert sorted(contents(tmp_path / "a")) == ["product", "seal.json"]


def test_content_parameters_and_tools_decide(tmp_path: Path, store: Store) -> None:
    tools = Tools()
    run_action(MAKE, execution(tmp_path, tools), store)
    run_action(MAKE, execution(tmp_path, tools, "other"), store)
    assert len(tools.calls) == 2
    tools.version = "2"
    run_action(MAKE, execution(tmp_path, tools), store)
    assert len(tools.calls) == 3
    tools.version = "1"
    run_action(MAKE, execution(tmp_path, tools), store)
    assert len(tools.calls) == 3


def test_a_failure_is_not_kept(tmp_path: Path, store: Store) -> None:
    tools = Tools()
    for _ in range(2):
        running = execution(tmp_path, tools, "bad")
        with pytest.raises(NetraError):
            run_action(MAKE, running, store)
    assert tools.calls == ["shout", "shout"]
    assert kept(store) == 0
    assert not (tmp_path / "out").exists()


def test_what_ran_while_its_input_was_edited_is_kept_under_what_was_read(
    tmp_path: Path, store: Store
) -> None:
    tools = Tools()
    running = execution(tmp_path, tools)
    tools.meanwhile = lambda: (tmp_path / "source" / "in.txt").write_text("edited")
    run_action(MAKE, running, store)
    assert kept(store) == 1
    tools.meanwhile = lambda: None
    run_action(MAKE, execution(tmp_path / "other", tools), store)
    assert (tmp_path / "other" / "out" / "product").read_bytes() == b"HELLO!"
    assert len(tools.calls) == 1
    run_action(MAKE, execution(tmp_path, tools, "edited"), store)
    assert (tmp_path / "out" / "product").read_bytes() == b"EDITED!"


def test_what_was_altered_since_it_was_made_is_refused_and_nothing_is_kept_of_it(
    tmp_path: Path, store: Store
) -> None:
    running = execution(tmp_path, Tools())
    run_action(MAKE, running, store)
    (tmp_path / "out" / "product").write_bytes(b"HELLA!")
    with pytest.raises(BadInput) as caught:
        run_action(FINISH, running, store)
    assert str(caught.value) == (
        f"{tmp_path}/out/product: file has changed while the build ran\nhint: build again"
    )
    assert sorted(contents(tmp_path)) == [JOURNAL, "product"]


def test_a_product_is_not_sealed_over_a_link_that_came_meanwhile(tmp_path: Path) -> None:
    inner = Place(Root.OUT, "sub/product")
    make = Action(SHOUT, "it", (("made", inner),), MAKE.inputs, MAKE.parameters)
    finish = Action(CLOSE, "it", FINISH.outputs, (("product", inner),))
    running = execution(tmp_path, Tools(), graph=Graph("g", (make, finish), SEAL))
    run_action(make, running)
    (tmp_path / "out" / "sub").rename(tmp_path / "elsewhere")
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput) as caught:
        run_action(finish, running)
    assert str(caught.value) == (
        f'{tmp_path}/out: folder holds "sub", which has come while the build ran\nhint: build again'
    )
    assert not (tmp_path / "out" / "seal.json").exists()


def test_what_ran_while_the_tool_was_swapped_is_not_kept(tmp_path: Path, store: Store) -> None:
    tools = Tools()
    running = execution(tmp_path, tools)
    tools.meanwhile = lambda: setattr(tools, "version", "2")
    run_action(MAKE, running, store)
    assert kept(store) == 0


def test_a_stage_that_is_quicker_than_the_store_is_never_asked_of_it(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Tools()
    monkeypatch.delattr(Store, "all_outputs")  # nobody asks for it
    quick = Stage("shout", "SHOUT", MODULE, shout, is_kept=False)
    action = Action(quick, "it", MAKE.outputs, MAKE.inputs, MAKE.parameters)
    for _ in range(2):
        run_action(action, execution(tmp_path, tools), store)
    assert tools.calls == ["shout", "shout"]
    assert kept(store) == 0


def test_a_build_goes_on_without_a_store_that_takes_nothing(tmp_path: Path, store: Store) -> None:
    store.trouble = "store takes nothing more"
    tools = Tools()
    run_graph(execution(tmp_path, tools), store)
    assert sorted(contents(tmp_path)) == ["product", "seal.json"]
    assert kept(store) == 0


@pytest.mark.parametrize(
    ("raised", "calls", "message"),
    [
        (BadInput("bad line", location="in.txt"), ["run", "explain"], "it: explained"),
        (ToolchainFailed("did not finish", location="tool"), ["run"], "it: tool: did not finish"),
    ],
)
def test_only_what_a_source_is_refused_for_is_explained_by_another_run(
    raised: NetraError, calls: list[str], message: str, tmp_path: Path
) -> None:
    def run(inputs: Inputs, parameters: Parameters, tools: Tools) -> Outputs:
        tools.calls.append("run")
        raise raised

    def explain(error: NetraError, hints: Inputs, tools: Tools) -> NetraError:
        tools.calls.append("explain")
        return BadInput("explained")

    stage = Stage("run", "RUN", MODULE, run, uses_tools=True, explain=explain)
    action = replace(MAKE, stage=stage, parameters=(), hints=(("main:in.txt", SOURCE),))
    tools = Tools()
    with pytest.raises(NetraError) as caught:
        run_action(action, execution(tmp_path, tools))
    assert (str(caught.value), tools.calls) == (message, calls)
