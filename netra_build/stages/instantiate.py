"""Instantiate: write one translation unit from a template's constants and its entry macro.

The text is that of the published engine format, section 8.1: three comment lines, one ``.set``
per constant, one ``.include`` of the template, one macro call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage


def instance_source(
    *,
    tactic: str,
    contract_id: str,
    constants: Sequence[tuple[str, int]],
    template: str,
    macro: str,
    macro_symbols: Sequence[str],
) -> bytes:
    """Return the unit's text; ``constants`` stand in the order in which they are to be set.

    They begin with NETRA_TARGET_GFX and NETRA_WAVE_SIZE.
    """
    lines = [
        "// SPDX-License-Identifier: MIT",
        "// Deterministic Netra compiler output; all choices are assembler-time constants.",
        f"// Tactic: {tactic}; contract: {contract_id}.",
        "",
        *(f"\t.set {name}, {int(value)}" for name, value in constants),
        "",
        f'\t.include "{template}"',
        f"\t{macro} {', '.join(macro_symbols)}",
        "",
    ]
    return "\n".join(lines).encode()


_SET = re.compile(rb"^\t\.set ([A-Za-z_]\w*), (-?\d+)$", re.MULTILINE)
_FORM = re.compile(
    rb"// SPDX-License-Identifier: MIT\n"
    rb"// Deterministic Netra compiler output; all choices are assembler-time constants\.\n"
    rb"// Tactic: [A-Za-z0-9_.]+; contract: nk_[0-9a-f]{24}\.\n"
    rb"\n"
    rb"(?:\t\.set [A-Za-z_]\w*, -?\d+\n)+"
    rb"\n"
    rb'\t\.include "[^"\n]+"\n'
    rb"\t[\w.$]+ (?P<symbols>[\w.$]+(?:, [\w.$]+)*)\n"
)


def instance_symbols(data: bytes) -> tuple[str, ...]:
    """Return the macro symbols of a unit as ``instance_source`` writes it; of other text none."""
    found = _FORM.fullmatch(data)
    return tuple(found["symbols"].decode("ascii").split(", ")) if found else ()


def instance_constants(data: bytes) -> dict[str, int]:
    """Return the constants that a unit sets first; of other text than a unit's nothing."""
    found = _SET.findall(data) if _FORM.fullmatch(data) else []
    return {name.decode("ascii"): int(value) for name, value in found}


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the unit under the role ``unit``."""
    return {"unit": instance_source(**_arguments(parameters))}


def _arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    named = dict(parameters)
    named["constants"] = [(name, value) for name, value in named["constants"]]
    return named


STAGE = Stage("instantiate", "INST", __name__, run, is_kept=False)
