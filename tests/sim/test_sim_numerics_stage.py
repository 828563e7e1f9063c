"""The numerics stage passes right kernels and refuses wrong ones with its exact words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kernel_statements import statement

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.confined import LIMITS, SECONDS
from netra_build.core.errors import BadInput, Refused
from netra_build.stages.check_numerics import STAGE

TACTIC = "moe_silu_quant_decode_m1"
PARAMETERS = {
    "hsaco": "hsaco/k.hsaco",
    "symbol": f"netra_{TACTIC}_gfx950",
    "tactic": TACTIC,
    "variant": "",
    "specialization": {},
    "seeds": [1, 2],
}


def run(root: Path, toolchain: Toolchain, old: str = "", new: str = "") -> dict:
    """Run the stage on the golden source with one place changed."""
    text = (root / "golden" / "gfx950" / TACTIC / "kernel.s").read_text()
    assert not old or text.count(old) >= 1
    unit = text.replace(old, new, 1) if old else text
    hsaco = toolchain.link([toolchain.assemble(unit.encode())])
    listing = toolchain.disassemble(hsaco).encode()
    files = {"hsaco": hsaco, "dis": listing, **statement(TACTIC).files}
    return json.loads(STAGE.run(files, PARAMETERS, None)["report"])


def test_a_right_kernel_passes(root: Path, toolchain: Toolchain) -> None:
    report = run(root, toolchain)
    assert (report["verdict"], report["scope"]) == ("passed", "simulated")
    labels = [entry["label"] for entry in report["runs"]]
    assert labels[:2] == [f"{TACTIC}/random/1", f"{TACTIC}/random/2"]
    assert labels[-1] == f"{TACTIC}/random_second_nearest/1"
    assert {entry["differing"] for entry in report["runs"]} == {0}


def test_a_result_that_hangs_on_one_machine_is_refused(root: Path, toolchain: Toolchain) -> None:
    """Without its refinement a reciprocal is right where v_rcp happens to be."""
    with pytest.raises(Refused) as caught:
        run(root, toolchain, "v_fma_f32 v34, v35, v34, v34", "")
    assert caught.value.line() == (
        f"hsaco/k.hsaco: {TACTIC}/random_second_nearest/1: outputs differ from the numeric contract"
    )


def test_a_wrong_value_is_refused_with_its_element(root: Path, toolchain: Toolchain) -> None:
    with pytest.raises(Refused) as caught:
        run(root, toolchain, "row_ror:8", "row_ror:7")
    assert caught.value.line() == (
        f"hsaco/k.hsaco: {TACTIC}/random/1: outputs differ from the numeric contract"
    )
    assert caught.value.detail.startswith('output "')
    assert " expected " in caught.value.detail


def test_a_missing_wait_is_refused_with_its_place(root: Path, toolchain: Toolchain) -> None:
    with pytest.raises(Refused) as caught:
        run(root, toolchain, "s_waitcnt lgkmcnt(0)", "s_nop 0")
    assert caught.value.fact.startswith("dynamic checks find ")
    assert "missing-wait" in caught.value.detail


HOSTILE = [
    (
        "np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 40,))[1 << 38]\n",
        ": numeric check ends by SIGSEGV before there is a verdict",
    ),
    ("raise GeneratorExit\n", "LINE: statement raises GeneratorExit"),
    ("while True: pass\n", "LINE: numeric check takes more than 1 s of processor time"),
]


@pytest.mark.parametrize(("line", "message"), HOSTILE)
def test_a_statement_cannot_end_its_check_without_a_line(
    root: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch, line: str, message: str
) -> None:
    monkeypatch.setattr(LIMITS, "words", {SECONDS: "1"})
    hsaco = toolchain.link(
        [toolchain.assemble((root / f"golden/gfx950/{TACTIC}/kernel.s").read_bytes())]
    )
    stated = statement(TACTIC)
    text = stated.files[stated.name].decode()
    at = text.index("TACTICS = ")
    place = f":{text.count(chr(10), 0, at) + 1}"
    files = {**stated.files, stated.name: f"{text[:at]}{line}{text[at:]}".encode()}
    inputs = {"hsaco": hsaco, "dis": toolchain.disassemble(hsaco).encode(), **files}
    with pytest.raises(BadInput) as caught:
        STAGE.run(inputs, PARAMETERS, None)
    assert str(caught.value) == stated.name + message.replace("LINE", place)
