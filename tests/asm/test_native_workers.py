"""Workers that crash, hang, grow or are killed cost one message; the build goes on."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from netra_build.asm.native import workers
from netra_build.asm.native.session import NativeLibrary, with_native_part
from netra_build.asm.tools import programs
from netra_build.asm.tools.bounds import Bounds
from netra_build.asm.tools.programs import AssemblyFailed, LinkFailed, Program
from netra_build.core.errors import BadInput, ToolchainFailed

ROOT = Path(__file__).resolve().parent.parent.parent
GOOD = b"\ts_endpgm\n"
FATAL = b"\t.size a, b\na:\n"
ENDLESS_TREE = {"unit.s": b'\t.include "a.inc"\n', "a.inc": b'\t.include "a.inc"\n'}
HUGE_OUTPUT = b"\t.zero 0x20000000\n"
HUGE_MEMORY = b"\ts_nop 0\n\t.p2align 31\n\ts_nop 0\n"
TWICE = b"\t.macro M n\n\t.if \\n\n\tM \\n-1\n\tM \\n-1\n\t.endif\n\t.endm\n\tM 40\n"
NESTED = b"\t.rept 100000\n\t.rept 100000\n\ts_nop 0\n\t.endr\n\t.endr\n"
ENDLESS = (TWICE, NESTED)


SLOW_TO_LOAD = ("collections", "enum", "re", "runpy", "signal", "socket", "typing")
"""Each takes longer to load than a worker takes for several kernels."""


def workers_of(native) -> list[workers.Worker]:
    """Return the workers that do nothing now."""
    return [worker for worker in native.native._pool._slots.queue if worker is not None]


def pids_of(native) -> list[int]:
    """Return the process numbers of the idle workers."""
    return [worker._process.pid for worker in workers_of(native)]


def is_ended(pid: int, seconds: float = 20) -> bool:
    """Wait for the end of a process that need not be our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def failure(call, *arguments: object) -> str:
    """Return the message of a tool that failed."""
    with pytest.raises(ToolchainFailed) as caught:
        call(*arguments)
    return str(caught.value)


def test_nothing_is_started_before_it_is_needed(native):
    assert pids_of(native) == []
    native.assemble(GOOD)
    native.assemble(GOOD)
    assert len(pids_of(native)) == 1


def test_a_fatal_error_costs_one_message_and_the_worker(toolchain, native):
    native.assemble(GOOD)
    (first,) = pids_of(native)
    assert failure(native.assemble, FATAL) == (
        "in-process assembler: was ended by signal SIGABRT: Size expression must be absolute."
    )
    assert failure(toolchain.assemble, FATAL) == (
        f"{toolchain.assembler.path}: was ended by signal SIGABRT"
    )
    assert is_ended(first)
    assert native.assemble(GOOD) == toolchain.assemble(GOOD)
    assert pids_of(native) != [first]


def test_an_error_before_the_fatal_one_is_the_sources(toolchain, native):
    unit = b"\t.bss\n\ts_nop 0\n" + FATAL
    for tools in (toolchain, native):
        with pytest.raises(AssemblyFailed) as caught:
            tools.assemble(unit)
        assert caught.value.fact == "BSS section '.bss' cannot have non-zero bytes"


def test_a_hang_costs_one_message_and_the_worker(make_native):
    native = make_native(bounds=Bounds(1.0))
    assert failure(native.assemble_tree, ENDLESS_TREE, "unit.s") == (
        "in-process assembler: did not finish within 1 seconds\n"
        "hint: NETRA_TOOL_SECONDS allows more"
    )
    assert pids_of(native) == []
    assert native.assemble(GOOD)


def test_too_much_output_is_what_it_is_for_the_program(toolchain, native):
    words = "wrote more than 268435456 bytes"
    assert failure(native.assemble, HUGE_OUTPUT) == f"in-process assembler: {words}"
    assert failure(toolchain.assemble, HUGE_OUTPUT) == f"{toolchain.assembler.path}: {words}"
    assert native.assemble(GOOD)


def test_too_much_memory_costs_one_message_and_the_worker(toolchain, native):
    words = "needs more than 1073741824 bytes of memory\nhint: NETRA_TOOL_BYTES allows more"
    assert failure(native.assemble, HUGE_MEMORY) == f"in-process assembler: {words}"
    assert failure(toolchain.assemble, HUGE_MEMORY) == f"{toolchain.assembler.path}: {words}"
    assert native.assemble(GOOD)


@pytest.mark.parametrize("unit", ENDLESS)
def test_what_expands_without_end_is_ended(unit, toolchain, make_native):
    bounds = Bounds(0.5)
    words = "did not finish within 0.5 seconds\nhint: NETRA_TOOL_SECONDS allows more"
    hurried = replace(toolchain, bounds=bounds)
    assert failure(hurried.assemble, unit) == f"{toolchain.assembler.path}: {words}"
    native = make_native(bounds=bounds)
    assert failure(native.assemble, unit) == f"in-process assembler: {words}"


