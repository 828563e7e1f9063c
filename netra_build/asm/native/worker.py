"""The program of a worker process: loads the native library and serves one request at a time.

Started with its end of a socket pair as standard input and a regular file as standard error, where
LLVM reports. When LLVM ends the process, the other side finds the socket closed. It imports little
of the standard library, and of ``socket`` and ``signal`` only what those are made on: the rest of
them takes longer to load than all that LLVM does for ten kernels.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import ctypes
import resource
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_void_p

from netra_build.asm.native.protocol import receive, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_REPORT_BYTES = 1024**2
ALARM_MARGIN_SECONDS = 10


class _File(Structure):
    _fields_ = (("name", c_char_p), ("data", c_char_p), ("size", c_size_t))


class _Bytes(Structure):
    _fields_ = (("data", c_void_p), ("size", c_size_t))


Answer = tuple[int, bytes]
"""Status of the C ABI and what was produced."""

_SIGNATURES = {
    "netra_version": (c_char_p, ()),
    "netra_assemble": (
        c_int,
        (*[c_char_p] * 4, POINTER(_File), c_size_t, POINTER(_Bytes)),
    ),
    "netra_link": (
        c_int,
        (POINTER(c_char_p), c_size_t, POINTER(_File), c_size_t, POINTER(_Bytes)),
    ),
    "netra_disassemble": (c_int, (*[c_char_p] * 4, c_size_t, POINTER(_Bytes))),
    "netra_report": (None, (c_size_t, POINTER(_Bytes))),
    "netra_leave_folder": (None, ()),
    "netra_release": (None, (POINTER(_Bytes),)),
}


class Library:
    """The native library, called with byte strings."""

    def __init__(self, llvm_path: str, path: str) -> None:
        """Load LLVM's own library first, so that ours finds this one; ``OSError`` on failure."""
        ctypes.CDLL(llvm_path, mode=ctypes.RTLD_GLOBAL)
        self._library = ctypes.CDLL(path)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments

    def version(self) -> bytes:
        """Return the line that names LLVM and lld."""
        return bytes(self._library.netra_version())

    def assemble(self, parts: Sequence[bytes]) -> Answer:
        """Assemble: triple, processor, main file, include root, then names and contents."""
        files = _files(parts[4:])
        return self._produce(self._library.netra_assemble, *parts[:4], files, len(files))

    def link(self, parts: Sequence[bytes]) -> Answer:
        """Link: number of arguments, arguments, then names and contents."""
        count = int(parts[0])
        arguments = (c_char_p * count)(*parts[1 : 1 + count])
        files = _files(parts[1 + count :])
        return self._produce(self._library.netra_link, arguments, count, files, len(files))

    def disassemble(self, parts: Sequence[bytes]) -> Answer:
        """Disassemble: triple, processor, name in the listing, code object."""
        return self._produce(self._library.netra_disassemble, *parts[:4], len(parts[3]))

    def report(self) -> bytes:
        """Return what the last call reported."""
        return self._take(lambda result: self._library.netra_report(MAX_REPORT_BYTES, result))[1]

    def leave_folder(self) -> None:
        """Remove the working folder if it is empty."""
        self._library.netra_leave_folder()

    def _produce(self, function: Callable[..., int], *arguments: object) -> Answer:
        return self._take(lambda result: function(*arguments, result))

    def _take(self, call: Callable[[object], int | None]) -> Answer:
        result = _Bytes()
        status = call(byref(result)) or 0
        data = ctypes.string_at(result.data, result.size) if result.data else b""
        self._library.netra_release(byref(result))
        return status, data


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
    send(channel, [library.version()])
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
    channel = _socket.socket(fileno=sys.stdin.fileno())
    serve(channel, Library(llvm_path, path), timeout_seconds)


def _files(parts: Sequence[bytes]) -> ctypes.Array[_File]:
    names, contents = parts[::2], parts[1::2]
    pairs = zip(names, contents, strict=True)
    return (_File * len(names))(*(_File(name, data, len(data)) for name, data in pairs))
