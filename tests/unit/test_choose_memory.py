"""Memory plans: the published placement against a dumb twin, and better ones against a bound."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netra_build.core.errors import BadInput
from netra_build.formats.plan import BufferRequest, MemoryPlan
from netra_build.plan import memory
from netra_build.plan.memory import lower_bound, plan_memory


def dumb_first_fit(requests: list[BufferRequest]) -> dict[str, int]:
    """Place as the format's own text says: move behind each conflict until there is none."""
    placed: list[tuple[BufferRequest, int]] = []
    for item in sorted(requests, key=lambda item: (item.first_use, item.name)):
        offset, moved = 0, True
        while moved:
            moved = False
            offset = -(-offset // item.alignment) * item.alignment
            for other, start in placed:
                lives = other.first_use <= item.last_use and item.first_use <= other.last_use
                if lives and start < offset + item.size and offset < start + other.size:
                    offset, moved = start + other.size, True
                    break
        placed.append((item, offset))
    return {item.name: offset for item, offset in placed}


def assert_apart(plan: MemoryPlan) -> None:
    """Check that no two buffers share a byte while both live."""
    items = [(b.request, b.offset) for b in plan.buffers]
    for index, (one, start) in enumerate(items):
        assert start % one.alignment == 0
        assert start + one.size <= plan.workspace_bytes
        for other, begin in items[:index]:
            if one.first_use <= other.last_use and other.first_use <= one.last_use:
                assert start + one.size <= begin or begin + other.size <= start


REQUESTS = st.lists(
    st.tuples(
        st.integers(1, 2000),
        st.sampled_from([1, 16, 64, 256, 1024]),
        st.integers(0, 12),
        st.integers(0, 6),
    ),
    max_size=40,
).map(
    lambda rows: [
        BufferRequest(f"b{index:02}", size, alignment, first, first + life)
        for index, (size, alignment, first, life) in enumerate(rows)
    ]
)


@given(REQUESTS)
def test_the_fast_placement_equals_the_dumb_one(requests):
    plan = plan_memory(requests, "here")
    assert plan.offset_by_name == dumb_first_fit(requests)
    assert_apart(plan)


@given(REQUESTS)
def test_the_best_placement_is_sound_and_no_larger(requests):
    best = plan_memory(requests, "here", "best")
    assert_apart(best)
    assert best.workspace_bytes <= plan_memory(requests, "here").workspace_bytes
    assert best.workspace_bytes >= lower_bound(requests)


def random_requests(count: int, life: int) -> list[BufferRequest]:
    """Return buffers with random sizes (multiples of 256 bytes) and lives."""
    rng = random.Random(count)
    rows = []
    for index in range(count):
        first = rng.randrange(count)
        last = min(count - 1, first + rng.randrange(1, life))
        rows.append(BufferRequest(f"b{index}", 256 * rng.randrange(1, 400), 256, first, last))
    return rows


def test_the_best_placement_comes_near_the_bound():
    requests = random_requests(300, 40)
    bound = lower_bound(requests)
    assert plan_memory(requests, "here").workspace_bytes > 1.04 * bound
    assert plan_memory(requests, "here", "best").workspace_bytes < 1.02 * bound


def test_a_large_plan_equals_the_dumb_one():
    requests = random_requests(1500, 60)
    assert plan_memory(requests, "here").offset_by_name == dumb_first_fit(requests)


def test_many_buffers_take_work_in_proportion(monkeypatch):
    """Count how many gaps are looked at: a quadratic planner looks at 50,000 squared."""
    looks = 0
    align = memory._align

    def counted(offset: int, alignment: int) -> int:
        nonlocal looks
        looks += 1
        return align(offset, alignment)

    monkeypatch.setattr(memory, "_align", counted)
    count = 50_000
    requests = [BufferRequest(f"b{i:05}", 256 + 256 * (i % 7), 256, i, i + 9) for i in range(count)]
    plan_memory(requests, "here")
    assert looks < 20 * count


def test_the_published_examples():
    requests = [
        BufferRequest("gate_proj.output", 4096, 256, 0, 2),
        BufferRequest("up_proj.output", 4096, 256, 1, 2),
        BufferRequest("gated_silu.output", 4096, 256, 2, 3),
        BufferRequest("gated_silu.fp8", 2048, 256, 3, 4),
        BufferRequest("gated_silu.scale", 64, 256, 3, 4),
    ]
    plan = plan_memory(requests, "here")
    assert plan.workspace_bytes == 12288
    assert plan.offset_by_name == {
        "gate_proj.output": 0,
        "up_proj.output": 4096,
        "gated_silu.output": 8192,
        "gated_silu.fp8": 0,
        "gated_silu.scale": 2048,
    }


def test_an_alias_takes_its_targets_offset():
    requests = [
        BufferRequest("a", 256, 256, 0, 1),
        BufferRequest("b", 512, 256, 0, 1),
        BufferRequest("view", 100, 256, 1, 1, alias_of="b"),
    ]
    plan = plan_memory(requests, "here")
    assert plan.offset_by_name == {"a": 0, "b": 256, "view": 256}
    assert plan.workspace_bytes == 768


BAD = [
    ([BufferRequest("a", 0, 256, 0, 0)], 'memory buffer "a" is not usable'),
    ([BufferRequest("a", 1, 256, 2, 1)], 'memory buffer "a" is not usable'),
    (
        [BufferRequest("a", 1, 3, 0, 0)],
        'alignment of memory buffer "a" is not a power of two',
    ),
    ([BufferRequest("a", 1, 1, 0, 0)] * 2, 'two memory buffers are named "a"'),
    (
        [BufferRequest("a", 1, 1, 0, 0, alias_of="b")],
        'memory buffer "a" is an illegal alias',
    ),
    (
        [BufferRequest("a", 2, 1, 0, 0, alias_of="b"), BufferRequest("b", 1, 1, 0, 0)],
        'memory buffer "a" is an illegal alias',
    ),
    (
        [BufferRequest("a", 2**63, 256, 0, 0), BufferRequest("b", 2**63, 256, 0, 0)],
        "workspace does not fit 64 bits",
    ),
]


@pytest.mark.parametrize(("requests", "fact"), BAD)
def test_a_bad_request_is_refused(requests, fact):
    with pytest.raises(BadInput) as caught:
        plan_memory(requests, "here")
    assert str(caught.value) == f"here: {fact}"