def test_an_error_behind_many_warnings_is_the_one_that_is_told(toolchain, native):
    unit = b'\t.rept 20000\n\t.warning "early"\n\t.endr\n\t.error "late"\n'
    for tools in (toolchain, native):
        with pytest.raises(AssemblyFailed) as caught:
            tools.assemble(unit)
        assert str(caught.value) == "unit.s:4:2: late"
        assert caught.value.raw.startswith("unit.s:4:2: error: late\n")


def test_a_crash_of_the_linker_or_the_disassembler_names_it(native, monkeypatch):
    ended = workers.WorkerEnded(-signal.SIGSEGV, "")

    def crash(*_: object) -> None:
        raise ended

    unit = native.assemble(GOOD)
    linked = native.link([unit])
    monkeypatch.setattr(workers.WorkerPool, "ask", crash)
    assert failure(native.link, [unit]) == "in-process linker: was ended by signal SIGSEGV"
    with pytest.raises(BadInput) as caught:
        native.disassemble(linked)
    message = "object.hsaco: cannot be disassembled: the tool was ended by signal SIGSEGV"
    assert str(caught.value) == message
    ended.code = 3
    assert failure(native.link, [unit]) == "in-process linker: ended with exit code 3"


def test_a_worker_killed_at_rest_is_replaced_silently(native):
    expected = native.assemble(GOOD)
    (pid,) = pids_of(native)
    os.kill(pid, signal.SIGKILL)
    workers_of(native)[0]._process.wait()
    assert native.assemble(GOOD) == expected


def test_a_worker_killed_at_work_costs_one_message(make_native):
    native = make_native(bounds=Bounds(30.0))
    native.assemble(GOOD)
    (pid,) = pids_of(native)
    killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    killer.start()
    message = failure(native.assemble_tree, ENDLESS_TREE, "unit.s")
    killer.join()
    assert message == "in-process assembler: was ended by signal SIGKILL"
    assert native.assemble(GOOD)


def test_a_worn_worker_is_replaced(native, monkeypatch):
    monkeypatch.setattr(workers, "MAX_REQUESTS", 2)
    native.assemble(GOOD)
    (first,) = pids_of(native)
    native.assemble(GOOD)
    assert pids_of(native) == []
    native.assemble(GOOD)
    assert pids_of(native) != [first]


def test_many_threads_share_two_workers(toolchain, native):
    units = [f"\ts_nop {n % 16}\n\t.long {n}\n\ts_endpgm\n".encode() for n in range(64)]
    expected = [native.link([native.assemble(unit)]) for unit in units]
    assert expected[7] == toolchain.link([toolchain.assemble(units[7])])
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda unit: native.link([native.assemble(unit)]), units))
    assert got == expected
    assert len(pids_of(native)) <= workers.MAX_WORKERS


def test_threads_go_on_beside_a_crash(native):
    units = [FATAL if n % 4 == 0 else b"\ts_nop %d\n" % n for n in range(16)]

    def kind(unit: bytes) -> str:
        try:
            return "done" if native.assemble(unit) else "empty"
        except (BadInput, ToolchainFailed) as error:
            return error.fact

    with ThreadPoolExecutor(4) as threads:
        got = list(threads.map(kind, units))
    fatal = "was ended by signal SIGABRT: Size expression must be absolute."
    assert got == [fatal if unit == FATAL else "done" for unit in units]


