"""Digests of files that are not held in memory, and scratch streams."""

from __future__ import annotations

import os

import pytest

from netra_build.core.errors import BadInput
from netra_build.core.streams import (
    file_digest,
    file_state,
    opened,
    remember_digest,
    scratch_stream,
)

ABC = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
EMPTY = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"


def test_the_digest_of_a_file_is_that_of_its_content(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "empty").write_bytes(b"")
    assert file_digest(path) == ABC
    assert file_digest(tmp_path / "link") == ABC
    assert file_digest(tmp_path / "empty") == EMPTY


def test_a_replaced_file_of_the_same_size_and_time_is_read_again(tmp_path):
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"xyz")
    other.write_bytes(b"abc")
    for file in (path, other):
        os.utime(file, (1, 1))
    assert file_digest(path) != ABC
    os.replace(other, path)
    assert file_digest(path) == ABC


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    missing = tmp_path / "gone"
    for path, action, fact in (
        (missing, file_digest, "file is missing"),
        (missing, lambda path: opened(path).__enter__(), "file cannot be read"),
        (tmp_path, file_digest, "file cannot be read"),
    ):
        with pytest.raises(BadInput) as caught:
            action(path)
        assert str(caught.value) == f"{path}: {fact}"


def test_an_opened_file_is_read_in_pieces_and_closed(tmp_path):
    (tmp_path / "a").write_bytes(b"abcdef")
    with opened(tmp_path / "a") as stream:
        assert stream.read(2) == b"ab"
        assert stream.read() == b"cdef"
    assert stream.closed


def test_a_scratch_stream_holds_what_is_written_and_has_no_name():
    with scratch_stream() as stream:
        stream.write(b"abc")
        stream.seek(0)
        assert stream.read() == b"abc"
        assert os.fstat(stream.fileno()).st_nlink == 0
    assert stream.closed


def test_a_digest_is_trusted_for_one_state_of_a_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"xyz")
    remember_digest(file_state(path), ABC)
    assert file_digest(path) == ABC
    os.utime(path, (1, 1))
    assert file_digest(path) not in (ABC, EMPTY)
