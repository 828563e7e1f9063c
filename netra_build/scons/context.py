"""What one environment has declared and noted so far: the state behind the tool's methods."""

from __future__ import annotations

import atexit
import sys
import threading
from pathlib import Path
from typing import Any

import SCons.Action

from netra_build.asm.native.session import NativeToolchain, with_native_part
from netra_build.asm.tools.bounds import tool_bounds
from netra_build.asm.tools.toolchain import find_toolchain
from netra_build.build.cache.store import Store, open_store
from netra_build.build.digests.action_digest import TOOLCHAINS
from netra_build.build.freshness.freshness import FILE_NAME as OUTPUTS_NAME
from netra_build.build.freshness.freshness import Freshness, OutputRecord
from netra_build.build.freshness.input_trace import (
    InputTrace,
    RecordingDisk,
    absolute,
    note_folder,
)
from netra_build.build.graph.actions import Action, Paths
from netra_build.build.graph.product import Product
from netra_build.build.record.run_record import FILE_NAME as RUNS_NAME
from netra_build.build.record.run_record import RunRecord
from netra_build.build.run.execution import Execution, Tally
from netra_build.build.run.executor import altered
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, NetraError
from netra_build.core.stamps import Row, process_start_ns
from netra_build.formats.library import Library, open_library
from netra_build.scons.nodes import StepExecutor
from netra_build.scons.steps import Step, node_is_done
from netra_build.scons.up_to_date import lock_build

_RECORDS: dict[str, OutputRecord] = {}
_RUNS: dict[str, RunRecord] = {}
"""Records by build folder: environments that are no clones of each other may share one."""


