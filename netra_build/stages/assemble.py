"""What the tool chain makes: an object of a flat unit, a code object of objects, and its listing.

Assemble works in a folder that holds nothing else; link joins what the loader accepts as one;
disassemble lists instructions with the file named as in the product.
"""

from __future__ import annotations

from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.errors import NetraError

MAIN = "main:"
MAX_SHOWN_LINES = 100


def assemble(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return the object under the role ``object``; raise ``BadInput`` with the diagnostics."""
    return {"object": tools.assemble(inputs["flat"])}


def explain(error: NetraError, hints: Inputs, tools: Toolchain) -> NetraError:
    """Assemble the raw unit with its raw closure, for diagnostics with the author's lines.

    One role is ``main:NAME``, the unit; the others are library files by name. If the raw unit
    assembles, which is not expected, the error of the flat unit is returned.
    """
    main = next(role for role in hints if role.startswith(MAIN))
    files = {role.removeprefix(MAIN): data for role, data in hints.items()}
    try:
        tools.assemble_tree(files, main.removeprefix(MAIN))
    except AssemblyFailed as raw:
        raw.detail = shown_report(raw.raw)
        return raw
    except NetraError as other:
        return other
    return error


def shown_report(raw: str) -> str:
    """Return a report for people: a long one from its first error on, and cut off."""
    lines = raw.rstrip().split("\n")
    if len(lines) <= MAX_SHOWN_LINES:
        return "\n".join(lines)
    start = next((i for i, line in enumerate(lines) if ": error: " in line), 0)
    shown = lines[start : start + MAX_SHOWN_LINES]
    return "\n".join([*shown, f"... and {len(lines) - len(shown)} more lines"])


def link(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return the linked code object under the role ``linked``; objects in order of their role."""
    return {"linked": tools.link([inputs[role] for role in sorted(inputs)])}


def disassemble(inputs: Inputs, parameters: Parameters, tools: Toolchain) -> Outputs:
    """Return the listing of ``hsaco`` under the role ``dis``; ``label`` is the file's name."""
    return {"dis": tools.disassemble(inputs["hsaco"], label=parameters["label"]).encode()}


ASSEMBLE = Stage("assemble", "ASM", __name__, assemble, uses_tools=True, explain=explain)
LINK = Stage("link", "LINK", __name__, link, uses_tools=True)
DISASSEMBLE = Stage("disassemble", "DIS", __name__, disassemble, uses_tools=True)
