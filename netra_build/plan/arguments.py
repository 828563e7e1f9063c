"""Kernargs of selected kernels: checked against the contract, with absolute offsets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from netra_build.core.canonical_json import Json
from netra_build.core.errors import NetraError
from netra_build.formats.contracts import FixedContract
from netra_build.formats.fields import MAX_INTEGER, Fields, first_repeated
from netra_build.formats.vocabulary import ACCESSES, ARGUMENT_BYTES, UINT32_MAX

VALUE_KEYS = ("name", "kind", "access", "offset", "value")
ARGUMENT_KEYS = (*VALUE_KEYS, "source", "tensor", "workspace_offset")
SOURCES = ("binding", "workspace")
MAX_ARGUMENTS = 32

Argument = Mapping[str, Json]


def fixed_arguments(
    attributes: Fields, contract: FixedContract, workspace_offset: int | None
) -> tuple[Argument, ...]:
    """Return the kernargs of a fixed kernel as engine.json lists them; raise ``BadInput``.

    Faults that the published compiler leaves to its validator are reported by ``kernarg_problem``.
    """
    if not attributes.value.get("arguments"):
        attributes.refuse("selected fixed kernel has no typed arguments")
    items = list(attributes.objects("arguments"))
    return tuple(_fixed_argument(item, contract, workspace_offset) for item in items)


def _fixed_argument(
    item: Fields, contract: FixedContract, workspace_offset: int | None
) -> Argument:
    item.close(ARGUMENT_KEYS)
    item.text("name")
    if item.word("kind", ARGUMENT_BYTES) == "u32_constant":
        item.integer("value", low=-MAX_INTEGER)
        return dict(item.value)
    source = item.word("source", SOURCES, "binding")
    if source == "binding":
        return {**item.value, "source": source}
    if workspace_offset is None:
        item.refuse("workspace argument of a kernel without a workspace", "source")
    relative = item.integer("workspace_offset", 0)
    if relative >= contract.workspace.bytes:
        fact = "workspace argument lies outside of the kernel's workspace"
        most = f"below {contract.workspace.bytes}"
        item.refuse(fact, "workspace_offset", expected=most, got=relative)
    return {**item.value, "source": source, "workspace_offset": workspace_offset + relative}


def kernarg_problem(attributes: Fields, kernarg_size: int) -> NetraError | None:
    """Return what is wrong with the kernargs of a selected kernel, or None.

    Checked: number, names, access words, 32-bit values, offsets (given, aligned, apart) and the
    size in bytes that the contract declares.
    """
    try:
        items = list(attributes.objects("arguments"))
        _check_count(attributes, items)
        for item in items:
            _check_argument(item)
        _check_spans(attributes, items, kernarg_size)
    except NetraError as error:
        return error
    return None


def _check_count(attributes: Fields, items: list[Fields]) -> None:
    if len(items) > MAX_ARGUMENTS:
        fact, most = "kernel has too many arguments", f"at most {MAX_ARGUMENTS}"
        attributes.refuse(fact, "arguments", expected=most, got=len(items))
    twice = first_repeated(item.text("name") for item in items)
    if twice is not None:
        attributes.refuse(f'two arguments are named "{twice}"', "arguments")


def _check_argument(item: Fields) -> None:
    if item.text("kind") == "u32_constant":
        item.close(VALUE_KEYS)
        item.word("access", ("value",))
        item.integer("value", high=UINT32_MAX)
        return
    item.word("access", ACCESSES)
    if item.has("value"):
        item.refuse("pointer argument carries a value", "value")
    if item.text("source", "binding") == "binding" and item.has("workspace_offset"):
        item.refuse("bound pointer carries a workspace offset", "workspace_offset")


def _check_spans(attributes: Fields, items: list[Fields], kernarg_size: int) -> None:
    spans = []
    for item in items:
        size = ARGUMENT_BYTES[item.text("kind")]
        offset = item.integer("offset", high=UINT32_MAX)
        if offset % size:
            fact, wanted = "kernarg offset is not aligned", f"a multiple of {size}"
            item.refuse(fact, "offset", expected=wanted, got=offset)
        spans.append((offset, offset + size, item))
    spans.sort(key=lambda span: span[:2])
    for (_, end, one), (start, _, other) in pairwise(spans):
        if start < end:
            other.refuse(f'kernarg overlaps "{one.text("name")}"', "offset")
    typed = -(-max(end for _, end, _ in spans) // 8) * 8
    if typed != -(-kernarg_size // 8) * 8:
        fact, wanted = "arguments do not fill the kernel's kernarg segment", f"{kernarg_size} bytes"
        attributes.refuse(fact, "arguments", expected=wanted, got=f"{typed} bytes")
