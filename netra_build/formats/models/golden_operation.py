"""Read golden operations: code objects that are shipped as they are, with their tensors."""

from __future__ import annotations

from netra_build.core.canonical_json import Json
from netra_build.core.disk import relative_name
from netra_build.formats.contracts import GoldenContract
from netra_build.formats.fields import Fields, first_repeated
from netra_build.formats.launch import read_launch, read_workspace
from netra_build.formats.models.graph import Tensor, read_shape
from netra_build.formats.vocabulary import (
    ACCESSES,
    ARGUMENT_BYTES,
    DTYPE_BYTES,
    RUNTIME_STORAGES,
    TARGET,
    TENSOR_ROLES,
    UINT32_MAX,
    WAVE_SIZE,
)

ARTIFACT_KEYS = (
    "operation tactic maturity symbol hsaco_name hsaco_sha256 kernarg_size launch arguments "
    "target wave_size workspace graph_capture deterministic fallback source_refs evidence_refs"
)
ARGUMENT_KEYS = "name kind access offset value source tensor runtime_storage"
TENSOR_KEYS = "name shape dtype layout role persistent"
MAX_ARGUMENTS = 16


def read_hsaco_name(fields: Fields, key: str) -> str:
    """Return a plain code object file name: no folder, no way out of the engine directory."""
    name = fields.text(key)
    if relative_name(name, fields.place(key)) != name or "/" in name:
        hint = "name the file only, without a folder"
        fields.refuse(f'code object name "{name}" is not a plain file name', key, hint=hint)
    if not name.endswith(".hsaco"):
        fields.refuse(f'code object name "{name}" does not end in ".hsaco"', key)
    return name


def read_golden_contract(fields: Fields) -> GoldenContract:
    """Return the contract of one ``golden_artifact`` object; raise ``BadInput``."""
    fields.close(ARTIFACT_KEYS)
    _check_target(fields)
    fields.hold_text("maturity", "accepted", "golden code object is not accepted")
    arguments = tuple(_read_argument(item) for item in fields.objects("arguments"))
    if not 1 <= len(arguments) <= MAX_ARGUMENTS:
        fact, wanted = "golden kernel has an unusable number of arguments", f"1 to {MAX_ARGUMENTS}"
        fields.refuse(fact, "arguments", expected=wanted, got=len(arguments))
    twice = first_repeated(argument["name"] for argument in arguments)
    if twice is not None:
        fields.refuse(f'two arguments are named "{twice}"', "arguments")
    return GoldenContract(
        operation=fields.text("operation"),
        tactic=fields.text("tactic"),
        symbol=fields.text("symbol"),
        hsaco_name=read_hsaco_name(fields, "hsaco_name"),
        hsaco_sha256=fields.digest("hsaco_sha256"),
        kernarg_size=_kernarg_size(fields, arguments),
        launch=read_launch(fields.child("launch")),
        arguments=arguments,
        workspace=read_workspace(fields.child("workspace", {})),
        graph_capture=fields.boolean("graph_capture", True),
        deterministic=fields.boolean("deterministic", True),
        fallback=fields.text("fallback", "framework"),
        maturity="accepted",
        source_refs=fields.texts("source_refs", []),
        evidence_refs=fields.texts("evidence_refs", []),
    )


def _check_target(fields: Fields) -> None:
    wanted = f"{TARGET} with wave size {WAVE_SIZE}"
    target = fields.text("target", TARGET)
    got = f"{target} with wave size {fields.integer('wave_size', WAVE_SIZE)}"
    fields.equal("golden code object is for another target", expected=wanted, got=got)


def _read_argument(fields: Fields) -> dict[str, Json]:
    """Return name, kind, access and, of a constant, value."""
    fields.close(ARGUMENT_KEYS)
    kind = fields.word("kind", ARGUMENT_BYTES)
    fields.word("runtime_storage", RUNTIME_STORAGES, "workspace")
    fields.word("source", ("binding",), "binding")
    if kind == "pointer":
        if fields.has("value"):
            fields.refuse("pointer argument carries a value", "value")
        name = fields.text("name")
        return {"name": name, "kind": kind, "access": fields.word("access", ACCESSES)}
    fields.word("access", ("value",))
    value = fields.integer("value", high=UINT32_MAX)
    return {"name": fields.text("name"), "kind": kind, "access": "value", "value": value}


def _kernarg_size(fields: Fields, arguments: tuple[dict[str, Json], ...]) -> int:
    """Return the declared size, which has to cover the naturally aligned arguments."""
    end = 0
    for argument, item in zip(arguments, fields.objects("arguments"), strict=True):
        size = ARGUMENT_BYTES[argument["kind"]]
        end = -(-end // size) * size
        fact, offset = "argument offset differs from its natural place", item.integer("offset", end)
        item.equal(fact, "offset", expected=end, got=offset)
        end += size
    typed = -(-end // 8) * 8
    declared = fields.integer("kernarg_size", low=1, high=UINT32_MAX)
    fact = "kernarg size differs from its arguments"
    fields.equal(fact, "kernarg_size", expected=typed, got=declared)
    return declared


def golden_tensors(fields: Fields) -> tuple[tuple[Tensor, str], ...]:
    """Return (tensor, access) of each pointer argument, in order; raise ``BadInput``."""
    found = []
    for item in fields.objects("arguments"):
        if item.text("kind") != "pointer":
            continue
        if not item.has("tensor"):
            item.refuse(f'pointer argument "{item.text("name")}" names no tensor')
        tensor = item.child("tensor")
        tensor.close(TENSOR_KEYS)
        role = tensor.word("role", TENSOR_ROLES, "temporary")
        record = Tensor(
            name=tensor.text("name", item.text("name")),
            shape=read_shape(tensor),
            dtype=tensor.word("dtype", DTYPE_BYTES),
            layout=tensor.text("layout", "row_major"),
            role=role,
            persistent=tensor.boolean("persistent", role in ("weight", "state")),
        )
        found.append((record, item.text("access")))
    return tuple(found)
