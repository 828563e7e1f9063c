"""Every static rule: a seeded fault that it names, and a clean twin on which it is silent."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from rule_cases import Unit, all_pairs

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.checker import check_code_object
from netra_build.checkasm.hazards.findings import RULE_BY_ID, Finding

LOADED = "s_load_dwordx2 s[4:5], s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n"
COPIED = f"s_cbranch_scc0 .L\n{LOADED}s_mov_b64 s[6:7], s[4:5]\n.L:\n"
PADDING = "uses kernarg bytes 20 to 23, which no argument owns"
DESCENDING = Unit("s_endpgm", arguments=((8, 8), (0, 8), (16, 4)))
BEHIND = "kernarg at offset 0 is listed behind one at offset 8"
PAIRS = [*all_pairs(), ("kernarg-layout", DESCENDING, Unit("s_endpgm"), BEHIND)]
PAIRS += [
    ("kernarg-read", Unit(f"{before}v_mov_b32 v1, {bad}\ns_endpgm"), Unit(good), PADDING)
    for before, bad, good in (
        (LOADED, "s5", f"{LOADED}v_mov_b32 v1, s4\ns_endpgm"),
        (COPIED, "s7", f"{COPIED}s_mov_b32 s7, 0\nv_mov_b32 v1, s7\ns_endpgm"),
    )
]
PREFIXES = (0x00000000, 0x7E000000, 0x7C000000, 0xD0000000, 0xD2000000, 0xBE000000, 0x80000000)
PREFIXES += (0xBF000000, 0xD8000000, 0xDC000000, 0xE0000000, 0xD3000000)


class Checker:
    """Builds units and checks them; remembers where the last one's code starts."""

    def __init__(self, toolchain: Toolchain) -> None:
        self.toolchain = toolchain
        self.entry = 0

    def __call__(self, unit: Unit, *, notes: bool = False) -> tuple[Finding, ...]:
        """Return the findings of one unit, notes only on demand."""
        hsaco = self.toolchain.link([self.toolchain.assemble(unit.source().encode())])
        code = read_code_object(hsaco, "unit")
        self.entry = code.kernels[0].entry_address
        found = check_code_object(code, parse_disassembly(self.toolchain.disassemble(hsaco)))
        return tuple(f for f in found if notes or f.severity != "note")


@pytest.fixture(scope="module")
def check(toolchain: Toolchain) -> Checker:
    """Return the builder and checker of units."""
    return Checker(toolchain)


def relative(message: str, entry: int) -> str:
    """Put addresses for the ``@OFFSET`` marks of an expected message."""
    return re.sub(r"@(\d+)", lambda match: hex(entry + int(match[1])), message)


