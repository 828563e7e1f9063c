"""What LLVM's programs print of a code object: the listing, read as records, and the notes."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from netra_build.asm.objects.code_object import CodeObject
from netra_build.asm.objects.elf import Section
from netra_build.asm.objects.metadata import NOTE_TYPE, Note, decode_metadata, split_notes
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput

_LABEL = re.compile(r"([0-9a-f]{8,16}) <([^<>]*)>:")
_CODE = re.compile(r" ([0-9A-F]{8,16}):((?: [0-9A-F]{8})+)(?: <([^<>]*)>)?( ; [^<>]*)?\s*")
"""Behind the words: the target of a branch, and a remark on what is wrong with the instruction."""

KEY_COLUMNS = 16
MAX_KNOWN = 64
"""Characters of a text whose form is held."""

SOFT_HYPHEN, DT_SONAME = 0xAD, 14

_HEADER = """
File: {label}
Format: elf64-amdgpu
Arch: amdgcn
AddressSize: 64bit
LoadName: {load_name}
NoteSections [
"""
_SECTION = """  NoteSection {{
    Name: {name}
    Offset: 0x{offset:X}
    Size: 0x{size:X}
    Notes [
{notes}    ]
  }}
"""
_NOTE = """      {{
        Owner: AMDGPU
        Data size: 0x{size:X}
        Type: NT_AMDGPU_METADATA (AMDGPU Metadata)
        AMDGPU Metadata: {document}
      }}
"""

_DECIMAL = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_YAML_NUMBER = re.compile(
    rf"\.nan|\.NaN|\.NAN|[-+]?(?:\.inf|\.Inf|\.INF|{_DECIMAL})|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII
)
_C_NUMBER = re.compile(
    rf"|[ \t\n\v\f\r]*[-+]?(?:inf|infinity|nan(?:\(\w*\))?|{_DECIMAL}"
    r"|0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?\d+)?)",
    re.ASCII | re.IGNORECASE,
)
_PREFIXED_INTEGER = re.compile(r"-?0[bB][01]+|-?0o[0-7]+")
_SPECIAL_WORDS = {"null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "False", "FALSE"}
_INDICATORS = frozenset("-?:\\,[]{}#&*!|>'\"%@`")
_BLANKS = " \t\n\v\f\r"
_SAFE = re.compile(r"[A-Za-z0-9_\-^., \t]*")
_NEEDS_ESCAPES = re.compile(r"[^\t -~]")
_ESCAPES = dict(zip('\\"\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029', '\\"0abtnvfreN_LP', strict=True))
"""What follows the backslash that stands for a character."""

_SIDES = "golden", "generated"
_DIFFERENCES = (
    ("text", "first differing instruction, number {index}:"),
    ("descriptor", "descriptor field {field}:"),
    ("metadata", "metadata {path}:"),
)


@dataclass(frozen=True)
class Instruction:
    """One instruction. ``address`` and ``size_bytes`` are bytes, ``words`` are encoded dwords."""

    address: int
    mnemonic: str
    operands: str
    words: tuple[int, ...]
    size_bytes: int
    text: str
    """Mnemonic and operands as printed."""
    branch_target: str = ""
    """``SYMBOL+0xOFFSET`` that the disassembler prints behind a branch, else empty."""
    doubt: str = ""
    """What is wrong where a remark stands behind the words, else empty."""


@dataclass(frozen=True)
class Label:
    """A symbol at an address of the text section."""

    name: str
    address: int


@dataclass(frozen=True)
class Disassembly:
    """All instructions and labels in order of address, as the disassembler printed them."""

    instructions: tuple[Instruction, ...]
    labels: tuple[Label, ...]


def parse_disassembly(text: str, location: str = "disassembly") -> Disassembly:
    """Read what ``llvm-objdump --disassemble`` prints; ``BadInput`` names an unreadable line.

    Runs of zero words that the disassembler abbreviates to ``...`` give no instruction.
    """
    instructions: list[Instruction] = []
    labels: list[Label] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("\t") and line.strip() != "...":
            instructions.append(_instruction(line, f"{location}:{number}"))
        elif match := _LABEL.fullmatch(line):
            labels.append(Label(match[2], int(match[1], 16)))
    return Disassembly(tuple(instructions), tuple(labels))


def _instruction(line: str, location: str) -> Instruction:
    head, separator, tail = line.rpartition("//")
    match = _CODE.fullmatch(tail) if separator else None
    statement = head.strip()
    if match is None or not statement:
        raise BadInput("line is no instruction", location=location)
    words = tuple(int(word, 16) for word in match[2].split())
    mnemonic, _, operands = statement.partition(" ")
    return Instruction(
        address=int(match[1], 16),
        mnemonic=mnemonic,
        operands=operands.strip(),
        words=words,
        size_bytes=4 * len(words),
        text=statement,
        branch_target=match[3] or "",
        doubt=f"words{match[2].lower()}, to which the text does not assemble back" * bool(match[4]),
    )


def branch_target(instruction: Instruction) -> int:
    """Return the byte address that a direct branch leads to; its offset counts dwords."""
    offset = instruction.words[0] & 0xFFFF
    return instruction.address + 4 + 4 * (offset - 0x10000 if offset & 0x8000 else offset)


def difference_lines(report: Mapping[str, Json]) -> list[str]:
    """Return lines that show the first difference of a report side by side; none if identical."""
    lines: list[str] = []
    for part, title in _DIFFERENCES:
        found = report["first_difference"][part]
        if found is not None:
            golden, made = (found[k] if found[k] is not None else "nothing" for k in _SIDES)
            lines += [title.format(**found), f"  golden     {golden}", f"  generated  {made}"]
    return lines


def notes_text(code: CodeObject, label: str) -> str:
    """Return the notes of ``code`` as the tool prints them, with ``label`` as the file's name.

    Raises ``BadInput`` for what code objects of ours never hold: notes of other owners, and lists
    inside lists.
    """
    sections = [section for section in code.sections if section.kind == "note"]
    notes = [tuple(split_notes(section.data, label)) for section in sections]
    # The only note of an object has been decoded already.
    document = code.metadata if sum(map(len, notes)) == 1 else None
    pairs = zip(sections, notes, strict=True)
    body = "".join(_section_text(*pair, label, document) for pair in pairs)
    return _HEADER.format(label=label, load_name=_load_name(code)) + body + "]\n"


def document_text(document: Json, location: str = "metadata") -> str:
    """Return a decoded note as the tool's YAML, from ``---`` to ``...`` with a final newline."""
    if isinstance(document, Mapping) and document:
        lines = ["---"]
        _add_map(lines, document, "", "", location)
        return "\n".join((*lines, "...", ""))
    raise BadInput("code object metadata is empty", location=location)


def _load_name(code: CodeObject) -> str:
    """Return the shared object name that the dynamic section states."""
    dynamic, names = code.section(".dynamic"), code.section(".dynstr")
    if dynamic is not None and names is not None:
        for at in range(0, len(dynamic.data) - 15, 16):
            tag, value = struct.unpack_from("<2Q", dynamic.data, at)
            if tag == DT_SONAME:
                return names.data[value:].partition(b"\0")[0].decode("utf-8", "replace")
    return "<Not found>"


def _section_text(
    section: Section, found: Sequence[Note], label: str, document: Mapping[str, Json] | None
) -> str:
    notes = []
    for note in found:
        if note.owner != b"AMDGPU" or note.kind != NOTE_TYPE:
            raise BadInput(f"note type {note.kind} cannot be printed", location=label)
        text = document_text(document or decode_metadata(note.data, label), label)
        notes.append(_NOTE.format(size=len(note.data), document=text))
    return _SECTION.format(
        name=section.name, offset=section.offset, size=section.size, notes="".join(notes)
    )


def _add_map(
    lines: list[str], value: Mapping[str, Json], first: str, indent: str, location: str
) -> None:
    """Add the lines of a map: the first begins with ``first``, every other with ``indent``."""
    begin, below = first, indent + "  "
    for key in sorted(value, key=str.encode):
        item = value[key]
        name = begin + _printed(key, is_key=True)
        begin = indent
        if isinstance(item, dict) and item:
            lines.append(name)
            _add_map(lines, item, below, below, location)
        elif isinstance(item, list) and item:
            lines.append(name)
            _add_list(lines, item, below, location)
        else:
            lines.append(f"{name}{' ' * max(1, KEY_COLUMNS - len(key.encode()))}{_scalar(item)}")


def _add_list(lines: list[str], value: list[Json], indent: str, location: str) -> None:
    for item in value:
        if isinstance(item, list):
            raise BadInput("metadata holds a list inside a list", location=location)
        if isinstance(item, dict) and item:
            _add_map(lines, item, f"{indent}- ", f"{indent}  ", location)
        else:
            lines.append(f"{indent}- {_scalar(item)}")


def _scalar(value: Json) -> str:
    if value is None:
        return "!nil ''"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:e}"
    if isinstance(value, str):
        return _printed(value, is_key=False)
    return "{}" if isinstance(value, dict) else "[]"


