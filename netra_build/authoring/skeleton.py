"""Skeleton: the files of a new tactic, which builds and passes its checks before it is edited.

The kernel multiplies every element of an array by a factor, one work-group for 64 elements. What
the author replaces is the mathematics; the frame, the records and the tests are those of any
tactic.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from netra_build.checkasm.numerics.statement_source import FOLDER as STATEMENTS
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.core.texts import texts_in
from netra_build.formats.vocabulary import TARGET, WAVE_SIZE

DEFAULT_ARGUMENTS = ("x:read", "out:write", "factor:f32", "count:u32")
MAX_ARGUMENTS = 16
MAX_NAME = 48
SPELLING = f"at most {MAX_NAME} lower-case letters, digits and single _"
RESERVED = ("kernarg", "arguments", "group_x", "group_y", "group_z", "source", "target", "bytes")
MODEL_WORDS = ("qwen", "gemma", "llama")
FIRST_SGPR = 4
"""Where the copy of the kernarg segment begins, as ``NETRA_SGPR`` allots it."""

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")
_FAMILY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+\Z")


class Word(NamedTuple):
    """What an access word stands for.

    ``access`` is that of the metadata, ``idle`` the value of a kernarg that the kernel ignores.
    """

    size: int
    c_type: str
    idle: str
    access: str = ""


WORDS = {
    "read": Word(8, "const float *", "np.zeros(1, np.float32)", "read_only"),
    "write": Word(8, "float *", 'junk("float32", 1)', "write_only"),
    "read_write": Word(8, "float *", 'junk("float32", 1)', "read_write"),
    "u32": Word(4, "uint32_t ", "0"),
    "f32": Word(4, "float ", "0"),
}


@dataclass(frozen=True)
class Kernarg:
    """One launch argument: its access word (``read``, ``u32``, ...) and its offset in bytes."""

    name: str
    word: str
    offset: int

    @property
    def kind(self) -> Word:
        """Its size in bytes, and how texts show it."""
        return WORDS[self.word]

    @property
    def is_pointer(self) -> bool:
        """Tell whether the argument is an address."""
        return bool(self.kind.access)

    @property
    def sgpr(self) -> int:
        """The first SGPR that holds it in the golden source."""
        return FIRST_SGPR + self.offset // 4

    @property
    def sgprs(self) -> str:
        """All of them."""
        return f"{self.sgpr}:{self.sgpr + 1}" if self.is_pointer else str(self.sgpr)

    @property
    def load(self) -> str:
        """The instruction of the golden source that reads it."""
        name = f"dwordx2 s[{self.sgprs}]" if self.is_pointer else f"dword s{self.sgpr}"
        return f"s_load_{name}, s[0:1], {self.offset}"


@dataclass(frozen=True)
class Skeleton:
    """A tactic to lay out: its dotted family, its id, its operation and its kernargs."""

    family: str
    name: str
    operation: str
    kernargs: tuple[Kernarg, ...]

    @property
    def symbol(self) -> str:
        """Kernel symbol of the golden source."""
        return f"netra_{self.name}_{TARGET}"

    @property
    def macro(self) -> str:
        """Entry macro of the template."""
        return f"NETRA_{self.name.upper()}"

    @property
    def folder(self) -> str:
        """First word of the family: the folder of its templates and the name of its catalog."""
        return self.family.partition(".")[0]

    @property
    def template(self) -> str:
        """Library-relative name of the template."""
        return f"kernels/{TARGET}/templates/{self.folder}/{self.name}.inc"

    @property
    def golden_folder(self) -> str:
        """Library-relative folder of the golden source."""
        return f"golden/{TARGET}/{self.name}"

    @property
    def catalog(self) -> str:
        """Library-relative name of the tactic catalog."""
        return f"manifests/{TARGET}/tactics/{self.folder}.json"

    @property
    def abi(self) -> str:
        """Library-relative name of the ABI record."""
        return f"manifests/{TARGET}/contracts/{self.name}.json"

    @cached_property
    def kernarg_bytes(self) -> int:
        """Size of the kernarg segment, a multiple of 8."""
        return (self.kernargs[-1].offset + self.kernargs[-1].kind.size + 7) // 8 * 8

    def first(self, word: str) -> Kernarg | None:
        """Return the first kernarg with this access word."""
        return next((item for item in self.kernargs if item.word == word), None)


def plan_skeleton(
    family: str, name: str, operation: str | None, arguments: Sequence[str]
) -> Skeleton:
    """Return what is to be laid out; ``BadInput`` for names and arguments that cannot be used."""
    _refuse_name(name)
    if not _FAMILY.match(family) or len(family) > MAX_NAME:
        _refuse("family cannot be used", "dotted lower-case words, as in moe.silu_quant", family)
    if family.startswith("common."):
        _refuse("family cannot be used", "another first word: all families share common", family)
    operation = name if operation is None else operation
    if not _NAME.match(operation) or len(operation) > MAX_NAME:
        _refuse("operation cannot be used", SPELLING, operation)
    for word in MODEL_WORDS:
        if word in f"{family} {name} {operation}":
            _refuse("names hold that of a model", "names that fit any model", word)
    return Skeleton(family, name, operation, _kernargs(arguments or DEFAULT_ARGUMENTS))


def skeleton_files(plan: Skeleton) -> dict[str, bytes]:
    """Return the texts of the tactic by library-relative name; records and catalog not included."""
    texts = texts_in(Path(__file__).with_name("templates"))
    template_by_name = {
        plan.template: "template.inc.tmpl",
        f"{plan.golden_folder}/kernel.s": "kernel.s.tmpl",
        f"{STATEMENTS}/{plan.name}.py": "statement.py.tmpl",
        f"tests/sim/test_tactic_{plan.name}.py": "test.py.tmpl",
    }
    words = _words(plan)
    return {
        name: texts.get_template(template).render(words).encode()
        for name, template in template_by_name.items()
    }


def abi_record(plan: Skeleton) -> Json:
    """Return the ABI record of the tactic."""
    return {
        "format": "netra-kernel-abi-1",
        "tactic": plan.name,
        "arguments": [_argument(item) for item in plan.kernargs],
        "grid": ["groups", 1, 1],
        "block": [WAVE_SIZE, 1, 1],
        "notes": "groups is elements / 64, rounded up; elements beyond the last are left alone.",
    }


def _argument(item: Kernarg) -> Json:
    layout = {"layout": "row_major"} if item.is_pointer else {}
    return layout | {
        "name": item.name,
        "offset": item.offset,
        "size": item.kind.size,
        "kind": "pointer" if item.is_pointer else "u32",
        "access": item.word if item.is_pointer else "value",
        "dtype": "u32" if item.word == "u32" else "fp32",
        "shape": ["elements"] if item.is_pointer else [],
    }


def catalog_entry(plan: Skeleton, template_sha256: str, source_closure_sha256: str) -> Json:
    """Return the tactic's catalog entry, an experiment with no evidence."""
    pointers = sum(item.is_pointer for item in plan.kernargs)
    values = len(plan.kernargs) - pointers
    return {
        "id": plan.name,
        "operation": plan.operation,
        "family": plan.family,
        "maturity": "experiment",
        "acceptance_scope": "unproven",
        "template": plan.template,
        "template_sha256": template_sha256,
        "source_closure_sha256": source_closure_sha256,
        "instantiation_macro": plan.macro,
        "symbols": [plan.symbol],
        "semantics": {
            "abi": f"{plan.family}.ptr{pointers}_u32x{values}.v1",
            "dtypes": "f32_to_f32.v1",
            "quantization": "none.v1",
            "layouts": "row_major.v1",
            "numerical": f"{plan.name}_fp32_rne.v1",
        },
        "compile_definitions": {},
        "kernarg_size": plan.kernarg_bytes,
        "launch_block": WAVE_SIZE,
        "metadata_contract": {
            "group_segment_fixed_size": 0,
            "kernarg_segment_size": plan.kernarg_bytes,
            "max_flat_workgroup_size": WAVE_SIZE,
        },
        "fallback": f"framework.{plan.operation}",
        "rank": 100,
        "evidence_set": "none",
        "golden_source": f"{plan.golden_folder}/kernel.s",
    }


