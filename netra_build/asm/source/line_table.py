"""Line tables for assembly text: every instruction says in which file and line its author wrote it.

The assembler's own ``-g`` gives an instruction of a macro the line of the outermost call, which for
a whole kernel is one line. Here a ``.loc`` stands before each instruction instead, also inside
macros, so that what is called is found where it was written. No ``.loc`` changes ``.text``.
"""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.asm.source.lexer import lex
from netra_build.asm.source.statement import Kind, Statement, decode_source, macro_names

PRODUCER = "netra-build"
_BEGIN, _END, _LINES = ".Lnetra_debug_begin", ".Lnetra_debug_end", ".Lnetra_debug_lines"

# One compile unit without children: attribute and form each (DWARF 4, section 7).
_ABBREVIATION = (
    (1, 0x11, 0),  # code 1: DW_TAG_compile_unit, no children
    (0x25, 0x08),  # DW_AT_producer, a string
    (0x13, 0x05),  # DW_AT_language, two bytes
    (0x03, 0x08),  # DW_AT_name, a string
    (0x1B, 0x08),  # DW_AT_comp_dir, a string
    (0x10, 0x17),  # DW_AT_stmt_list, an offset
    (0x11, 0x01),  # DW_AT_low_pc, an address
    (0x12, 0x07),  # DW_AT_high_pc, eight bytes: the length
    (0, 0),
    (0,),
)
_ASSEMBLER_LANGUAGE = 0x8001


def with_line_table(files: Mapping[str, bytes], main: str) -> dict[str, bytes]:
    """Return the files of one unit with the places of their instructions in them.

    ``main`` is the unit; all names are relative and appear as they are. Raises what ``lex`` raises.
    """
    macros: dict[str, bool] = {}
    for name, data in files.items():
        macros.update(macro_names(decode_source(data, name)))
    numbers = {name: number for number, name in enumerate(sorted(files), start=1)}
    located = {name: _located(data, name, numbers[name], macros) for name, data in files.items()}
    table = "".join(f'\t.file {number} "{name}"\n' for name, number in numbers.items())
    head = f"{table}\t.text\n{_BEGIN}:\n"
    located[main] = f"{head}{located[main]}\n{_compile_unit(main)}"
    return {name: text.encode() for name, text in located.items()}


def _located(data: bytes, name: str, number: int, macros: Mapping[str, bool]) -> str:
    lines = decode_source(data, name)
    for one in lex(data, name, macros):
        if _may_emit(one):
            text, place = lines[one.line - 1], f"\t.loc {number} {one.line}\n"
            comment, end, rest = text.partition("*/")
            if end and "/*" not in comment and one.name not in comment:
                # The line begins inside a comment, and the statement behind it.
                lines[one.line - 1] = f"{comment}{end}\n{place}{rest}"
            else:
                lines[one.line - 1] = place + text
    return "\n".join(lines)


def _may_emit(statement: Statement) -> bool:
    """Tell whether a statement is an instruction, also one whose name a macro is given."""
    if statement.kind is Kind.INSTRUCTION:
        return True
    return statement.kind is Kind.MACRO_CALL and "\\" in statement.name


def _compile_unit(main: str) -> str:
    """Return the two sections that make a debugger read the line table."""
    numbers = ", ".join(str(value) for entry in _ABBREVIATION for value in entry)
    return "\n".join(
        [
            "\t.text",
            f"{_END}:",
            '\t.section .debug_abbrev,"",@progbits',
            f"\t.byte {numbers}",
            '\t.section .debug_info,"",@progbits',
            f"\t.long {_END}_info-{_BEGIN}_info",
            f"{_BEGIN}_info:",
            "\t.short 4",
            "\t.long .debug_abbrev",
            "\t.byte 8, 1",
            f'\t.asciz "{PRODUCER}"',
            f"\t.short {_ASSEMBLER_LANGUAGE}",
            f'\t.asciz "{main}"',
            '\t.asciz "."',
            f"\t.long {_LINES}",
            f"\t.quad {_BEGIN}",
            f"\t.quad {_END}-{_BEGIN}",
            f"{_END}_info:",
            '\t.section .debug_line,"",@progbits',
            f"{_LINES}:",
            "",
        ]
    )