def _printed(text: str, *, is_key: bool) -> str:
    """Return a key or a text as it is printed; kernels say the same short ones again and again."""
    return (_known if len(text) <= MAX_KNOWN else _known.__wrapped__)(text, is_key)


@lru_cache(maxsize=1024)
def _known(text: str, is_key: bool) -> str:
    if is_key:
        return _quoted(text, keep_type=False) + ":"
    return ("!str " if _reads_otherwise(text) else "") + _quoted(text, keep_type=True)


def _reads_otherwise(text: str) -> bool:
    """Tell whether the tool would read the bare text back as a boolean or a number."""
    return (
        text in ("true", "false")
        or _PREFIXED_INTEGER.fullmatch(text) is not None
        or _C_NUMBER.fullmatch(text.partition("\0")[0]) is not None
    )


def _quoted(text: str, *, keep_type: bool) -> str:
    """Quote as LLVM's YAML writer does; ``keep_type`` also quotes what would read as a number."""
    if _NEEDS_ESCAPES.search(text):
        return '"' + "".join(_escaped(character) for character in text) + '"'
    needs_quotes = (
        not text
        or text[0] in _BLANKS
        or text[-1] in _BLANKS
        or text[0] in _INDICATORS
        or not _SAFE.fullmatch(text)
        or (keep_type and (text in _SPECIAL_WORDS or _YAML_NUMBER.fullmatch(text) is not None))
    )
    return "'" + text.replace("'", "''") + "'" if needs_quotes else text


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _ESCAPES:
        return "\\" + _ESCAPES[character]
    if code < 0x20:
        return f"\\x{code:02X}"
    if code < 0x80 or code == SOFT_HYPHEN or character.isprintable():
        return character
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