def _refuse_name(name: str) -> None:
    if not _NAME.match(name) or len(name) > MAX_NAME:
        _refuse("tactic id cannot be used", SPELLING, name)
    if name in sys.stdlib_module_names or keyword.iskeyword(name):
        _refuse("tactic id cannot be used", "a name that Python leaves free", name)


def _refuse(fact: str, expected: str, got: str) -> None:
    raise BadInput(fact, location="netra new-tactic", expected=expected, got=f'"{got}"')


def _kernargs(words: Sequence[str]) -> tuple[Kernarg, ...]:
    if len(words) > MAX_ARGUMENTS:
        _refuse("too many arguments are given", f"at most {MAX_ARGUMENTS}", str(len(words)))
    found: list[Kernarg] = []
    end = 0
    for word in words:
        name, _, access = word.partition(":")
        if access not in WORDS:
            hint = nearest_hint(access, WORDS)
            fact = f'argument "{word}" has no access word'
            raise BadInput(fact, location="netra new-tactic", hint=hint)
        if not _NAME.match(name) or len(name) > MAX_NAME or name in RESERVED:
            _refuse("argument name cannot be used", SPELLING, name)
        if name in {item.name for item in found}:
            _refuse("argument is given twice", "names that differ", name)
        size = WORDS[access].size
        found.append(Kernarg(name, access, -(-end // size) * size))
        end = found[-1].offset + size
    for needed in ("read", "write", "u32"):
        if not any(item.word == needed for item in found):
            _refuse("an argument is missing", f"one that is {needed}", " ".join(words))
    return tuple(found)


def _words(plan: Skeleton) -> Mapping[str, object]:
    """Return what the texts are filled in with: names, kernargs, the first free SGPR pair."""
    x, out, count, factor = (plan.first(word) for word in ("read", "write", "u32", "f32"))
    used = [item for item in (x, out, factor, count) if item is not None]
    values = ["x", "out", *(["int(factor.view(np.uint32))"] if factor else []), "count"]
    return {
        "name": plan.name,
        "macro": plan.macro,
        "symbol": plan.symbol,
        "kernarg_bytes": plan.kernarg_bytes,
        "kernargs": plan.kernargs,
        "used": used,
        "x": x,
        "out": out,
        "count": count,
        "factor": factor,
        "source": -(-(FIRST_SGPR + plan.kernarg_bytes // 4) // 2) * 2,
        "value_by_name": dict(zip((item.name for item in used), values, strict=True)),
    }
