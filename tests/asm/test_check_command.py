"""``netra check``: forms of output, exit codes, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rule_cases import Unit

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.cli.main import main

CLEAN = Unit("s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dword s8, s[0:1], 0x10\ns_endpgm")
FAULTY = Unit("s_load_dword s4, s[0:1], 0x0\ns_mov_b32 s5, s4\ns_endpgm")
WARNED = Unit("s_load_dwordx8 s[4:11], s[0:1], 0x0\ns_setpc_b64 s[20:21]", {"kernarg_size": 32})


@pytest.fixture
def built(toolchain: Toolchain, tmp_path: Path):
    """Return a function that builds a unit into a file."""

    def build(unit) -> str:
        path = tmp_path / "unit.hsaco"
        path.write_bytes(toolchain.link([toolchain.assemble(unit.source().encode())]))
        return str(path)

    return build


def test_clean_object_exits_zero(built, capsys: pytest.CaptureFixture[str]) -> None:
    """One line of counts."""
    path = built(CLEAN)
    assert main(["check", path]) == 0
    assert capsys.readouterr().out == f"{path}: 0 errors, 0 warnings, 0 notes\n"


def test_warnings_do_not_fail(built, capsys: pytest.CaptureFixture[str]) -> None:
    """Only errors do."""
    assert main(["check", built(WARNED)]) == 0
    assert ": 0 errors, 1 warnings, 0 notes\n" in capsys.readouterr().out


def test_errors_exit_one_in_every_form(built, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON and SARIF name the same finding."""
    path = built(FAULTY)
    assert main(["check", path, "--symbol", "k"]) == 1
    assert "(missing-wait) [s_mov_b32 s5, s4]\nhint: wait for the load first\n" in (
        capsys.readouterr().out
    )
    assert main(["check", path, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [f["rule"] for f in document["findings"] if f["severity"] == "error"] == ["missing-wait"]
    assert main(["check", path, "--sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [r["ruleId"] for r in run["results"] if r["level"] == "error"] == ["missing-wait"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--symbol", "q"], '{path}: code object has no kernel "q"; it has "k"'),
        (["--json", "--sarif"], "argument --sarif: not allowed with argument --json"),
    ],
)
def test_refusals(built, capsys: pytest.CaptureFixture[str], words, message: str) -> None:
    """Bad input is one line and exit 2."""
    path = built(CLEAN)
    assert main(["check", path, *words]) == 2
    captured = capsys.readouterr()
    assert message.format(path=path) in captured.out + captured.err
    assert "Traceback" not in captured.out + captured.err


def test_damaged_object_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is no code object."""
    path = tmp_path / "x.hsaco"
    path.write_bytes(b"\x7fELF")
    assert main(["check", str(path)]) == 2
    captured = capsys.readouterr()
    assert f"{path}: not a 64-bit little-endian ELF file" in captured.out + captured.err


def test_another_target_is_an_error(built, capsys: pytest.CaptureFixture[str]) -> None:
    """The declared target is an option."""
    assert main(["check", built(CLEAN), "--target", "gfx942"]) == 1
    assert "(target)" in capsys.readouterr().out
