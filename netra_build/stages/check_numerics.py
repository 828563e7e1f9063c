"""Numerics: run a kernel in the functional model and compare it with its numeric contract.

numpy and the modules that need it are imported when the stage runs: they are an optional extra,
and a build with nothing to do must not load them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.checkasm.numerics.statement_source import FOLDER, Statement
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.confined import answer_of
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import Refused, ToolchainFailed

if TYPE_CHECKING:
    from netra_build.checkasm.model.launch import Prepared
    from netra_build.checkasm.numerics.scenario import Scenario
    from netra_build.checkasm.numerics.suite import Suite

FORMAT = "netra-numerics-1"
SCOPE = "simulated"
MOST_BYTES = 16 << 20


@cache
def require_numpy() -> None:
    """Raise ``ToolchainFailed`` without the library of the extra, before anything is made."""
    if find_spec("numpy") is None:
        hint = "install netra-build with [simulate]: pip install 'CLONE[simulate]'"
        raise ToolchainFailed('simulation needs the Python package "numpy"', hint=hint)


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the report under the role ``report``; raise ``Refused`` at the first difference.

    Inputs: ``hsaco``, its listing ``dis``, and every file of the tactic's statement by name.
    Parameters: ``hsaco`` (name), ``symbol``, ``tactic`` (id), ``variant``, ``specialization`` and
    ``seeds``: the random case runs with each of them, every other case with the first; a kernel
    with instructions that may be one unit in the last place off runs the random case once more,
    with results that are.
    """
    from netra_build.asm.objects.code_object import read_code_object
    from netra_build.checkasm.model.launch import prepare
    from netra_build.checkasm.numerics.suite import load_suite

    hsaco, symbol = parameters["hsaco"], parameters["symbol"]
    prepared = prepare(inputs["hsaco"], symbol, _Listing(inputs["dis"].decode()), hsaco)
    files = {role: data for role, data in inputs.items() if role.startswith(f"{FOLDER}/")}
    statement = Statement(parameters["tactic"], files)

    def report() -> bytes:
        text_sha256 = sha256_hex(read_code_object(inputs["hsaco"], hsaco).text)
        return _report(prepared, load_suite(statement), parameters, text_sha256)

    return {"report": answer_of(report, "numeric check", statement.name, MOST_BYTES)}


def _report(prepared: Prepared, suite: Suite, parameters: Parameters, text_sha256: str) -> bytes:
    from netra_build.checkasm.model.arith.transcendental import SECOND_NEAREST

    hsaco, seeds = parameters["hsaco"], parameters["seeds"]
    specialization = parameters["specialization"]
    runs = [_judge(prepared, one, hsaco) for one in suite.launches(specialization, seeds)]
    if prepared.has_approximate_results:
        # Once more with second nearest results: no output may depend on which of the two it gets.
        other = prepared.approximating(SECOND_NEAREST)
        second = suite.second_launches(specialization, seeds[0])
        runs += [_judge(other, one, hsaco) for one in second]
    report = {
        "format": FORMAT,
        "scope": SCOPE,
        "tactic": suite.tactic,
        "variant": parameters["variant"],
        "symbol": parameters["symbol"],
        "text_sha256": text_sha256,
        "verdict": "passed",
        "runs": runs,
    }
    return canonical_bytes(report)


@dataclass(frozen=True)
class _Listing:
    """Takes the place of a disassembler: the listing was made by another stage."""

    text: str

    def disassemble(self, hsaco: bytes, *, label: str = "") -> str:
        """Return the listing."""
        return self.text


def _judge(prepared: Prepared, scenario: Scenario, hsaco: str) -> Json:
    """Run one launch and return its row; raise ``Refused`` for a finding or a difference."""
    from netra_build.checkasm.model.launch import Options

    outcome = prepared.launch(
        scenario.grid, scenario.block, list(scenario.values.values()), Options()
    )
    findings = outcome.report.findings
    if findings:
        raise Refused(
            f"dynamic checks find {sum(outcome.report.counts.values())} faults",
            location=f"{hsaco}: {scenario.label}",
            detail="\n".join(finding.line() for finding in findings[:4]),
        )
    outputs = scenario.by_name(outcome.outputs.values())
    if name := scenario.written_input(outputs):
        raise Refused(f'input "{name}" was written', location=f"{hsaco}: {scenario.label}")
    results = scenario.compare(outputs)
    for result in results:
        if not result.is_equal:
            raise Refused(
                "outputs differ from the numeric contract",
                location=f"{hsaco}: {scenario.label}",
                detail=result.line(),
            )
    elements = sum(result.elements for result in results)
    return {
        "label": scenario.label,
        "elements": elements,
        "differing": 0,
        "wave_instructions": outcome.report.wave_instructions,
    }


STAGE = Stage("numerics", "NUMER", __name__, run, is_long=True)
