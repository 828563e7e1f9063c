"""A process that may not write more than a few bytes leaves a whole store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from netra_build.build.cache.store import open_store

LIMITED = """
import resource, signal, sys
from pathlib import Path
from netra_build.build.cache.store import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
store = open_store(Path(sys.argv[1]))
store.put_outputs("1" * 64, {"made": b"small"})
store.put_outputs("2" * 64, {"made": b"large" * 4000})
print(store.trouble)
"""


def test_a_write_that_is_cut_off_leaves_no_half_file(tmp_path: Path) -> None:
    """The system itself refuses the second half of a file."""
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "store")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == f"store {tmp_path}/store takes nothing more: file too large\n"
    store = open_store(tmp_path / "store")
    assert store.outputs("1" * 64, ["made"]) == {"made": b"small"}
    assert store.outputs("2" * 64, ["made"]) is None
    assert list((tmp_path / "store" / "parts").iterdir()) == []
