"""What a static check reports: rules with severities, findings, and reports of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from netra_build.asm.objects.listings import Instruction
from netra_build.core.canonical_json import Json

ERROR = "error"
WARNING = "warning"
NOTE = "note"
SEVERITIES = (ERROR, WARNING, NOTE)


@dataclass(frozen=True)
class Rule:
    """One rule: its id, severity, message and remedy."""

    id: str
    severity: str
    summary: str
    hint: str = ""


_TABLE = """
error unknown-instruction
    the disassembler or the instruction table does not know this code
    nothing is known about what it reads and writes: remove it or extend the table
error missing-wait
    a register with an outstanding load is used before a covering s_waitcnt
    wait for the load first
error lds-write-at-barrier
    an LDS write may still be outstanding when the wavefront reaches s_barrier
    put s_waitcnt lgkmcnt(0) before the barrier
warning lds-read-at-barrier
    an LDS read may still be outstanding when the wavefront reaches s_barrier
    wait before the barrier unless no wavefront overwrites what is read
warning lds-dma-at-barrier
    a load into LDS may still be outstanding when the wavefront reaches s_barrier
    wait with vmcnt before the barrier unless no wavefront reads that part behind it
warning lds-dma-read
    LDS is read while a load into LDS may still be outstanding
    wait with vmcnt first unless the two parts of LDS are different
error lds-dma-at-end
    a load into LDS may still be outstanding when the program ends
    wait with vmcnt(0) before s_endpgm: the LDS may belong to another work-group by then
note lds-without-barrier
    several wavefronts share LDS and the kernel has no s_barrier
    fine when each wavefront keeps to its own part
error wait-states
    too few wait states between two dependent instructions
    put s_nop or independent instructions between them
warning accumulator-opcode
    a matrix instruction continues the accumulator of another opcode without wait states
    put s_nop between the two, or use one opcode
error accumulator-overlap
    a matrix instruction's result overlaps its sources in a way that is not allowed
    use the same registers for result and srcC, or registers apart
error branch-target
    a branch leads outside the kernel or between instructions
error falls-off-end
    execution runs past the end of the kernel
    end with s_endpgm
warning indirect-branch
    a jump to a computed address is not followed
    what lies behind it is not checked
warning indirect-register
    registers are named at run time
    their use is not checked
error vgpr-allocation
    the code uses more vector registers than the descriptor allocates
    raise .amdhsa_next_free_vgpr
error accum-offset
    the descriptor's accum_offset does not separate VGPRs and AGPRs
    raise .amdhsa_accum_offset to the number of VGPRs used, rounded up to 4
warning accum-offset-vgpr
    the code uses VGPRs above accum_offset
    raise .amdhsa_accum_offset to the number of VGPRs used, rounded up to 4
error sgpr-allocation
    the code uses more scalar registers than the descriptor allocates
    raise .amdhsa_next_free_sgpr
error lds-size
    static LDS is over the limit of a work-group
note lds-undeclared
    the kernel touches LDS and declares none
    the launcher must pass dynamic LDS
error scratch
    private memory is used beyond what the descriptor declares
    raise .amdhsa_private_segment_fixed_size
error wave-size
    the kernel is not built for wavefronts of 64
    assemble for wave64
error target
    the code object is for another target
    assemble it for the target that is asked for, or name its own with --target
error metadata-missing
    the code object metadata does not list the kernel
error metadata-mismatch
    descriptor and code object metadata disagree
    emit both from the same constants
warning metadata-count
    the metadata states fewer registers than the code uses
    emit the count from the highest register used
error kernarg-layout
    the metadata's kernargs overlap, descend or leave the segment
error kernarg-read
    the code reads kernarg bytes that no argument owns
    compare the load's offset and width with the argument table
note kernarg-unread
    no load of a kernarg was found
note kernarg-unresolved
    a kernarg address is computed at run time and not followed
error analysis-limit
    the kernel is too large or too entangled to be checked
