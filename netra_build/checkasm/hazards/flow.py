"""Control flow of one kernel, findings about its edges, and data flow over it."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from netra_build.asm.objects.code_object import Kernel
from netra_build.asm.objects.listings import Disassembly, Instruction, branch_target
from netra_build.checkasm.hazards.effects import Effects, decode_effects
from netra_build.checkasm.hazards.findings import Finding, make_finding

STEPS_PER_INSTRUCTION = 100
SPARE_STEPS = 100_000
SCAN_PER_STEP = 64

PRELOAD_ENTRY_BYTES = 256
"""Where the hardware starts a kernel that uses kernarg preload."""

Key = TypeVar("Key")
Fact = TypeVar("Fact")


@dataclass(frozen=True)
class Block:
    """Instructions ``start`` to ``end`` (exclusive, indices) and the blocks that may follow."""

    start: int
    end: int
    successors: tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """The reachable part of a kernel. ``entries`` are block numbers, blocks lie in order."""

    kernel: str
    instructions: tuple[Instruction, ...]
    effects: tuple[Effects, ...]
    blocks: tuple[Block, ...]
    entries: tuple[int, ...]
    reachable: tuple[int, ...]
    """Indices of the instructions that some path executes, ascending."""


def kernel_instructions(kernel: Kernel, disassembly: Disassembly) -> tuple[Instruction, ...]:
    """Return the instructions inside the kernel's symbol, by bisection."""
    everything = disassembly.instructions
    end = kernel.entry_address + len(kernel.code)
    first = bisect_left(everything, kernel.entry_address, key=lambda i: i.address)
    last = bisect_left(everything, end, key=lambda i: i.address)
    return everything[first:last]


def build_flow(kernel: Kernel, disassembly: Disassembly) -> tuple[Flow, list[Finding]]:
    """Return the control flow graph of a kernel and the findings about its edges."""
    builder = _Builder(kernel, disassembly)
    entries = builder.entry_indices()
    successors = builder.follow(entries)
    blocks, number_by_start = _blocks(sorted(successors), successors, entries)
    flow = Flow(
        kernel=kernel.symbol,
        instructions=builder.instructions,
        effects=builder.effects,
        blocks=blocks,
        entries=tuple(number_by_start[entry] for entry in entries),
        reachable=tuple(sorted(successors)),
    )
    return flow, builder.findings


