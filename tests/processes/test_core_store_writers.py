"""Many processes write, some are killed at any moment: the store stays whole."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

from netra_build.build.cache.store import open_store
from netra_build.cli.store import verified

WRITERS = 8
ACTIONS = 40
BOUND = 2 * 1024 * 1024

WRITER = """
import random, sys
from pathlib import Path
from netra_build.build.cache.store import open_store
seed, count = int(sys.argv[2]), int(sys.argv[3])
store = open_store(Path(sys.argv[1]), int(sys.argv[4]))
order = random.Random(seed)
while True:
    number = order.randrange(count)
    outputs = {role: f"{number} {role} ".encode() * 800 for role in ("object", "listing")}
    action = f"{number:064x}"
    found = store.outputs(action, outputs)
    if found is not None and found != outputs:
        print("WRONG", flush=True)
    store.put_outputs(action, outputs)
    store.put_record("trace", str(number % 5), {"number": number, "seed": seed})
    if store.trouble:
        print(store.trouble, flush=True)
    print("done", flush=True)
"""


def start(root: Path, seed: int) -> subprocess.Popen:
    words = [str(root), str(seed), str(ACTIONS), str(BOUND)]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def wait_for(child: subprocess.Popen, rounds: int) -> list[bytes]:
    """Return the lines of a writer's next rounds."""
    lines: list[bytes] = []
    while lines.count(b"done\n") < rounds:
        line = child.stdout.readline()
        assert line, child.stderr.read()
        lines.append(line)
    return lines


def test_killed_writers_leave_nothing_that_is_wrong(tmp_path: Path, rng: random.Random) -> None:
    root = tmp_path / "store"
    children = [start(root, number) for number in range(WRITERS)]
    said: list[bytes] = []
    try:
        for number in range(WRITERS, 2 * WRITERS):
            victim = rng.randrange(WRITERS)
            said += wait_for(children[victim], rng.randrange(5, 40))
            children[victim].send_signal(signal.SIGKILL)
            children[victim].communicate()
            children[victim] = start(root, number)
        for child in children:
            said += wait_for(child, 20)
    finally:
        for child in children:
            child.kill()
            child.communicate()
    assert set(said) == {b"done\n"}
    store = open_store(root, BOUND)
    found = list(verified(store.files))
    assert len(found) > ACTIONS
    assert [name for name, fault in found if fault] == []
    for number in range(ACTIONS):
        outputs = {role: f"{number} {role} ".encode() * 800 for role in ("object", "listing")}
        assert store.outputs(f"{number:064x}", outputs) in (None, outputs)
