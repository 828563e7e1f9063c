"""What a static check reports: rules with severities, findings, and reports of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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


RULES: tuple[Rule, ...] = (
    Rule(
        "unknown-instruction",
        ERROR,
        "the disassembler or the instruction table does not know this code",
        "nothing is known about what it reads and writes: remove it or extend the table",
    ),
    Rule(
        "missing-wait",
        ERROR,
        "a register with an outstanding load is used before a covering s_waitcnt",
        "wait for the load first",
    ),
    Rule(
        "lds-write-at-barrier",
        ERROR,
        "an LDS write may still be outstanding when the wavefront reaches s_barrier",
        "put s_waitcnt lgkmcnt(0) before the barrier",
    ),
    Rule(
        "lds-read-at-barrier",
        WARNING,
        "an LDS read may still be outstanding when the wavefront reaches s_barrier",
        "wait before the barrier unless no wavefront overwrites what is read",
    ),
    Rule(
        "lds-dma-at-barrier",
        WARNING,
        "a load into LDS may still be outstanding when the wavefront reaches s_barrier",
        "wait with vmcnt before the barrier unless no wavefront reads that part behind it",
    ),
    Rule(
        "lds-dma-read",
        WARNING,
        "LDS is read while a load into LDS may still be outstanding",
        "wait with vmcnt first unless the two parts of LDS are different",
    ),
    Rule(
        "lds-dma-at-end",
        ERROR,
        "a load into LDS may still be outstanding when the program ends",
        "wait with vmcnt(0) before s_endpgm: the LDS may belong to another work-group by then",
    ),
    Rule(
        "lds-without-barrier",
        NOTE,
        "several wavefronts share LDS and the kernel has no s_barrier",
        "fine when each wavefront keeps to its own part",
    ),
    Rule(
        "wait-states",
        ERROR,
        "too few wait states between two dependent instructions",
        "put s_nop or independent instructions between them",
    ),
    Rule(
        "accumulator-overlap",
        ERROR,
        "a matrix instruction's result overlaps its sources in a way that is not allowed",
        "use the same registers for result and srcC, or registers apart",
    ),
    Rule("branch-target", ERROR, "a branch leads outside the kernel or between instructions"),
    Rule("falls-off-end", ERROR, "execution runs past the end of the kernel", "end with s_endpgm"),
    Rule(
        "indirect-branch",
        WARNING,
        "a jump to a computed address is not followed",
        "what lies behind it is not checked",
    ),
    Rule(
        "indirect-register", WARNING, "registers are named at run time", "their use is not checked"
    ),
    Rule(
        "vgpr-allocation",
        ERROR,
        "the code uses more vector registers than the descriptor allocates",
        "raise .amdhsa_next_free_vgpr",
    ),
    Rule(
        "accum-offset",
        ERROR,
        "the descriptor's accum_offset does not separate VGPRs and AGPRs",
        "raise .amdhsa_accum_offset to the number of VGPRs used, rounded up to 4",
    ),
    Rule(
        "accum-offset-vgpr",
        WARNING,
        "the code uses VGPRs above accum_offset",
        "raise .amdhsa_accum_offset to the number of VGPRs used, rounded up to 4",
    ),
    Rule(
        "sgpr-allocation",
        ERROR,
        "the code uses more scalar registers than the descriptor allocates",
        "raise .amdhsa_next_free_sgpr",
    ),
    Rule("lds-size", ERROR, "static LDS is over the limit of a work-group"),
    Rule(
        "lds-undeclared",
        NOTE,
        "the kernel touches LDS and declares none",
        "the launcher must pass dynamic LDS",
    ),
    Rule("wave-size", ERROR, "the kernel is not built for wavefronts of 64", "assemble for wave64"),
    Rule(
        "target",
        ERROR,
        "the code object is for another target",
        "assemble it for the target that is asked for, or name its own with --target",
    ),
    Rule("metadata-missing", ERROR, "the code object metadata does not list the kernel"),
    Rule(
        "metadata-mismatch",
        ERROR,
        "descriptor and code object metadata disagree",
        "emit both from the same constants",
    ),
    Rule(
        "metadata-count",
        WARNING,
        "the metadata states fewer registers than the code uses",
        "emit the count from the highest register used",
    ),
    Rule("kernarg-layout", ERROR, "the metadata's kernargs overlap or leave the segment"),
    Rule(
        "kernarg-read",
        ERROR,
        "the code reads kernarg bytes that no argument owns",
        "compare the load's offset and width with the argument table",
    ),
    Rule("kernarg-unread", NOTE, "no load of a kernarg was found"),
    Rule("kernarg-unresolved", NOTE, "a kernarg address is computed at run time and not followed"),
    Rule("analysis-limit", ERROR, "the kernel is too large or too entangled to be checked"),
)
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
    rule_index = {rule.id: number for number, rule in enumerate(RULES)}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "netra check",
                        "version": version,
                        "rules": [_sarif_rule(rule) for rule in RULES],
                    }
                },
                "artifacts": [{"location": {"uri": label}}],
                "results": [
                    _sarif_result(finding, rule_index[finding.rule], label) for finding in findings
                ],
            }
        ],
    }


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
    message = finding.message
    if finding.instruction:
        message = f"{message} [{finding.instruction}]"
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": message},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [{"name": finding.kernel, "kind": "function"}],
            }
        ],
    }
