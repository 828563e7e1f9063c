"""Guards of a template: remove one and test whether a wrong constant is still refused by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from netra_build.asm.source.closure import Closure
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.mutate.mutant import GUARD, GUARD_TEST, Mutant, Verdict
from netra_build.core.errors import NetraError, Refused

GUARD_MACRO = "NETRA_REQUIRE_EQ"
WRONG_BY = 32
"""Difference between the wrong constant and the right one."""

UNIT = "unit.s"


@dataclass(frozen=True)
class Template:
    """One instance of a template: its own text, its constants and its include closure."""

    instance: bytes
    constants: Mapping[str, int]
    closure: Closure


def guard_verdicts(template: Template, tools: Toolchain) -> Iterator[Verdict]:
    """Yield a verdict for each guard of a constant that the instance sets.

    A guard is caught when the test that every wrong constant is named by its guard fails without
    it. Raises ``Refused`` when the right constants are refused or a wrong one is not.
    """
    if messages := _errors(template, tools, template.instance, {}):
        raise Refused("unmutated template is refused", location=UNIT, detail="\n".join(messages))
    for name, line, constant in _guards(template):
        wrong = _with_wrong(template, constant)
        expected = f"{constant} has another value; "
        before = _errors(template, tools, wrong, {})
        if not any(message.startswith(expected) for message in before):
            raise Refused(f'no guard refuses a wrong "{constant}"', location=f"{name}:{line}")
        after = _errors(template, tools, wrong, {name: _without(template, name, line)})
        statement = _line(template, name, line)
        mutant = Mutant(GUARD, 0, line, f"{name}: {statement}", "")
        if any(message.startswith(expected) for message in after):
            yield Verdict(mutant, "", "", "")
        else:
            what = f"is refused otherwise: {after[0]}" if after else "assembles"
            yield Verdict(mutant, GUARD_TEST, f"a wrong {constant} {what}")


def _guards(template: Template) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and constant of each guard."""
    for file in template.closure.files:
        for statement in file.statements:
            constant = statement.operands.split(",")[0].strip()
            if statement.name == GUARD_MACRO and constant in template.constants:
                yield file.name, statement.line, constant


def _lines(template: Template, name: str) -> list[str]:
    return template.closure.data_by_name[name].decode().split("\n")


def _line(template: Template, name: str, line: int) -> str:
    return _lines(template, name)[line - 1].strip()


def _without(template: Template, name: str, line: int) -> bytes:
    lines = _lines(template, name)
    lines[line - 1] = ""
    return "\n".join(lines).encode()


def _with_wrong(template: Template, constant: str) -> bytes:
    value = template.constants[constant]
    right, wrong = f".set {constant}, {value}\n", f".set {constant}, {value + WRONG_BY}\n"
    return template.instance.replace(right.encode(), wrong.encode(), 1)


def _errors(
    template: Template, tools: Toolchain, instance: bytes, changed: Mapping[str, bytes]
) -> list[str]:
    """Return the assembler's errors."""
    files = {**template.closure.data_by_name, **changed, UNIT: instance}
    try:
        tools.assemble_tree(files, UNIT)
    except AssemblyFailed as failed:
        return [one.text for one in failed.diagnostics if one.severity == "error"]
    except NetraError as error:
        return [error.fact]
    return []
