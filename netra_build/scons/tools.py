"""The tool chain of an environment: looked for once, and future early where that takes long.

Without a memory of them, programs are started for their versions and hundreds of megabytes of
libraries are hashed. Meanwhile this process can load the rest of the package and plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Action

from netra_build.asm.tools.tool_identity import ToolMemory
from netra_build.asm.tools.toolchain import Toolchain, find_toolchain
from netra_build.build.cache.store import ANSWER, store_place
from netra_build.build.digests.loaded_code import note_folder
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk, absolute, joined
from netra_build.build.workers.future import Future, begin
from netra_build.core.disk import RealDisk
from netra_build.core.errors import NetraError
from netra_build.core.memory import KeptAnswers, Memory
from netra_build.core.stamps import FileState, process_start_ns
from netra_build.core.streams import known_digests, remember_digest

if TYPE_CHECKING:
    from netra_build.scons.context import BuildContext
    from netra_build.scons.up_to_date import UpToDateCheck

TOOLCHAINS = ".toolchain"
RECORDS = "records"


@dataclass(frozen=True)
class Wanted:
    """What a tool chain is looked for with."""

    explicit: str
    """The folder that was named; nothing else is looked at then."""
    rocm: str
    path: str
    top: str
    """The folder of the build, which may hold tools of its own."""

    @property
    def local(self) -> Path:
        """Return the folder of unpacked packages and of the native part."""
        return Path(self.top) / TOOLCHAINS


@dataclass(frozen=True)
class Found:
    """A tool chain, and all that was learnt of its files."""

    programs: Toolchain
    identity: dict[str, str]
    input_trace: InputTrace
    digests: dict[FileState, str]


_SEARCHES: dict[Wanted, Future[tuple[Found, KeptAnswers]]] = {}


def begin_search(check: UpToDateCheck, path: str) -> None:
    """Look for the tool chain in a copy of this process, unless a store may know it already.

    ``path`` is that of SCons's environment. Whoever wants another tool chain looks for it himself.
    """
    try:
        place = store_place(check.variables.get("store", ""), check.environment)
    except NetraError:
        return  # it is refused when all variables are read
    if place is not None and RealDisk().is_folder(place.root / RECORDS / ANSWER):
        return
    explicit, rocm = check.variables.get("toolchain", ""), check.environment.get("ROCM_PATH", "")
    wanted, started_ns = Wanted(explicit, rocm, path, str(Path.cwd())), process_start_ns()

    def search() -> tuple[Found, KeptAnswers]:
        answers = KeptAnswers()
        found = _found(wanted, answers, started_ns)
        return replace(found, programs=replace(found.programs, memory=ToolMemory())), answers

    future = begin(search)
    if future is not None:
        _SEARCHES[wanted] = future


def toolchain_of(env: Any) -> Toolchain:
    """Return the tool chain of an environment, looked for once."""
    from netra_build.asm.native.session import with_native_part

    context: BuildContext = env["NETRA_CONTEXT"]
    if context.toolchain is None:
        path, top = env["ENV"].get("PATH", ""), env.Dir("#").abspath
        wanted = Wanted(env["NETRA_TOOLCHAIN"], env["NETRA_ROCM_PATH"], path, top)
        memory = _memory_of(env)
        found = _found_before(wanted, memory)
        if found is None:
            found = _found(wanted, memory, context.input_trace.started_ns)
        context.has_path_tools = str(found.programs.assembler.path.parent) in path.split(":")
        context.system_trace = joined(context.system_trace, found.input_trace)
        context.tool_identity = found.identity
        context.toolchain = with_native_part(found.programs, wanted.local / "native")
    return context.toolchain


def _memory_of(env: Any) -> Memory | None:
    is_dry = not SCons.Action.execute_actions  # and leaves no store
    memory: Memory | None = None if is_dry else env["NETRA_CONTEXT"].store(env)
    return memory


def _found(wanted: Wanted, memory: Memory | None, started_ns: int) -> Found:
    input_trace = InputTrace(started_ns)
    programs = find_toolchain(
        Path(wanted.explicit) if wanted.explicit else None,
        rocm_path=Path(wanted.rocm) if wanted.rocm else None,
        local=wanted.local,
        path=wanted.path,
        disk=RecordingDisk(input_trace),
        memory=memory,
    )
    note_folder(input_trace, absolute(wanted.local / "native"))
    return Found(
        programs, programs.identity(RecordingDisk(input_trace)), input_trace, known_digests()
    )


def _found_before(wanted: Wanted, memory: Memory | None) -> Found | None:
    """Return what was found by the search that was future for this; None if there was none."""
    future = _SEARCHES.pop(wanted, None)
    answer = future.answer() if future is not None else None
    if answer is None:
        return None
    found, answers = answer
    for state, digest in found.digests.items():
        remember_digest(state, digest)
    if memory is not None:
        answers.tell(memory)
    known = ToolMemory(memory if memory is not None else answers)
    return replace(found, programs=replace(found.programs, memory=known))
