"""Forward data flow over a control flow graph, to a fixed point and within a budget."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeVar

from netra_build.checkasm.hazards.flow import Block, Flow

STEPS_PER_INSTRUCTION = 100
SPARE_STEPS = 100_000
SCAN_PER_STEP = 64

State = TypeVar("State")


class BudgetExceeded(Exception):
    """The analysis took more steps than a well-behaved kernel of this size ever needs."""


def run_forward(
    flow: Flow,
    start: State,
    transfer: Callable[[Block, State], State],
    join: Callable[[State, State], State],
    cost: Callable[[State], int],
) -> dict[int, State]:
    """Return the state at the start of every reached block.

    ``join`` must be monotone and return its first argument (the same object or an equal one)
    when the second adds nothing. Steps are instructions and the ``cost`` of states, which they
    scan; beyond a bound that is linear in the kernel's size ``BudgetExceeded`` is raised.
    """
    states: dict[int, State] = {}
    pending: list[int] = []
    queued: set[int] = set()
    left = STEPS_PER_INSTRUCTION * len(flow.instructions) + SPARE_STEPS

    def offer(number: int, state: State) -> None:
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
        block = flow.blocks[number]
        size = cost(states[number])
        left -= (block.end - block.start) * (1 + size // SCAN_PER_STEP)
        left -= (1 + len(block.successors)) * size
        if left < 0:
            raise BudgetExceeded
        result = transfer(block, states[number])
        for following in block.successors:
            offer(following, result)
    return states


def union_of_ages(left: dict[int, int], right: dict[int, int]) -> dict[int, int]:
    """Join two states that map what happened to its age: all of both, each at its smallest age."""
    result = None
    for key, age in right.items():
        if left.get(key, age + 1) > age:
            if result is None:
                result = dict(left)
            result[key] = age
    return left if result is None else result
