"""The program of a worker process: loads the native library and serves one request at a time.

Started with its end of a socket pair as standard input and a regular file as standard error, where
LLVM reports. Of ``os``, ``socket`` and ``signal`` it imports only what those are made on: the rest
of them takes longer to load than all that LLVM does for ten kernels.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import ctypes
import posix
import resource
from ctypes import POINTER, Structure, c_char_p, c_int, c_size_t

from netra_build.asm.native.protocol import DECLINED, DONE, receive, report_in, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_REPORT_BYTES = 1024**2
MAX_KEPT = 16
"""How many inputs of the linker keep their file from one call to the next."""

ALARM_MARGIN_SECONDS = 10
CHANNEL, STANDARD_OUTPUT, REPORT = 0, 1, 2
READABLE = 4


class _File(Structure):
    _fields_ = (("name", c_char_p), ("data", c_char_p), ("size", c_size_t))


Answer = tuple[int, bytes]
"""Status of the C ABI and what was produced."""

_SIGNATURES: dict[str, Sequence[object]] = {
    "netra_assemble": (*[c_char_p] * 4, POINTER(_File), c_size_t, c_int),
    "netra_link": (POINTER(c_char_p), c_size_t),
    "netra_disassemble": (*[c_char_p] * 4, c_size_t, c_int),
}


class Library:
    """The native library, called with byte strings; what it reads and writes is in memory."""

    def __init__(self, llvm_path: str, path: str) -> None:
        """Load LLVM's own library first, so that ours finds this one; ``OSError`` on failure."""
        ctypes.CDLL(llvm_path, mode=ctypes.RTLD_GLOBAL)
        self._library = ctypes.CDLL(path)
        for name, arguments in _SIGNATURES.items():
            getattr(self._library, name).argtypes = arguments
        self._output = posix.memfd_create("netra")
        self._nowhere = posix.dup(STANDARD_OUTPUT)
        self._inputs: list[int] = []
        """The linker's, each with a link of its name in the working folder."""

    def assemble(self, parts: Sequence[bytes]) -> Answer:
        """Assemble: triple, processor, main file, include root, then names and contents."""
        names, contents = parts[4::2], parts[5::2]
        files = [_File(name, data, len(data)) for name, data in zip(names, contents, strict=True)]
        array = (_File * len(files))(*files)
        call = self._library.netra_assemble
        return self._produce(lambda: call(*parts[:4], array, len(files), self._output))

    def disassemble(self, parts: Sequence[bytes]) -> Answer:
        """Disassemble: triple, processor, name in the listing, code object."""
        call = self._library.netra_disassemble
        return self._produce(lambda: call(*parts[:4], len(parts[3]), self._output))

    def link(self, parts: Sequence[bytes]) -> Answer:
        """Link: flags with blanks between them, then the objects."""
        flags, *objects = parts
        arguments = [*flags.split(), *(b"%d.o" % index for index in range(len(objects)))]
        array = (c_char_p * len(arguments))(*arguments)
        posix.dup2(self._output, STANDARD_OUTPUT)
        try:
            self._fill(objects)
            return self._produce(lambda: self._library.netra_link(array, len(arguments)))
        except OSError:
            return DECLINED, b""
        finally:
            posix.dup2(self._nowhere, STANDARD_OUTPUT)
            for handle in self._inputs[: len(objects)]:
                _empty(handle)
            self._drop_inputs(MAX_KEPT)

    def report(self) -> bytes:
        """Return what the last call reported."""
        return report_in(REPORT, MAX_REPORT_BYTES)

    def leave_folder(self) -> None:
        """Remove the working folder if nothing of others lies there."""
        self._drop_inputs(0)
        try:
            folder = posix.getcwd()
            posix.chdir("/")
            posix.rmdir(folder)
        except OSError:
            return

    def _produce(self, call: Callable[[], int]) -> Answer:
        _empty(REPORT)
        status = call()
        size = posix.fstat(self._output).st_size
        data = posix.pread(self._output, size, 0) if status == DONE else b""
        _empty(self._output)
        return status, data

    def _fill(self, objects: Sequence[bytes]) -> None:
        """Let ``0.o``, ``1.o`` and so on hold the objects; ``OSError`` when they cannot."""
        for index, data in enumerate(objects):
            if index == len(self._inputs):
                handle = posix.memfd_create("netra")
                self._inputs.append(handle)
                posix.symlink(f"/proc/self/fd/{handle}", f"{index}.o")
            if not posix.access(f"{index}.o", READABLE):
                raise OSError
            rest = memoryview(data)
            while rest:
                rest = rest[posix.write(self._inputs[index], rest) :]

    def _drop_inputs(self, kept: int) -> None:
        while len(self._inputs) > kept:
            posix.close(self._inputs.pop())
            try:
                posix.unlink(f"{len(self._inputs)}.o")
            except OSError:
                continue


def _empty(handle: int) -> None:
    posix.ftruncate(handle, 0)
    posix.lseek(handle, 0, 0)


def serve(channel: _socket.socket, library: Library, timeout_seconds: int) -> None:
    """Answer requests until the other side closes the channel.

    A request is the name of a call and its parts; the answer is the status, what was produced
    and the report.
    """
    calls = {
        b"assemble": library.assemble,
        b"link": library.link,
        b"disassemble": library.disassemble,
    }
    send(channel, [])
    while True:
        try:
            name, *parts = receive(channel)
        except EOFError:
            library.leave_folder()
            return
        # When the build is killed nobody else would end a call that never returns.
        _signal.alarm(timeout_seconds + ALARM_MARGIN_SECONDS)
        status, data = calls[name](parts)
        report = library.report() if status else b""
        _signal.alarm(0)
        send(channel, [b"%d" % status, data, report])


def main(arguments: Sequence[str]) -> None:
    """Serve on standard input: LLVM's library, ours, seconds, bytes of memory and of output."""
    llvm_path, path = arguments[:2]
    timeout_seconds, memory_bytes, output_bytes = map(int, arguments[2:])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (output_bytes, output_bytes))
    # Python ignores the first; the second would print a traceback into the report.
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    channel = _socket.socket(fileno=CHANNEL)
    serve(channel, Library(llvm_path, path), timeout_seconds)
