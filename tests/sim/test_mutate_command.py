"""``netra mutate``: its words, its forms, and that the number of processes changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netra_build.asm.source.closure import include_closure
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.mutate.campaign import Template, guard_verdicts
from netra_build.cli.main import main, run_command
from netra_build.core.errors import BadInput, NetraError, Refused

BODY = """s_load_dwordx4 s[4:7], s[0:1], 0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
global_load_dword v2, v1, s[4:5]
s_waitcnt vmcnt(0)
global_store_dword v1, v2, s[6:7]
s_waitcnt vmcnt(0)"""
REPORT = """k.s: seed 1
kind         possible  made  assembler  static  conform  model  dynamic  numerics  long run  guard\
  equivalent  survivors
wait-delete         3     3          -       2        -      -        -         -         -      -\
           1          -
wait-weaken         3     3          -       2        -      -        -         -         -      -\
           1          -
ordering: 4 of 4 caught (100.0 %; 100.0 % of those that assemble), 2 proven equivalent, 0 survivors
value: 0 of 0 caught (100.0 %; 100.0 % of those that assemble), 0 proven equivalent, 0 survivors
equivalent: k.s:14: wait-delete: s_waitcnt vmcnt(0) -> (nothing) \
(the program ends behind it without another memory access or barrier)
equivalent: k.s:14: wait-weaken: s_waitcnt vmcnt(0) -> s_waitcnt vmcnt(63) \
(the program ends behind it without another memory access or barrier)
"""


@pytest.fixture
def kernel(bench: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a small kernel's file in the working folder."""
    (tmp_path / "k.s").write_text(bench.unit(BODY, ("a", "b")))
    monkeypatch.chdir(tmp_path)
    return "k.s"


def test_text(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", kernel, "--kinds", "ordering", "--jobs", "1"]) == 0
    assert capsys.readouterr().out == REPORT


def test_two_processes_say_the_same(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mutate", kernel, "--json", "--sample", "12"]
    texts = []
    for jobs in ("1", "2"):
        assert main([*words, "--jobs", jobs]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    kernels = json.loads(texts[0])["kernels"]
    assert [one["source"] for one in kernels] == ["k.s"]
    assert kernels[0]["groups"]["ordering"]["made"] == 6
    assert kernels[0]["groups"]["value"]["made"] >= 12


def test_markdown(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", kernel, "--kinds", "wait-delete", "--jobs", "1", "--markdown"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "### k.s"
    assert lines[4] == "| wait-delete | 3 | 3 | - | 2 | - | - | - | - | - | - | 1 | - |"


REFUSED = [
    (["--kinds", "wait"], '--kinds: unknown kind "wait"\nhint: did you mean "wait-weaken"?'),
    (["--kinds", "registr"], '--kinds: unknown kind "registr"\nhint: did you mean "register"?'),
    (["--sample", "0"], "--sample: number is out of range; expected 1 to 1000000000, got 0"),
    (["--jobs", "65"], "--jobs: number is out of range; expected 1 to 64, got 65"),
    (["--seed", "-1"], "--seed: number is out of range; expected 0 to 4294967296, got -1"),
    (
        ["--tactic", "gdn_verify_core_m12_packed_pair_interleaved", "--variant", "waves3"],
        '--variant: unknown variant "waves3"\nhint: did you mean "waves8"?',
    ),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_bad_words(kernel: str, words: list[str], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        run_command(["mutate", kernel, *words])
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["moe_silu_quant_decode"],
            'golden/gfx950: no golden source of "moe_silu_quant_decode"\n'
            'hint: did you mean "moe_silu_quant_decode_m1"?',
        ),
        (
            ["moe_silu_quant_decode_m1", "--variant", "x"],
            'golden/gfx950: no variant "x" of "moe_silu_quant_decode_m1"',
        ),
    ],
)
def test_unknown_subjects(root: Path, words: list[str], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        run_command(["mutate", *words, "--library-root", str(root)])
    assert str(refused.value) == message


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_unit_that_is_no_assembly_is_refused(kernel: str, jobs: str) -> None:
    Path(kernel).write_text("\tv_bogus v1\n" * 5)
    with pytest.raises(NetraError) as refused:
        run_command(["mutate", kernel, "--jobs", jobs])
    assert refused.value.status == 2
    assert str(refused.value) == "k.s:1:1: invalid instruction"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_flaw_of_the_unmutated_kernel_is_one_line(
    kernel: str, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also when another process finds it."""
    unit = Path(kernel).read_text()
    Path(kernel).write_text(unit.replace("s_waitcnt lgkmcnt(0)", "s_nop 0"))
    assert main(["mutate", kernel, "--jobs", jobs]) == 1
    lines = capsys.readouterr().err.split("\n")
    assert lines[0] == "netra: k.s: static checks flag the unmutated kernel"
    assert lines[1].startswith("missing-wait: ")


# Guards

SILU = "kernels/gfx950/templates/moe/silu_quant.inc"
CONSTANTS = {
    "NETRA_TARGET_GFX": 950,
    "NETRA_WAVE_SIZE": 64,
    "NETRA_HIDDEN_SIZE": 2048,
    "NETRA_INTERMEDIATE_SIZE": 512,
    "NETRA_M": 1,
    "NETRA_SCALE_BLOCK": 128,
    "NETRA_TOPK": 9,
    "NETRA_WEIGHT_LAYOUT_ID": 1,
}


def template(root: Path, extra: str = "", **constants: int) -> Template:
    """Return an instance of the smallest MoE template."""
    values = {**CONSTANTS, **constants}
    lines = [f"\t.set {name}, {value}" for name, value in values.items()]
    unit = "\n".join([*lines, f'\t.include "{SILU}"', extra, "\tNETRA_MOE_SILU_QUANT k", ""])
    closure = include_closure(SILU, lambda name: (root / name).read_bytes(), SILU)
    return Template(unit.encode(), values, closure)


def test_every_guard_is_missed_when_it_is_gone(root: Path, toolchain: Toolchain) -> None:
    verdicts = list(guard_verdicts(template(root), toolchain))
    assert sorted(one.mutant.before.split()[-2].rstrip(",") for one in verdicts) == sorted(
        CONSTANTS
    )
    assert {one.check for one in verdicts} == {"guard"}
    found = {one.detail for one in verdicts}
    assert "a wrong NETRA_M assembles" in found


def test_a_guard_that_stands_twice_survives(root: Path, toolchain: Toolchain) -> None:
    """The second one still refuses the constant, so that taking out the first shows nowhere."""
    twice = template(root, "\tNETRA_REQUIRE_EQ NETRA_M, 1")
    survivors = [one.mutant.before for one in guard_verdicts(twice, toolchain) if one.is_survivor]
    assert survivors == [f"{SILU}: NETRA_REQUIRE_EQ NETRA_M, 1"]


def test_a_refused_instance_has_no_guards_to_try(root: Path, toolchain: Toolchain) -> None:
    with pytest.raises(Refused) as refused:
        next(guard_verdicts(template(root, NETRA_TOPK=8), toolchain))
    assert str(refused.value).split("\n")[:2] == [
        "unit.s: unmutated template is refused",
        "NETRA_TOPK has another value; expected 9, got 8",
    ]
