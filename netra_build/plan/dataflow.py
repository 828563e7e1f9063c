"""The graph of a model: locations of operations, their dependencies and their buffers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from netra_build.core.canonical_json import Json, lower
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields
from netra_build.formats.launch import Workspace
from netra_build.formats.models.graph import Graph, Operation, Tensor
from netra_build.formats.models.model import Model
from netra_build.formats.plan import BufferRequest
from netra_build.formats.profiles import Profile
from netra_build.formats.vocabulary import DTYPE_BYTES, UINT64_MAX

ALIGNMENT = 256
CALLER = "caller_binding"


def operation_place(model: Model, index: int, operation: Operation) -> str:
    """Return the location of an operation: its pointer in a graph, else its name."""
    if model.graph_pointer is not None:
        return f"{model.location}#{model.graph_pointer}/operations/{index}"
    return f'{model.location} operation "{operation.name}"'


def attribute_fields(model: Model, index: int, operation: Operation) -> Fields:
    """Return the attributes of an operation for typed reading."""
    value: Json = lower(operation.attributes)
    if model.graph_pointer is not None:
        pointer = f"{model.graph_pointer}/operations/{index}/attributes"
        return Fields(value, model.location, pointer)
    return Fields(value, f'{model.location} operation "{operation.name}"')


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