class _Builder:
    """Walks from the entries and records edges to invalid addresses."""

    def __init__(self, kernel: Kernel, disassembly: Disassembly) -> None:
        self.kernel = kernel
        self.instructions = kernel_instructions(kernel, disassembly)
        self.effects = tuple(decode_effects(one) for one in self.instructions)
        self.index_by_address = {one.address: at for at, one in enumerate(self.instructions)}
        self.findings: list[Finding] = []

    def entry_indices(self) -> tuple[int, ...]:
        addresses = [self.kernel.entry_address]
        if self.kernel.descriptor.kernarg_preload_length:
            addresses.append(addresses[0] + PRELOAD_ENTRY_BYTES)
        found = []
        for address in addresses:
            index = self.index_by_address.get(address)
            if index is None:
                self._note("falls-off-end", f"no instruction at entry {address:#x}")
            else:
                found.append(index)
        return tuple(dict.fromkeys(found))

    def follow(self, entries: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        """Return the successors of every instruction that the entries reach."""
        successors: dict[int, tuple[int, ...]] = {}
        pending = list(entries)
        while pending:
            index = pending.pop()
            if index in successors:
                continue
            successors[index] = self._successors(index)
            pending.extend(successors[index])
        return successors

    def _successors(self, index: int) -> tuple[int, ...]:
        instruction, effects = self.instructions[index], self.effects[index]
        if effects.kind == "end":
            return ()
        if effects.kind == "jump":
            self._note("indirect-branch", "jump to a computed address is not followed", index)
            return ()
        if instruction.doubt:
            self._note("unknown-instruction", instruction.doubt, index)
        elif effects.kind == "unknown":
            self._note("unknown-instruction", f'unknown instruction "{instruction.text}"', index)
        if "indirect_register" in effects.traits:
            self._note("indirect-register", "registers are named at run time", index)
        found = []
        if effects.kind == "branch":
            target = branch_target(instruction)
            if target in self.index_by_address:
                found.append(self.index_by_address[target])
            else:
                self._note(
                    "branch-target", f"branch to {target:#x} leaves the kernel's code", index
                )
        if "always" not in effects.traits:
            following = instruction.address + instruction.size_bytes
            if following in self.index_by_address:
                found.append(self.index_by_address[following])
            else:
                self._note("falls-off-end", "execution runs past the end of the kernel", index)
        return tuple(dict.fromkeys(found))

    def _note(self, rule: str, message: str, index: int | None = None) -> None:
        place = None if index is None else self.instructions[index]
        self.findings.append(make_finding(rule, self.kernel.symbol, message, place))


def _blocks(
    reachable: list[int], successors: dict[int, tuple[int, ...]], entries: tuple[int, ...]
) -> tuple[tuple[Block, ...], dict[int, int]]:
    """Cut the reachable instructions into blocks; return them and block numbers by start."""
    leaders = set(entries)
    for index in reachable:
        following = successors[index]
        if following != (index + 1,):
            leaders.update(following)
            leaders.add(index + 1)
    starts = [index for index in reachable if index in leaders]
    number_by_start = {start: number for number, start in enumerate(starts)}
    ends = [*starts[1:], reachable[-1] + 1] if reachable else []
    blocks = []
    for start, limit in zip(starts, ends, strict=True):
        end = start
        while end < limit and end in successors:
            end += 1
        following = tuple(number_by_start[index] for index in successors[end - 1])
        blocks.append(Block(start, end, following))
    return tuple(blocks), number_by_start


class BudgetExceeded(Exception):
    """The analysis took more steps than a well-behaved kernel of this size ever needs."""


def run_forward(
    flow: Flow,
    start: dict[Key, Fact],
    step: Callable[[int, dict[Key, Fact]], None],
    join: Callable[[dict[Key, Fact], dict[Key, Fact]], dict[Key, Fact]],
) -> None:
    """Walk all paths until no state at the start of a block changes any more.

    ``step`` changes the state in front of an instruction into the one behind it. ``join`` must be
    monotone and return its first argument (the same object or an equal one) when the second adds
    nothing. Work is instructions and the entries of states, which they scan; beyond a bound that
    is linear in the kernel's size ``BudgetExceeded`` is raised.
    """
    states: dict[int, dict[Key, Fact]] = {}
    pending: list[int] = []
    queued: set[int] = set()
    left = STEPS_PER_INSTRUCTION * len(flow.instructions) + SPARE_STEPS

    def offer(number: int, state: dict[Key, Fact]) -> None:
        merged = join(states[number], state) if number in states else state
        if number in states and merged == states[number]:
            return
        states[number] = merged
        if number not in queued:
            queued.add(number)
            heapq.heappush(pending, number)

    for entry in flow.entries:
        offer(entry, start)
    while pending:
        number = heapq.heappop(pending)
        queued.discard(number)
        queued.discard(number)
        block, state = flow.blocks[number], dict(states[number])
        size = len(state)
        left -= (block.end - block.start) * (1 + size // SCAN_PER_STEP)
        left -= (1 + len(block.successors)) * size
        if left < 0:
            raise BudgetExceeded
        for index in range(block.start, block.end):
            step(index, state)
        for following in block.successors:
            offer(following, state)


def union_of_ages(left: dict[Key, int], right: dict[Key, int]) -> dict[Key, int]:
    """Join two states from event to age: all events of both, each at its smallest age."""
    result = None
    for key, age in right.items():
        if left.get(key, age + 1) > age:
            if result is None:
                result = dict(left)
            result[key] = age
    return left if result is None else result
