"""The shared fixtures: samples repeat with the seed, and a test's numbers are its own."""

from __future__ import annotations

import random
from collections import Counter

import pytest


def test_a_sample_is_in_order_and_repeats(sample, is_full):
    cases = list(range(100))
    chosen = sample(cases, 5)
    assert chosen == sample(cases, 5)
    assert len(chosen) == (100 if is_full else 5)
    assert chosen == sorted(set(chosen) & set(cases))
    assert sample(cases, 100) == cases
    assert sample([], 5) == []


def test_a_sample_of_each_has_every_kind_in_order(sample_of_each, is_full):
    cases = [(kind, number) for number in range(40) for kind in "abc" if kind < "c" or not number]
    chosen = sample_of_each(cases, lambda case: case[0], 4)
    assert chosen == sorted(chosen, key=cases.index)
    assert Counter(kind for kind, _ in chosen) == (
        {"a": 40, "b": 40, "c": 1} if is_full else {"a": 4, "b": 4, "c": 1}
    )
    assert sample_of_each([], lambda case: case, 4) == []


def test_a_folder_is_made_once_and_anew_after_a_failure(made_once):
    calls = []

    def fail(folder):
        (folder / "half").touch()
        raise OSError

    def make(folder):
        calls.append(folder)
        (folder / "whole").touch()

    with pytest.raises(OSError):
        made_once("a name of this test", fail)
    folders = {made_once("a name of this test", make) for _ in range(2)}
    assert folders == {calls[0]}
    assert len(calls) == 1
    assert [path.name for path in calls[0].iterdir()] == ["whole"]


def test_the_numbers_come_from_the_seed_and_the_name_of_the_test(rng, seed, request):
    expected = random.Random(f"{seed} {request.node.nodeid}")
    assert [rng.random() for _ in range(3)] == [expected.random() for _ in range(3)]


def test_a_tree_is_written_below_a_folder_of_the_test(write_tree, tmp_path):
    folder = write_tree({"a/b.s": "s_endpgm\n", "c": b"\x00"})
    assert folder.is_relative_to(tmp_path)
    assert (folder / "a/b.s").read_text() == "s_endpgm\n"
    assert (folder / "c").read_bytes() == b"\x00"


def test_the_tree_of_the_project_is_not_the_folder_of_a_test(root, tmp_path):
    assert not tmp_path.is_relative_to(root)
