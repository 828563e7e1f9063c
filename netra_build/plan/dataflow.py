"""The graph of a model: locations of operations, their dependencies, buffers and kernargs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, NetraError
from netra_build.formats.contracts import FixedContract
from netra_build.formats.fields import MAX_INTEGER, Fields, first_repeated
from netra_build.formats.launch import Workspace
from netra_build.formats.models.graph import Graph, Operation, Tensor
from netra_build.formats.models.model import Model
from netra_build.formats.plan import BufferRequest
from netra_build.formats.profiles import Profile
from netra_build.formats.vocabulary import (
    ACCESSES,
    ARGUMENT_BYTES,
    DTYPE_BYTES,
    UINT32_MAX,
    UINT64_MAX,
)

ALIGNMENT = 256
CALLER = "caller_binding"

VALUE_KEYS = ("name", "kind", "access", "offset", "value")
ARGUMENT_KEYS = (*VALUE_KEYS, "source", "tensor", "workspace_offset")
SOURCES = ("binding", "workspace")
MAX_ARGUMENTS = 32

Argument = Mapping[str, Json]
"""One kernarg as engine.json lists it, with its absolute offset."""


def operation_place(model: Model, index: int, operation: Operation) -> str:
    """Return the location of an operation: its pointer in a graph, else its name."""
    if model.graph_pointer is not None:
        return f"{model.location}#{model.graph_pointer}/operations/{index}"
    return f'{model.location} operation "{operation.name}"'


def attribute_fields(model: Model, index: int, operation: Operation) -> Fields:
    """Return the attributes of an operation for typed reading."""
    if model.graph_pointer is None:
        return Fields(operation.attributes, operation_place(model, index, operation))
    pointer = f"{model.graph_pointer}/operations/{index}/attributes"
    return Fields(operation.attributes, model.location, pointer)


def dependencies(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """Return, per operation, the sorted operations it waits for (RAW, WAW and WAR)."""
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    tensors = graph.tensor_by_name
    result = []
    for index, operation in enumerate(graph.operations):
        inputs = {tensors[name].storage_name for name in operation.inputs}
        outputs = {tensors[name].storage_name for name in operation.outputs}
        waits = {writer[name] for name in inputs | outputs if name in writer}
        for name in outputs:
            waits.update(readers.get(name, ()))
        result.append(tuple(sorted(waits - {index})))
        for name in inputs:
            readers.setdefault(name, []).append(index)
        for name in outputs:
            writer[name] = index
            readers[name] = []
    return tuple(result)


def caller_bound_tensors(model: Model) -> frozenset[str]:
    """Return the temporaries whose memory the caller supplies; raise ``BadInput`` on a conflict."""
    storage: dict[str, str] = {}
    for index, operation in enumerate(model.graph.operations):
        for name, word in _markings(operation):
            tensor = model.graph.tensor_by_name.get(name)
            if tensor is None:
                raise BadInput(
                    f'argument names the unknown tensor "{name}"',
                    location=operation_place(model, index, operation),
                )
            if tensor.role != "temporary":
                continue
            if storage.setdefault(tensor.storage_name, word) != word:
                raise BadInput(
                    f'temporary tensor "{name}" is marked both as workspace and as caller binding',
                    location=operation_place(model, index, operation),
                )
    return frozenset(name for name, word in storage.items() if word == CALLER)


def _markings(operation: Operation) -> Iterable[tuple[str, str]]:
    """Yield (tensor name, storage word) of the pointer arguments that decide storage."""
    attributes = operation.attributes
    if operation.kind == "golden_kernel":
        for argument in _arguments(attributes.get("golden_artifact")):
            tensor = argument.get("tensor")
            if argument.get("kind") == "pointer" and isinstance(tensor, Mapping):
                name = tensor.get("name", argument.get("name"))
                yield name, argument.get("runtime_storage", "workspace")
    elif operation.kind == "fixed_kernel":
        for argument in _arguments(attributes):
            bound = argument.get("source", "binding") == "binding"
            if argument.get("kind") == "pointer" and bound and "tensor" in argument:
                yield argument["tensor"], CALLER


def _arguments(holder: Json) -> Iterable[Mapping[str, Json]]:
    arguments = holder.get("arguments", ()) if isinstance(holder, Mapping) else ()
    if not isinstance(arguments, tuple | list):
        return ()
    return (argument for argument in arguments if isinstance(argument, Mapping))


def buffer_requests(
    model: Model, profile: Profile, workspaces: Sequence[Workspace | None]
) -> list[BufferRequest]:
    """Return one request per planned temporary and per operation workspace in use."""
    caller_bound = caller_bound_tensors(model)
    lives = _lives(model)
    requests = []
    for tensor in model.graph.tensors:
        planned = tensor.role == "temporary" and tensor.storage_name not in caller_bound
        if not planned or tensor.name not in lives:
            continue
        first, last = lives[tensor.name]
        size = tensor_bytes(tensor, profile, model.location)
        requests.append(
            BufferRequest(tensor.name, size, ALIGNMENT, first, last, alias_of=tensor.alias_of)
        )
    for index, (operation, workspace) in enumerate(
        zip(model.graph.operations, workspaces, strict=True)
    ):
        if workspace is not None and workspace.bytes:
            name = f"{operation.name}.workspace"
            requests.append(BufferRequest(name, workspace.bytes, workspace.alignment, index, index))
    return requests


def _lives(model: Model) -> dict[str, tuple[int, int]]:
    """Return first and last use of each tensor; an owner lives as long as its views."""
    lives: dict[str, tuple[int, int]] = {}
    tensors = model.graph.tensor_by_name
    for index, operation in enumerate(model.graph.operations):
        for name in operation.inputs + operation.outputs:
            for owner in {name, tensors[name].storage_name}:
                lives[owner] = (lives.get(owner, (index, index))[0], index)
    return lives


def tensor_shape(tensor: Tensor, profile: Profile, location: str) -> tuple[int, ...]:
    """Return the shape with its named dimensions resolved; raise ``BadInput`` for open ones."""
    sizes = []
    for size in tensor.shape:
        if isinstance(size, str):
            value = profile.exact_by_dimension.get(size.lower())
            if value is None:
                raise BadInput(
                    f'dimension "{size}" of temporary tensor "{tensor.name}" is not fixed'
                    f' by profile "{profile.name}"',
                    location=location,
                )
            size = value
        sizes.append(size)
    return tuple(sizes)


def tensor_bytes(tensor: Tensor, profile: Profile, location: str) -> int:
    """Return the bytes of a tensor; raise ``BadInput`` beyond 64 bits or for an empty one."""
    total = DTYPE_BYTES[tensor.dtype]
    for size in tensor_shape(tensor, profile, location):
        total *= size
        if not 0 < total <= UINT64_MAX:
            raise BadInput(
                f'size of temporary tensor "{tensor.name}" does not fit 64 bits', location=location
            )
    return total


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
