"""Graphs are plain data whose order and owners are checked; actions write all or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netra_build.build.graph.actions import (
    Action,
    Graph,
    Inputs,
    Outputs,
    Parameters,
    Place,
    Root,
    Stage,
    check_graph,
)
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_action, run_graph
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError, Refused

SOURCE = Place(Root.SOURCE, "in.txt")
OTHER = Place(Root.SOURCE, "other")
MIDDLE = Place(Root.WORK, "middle")
PRODUCT = Place(Root.OUT, "product")
SEAL = Place(Root.OUT, "seal.json")


def shout(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the input in capitals with the parameter and the tool behind it."""
    text = inputs["text"].decode().upper() + parameters.get("end", "") + (tools or "")
    return {"made": text.encode()}


def close(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return a seal that names the product."""
    return {"seal": b'{"files": {"product": 0}}'}


def refuse(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Refuse always."""
    raise Refused("no")


def better(error: NetraError, hints: Inputs, tools: Any) -> NetraError:
    """Return an error that quotes the hint."""
    return BadInput(f"{error.fact}: {hints['why'].decode()}")


SHOUT = Stage("shout", "SHOUT", __name__, shout)
CLOSE = Stage("close", "CLOSE", __name__, close)
REFUSE = Stage("refuse", "NO", __name__, refuse, explain=better)


def step(stage: Stage, given: Place, role: str, made: Place, **parameters: str) -> Action:
    """Return an action with one input and one output."""
    pairs = tuple(sorted(parameters.items()))
    return Action(stage, "it", ((role, made),), (("text", given),), pairs)


def execution(folder: Path, *actions: Action, seal: Place | None = None) -> Execution:
    """Return an execution below ``folder`` with the tool ``!``."""
    paths = {root: folder / root.value for root in Root}
    return Execution(Graph("g", actions, seal), Folders(paths), RealDisk(), "!")


def test_a_graph_runs_in_order(tmp_path: Path) -> None:
    actions = [
        step(SHOUT, SOURCE, "made", MIDDLE, end="?"),
        step(SHOUT, MIDDLE, "made", PRODUCT),
    ]
    RealDisk().write_bytes(tmp_path / "source/in.txt", b"hello")
    run_graph(execution(tmp_path, *actions))
    assert (tmp_path / "out/product").read_bytes() == b"HELLO?!!"


def test_a_failing_action_writes_nothing_and_is_explained_by_its_hint(tmp_path: Path) -> None:
    RealDisk().write_bytes(tmp_path / "source/in.txt", b"because")
    action = Action(REFUSE, "it", (("made", PRODUCT),), hints=(("why", SOURCE),))
    with pytest.raises(BadInput, match=r"^it: no: because$"):
        run_action(action, execution(tmp_path, action))
    assert not (tmp_path / "out").exists()


def test_an_undeclared_output_is_our_bug(tmp_path: Path) -> None:
    RealDisk().write_bytes(tmp_path / "source/in.txt", b"x")
    action = step(SHOUT, SOURCE, "other", PRODUCT)
    with pytest.raises(ValueError, match=r"made \['made'\], declared \['other'\]"):
        run_action(action, execution(tmp_path, action))


def test_the_seal_is_withdrawn_first_and_written_last(tmp_path: Path) -> None:
    RealDisk().write_bytes(tmp_path / "source/in.txt", b"x")
    RealDisk().write_bytes(tmp_path / "out/seal.json", b'{"files": {"old": 0}}')
    RealDisk().write_bytes(tmp_path / "out/old", b"")
    made = step(SHOUT, SOURCE, "made", PRODUCT)
    seal = step(CLOSE, PRODUCT, "seal", SEAL)
    running = execution(tmp_path, made, seal, seal=SEAL)
    run_action(made, running)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [".netra-unfinished.json", "product"]
    run_action(seal, running)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["product", "seal.json"]


def test_check_graph_accepts_a_proper_order() -> None:
    graph = Graph("g", (step(SHOUT, SOURCE, "made", MIDDLE), step(SHOUT, MIDDLE, "made", PRODUCT)))
    check_graph(graph)
    assert graph.sources() == (SOURCE,)
    assert graph.products(Root.OUT) == ("product",)


@pytest.mark.parametrize(
    ("actions", "fact"),
    [
        (
            (step(SHOUT, MIDDLE, "made", PRODUCT), step(SHOUT, SOURCE, "made", MIDDLE)),
            "work:middle is used before it is made",
        ),
        ((step(SHOUT, MIDDLE, "made", PRODUCT),), "nothing makes work:middle"),
        (
            (step(SHOUT, SOURCE, "made", PRODUCT), step(CLOSE, SOURCE, "seal", PRODUCT)),
            "out:product cannot be made here",
        ),
        ((step(SHOUT, SOURCE, "made", OTHER),), "source:other cannot be made here"),
    ],
)
def test_check_graph_refuses_disorder(actions: tuple[Action, ...], fact: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_graph(Graph("g", actions))
    assert str(caught.value).endswith(fact)


@pytest.mark.parametrize("name", ["../x", "/x", "a/../b", "a//b", "./a"])
def test_a_place_stays_below_its_root_and_has_one_spelling(name: str) -> None:
    with pytest.raises((BadInput, ValueError)):
        Place(Root.OUT, name)
