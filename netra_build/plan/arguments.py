"""Kernargs of selected kernels: checked against the contract, with absolute offsets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from netra_build.core.canonical_json import Json
from netra_build.core.errors import NetraError
from netra_build.formats.contracts import FixedContract, GoldenContract
from netra_build.formats.fields import MAX_INTEGER, Fields, first_repeated
from netra_build.formats.vocabulary import ACCESSES, ARGUMENT_BYTES, UINT32_MAX

ARGUMENT_KEYS = (
    "name",
    "kind",
    "access",
    "offset",
    "value",
    "source",
    "tensor",
    "workspace_offset",
)
POINTER_KEYS = ("source", "workspace_offset", "tensor")
SOURCES = ("binding", "workspace")
OWN_KEYS = ("tensor", "runtime_storage")
"""What an argument of a golden kernel says for the planner alone."""
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
        item.refuse(
            "workspace argument lies outside of the kernel's workspace",
            "workspace_offset",
            expected=f"below {contract.workspace.bytes}",
            got=relative,
        )
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
        attributes.refuse(
            "kernel has too many arguments",
            "arguments",
            expected=f"at most {MAX_ARGUMENTS}",
            got=len(items),
        )
    twice = first_repeated(item.text("name") for item in items)
    if twice is not None:
        attributes.refuse(f'two arguments are named "{twice}"', "arguments")


def _check_argument(item: Fields) -> None:
    if item.text("kind") == "u32_constant":
        item.close([key for key in ARGUMENT_KEYS if key not in POINTER_KEYS])
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
            item.refuse(
                "kernarg offset is not aligned",
                "offset",
                expected=f"a multiple of {size}",
                got=offset,
            )
        spans.append((offset, offset + size, item))
    spans.sort(key=lambda span: span[:2])
    for (_, end, one), (start, _, other) in pairwise(spans):
        if start < end:
            other.refuse(f'kernarg overlaps "{one.text("name")}"', "offset")
    typed = -(-max(end for _, end, _ in spans) // 8) * 8
    if typed != -(-kernarg_size // 8) * 8:
        attributes.refuse(
            "arguments do not fill the kernel's kernarg segment",
            "arguments",
            expected=f"{kernarg_size} bytes",
            got=f"{typed} bytes",
        )


def golden_arguments(
    artifact: Fields, contract: GoldenContract, offset_by_tensor: Mapping[str, int | None]
) -> tuple[Argument, ...]:
    """Return the kernargs of a golden kernel; planned temporaries point into the workspace."""
    resolved = []
    for item in artifact.objects("arguments"):
        record = {key: value for key, value in item.value.items() if key not in OWN_KEYS}
        if item.text("kind") == "pointer":
            tensor = item.child("tensor")
            name = tensor.text("name", item.text("name"))
            offset = offset_by_tensor.get(name)
            record["source"] = "binding" if offset is None else "workspace"
            if offset is not None:
                record["workspace_offset"] = offset
        resolved.append(record)
    return tuple(resolved)
