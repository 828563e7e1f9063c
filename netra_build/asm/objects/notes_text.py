"""The text that ``llvm-readobj --notes`` prints for a code object, made without that program."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache

from netra_build.asm.objects.code_object import CodeObject
from netra_build.asm.objects.elf import Section
from netra_build.asm.objects.metadata import NOTE_TYPE, Note, decode_metadata, split_notes
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput

KEY_COLUMNS = 16
MAX_KNOWN = 64
"""Characters of a text whose form is held."""

SOFT_HYPHEN = 0xAD
DT_SONAME = 14

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
_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\0": "\\0",
    "\a": "\\a",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\v": "\\v",
    "\f": "\\f",
    "\r": "\\r",
    "\x1b": "\\e",
    "\x85": "\\N",
    "\xa0": "\\_",
    "\u2028": "\\L",
    "\u2029": "\\P",
}


def notes_text(code: CodeObject, label: str) -> str:
    """Return the notes of ``code`` as the tool prints them, with ``label`` as the file's name.

    Raises ``BadInput`` for what code objects of ours never hold: notes of other owners, and lists
    inside lists.
    """
    sections = [section for section in code.sections if section.kind == "note"]
    notes = [tuple(split_notes(section.data, label)) for section in sections]
    # The only note of an object has been decoded already.
    document = code.metadata if sum(map(len, notes)) == 1 else None
    body = "".join(
        _section_text(section, found, label, document)
        for section, found in zip(sections, notes, strict=True)
    )
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
        return _ESCAPES[character]
    if code < 0x20:
        return f"\\x{code:02X}"
    if code < 0x80 or code == SOFT_HYPHEN or character.isprintable():
        return character
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
