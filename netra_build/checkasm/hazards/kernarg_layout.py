"""The layout of kernargs as the metadata lists them, and reads that touch what nobody owns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from netra_build.asm.objects.metadata import ArgumentMetadata

HIDDEN = "hidden_"
PADDING_BYTES = 16
"""A gap shorter than this between arguments, or behind the last, is alignment."""


@dataclass(frozen=True, order=True)
class KernargRead:
    """Bytes ``offset`` to ``offset + size`` read by the instruction with this index."""

    offset: int
    size: int
    index: int


def order_faults(listed: Sequence[ArgumentMetadata]) -> Iterator[str]:
    """Yield what is wrong with the order in which the metadata lists arguments."""
    for former, argument in pairwise(listed):
        if argument.offset < former.offset:
            yield f"{argument_name(argument)} is listed behind one at offset {former.offset}"


def layout_faults(arguments: list[ArgumentMetadata], size: int) -> Iterator[str]:
    """Yield overlaps and what leaves the segment; arguments by ascending offset."""
    end = 0
    for argument in arguments:
        place = argument_name(argument)
        if argument.offset < end:
            yield f"{place} overlaps the one before; expected an offset of at least {end}"
        end = max(end, argument.offset + argument.size)
        if argument.offset + argument.size > size:
            last = argument.offset + argument.size
            yield f"{place} leaves the segment; expected an end of at most {size}, got {last}"


def read_fault(
    read: KernargRead, arguments: list[ArgumentMetadata], size: int, *, has_metadata: bool
) -> str:
    """Return what is wrong with the bytes of a read, empty if nothing is."""
    first, end = read.offset, read.offset + read.size
    span = f"reads kernarg bytes {first} to {end - 1}"
    if first < 0 or end > size:
        return f"{span} of a segment of {size} bytes"
    if not has_metadata:
        return ""
    touched = [a for a in arguments if a.offset < end and a.offset + a.size > first]
    if not touched:
        return f"{span}, which no argument owns"
    # The runtime's own block of hidden arguments has reserved gaps.
    has_holes = any(argument.value_kind.startswith(HIDDEN) for argument in touched)
    at = first
    for argument in [*touched, None]:
        begin = argument.offset if argument else end
        if begin - at >= PADDING_BYTES and not has_holes:
            return f"{span}; no argument owns bytes {at} to {begin - 1}"
        at = max(at, argument.offset + argument.size) if argument else end
    return ""


def argument_name(argument: ArgumentMetadata) -> str:
    """Return how a message calls an argument."""
    shown = f'kernarg "{argument.name}"' if argument.name else "kernarg"
    return f"{shown} at offset {argument.offset}"
