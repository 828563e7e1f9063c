"""Static checks of a code object, and its comparison with the contract that it was built for."""

from __future__ import annotations

from collections import Counter
from typing import Any

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.checkasm.hazards.checker import check_code_object, has_errors
from netra_build.checkasm.hazards.conformity import all_facts, is_published
from netra_build.checkasm.hazards.findings import ERROR, json_report, text_report
from netra_build.core.canonical_json import canonical_bytes, parse_object, pretty_bytes
from netra_build.core.errors import Refused

SUMMARY_FORMAT = "netra-check-summary-1"


def check(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Check waits, wait states, registers, kernargs and branches; return the ``report``.

    Inputs: ``hsaco`` and its listing ``dis``. Parameters: ``hsaco`` (name inside the product)
    and ``gate``: with it a report that holds an error raises ``Refused``.
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


def conform(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the ``report`` of all comparisons; raise ``Refused`` with the first that differs.

    Without the parameter ``gate`` only what the published formats state is refused, and what else
    differs is among the ``warnings`` of the report.
    Further parameters: ``hsaco``, and by symbol the ``contracts``: ``kernarg_size``, ``launch``
    (block and lds_bytes) and, where known, ``arguments`` (name, kind, offset); ``abi`` is a
    second list of the same, with what else an ABI record states (``abi_facts``): ``modes`` are
    descriptor fields by name; ``otherwise`` are symbols that the kernel may have instead.
    """
    hsaco, contracts = parameters["hsaco"], parameters["contracts"]
    code = read_code_object(inputs["hsaco"], hsaco)
    rows, warnings = [], []
    for what, expected, got in all_facts(code, contracts, hsaco):
        rows.append({"fact": what, "value": got})
        if expected != got:
            values = {"location": hsaco, "expected": expected, "got": got}
            if parameters.get("gate", True) or is_published(what):
                raise Refused(f"{what} differs from the contract", **values)
            warnings.append(Refused(f"{what} differs from our convention", **values).line())
    report = {"format": "netra-conformity-1", "hsaco": hsaco, "facts": rows}
    return {"report": pretty_bytes({**report, "warnings": warnings})}


def summarize(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the ``summary`` of check reports, given by code object, as ``check`` makes them.

    It counts the findings of each kernel and has a warning for each with an error; with the
    parameter ``gate`` these raise ``Refused``.
    """
    rows, warnings = [], []
    for hsaco, data in sorted(inputs.items()):
        findings = parse_object(data, hsaco)["findings"]
        for kernel in sorted({finding["kernel"] for finding in findings}):
            found = Counter(f["severity"] for f in findings if f["kernel"] == kernel)
            rows.append({"hsaco": hsaco, "kernel": kernel, "counts": found})
            if found[ERROR]:
                count = f"{found[ERROR]} error{'s' if found[ERROR] > 1 else ''}"
                warnings.append(f"{hsaco}: static checks of {kernel} find {count}")
    if parameters["gate"] and warnings:
        fact = f"static checks find errors in {len(warnings)} kernels"
        raise Refused(fact, location="check-kernels", detail="\n".join(warnings))
    summary = {"format": SUMMARY_FORMAT, "checked": len(inputs), "kernels": rows}
    return {"summary": pretty_bytes({**summary, "warnings": warnings})}


CHECK = Stage("check", "CHECK", __name__, check)
CONFORM = Stage("conform", "CONF", __name__, conform)
CHECKED = Stage("checked", "CHECKED", __name__, summarize)
