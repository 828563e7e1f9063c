"""The messages between the build and a worker: byte strings in frames, on a stream socket.

A frame is the number of byte strings (32 bits), the size of each (64 bits) and their bytes, all
little-endian. This module imports little of the standard library: a worker starts in milliseconds.
"""

from __future__ import annotations

import posix
import struct
import time

TYPE_CHECKING = False  # to load ``typing`` takes longer than to assemble a kernel
if TYPE_CHECKING:
    from _socket import socket as Channel
    from collections.abc import Sequence

MAX_PARTS = 65536
MAX_FRAME_BYTES = 1024**3
DONE, REFUSED, DECLINED = 0, 1, 2
"""How a call ended, as the C ABI numbers it."""
ERROR = b": error: "


def send(channel: Channel, parts: Sequence[bytes], deadline: float | None = None) -> None:
    """Send one frame; ``TimeoutError`` at ``deadline`` (seconds of ``time.monotonic``)."""
    sizes = struct.pack(f"<I{len(parts)}Q", len(parts), *map(len, parts))
    _wait_until(channel, deadline)
    channel.sendall(b"".join((sizes, *parts)))


def receive(channel: Channel, deadline: float | None = None) -> list[bytes]:
    """Receive one frame.

    Raises ``TimeoutError`` at ``deadline``, ``EOFError`` when the other side is gone and
    ``ValueError`` for a frame that nobody of ours sends.
    """
    (count,) = struct.unpack("<I", _exactly(channel, 4, deadline))
    if count > MAX_PARTS:
        raise ValueError("frame has too many parts")
    sizes = struct.unpack(f"<{count}Q", _exactly(channel, 8 * count, deadline))
    if sum(sizes) > MAX_FRAME_BYTES:
        raise ValueError("frame is too large")
    data = _exactly(channel, sum(sizes), deadline)
    parts, start = [], 0
    for size in sizes:
        parts.append(bytes(data[start : start + size]))
        start += size
    return parts


def _exactly(channel: Channel, size: int, deadline: float | None) -> memoryview:
    view = memoryview(bytearray(size))
    done = 0
    while done < size:
        _wait_until(channel, deadline)
        received = channel.recv_into(view[done:])
        if received == 0:
            raise EOFError
        done += received
    return view


def _wait_until(channel: Channel, deadline: float | None) -> None:
    """Let the next call wait until a deadline; without one a new channel waits for ever."""
    if deadline is not None:
        # Zero would mean "do not wait at all", and fail otherwise than a timeout does.
        channel.settimeout(max(deadline - time.monotonic(), 0.001))


def report_in(handle: int, most: int) -> bytes:
    """Return what a tool reported to a file, of a longer one so much from its first error on."""
    size = posix.fstat(handle).st_size
    if size <= most:
        return posix.pread(handle, size, 0)
    start = 0
    for at in range(0, size, most):
        found = posix.pread(handle, most + len(ERROR), at).find(ERROR)
        if found >= 0:
            before = posix.pread(handle, min(at + found, most), max(at + found - most, 0))
            start = at + found - len(before) + before.rfind(b"\n") + 1
            break
    return posix.pread(handle, most, start)
