"""Read one entry of a tactic catalog against the text of its include closure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from netra_build.core.disk import relative_name
from netra_build.core.errors import nearest_hint
from netra_build.formats.catalogs.closures import (
    Closure,
    Closures,
    Literals,
    guarded_constants,
    macro_parameters,
)
from netra_build.formats.catalogs.tactic import (
    ConstantRange,
    ConstantValues,
    FixedTactic,
    LaunchBlock,
)
from netra_build.formats.fields import Fields
from netra_build.formats.launch import MAX_BLOCK, read_workspace
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import (
    MATURITIES,
    SEMANTIC_FIELDS,
    TARGET,
    UINT32_MAX,
    WAVE_SIZE,
)

ENTRY_KEYS = (
    "id operation family maturity acceptance_scope template template_sha256 "
    "source_closure_sha256 instantiation_macro symbols semantics compile_definitions "
    "compile_ranges contract_constants kernarg_size launch_block metadata_contract "
    "dynamic_lds_bytes workspace graph_capture deterministic fallback rank evidence_set "
    "golden_source source_revision source_sha256 locked_hsaco_sha256 locked_text_sha256 "
    "serving_evidence"
)
METADATA_KEYS = ("group_segment_fixed_size", "kernarg_segment_size", "max_flat_workgroup_size")
MODEL_WORDS = ("qwen", "gemma", "llama")
_NAME = re.compile(r"[A-Za-z0-9_.]+\Z")
_CONSTANT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_BLANK = re.compile(r"\s")
LOWEST = -(2**63)


class Defaults(NamedTuple):
    """Evidence references by set name and the defaults of one catalog."""

    refs_by_name: Mapping[str, tuple[str, str]]
    evidence_set: str | None
    rank: int | None


class EntryReader:
    """Reads catalog entries, each file of their closures once."""

    def __init__(self, library: Library, derive_pins: bool) -> None:
        self.closures = Closures(library)
        self.derive_pins = derive_pins

    def read(self, entry: Fields, name: str, defaults: Defaults) -> FixedTactic:
        """Return the tactic of one entry; raise ``BadInput`` with the entry's pointer."""
        entry.close(ENTRY_KEYS)
        template = relative_name(entry.text("template"), entry.place("template"))
        closure = self.closures.of(template, entry.place("template"))
        pinned = self._is_pinned(entry, closure)
        definitions = _constant_lists(entry.child("compile_definitions"))
        ranges = _ranges(entry)
        constants = _contract_constants(entry, closure, definitions, ranges)
        metadata = _metadata(entry, closure.literals)
        return FixedTactic(
            name=name,
            operation=_plain_name(entry, "operation"),
            family=_plain_name(entry, "family"),
            target=TARGET,
            wave_size=WAVE_SIZE,
            maturity=entry.word("maturity", MATURITIES),
            acceptance_scope=entry.text("acceptance_scope"),
            rank=_rank(entry, defaults),
            template=template,
            template_sha256=closure.files[0][1],
            source_closure_sha256=closure.source_sha256,
            computational_sha256=closure.computational_sha256,
            instantiation_macro=entry.text("instantiation_macro"),
            macro_parameters=macro_parameters(
                closure.text, entry.text("instantiation_macro"), entry.place("instantiation_macro")
            ),
            contract_constants=constants,
            compile_definitions=definitions,
            compile_ranges=ranges,
            semantics=_semantics(entry.child("semantics")),
            kernarg_size=metadata["kernarg_segment_size"],
            launch_block=_launch_block(entry, definitions),
            max_threads=metadata["max_flat_workgroup_size"],
            lds_bytes=metadata["group_segment_fixed_size"],
            dynamic_lds_bytes=entry.integer("dynamic_lds_bytes", 0, high=UINT32_MAX),
            workspace=read_workspace(entry.child("workspace", {})),
            graph_capture=entry.boolean("graph_capture", True),
            deterministic=entry.boolean("deterministic", True),
            fallback=entry.text("fallback", "framework"),
            symbols=entry.texts("symbols"),
            evidence_refs=_evidence_refs(entry, defaults),
            closure=closure.files,
            location=entry.place(),
            is_pinned=pinned,
        )

    def _is_pinned(self, entry: Fields, closure: Closure) -> bool:
        """Tell whether the digests are the files'; refuse others unless they are derived."""
        for key, word, actual in (
            ("template_sha256", "template", closure.files[0][1]),
            ("source_closure_sha256", "include closure", closure.source_sha256),
        ):
            stated = entry.text(key)
            if stated != actual and not self.derive_pins:
                entry.refuse(
                    f"digest of the {word} is not pinned",
                    key,
                    expected=actual,
                    got=stated[:80],
                    hint="run netra pin and review what changed",
                )
            if stated != actual:
                return False
        return True


def _plain_name(entry: Fields, key: str) -> str:
    """Return a name that becomes part of file names and symbols."""
    name = entry.text(key)
    if not _NAME.match(name):
        entry.refuse(f'name "{name}" holds a character that is not allowed', key)
    return name


def _rank(entry: Fields, defaults: Defaults) -> int:
    if not entry.has("rank") and defaults.rank is not None:
        return defaults.rank
    return entry.integer("rank", low=-(2**31))


def _evidence_refs(entry: Fields, defaults: Defaults) -> tuple[str, ...]:
    name = entry.text("evidence_set", defaults.evidence_set)
    if name not in defaults.refs_by_name:
        hint = nearest_hint(name, defaults.refs_by_name)
        entry.refuse(f'unknown evidence set "{name}"', "evidence_set", hint=hint)
    return defaults.refs_by_name[name]


