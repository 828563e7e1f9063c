"""Check: the static checks of a code object - waits, wait states, registers, kernargs, branches."""

from __future__ import annotations

from typing import Any

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.disassembly import parse_disassembly
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.checkasm.hazards.checker import check_code_object, has_errors
from netra_build.checkasm.hazards.findings import ERROR, json_report, text_report
from netra_build.core.canonical_json import canonical_bytes
from netra_build.core.errors import Refused


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the report under the role ``report``; raise ``Refused`` when it holds an error.

    Inputs: ``hsaco`` and its listing ``dis``. Parameters: ``hsaco`` (name inside the product)
    and ``gate``: without it errors are reported and nothing is refused.
    """
    hsaco = parameters["hsaco"]
    code = read_code_object(inputs["hsaco"], hsaco)
    listing = parse_disassembly(inputs["dis"].decode(), hsaco)
    findings = check_code_object(code, listing, location=hsaco)
    if parameters["gate"] and has_errors(findings):
        count = sum(finding.severity == ERROR for finding in findings)
        raise Refused(
            f"static checks find {count} error{'s' if count > 1 else ''}",
            location=hsaco,
            detail=text_report(findings, hsaco),
        )
    return {"report": canonical_bytes(json_report(findings, hsaco))}


STAGE = Stage("check", "CHECK", __name__, run)
