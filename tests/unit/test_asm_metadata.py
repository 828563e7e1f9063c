"""The metadata note: decoding, strictness, normal form."""

from __future__ import annotations

import struct

import msgpack
import pytest

from netra_build.asm.objects.metadata import (
    ArgumentMetadata,
    Note,
    decode_metadata,
    normalised,
    read_kernels,
    split_notes,
)
from netra_build.core.errors import BadInput

KERNEL = {
    ".name": "k",
    ".symbol": "k.kd",
    ".args": [
        {".offset": 0, ".size": 8, ".value_kind": "global_buffer", ".address_space": "global"},
        {".offset": 8, ".size": 4, ".value_kind": "by_value", ".name": "rows"},
    ],
    ".kernarg_segment_size": 16,
    ".kernarg_segment_align": 8,
    ".group_segment_fixed_size": 512,
    ".private_segment_fixed_size": 0,
    ".wavefront_size": 64,
    ".sgpr_count": 22,
    ".vgpr_count": 8,
    ".max_flat_workgroup_size": 256,
}
DOCUMENT = {"amdhsa.kernels": [KERNEL], "amdhsa.version": [1, 2]}


def fault(action, *arguments):
    with pytest.raises(BadInput) as caught:
        action(*arguments)
    return str(caught.value)


def test_kernels_and_arguments_become_records():
    document = decode_metadata(msgpack.packb(DOCUMENT), "k")
    (kernel,) = read_kernels(document, "k")
    assert (kernel.name, kernel.symbol) == ("k", "k.kd")
    assert kernel.arguments == (
        ArgumentMetadata(0, 8, "global_buffer", address_space="global"),
        ArgumentMetadata(8, 4, "by_value", name="rows"),
    )
    assert (kernel.kernarg_segment_size, kernel.kernarg_segment_align) == (16, 8)
    assert (kernel.group_segment_fixed_size, kernel.private_segment_fixed_size) == (512, 0)
    assert (kernel.wavefront_size, kernel.sgpr_count, kernel.vgpr_count) == (64, 22, 8)
    assert (kernel.max_flat_workgroup_size, kernel.agpr_count) == (256, None)
    assert kernel.required_workgroup_size is None


def test_the_normal_form_drops_names_only():
    plain = normalised(DOCUMENT)
    assert plain["amdhsa.version"] == [1, 2]
    assert plain["amdhsa.kernels"] == [
        {k: v for k, v in KERNEL.items() if k not in (".name", ".symbol")}
    ]
    assert KERNEL[".name"] == "k"
    renamed = {**DOCUMENT, "amdhsa.kernels": [{**KERNEL, ".name": "z", ".symbol": "z.kd"}]}
    assert normalised(renamed) == plain
    grown = {**DOCUMENT, "amdhsa.kernels": [{**KERNEL, ".sgpr_count": 23}]}
    assert normalised(grown) != plain


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"\x93\x01", "is not valid message-pack"),
        (msgpack.packb(DOCUMENT) + b"\0", "is not valid message-pack"),
        (b"\xdd\xff\xff\xff\xff", "is not valid message-pack"),
        (b"\x81\xa1\xff\x01", "is not valid message-pack"),
        (b"\x91" * 100_000 + b"\x01", "is not valid message-pack"),
        (msgpack.packb([1]), "is not a map"),
        (b"\x82\xa1a\x01\xa1a\x02", "holds one key twice"),
        (msgpack.packb({"a": b"x"}), "holds a value that JSON cannot express"),
        (msgpack.packb({"a": msgpack.ExtType(1, b"x")}), "holds a value that JSON cannot express"),
        (msgpack.packb({"a": float("nan")}), "holds a number that is not finite"),
        (msgpack.packb({b"a": 1}), "holds a key that is not a string"),
        (b"\x91" * 18 + b"\xc0", "is nested deeper than 16 levels"),
    ],
)
def test_unusable_documents_are_refused(data, fact):
    assert fault(decode_metadata, data, "k.hsaco") == f"k.hsaco: code object metadata {fact}"


def test_a_huge_document_is_refused_unread():
    assert fault(decode_metadata, bytes(4 * 1024 * 1024 + 1), "k") == (
        "k: code object metadata is too large; expected at most 4194304 bytes, got 4194305"
    )


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({".name": None}, '#/amdhsa.kernels/0: metadata key ".name" is missing'),
        ({".symbol": 3}, '#/amdhsa.kernels/0: metadata key ".symbol" is not a string'),
        (
            {".sgpr_count": True},
            '#/amdhsa.kernels/0: metadata key ".sgpr_count" is not a natural number',
        ),
        (
            {".vgpr_count": -1},
            '#/amdhsa.kernels/0: metadata key ".vgpr_count" is not a natural number',
        ),
        ({".args": {}}, '#/amdhsa.kernels/0: metadata key ".args" is not a list'),
        ({".args": [3]}, "#/amdhsa.kernels/0/.args/0: metadata entry is not a map"),
        (
            {".args": [{".offset": 0}]},
            '#/amdhsa.kernels/0/.args/0: metadata key ".size" is missing',
        ),
        (
            {".uses_dynamic_stack": 1},
            '#/amdhsa.kernels/0: metadata key ".uses_dynamic_stack" is not a boolean',
        ),
        (
            {".reqd_workgroup_size": ["x"]},
            '#/amdhsa.kernels/0: metadata key ".reqd_workgroup_size" holds a value that is no'
            " integer",
        ),
    ],
)
def test_mistyped_kernels_are_refused(change, fact):
    document = {"amdhsa.kernels": [{**KERNEL, **change}]}
    assert fault(read_kernels, document, "k") == f"k{fact}"


def test_a_note_that_lists_no_kernels_must_still_be_a_list():
    assert read_kernels({}, "k") == ()
    assert fault(read_kernels, {"amdhsa.kernels": 1}, "k") == (
        'k: metadata key "amdhsa.kernels" is not a list'
    )


def test_notes_are_split_at_their_padding():
    section = struct.pack("<3I", 7, 5, 32) + b"AMDGPU\0\0" + b"hello\0\0\0"
    section += struct.pack("<3I", 4, 0, 3) + b"GNU\0"
    assert list(split_notes(section, "k")) == [
        Note(b"AMDGPU", 32, b"hello"),
        Note(b"GNU", 3, b""),
    ]


@pytest.mark.parametrize(
    ("section", "fact"),
    [
        (b"\0" * 11, "note header is cut short"),
        (struct.pack("<3I", 0, 1, 1), "note leaves its section"),
        (struct.pack("<3I", 0xFFFFFFFF, 0xFFFFFFFF, 1) + bytes(64), "note leaves its section"),
    ],
)
def test_damaged_notes_are_refused(section, fact):
    assert fault(lambda: list(split_notes(section, "k"))) == f"k: {fact}"