"""
"""Severity and id of each rule, then its message and its remedy."""


def _rules() -> Iterator[Rule]:
    for entry in re.split(r"\n(?=\w)", _TABLE.strip()):
        head, *texts = entry.split("\n")
        severity, name = head.split()
        yield Rule(name, severity, *(text.strip() for text in texts))


RULES = tuple(_rules())
RULE_BY_ID = {rule.id: rule for rule in RULES}


@dataclass(frozen=True)
class Finding:
    """One finding. ``pc`` is the address of ``instruction``, None for a fact about the kernel."""

    rule: str
    severity: str
    kernel: str
    pc: int | None
    instruction: str
    message: str
    hint: str

    def line(self) -> str:
        """Return ``KERNEL+PC: SEVERITY RULE: MESSAGE [INSTRUCTION]``."""
        place = self.kernel if self.pc is None else f"{self.kernel} at {self.pc:#x}"
        tail = f" [{self.instruction}]" if self.instruction else ""
        return f"{place}: {self.severity}: {self.message} ({self.rule}){tail}"


def make_finding(
    rule: str, kernel: str, message: str, instruction: Instruction | None = None
) -> Finding:
    """Return a finding with the rule's severity and hint."""
    entry = RULE_BY_ID[rule]
    pc, text = (None, "") if instruction is None else (instruction.address, instruction.text)
    return Finding(rule, entry.severity, kernel, pc, text, message, entry.hint)


def sort_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return findings without repetition, by kernel, address, severity and rule."""

    def place(finding: Finding) -> tuple[str, int, int, str, str]:
        pc = -1 if finding.pc is None else finding.pc
        severity = SEVERITIES.index(finding.severity)
        return finding.kernel, pc, severity, finding.rule, finding.message

    return tuple(sorted(set(findings), key=place))


JSON_FORMAT = "netra-check-1"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text_report(findings: Sequence[Finding], label: str) -> str:
    """Return one line per finding, its hint below it, and a last line of counts."""
    lines = []
    for finding in findings:
        lines.append(f"{label}: {finding.line()}")
        if finding.hint:
            lines.append(f"hint: {finding.hint}")
    counts = count_by_severity(findings)
    total = ", ".join(f"{counts[severity]} {severity}s" for severity in SEVERITIES)
    return "\n".join([*lines, f"{label}: {total}"])


def count_by_severity(findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many findings there are of each severity."""
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in SEVERITIES}


def json_report(findings: Sequence[Finding], label: str) -> Json:
    """Return the findings as a JSON document of format ``netra-check-1``."""
    return {
        "format": JSON_FORMAT,
        "object": label,
        "counts": count_by_severity(findings),
        "findings": [asdict(finding) for finding in findings],
    }


def sarif_report(findings: Sequence[Finding], label: str, version: str) -> Json:
    """Return the findings as a SARIF 2.1.0 log; addresses are absolute in the code object."""
    index_by_rule = {rule.id: number for number, rule in enumerate(RULES)}
    rules = [_sarif_rule(rule) for rule in RULES]
    run: Json = {
        "tool": {"driver": {"name": "netra check", "version": version, "rules": rules}},
        "artifacts": [{"location": {"uri": label}}],
        "results": [_sarif_result(one, index_by_rule[one.rule], label) for one in findings],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_rule(rule: Rule) -> Json:
    entry: dict[str, Json] = {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.severity},
    }
    if rule.hint:
        entry["help"] = {"text": rule.hint}
    return entry


def _sarif_result(finding: Finding, rule_index: int, label: str) -> Json:
    physical: dict[str, Json] = {"artifactLocation": {"uri": label, "index": 0}}
    if finding.pc is not None:
        physical["address"] = {"absoluteAddress": finding.pc, "kind": "instruction"}
    tail = f" [{finding.instruction}]" if finding.instruction else ""
    names = [{"name": finding.kernel, "kind": "function"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": f"{finding.message}{tail}"},
        "locations": [{"physicalLocation": physical, "logicalLocations": names}],
    }
