"""The native part is that of the installation: no library root has one, or could slip one in."""

from __future__ import annotations

import os

import pytest

from netra_build.build.freshness.input_trace import InputTrace
from netra_build.cli.places import toolchain_at
from netra_build.scons.context import BuildContext


class Environment(dict):
    """What the tool chain of a build is looked for with, in a project elsewhere."""

    def __init__(self, folder, path):
        super().__init__(NETRA_TOOLCHAIN="", NETRA_ROCM_PATH="", NETRA_STORE="")
        self.update(NETRA_STORE_BYTES=0, ENV={"PATH": path})
        self.folder = folder

    def Dir(self, name):
        return self.folder


@pytest.mark.parametrize("front", ["command line", "SCons"])
def test_a_library_elsewhere_is_built_with_the_native_part(
    front, native_library, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    if front == "SCons":
        tools = BuildContext().tools(Environment(tmp_path, os.environ["PATH"]))
    else:
        tools = toolchain_at(None, InputTrace())
    assert tools.native_identity() == {"library_digest": native_library.digest}
    tools.close()