def test_closing_ends_the_workers_and_their_folders(native):
    native.link([native.assemble(GOOD)])
    (pid,) = pids_of(native)
    folder = Path(os.readlink(f"/proc/{pid}/cwd"))
    assert [os.readlink(entry).rpartition("/")[0] for entry in folder.iterdir()] == [
        "/proc/self/fd"
    ]
    files = [Path(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    in_memory = [file for file in files if os.readlink(file).startswith("/memfd:netra")]
    assert [file.read_bytes() for file in in_memory] == [b"", b""]
    native.close()
    assert is_ended(pid)
    assert not folder.exists()
    assert native.assemble(GOOD)


PROGRAM = """
import sys
from pathlib import Path
from netra_build.asm.native.session import with_native_part
from netra_build.asm.tools.toolchain import find_toolchain

native = with_native_part(find_toolchain(local=Path(sys.argv[2])), Path(sys.argv[1]))
native.assemble(b"\\ts_endpgm\\n")
(worker,) = [item for item in native.native._pool._slots.queue if item is not None]
print(worker._process.pid, flush=True)
sys.stdin.readline()
"""


def start_program(root: Path, folder: Path) -> tuple[subprocess.Popen[str], int]:
    """Start a Python that has one worker, and return it with the worker's process number."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), str(root / ".toolchain")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(root)},
        text=True,
    )
    assert program.stdout is not None
    return program, int(program.stdout.readline())


@pytest.mark.parametrize("end", ["at its end", "killed"])
def test_no_worker_outlives_the_build(root, native_folder, end):
    program, pid = start_program(root, native_folder)
    folder = Path(os.readlink(f"/proc/{pid}/cwd"))
    with program:
        if end == "killed":
            program.kill()
        else:
            program.communicate("\n")
    assert is_ended(pid)
    assert not folder.exists()


def test_an_interrupt_of_the_build_is_not_the_workers(root, native_folder):
    program, pid = start_program(root, native_folder)
    with program:
        assert os.getpgid(pid) != os.getpgid(program.pid)
        program.communicate("\n")


def test_a_library_that_does_not_load_leaves_the_programs(toolchain, native_library, tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF")
    native = with_native_part(toolchain, None)
    native.native.use(toolchain, NativeLibrary(broken, native_library.llvm_path, ""))
    assert native.assemble(GOOD) == toolchain.assemble(GOOD)
    assert native.native_identity() == {
        "absence": f"does not load: OSError: {broken}: file too short"
    }
    assert native.assemble(GOOD) == toolchain.assemble(GOOD)


def test_without_a_library_the_programs_work(toolchain, tmp_path):
    for folder in (None, tmp_path / "nothing", tmp_path):
        native = with_native_part(toolchain, folder)
        linked = native.link([native.assemble(GOOD)])
        assert linked == toolchain.link([toolchain.assemble(GOOD)])
        assert native.disassemble(linked) == toolchain.disassemble(linked)
        assert native.native_identity() == {
            "absence": "no native library was built for this tool chain"
        }
        native.close()


def test_a_tool_chain_without_a_disassembler_stays_without(make_native):
    native = replace(make_native(), disassembler=None)
    assert failure(native.disassemble, b"") == (
        "this tool chain (system) has no disassembler\n"
        "hint: install LLVM's llvm-objdump (Debian: llvm-22)"
    )


def test_what_a_source_prints_is_no_part_of_what_is_linked(toolchain, native):
    talkative = b'\t.print "said in the middle"\n' + GOOD
    assert native.link([native.assemble(talkative)]) == toolchain.link([toolchain.assemble(GOOD)])


def test_links_of_any_number_of_inputs_follow_each_other(toolchain, native):
    objects = [native.assemble(f"\t.globl s{n}\ns{n}:\n\t.long {n}\n".encode()) for n in range(40)]
    for count in (1, 40, 2, 17):
        assert native.link(objects[:count]) == toolchain.link(objects[:count])


def test_a_refused_link_leaves_nothing_to_the_next(toolchain, native):
    unit = native.assemble(GOOD)
    broken = unit[:64] + bytes(len(unit) - 64)
    with pytest.raises(LinkFailed) as caught:
        native.link([unit, broken])
    with pytest.raises(LinkFailed) as expected:
        toolchain.link([unit, broken])
    assert str(caught.value) == str(expected.value)
    assert native.link([unit]) == toolchain.link([unit])


def test_a_worker_does_not_outlive_the_programs_it_was_started_for(
    toolchain, native_library, tmp_path
):
    listing = tmp_path / "llvm-objdump"
    listing.write_text("#!/bin/sh\necho LLVM version 22.1.8\n")
    listing.chmod(0o755)
    programs = replace(toolchain, disassembler=Program("llvm-objdump", listing))
    native = with_native_part(programs, None)
    native.native.use(programs, native_library)
    before = native.identity()
    native.assemble(GOOD)
    (pid,) = pids_of(native)
    assert native.identity() == before
    assert pids_of(native) == [pid]
    listing.write_text("#!/bin/sh\necho LLVM version 22.1.9\n# swapped\n")
    after = native.identity()
    assert after["disassembler_version"] == "22.1.9"
    assert is_ended(pid)
    absence = "no native library was built for this tool chain"
    assert native.native_identity() == {"absence": absence}
    assert native.assemble(GOOD) == toolchain.assemble(GOOD)
    assert native.identity() == after


def test_a_worker_loads_little_before_it_answers():
    asked = (
        programs.WORKER.partition("main(")[0] + "print([n for n in sys.argv if n in sys.modules])"
    )
    command = [sys.executable, "-S", "-P", "-c", asked, *SLOW_TO_LOAD, "ctypes"]
    environment = {"LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "['ctypes']\n"


@pytest.mark.parametrize("is_off", [True, False])
def test_a_worker_leaves_no_bytecode_where_its_build_leaves_none(
    native, tmp_path, monkeypatch, is_off: bool
):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "netra_build", tmp_path / "netra_build", ignore=ignored)
    monkeypatch.setattr(programs, "PACKAGE_PARENT", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", is_off)
    native.assemble(GOOD)
    assert bool(list(tmp_path.rglob("*.pyc"))) is not is_off
