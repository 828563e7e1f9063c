"""Differences of two code objects: instructions, descriptors, metadata and other sections."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from netra_build.asm.objects.code_object import CodeObject, Kernel, read_code_object
from netra_build.asm.objects.elf import Section
from netra_build.asm.objects.listings import (
    Disassembly,
    Instruction,
    branch_target,
    parse_disassembly,
)
from netra_build.checkasm.hazards.effects import find_form
from netra_build.checkasm.hazards.flow import kernel_instructions
from netra_build.core.canonical_json import Json
from netra_build.core.digests import sha256_hex
from netra_build.inspect.diff.documents import Files, change_rows, renamed_pairs
from netra_build.inspect.diff.sequence import hunks_between, matched_pairs

IDENTICAL = "identical"
NOT_COMPARED = ".name", ".symbol"
HEADER = "e_flags", "os_abi", "abi_version", "target"


@dataclass(frozen=True)
class CodeSide:
    """One code object, read, with its listing if there is one."""

    code: CodeObject
    listing: Disassembly | None = None

    def instructions(self, kernel: Kernel) -> Sequence[Instruction] | None:
        """Return the instructions of one kernel."""
        return None if self.listing is None else kernel_instructions(kernel, self.listing)


def read_code_side(
    data: bytes, listing: str | None, location: str, listing_location: str = ""
) -> CodeSide:
    """Read a code object and its listing, if there is one; ``BadInput`` for a damaged one."""
    code = read_code_object(data, location)
    if listing is None:
        return CodeSide(code)
    return CodeSide(code, parse_disassembly(listing, listing_location or location))


def product_code(files: Files, name: str, folder: str = "") -> CodeSide:
    """Read a code object of a product with its listing, if there is one."""
    listed = name.replace("hsaco/", "metadata/").removesuffix(".hsaco") + ".dis"
    text = files[listed].decode("utf-8", "backslashreplace") if listed in files else None
    return read_code_side(files[name], text, folder + name, folder + listed)


def code_difference(old: CodeSide, new: CodeSide) -> dict[str, Json]:
    """Return everything in which two code objects differ.

    Kernels are matched by symbol, then by a symbol that differs in its hash alone, then a single
    remaining one on each side.
    """
    pairs = _kernel_pairs(old.code, new.code)
    kernels: list[Json] = [kernel_difference((old, one), (new, other)) for one, other in pairs]
    ours = {one.symbol for one, _ in pairs}
    theirs = {other.symbol for _, other in pairs}
    sides = (old, new)
    notes = ({k: v for k, v in s.code.metadata.items() if k != "amdhsa.kernels"} for s in sides)
    return {
        "kind": "code object",
        "equal": old.code.data == new.code.data,
        "header": change_rows(*({key: getattr(s.code, key) for key in HEADER} for s in sides)),
        "kernels": kernels,
        "added": [k.symbol for k in new.code.kernels if k.symbol not in theirs],
        "removed": [k.symbol for k in old.code.kernels if k.symbol not in ours],
        "metadata": change_rows(*notes),
        "sections": section_changes(old.code.sections, new.code.sections),
    }


def kernel_difference(old: tuple[CodeSide, Kernel], new: tuple[CodeSide, Kernel]) -> Json:
    """Return the verdict on two kernels and how code, descriptor and metadata differ.

    Names, the entry offset and the rest of the files are not compared.
    """
    one, other = old[1], new[1]
    text: Json = None
    if one.code != other.code:
        text = {
            "old_sha256": sha256_hex(one.code),
            "new_sha256": sha256_hex(other.code),
            "old_bytes": len(one.code),
            "new_bytes": len(other.code),
            "instructions": instruction_difference(old, new),
        }
    fields = [dict(kernel.descriptor.fields()) for kernel in (one, other)]
    for side in fields:
        del side["entry_byte_offset"]
    descriptor = change_rows(*fields)
    notes = [_kernel_note(*side) for side in (old, new)]
    metadata = change_rows(*notes)
    parts = {"text": text, "descriptor": descriptor, "metadata": metadata}
    return {
        "old_symbol": one.symbol,
        "new_symbol": other.symbol,
        "verdict": next((f"{part}_differs" for part, found in parts.items() if found), IDENTICAL),
        **parts,
    }


def instruction_difference(old: tuple[CodeSide, Kernel], new: tuple[CodeSide, Kernel]) -> Json:
    """Return the aligned difference of two kernels' instructions, or None without listings.

    A branch over an inserted instruction has another displacement but the same target: it is no
    difference.
    """
    ours, theirs = old[0].instructions(old[1]), new[0].instructions(new[1])
    if ours is None or theirs is None:
        return None
    pairs = _true_pairs(ours, theirs)
    hunks = [
        {
            "removed": [_line(ours[i], old[1]) for i in hunk.old],
            "added": [_line(theirs[j], new[1]) for j in hunk.new],
        }
        for hunk in hunks_between(pairs, len(ours), len(theirs))
    ]
    counts = {side: sum(len(hunk[side]) for hunk in hunks) for side in ("removed", "added")}
    return {"old": len(ours), "new": len(theirs), **counts, "hunks": hunks}


def _true_pairs(
    ours: Sequence[Instruction], theirs: Sequence[Instruction]
) -> list[tuple[int, int]]:
    """Return matched instructions; branches only where their targets are matched too."""
    pairs = matched_pairs([_key(i) for i in ours], [_key(i) for i in theirs])
    # A target is a place before an instruction: places match where matched stretches or
    # differences begin on both sides.
    places = {i: {j} for i, j in pairs}
    for hunk in hunks_between(pairs, len(ours), len(theirs)):
        places.setdefault(hunk.old.start, set()).add(hunk.new.start)
        places.setdefault(hunk.old.stop, set()).add(hunk.new.stop)
    places.setdefault(len(ours), set()).add(len(theirs))
    index_by_address = [_index_by_address(side) for side in (ours, theirs)]
    result = []
    for i, j in pairs:
        one, other = _target(ours[i]), _target(theirs[j])
        if one is None or other is None:
            result.append((i, j))
            continue
        here, there = index_by_address[0].get(one), index_by_address[1].get(other)
        leaves = here is None or there is None
        if ours[i].words == theirs[j].words if leaves else there in places.get(here or 0, ()):
            result.append((i, j))
    return result


def _index_by_address(side: Sequence[Instruction]) -> dict[int, int]:
    """Return which instruction starts at an address; the end counts as one more."""
    indices = {instruction.address: index for index, instruction in enumerate(side)}
    if side:
        indices[side[-1].address + side[-1].size_bytes] = len(side)
    return indices


def _key(instruction: Instruction) -> Hashable:
    """Return what makes two instructions the same; of a relative branch all but its distance."""
    if _is_branch(instruction):
        return ("branch", instruction.words[0] >> 16)
    return instruction.words


def _is_branch(instruction: Instruction) -> bool:
    """Tell whether the low half of the first word is a distance."""
    form = find_form(instruction.mnemonic)
    return form is not None and form.kind == "branch"


def _target(instruction: Instruction) -> int | None:
    return branch_target(instruction) if _is_branch(instruction) else None


def _line(instruction: Instruction, kernel: Kernel) -> dict[str, Json]:
    target = _target(instruction)
    place = "" if target is None else f" (to {target - kernel.entry_address:#06x})"
    return {
        "offset": instruction.address - kernel.entry_address,
        "text": f"{instruction.text}{place}",
        "words": " ".join(f"{word:08x}" for word in instruction.words),
    }


def _kernel_pairs(old: CodeObject, new: CodeObject) -> list[tuple[Kernel, Kernel]]:
    mine = {kernel.symbol: kernel for kernel in old.kernels}
    theirs = {kernel.symbol: kernel for kernel in new.kernels}
    partner = {symbol: symbol for symbol in mine if symbol in theirs}
    partner |= renamed_pairs(mine.keys() - theirs.keys(), theirs.keys() - mine.keys())
    left = [symbol for symbol in mine if symbol not in partner]
    right = [symbol for symbol in theirs if symbol not in set(partner.values())]
    if len(left) == len(right) == 1:
        partner[left[0]] = right[0]
    return [(mine[symbol], theirs[partner[symbol]]) for symbol in mine if symbol in partner]


def _kernel_note(side: CodeSide, kernel: Kernel) -> Json:
    entries = side.code.metadata.get("amdhsa.kernels", [])
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and entry.get(".symbol") == f"{kernel.symbol}.kd":
            return {key: item for key, item in entry.items() if key not in NOT_COMPARED}
    return None


def section_changes(old: Sequence[Section], new: Sequence[Section]) -> list[Json]:
    """Return the sections whose content, kind or flags differ; sizes are bytes."""
    mine = {section.name: section for section in old if section.name}
    theirs = {section.name: section for section in new if section.name}
    rows: list[Json] = []
    for name in sorted({*mine, *theirs}):
        one, other = mine.get(name), theirs.get(name)
        if one is None or other is None or _content(one) != _content(other):
            row: dict[str, Json] = {"section": name}
            for side, section in (("old", one), ("new", other)):
                row[f"{side}_bytes"] = section and section.size
                row[f"{side}_sha256"] = section and sha256_hex(section.data)
            rows.append(row)
    return rows


def _content(section: Section) -> tuple[object, ...]:
    return section.kind, section.flags, section.size, section.data