class BuildContext:
    """What one environment and its clones have declared already; shared, never copied."""

    def __init__(self) -> None:
        self.action_by_paths: dict[Paths, Action] = {}
        self.node_by_path: dict[str, Any] = {}
        """Nodes of what actions make and read."""
        self.toolchain: NativeToolchain | None = None
        self.tool_identity: dict[str, str] = {}
        self.has_path_tools = False
        """Whether the tool chain was found on the path of SCons's environment."""
        self.library_by_root: dict[str, Library] = {}
        self.notes: list[str] = []
        self.executions: list[Execution] = []
        self.tally = Tally()
        self.steps: list[Step] = []
        """Every action that was declared, each after what it needs."""
        self.said: list[str] = []
        """What was printed as the result of what was asked for."""
        self.input_trace = InputTrace(process_start_ns())
        """What was looked at in the library."""
        self.system_trace = InputTrace(self.input_trace.started_ns)
        """What was looked at for the tool chain, and what else runs."""
        self.code = ""
        """Digest of all that runs, once it is known."""
        self.executor = StepExecutor(self.steps, self.store, self._begin_in_worker)
        self.verify = False
        self.has_front = False
        """Whether somebody else calls ``finish``, once all is said about the build."""
        self._record: OutputRecord | None = None
        self._freshness: Freshness | None = None
        self.runs: RunRecord | None = None
        self._store: Store | None = None
        self._is_store_known = False
        self._is_trouble_said = False
        self._lock = threading.Lock()

    def record(self, env: Any) -> OutputRecord:
        """Return the record of what was written, read once the build folder is locked."""
        if self._record is None:
            build = str(env.Dir(env["NETRA_BUILD"]))
            lock_build(build)
            path = Path(build) / "work" / OUTPUTS_NAME
            if build not in _RECORDS:
                _RECORDS[build] = OutputRecord(path, RealDisk(), verify=self.verify)
            self._record = _RECORDS[build]
            atexit.register(self._finish_alone)
        return self._record

    def freshness(self, env: Any) -> Freshness:
        """Return what is known of files and actions; the tool chain was looked for before."""
        if self._freshness is None:
            self._freshness = Freshness(self.record(env), RealDisk(), self.tool_identity)
        return self._freshness

    def run_record(self, env: Any) -> RunRecord:
        """Return the record of runs; it is saved with that of outputs."""
        if self.runs is None:
            build = str(env.Dir(env["NETRA_BUILD"]))
            record = RunRecord(Path(build) / "work" / RUNS_NAME, RealDisk())
            self.runs = _RUNS.setdefault(build, record)
        return self.runs

    def confirmed(self) -> list[tuple[str, dict[str, Row]]]:
        """Return stamp and digest by absolute path of all that was up to date or made.

        It is grouped by the digest of the action that made it, empty for one that is not known.
        Raises ``BadInput`` when a file is not what was written.
        """
        found: list[tuple[str, dict[str, Row]]] = []
        for step in self.steps:
            if node_is_done(step.node):
                record, rows = step.freshness.record, {}
                for path in step.output_paths:
                    row = record.confirmed(path)
                    if row is None:
                        raise altered(path)
                    rows[absolute(path)] = row
                found.append((record.action_digest(step.output_paths) or "", rows))
        return found

    def products(self) -> list[Product]:
        """Return the whole products that have their folders to themselves."""
        products = [one.product for one in self.executions if one.product is not None]
        return [
            one
            for one in products
            if one.is_alone and node_is_done(self.node_by_path[str(one.folder / one.seal)])
        ]

    def warnings(self) -> list[str]:
        """Return the warnings in the reports of all that is made."""
        notes: list[str] = []
        for one in self.executions:
            paths = [one.folders.name(place) for place in one.graph.reports]
            if all(node_is_done(self.node_by_path[path]) for path in paths):
                notes += one.warnings()
        return notes

    def store(self, env: Any) -> Store | None:
        """Return the store that ``NETRA_STORE`` names, opened once; one line says why not."""
        with self._lock:
            if not self._is_store_known:
                self._is_store_known = True
                self._store = _open_store(env["NETRA_STORE"], env["NETRA_STORE_BYTES"])
            return self._store

    def library(self, env: Any, root: str | None = None) -> Library:
        """Return the library root of an environment, opened once."""
        path = str(env.Dir(root or env["NETRA_LIBRARY_ROOT"]))
        if path not in self.library_by_root:
            disk = RecordingDisk(self.input_trace)
            try:
                self.library_by_root[path] = open_library(disk, Path(path), ())
            except BadInput as error:
                error.hint = "NETRA_LIBRARY_ROOT or library_root= names the kernel library"
                raise
        return self.library_by_root[path]

    def tools(self, env: Any) -> NativeToolchain:
        """Return the tool chain of the environment, looked for once."""
        if self.toolchain is None:
            explicit, rocm = env["NETRA_TOOLCHAIN"], env["NETRA_ROCM_PATH"]
            path, local = env["ENV"].get("PATH", ""), TOOLCHAINS
            is_dry = not SCons.Action.execute_actions  # and leaves no store
            store = None if is_dry else self.store(env)
            seen, disk = self.system_trace, RecordingDisk(self.system_trace)
            programs = find_toolchain(
                Path(explicit) if explicit else None,
                rocm_path=Path(rocm) if rocm else None,
                local=local,
                path=path,
                disk=disk,
                memory=store,
                bounds=tool_bounds(env),
            )
            note_folder(seen, absolute(local / "native"))
            self.tool_identity = programs.identity(disk)
            self.has_path_tools = str(programs.assembler.path.parent) in path.split(":")
            self.toolchain = with_native_part(programs, local / "native")
        return self.toolchain

    def _begin_in_worker(self) -> None:
        """Share no lock and no other process with the one that this one was copied from."""
        self._lock = threading.Lock()
        if self._store is not None:
            self._store = self._store.opened_anew()
        if self.toolchain is not None:
            self.toolchain.native.begin_anew()
        if self.runs is not None:
            self.runs.begin_anew()

    def _finish_alone(self) -> None:
        if not self.has_front:
            self.finish()

    def finish(self) -> None:
        """Save the records and say what became of the store; also for a front that ends at once."""
        self.executor.end_workers()
        for record in (self._record, self.runs):
            try:
                if record is not None:
                    record.save()
            except NetraError as error:  # what was made stays; the next build makes it again
                print(f"netra: {error.line()}; not on record", file=sys.stderr)
        if self._store is not None and self._store.trouble and not self._is_trouble_said:
            self._is_trouble_said = True
            print(f"netra: {self._store.trouble}", file=sys.stderr)


def _open_store(folder: str, max_bytes: int) -> Store | None:
    if not folder:
        return None
    try:
        return open_store(Path(folder).absolute(), max_bytes)
    except BadInput as error:
        print(f"netra: {error.line()}; going on without it\nhint: {error.hint}", file=sys.stderr)
        return None