def _semantics(semantics: Fields) -> tuple[tuple[str, str], ...]:
    """Return the five semantic identifiers in their fixed order; refuse blanks and model names."""
    semantics.close(SEMANTIC_FIELDS)
    for key in SEMANTIC_FIELDS:
        value = semantics.text(key)
        if _BLANK.search(value):
            semantics.refuse(f'semantic identifier "{value}" holds white space', key)
        for word in MODEL_WORDS:
            if word in value.lower():
                semantics.refuse(f'semantic identifier "{value}" names the model "{word}"', key)
    return tuple((key, semantics.text(key)) for key in SEMANTIC_FIELDS)


def _values(fields: Fields, key: str) -> tuple[int, ...]:
    if not _CONSTANT.match(key):
        fields.refuse(f'constant name "{key}" holds a character that is not allowed', key)
    value = fields.get(key)
    values = value if isinstance(value, list) else [value]
    if not values:
        fields.refuse("constant has no value", key)
    return tuple(sorted({fields.checked_integer(key, item, low=LOWEST) for item in values}))


def _constant_lists(fields: Fields) -> ConstantValues:
    return tuple((key, _values(fields, key)) for key in sorted(fields.value))


def _ranges(entry: Fields) -> tuple[ConstantRange, ...]:
    fields = entry.child("compile_ranges", {})
    found = []
    for key in sorted(fields.value):
        item = fields.child(key)
        item.close("min max step")
        low = item.integer("min", low=1)
        high = item.integer("max", low=1)
        if high < low:
            item.refuse(f"range is empty: its minimum {low} is above its maximum {high}")
        found.append(ConstantRange(key, low, high, item.integer("step", 1, low=1)))
    return tuple(found)


def _contract_constants(
    entry: Fields,
    closure: Closure,
    definitions: ConstantValues,
    ranges: tuple[ConstantRange, ...],
) -> ConstantValues:
    fields = entry.child("contract_constants", {})
    explicit = dict(_constant_lists(fields))
    for key, values in explicit.items():
        if len(values) != 1:
            fields.refuse(
                "constant of a contract has several values",
                key,
                expected="1 value",
                got=f"{len(values)} values",
                hint="list selectable values under compile_definitions",
            )
    guarded = guarded_constants(closure.guards, explicit, entry.place("template"))
    constants = {**{key: (value,) for key, value in guarded.items()}, **explicit}
    listed = {key for key, _ in definitions}
    ranged = {item.name for item in ranges}
    for one, other, words in (
        (listed | ranged, set(constants), "fixed and selectable"),
        (listed, ranged, "listed and ranged"),
    ):
        both = sorted(one & other)
        if both:
            entry.refuse(f'constant "{both[0]}" is both {words}')
    return tuple(sorted(constants.items()))


def _metadata(entry: Fields, literals: Literals) -> dict[str, int]:
    """Return kernarg bytes, fixed LDS bytes and the work-item limit of the code object."""
    size = entry.integer("kernarg_size", high=UINT32_MAX)
    if size % 4 or not size:
        fact = "kernarg size is not a positive number of double words"
        entry.refuse(fact, "kernarg_size", expected="a positive multiple of 4", got=size)
    if not entry.has("metadata_contract"):
        return _literal_metadata(entry, size, literals)
    declared = entry.child("metadata_contract")
    declared.close(METADATA_KEYS)
    found = {key: declared.integer(key, high=UINT32_MAX) for key in METADATA_KEYS}
    threads = found["max_flat_workgroup_size"]
    if not 1 <= threads <= MAX_BLOCK:
        fact, wanted = "work-item limit is out of range", f"1 to {MAX_BLOCK}"
        declared.refuse(fact, "max_flat_workgroup_size", expected=wanted, got=threads)
    key = "kernarg_segment_size"
    declared.equal("kernarg size differs from the entry's", key, expected=size, got=found[key])
    for key, value in found.items():
        if literals[key] and value not in literals[key]:
            declared.refuse(f"{value} is not among the literal values of the template", key)
    return found


def _literal_metadata(entry: Fields, size: int, literals: Literals) -> dict[str, int]:
    """Return the numbers that the template states, each as a literal and in one value."""
    hint = "state a metadata_contract"
    if size not in literals["kernarg_segment_size"]:
        entry.refuse("kernarg size is not in the template", "kernarg_size", hint=hint)
    found = {"kernarg_segment_size": size}
    for key in ("group_segment_fixed_size", "max_flat_workgroup_size"):
        values = literals[key]
        if not values:
            entry.refuse(f'template states no literal "{key}"', "template", hint=hint)
        if len(values) > 1:
            fact = f'template states "{key}" {len(values)} times with different values'
            entry.refuse(fact, "template", hint=hint)
        found[key] = min(values)
    return found


def _launch_block(entry: Fields, definitions: ConstantValues) -> LaunchBlock:
    if isinstance(entry.get("launch_block"), int):
        return LaunchBlock(None, entry.integer("launch_block", low=1, high=MAX_BLOCK))
    block = entry.child("launch_block")
    block.close("constant multiplier")
    constant = block.text("constant")
    known = [name for name, _ in definitions]
    if constant not in known:
        fact = f'"{constant}" is not among the compile definitions'
        block.refuse(fact, "constant", hint=nearest_hint(constant, known))
    return LaunchBlock(constant, block.integer("multiplier", low=1, high=MAX_BLOCK))