@pytest.mark.parametrize(
    ("rule", "faulty", "clean", "message"),
    PAIRS,
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_seeded_fault_is_named_and_its_clean_twin_is_silent(
    check: Checker, rule: str, faulty: Unit, clean: Unit, message: str
) -> None:
    """The fault gives exactly its rule, with place and facts; the twin does not."""
    found = check(faulty, notes=RULE_BY_ID[rule].severity == "note")
    ours = [finding for finding in found if finding.rule == rule]
    assert len(ours) == 1, found
    assert ours[0].severity == RULE_BY_ID[rule].severity
    assert relative(message, check.entry) in ours[0].message
    assert [f for f in check(clean, notes=True) if f.rule == rule] == []


def test_finding_carries_place_instruction_and_hint(check: Checker) -> None:
    """The whole line of one finding."""
    (finding,) = check(Unit("s_load_dword s4, s[0:1], 0x0\ns_mov_b32 s5, s4\ns_endpgm"))
    assert (finding.pc, finding.instruction) == (check.entry + 8, "s_mov_b32 s5, s4")
    assert finding.hint == "wait for the load first"
    line = (
        "k at @8: error: reads s4 before lgkmcnt covers the load at @0 "
        '"s_load_dword s4, s[0:1], 0x0" (missing-wait) [s_mov_b32 s5, s4]'
    )
    assert finding.line() == relative(line, check.entry)


@pytest.mark.parametrize(
    ("size", "offset", "fault"),
    [
        (0, 0, "uses private memory and the descriptor declares none"),
        (16, 16, "is outside private memory of 16 bytes"),
        (16, 12, None),
    ],
)
def test_private_memory_is_held_to_the_declared_size(
    check: Checker, size: int, offset: int, fault: str | None
) -> None:
    """Nothing declared, one behind the end, and the last place."""
    sizes = {"private_segment_fixed_size": size}
    text = "scratch_load_dword v0, off, off" + f" offset:{offset}" * bool(offset)
    found = check(Unit(f"{text}\ns_waitcnt vmcnt(0)\ns_endpgm", sizes, sizes))
    assert [f.line() for f in found] == ([f'k: error: "{text}" {fault} (scratch)'] if fault else [])


def test_every_rule_has_a_seeded_fault() -> None:
    """The rules that need another kind of object are tested apart, below."""
    apart = {"accumulator-opcode", "scratch", "target", "metadata-missing", "analysis-limit"}
    assert {rule for rule, *_ in PAIRS} | apart == set(RULE_BY_ID)


def test_another_target_is_refused(toolchain: Toolchain) -> None:
    """The object names one processor, the option another."""
    hsaco = toolchain.link([toolchain.assemble(Unit("s_endpgm").source().encode())])
    code = read_code_object(hsaco, "unit")
    disassembly = parse_disassembly(toolchain.disassemble(hsaco))
    found = check_code_object(code, disassembly, target="gfx942")
    assert [f.message for f in found if f.rule == "target"] == [
        'code object is for another processor; expected "gfx942", got "gfx950"'
    ]


def test_a_feature_that_ordinary_processors_lack_is_named(toolchain: Toolchain) -> None:
    """Such an object does not load there."""
    hsaco = toolchain.link([toolchain.assemble(Unit("s_endpgm").source().encode())])
    code = read_code_object(hsaco, "unit")
    special = replace(code, target=f"{code.target}:sramecc-:xnack+")
    found = check_code_object(special, parse_disassembly(toolchain.disassemble(hsaco)))
    assert [f.message for f in found if f.rule == "target"] == [
        "code object needs sramecc-, which an ordinary gfx950 does not run",
        "code object needs xnack+, which an ordinary gfx950 does not run",
    ]


def test_kernel_without_metadata_is_named(toolchain: Toolchain) -> None:
    """A loader could not launch it."""
    source = re.sub(
        r"amdhsa.kernels:.*?\n\.\.\.",
        "amdhsa.kernels: []\n...",
        Unit("s_endpgm").source(),
        flags=re.DOTALL,
    )
    hsaco = toolchain.link([toolchain.assemble(source.encode())])
    disassembly = parse_disassembly(toolchain.disassemble(hsaco))
    found = check_code_object(read_code_object(hsaco, "unit"), disassembly)
    assert [(f.rule, f.message) for f in found] == [
        ("metadata-missing", "the code object metadata does not list the kernel")
    ]


def test_entangled_flow_is_given_up_in_bounded_work(check: Checker) -> None:
    """Thousands of overlapping paths with thousands of outstanding loads: one finding."""
    blocks = [
        f".L{n}:\nglobal_load_dword v1, v0, s[4:5]\nglobal_load_dword v2, v0, s[4:5]\n"
        f"s_cbranch_scc0 .L{(n * 7919) % 1500}"
        for n in range(1500)
    ]
    found = check(Unit("\n".join([*blocks, "s_endpgm"])))
    assert [f.message for f in found if f.rule == "analysis-limit"] == [
        "the wait analysis gave up: too many paths"
    ]


def test_random_code_never_breaks_the_checker(check: Checker, rng: random.Random) -> None:
    """Any words at all: findings, no exception."""
    for _ in range(6):
        words = [rng.getrandbits(32) for _ in range(300)]
        # Half of the words made plausible by an encoding prefix, so that deeper code is reached.
        for at in range(0, 300, 2):
            words[at] = rng.choice(PREFIXES) | words[at] & 0x01FFFFFF
        body = "\n".join(f".long {word:#010x}" for word in [*words, 0xBF810000])
        assert check(Unit(body))
