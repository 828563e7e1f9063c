"""The published vectors and their own scripts, run on commands of this process."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import sys
from pathlib import Path

from netra_build.cli.main import main

HERE = Path(__file__).resolve().parents[1] / "data" / "conformance"
CASES = json.loads((HERE / "cases.json").read_text())["compile"]
NEGATIVE = json.loads((HERE / "negative" / "expected.json").read_text())["cases"]
NO_TOOLS = [
    case
    for case in NEGATIVE
    if not any(s.get("tool") or "--build" in s.get("run", ()) for s in case["steps"])
]


def load_script(name: str):
    """Return one of the vectors' own scripts as a module."""
    spec = importlib.util.spec_from_file_location(f"conformance_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


with contextlib.ExitStack() as _stack:
    sys.path.insert(0, str(HERE))
    _stack.callback(sys.path.remove, str(HERE))
    COMPARE, RUN = load_script("compare"), load_script("run")


def run_command(command: str, words: list[str]) -> tuple[int, str, str]:
    """Run one command line in this process, in the vectors' folder."""
    output, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    before = os.getcwd()
    os.chdir(HERE)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = main([*command.split(), *words])
    finally:
        os.chdir(before)
    output.flush()
    return code, output.buffer.getvalue().decode("utf-8"), errors.getvalue()


RUN.call = run_command


def judge(arguments: list[str], identity: str) -> dict[str, int]:
    """Run the vectors' own judgement of one negative case and return what must be zero."""
    parser = argparse.ArgumentParser()
    for option in ("--cli", "--recipe", "--prefix", "--only"):
        parser.add_argument(option, default="")
    options = parser.parse_args(arguments)
    everything = RUN.load
    chosen = [case for case in NEGATIVE if case["id"] == identity]
    RUN.load = lambda name: {"cases": chosen}
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            different = RUN.negative(options)
    finally:
        RUN.load = everything
    last = output.getvalue().strip().splitlines()[-1]
    print(output.getvalue())
    return {"DIFFERENT": different, "open holes": int(last.split(", ")[-1].split(" ")[0])}
