"""Statistics of a kernel's listing: instruction mix, access widths, matrix work, occupancy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netra_build.asm.objects.listings import Disassembly, Instruction
from netra_build.checkasm.hazards.effects import EXEC_MASK, decode_effects, numbers, union

MIX = ("VALU", "SALU", "MFMA", "VMEM", "LDS", "SMEM", "waits")
_COLUMN_BY_KIND = {
    "valu": "VALU",
    "mfma": "MFMA",
    "vmem": "VMEM",
    "flat": "VMEM",
    "ds": "LDS",
    "smem": "SMEM",
    "wait": "waits",
    "nop": "waits",
    "barrier": "waits",
}
_GLOBAL = re.compile(
    r"(?:global|buffer|flat)_(load|store)_(ubyte|sbyte|byte|ushort|sshort|short|dword)(?:x(\d))?"
)
_LDS = re.compile(r"ds_(read|write)_(?:b|u|i)(8|16|32|64|96|128)(?:_\w+)?")
_OFFSET = re.compile(r"offset:(-?\d+)")
WIDE = 16

SIMDS = 4
VGPRS = 512
VGPR_GRANULE = 8
SGPRS = 800
EXTRA_SGPRS = 6
MOST_WAVES = 8
LDS_BYTES = 160 * 1024
LDS_GRANULE = 1280


@dataclass(frozen=True)
class Transfer:
    """One vector memory or LDS instruction: bytes of a lane, displacement, address and data.

    Transfers with the same ``base`` go to the same address but for the displacement.
    """

    text: str
    way: str
    bytes: int
    displacement: int
    base: tuple[object, ...]


def code_of(listing: Disassembly) -> tuple[Instruction, ...]:
    """Return the instructions up to the last ``s_endpgm``; what follows is padding."""
    last = max(
        (i for i, item in enumerate(listing.instructions) if item.mnemonic == "s_endpgm"),
        default=len(listing.instructions) - 1,
    )
    return listing.instructions[: last + 1]


def instruction_mix(code: Iterable[Instruction]) -> dict[str, int]:
    """Return the number of instructions by column of ``MIX``; branches count as SALU."""
    counts = dict.fromkeys(MIX, 0)
    for item in code:
        counts[_COLUMN_BY_KIND.get(decode_effects(item).kind, "SALU")] += 1
    return counts


def transfers(code: Iterable[Instruction]) -> list[Transfer]:
    """Return the vector memory and plain LDS transfers in order; transposing reads are left out."""
    versions: Counter[int] = Counter()
    found = []
    for item in code:
        effects = decode_effects(item)
        size = transfer_bytes(item.mnemonic)
        if size is not None:
            way, count = size
            is_store = way in ("store", "write")
            operands = effects.operands
            address = operands[1:] if not is_store else (operands[0], *operands[2:])
            sources = effects.sources
            mask = union(sources[:1] + sources[2:] if is_store else sources) | EXEC_MASK
            version = tuple((bit, versions[bit]) for bit in numbers(mask))
            base = (item.mnemonic.partition("_")[0], *address, version)
            found.append(Transfer(item.text, way, count, _displacement(item), base))
        for bit in numbers(effects.writes):
            versions[bit] += 1
    return found


def transfer_bytes(mnemonic: str) -> tuple[str, int] | None:
    """Return the way and the bytes of a lane for a plain transfer, else None."""
    if match := _GLOBAL.match(mnemonic):
        size = {"u": 1, "s": 1, "b": 1, "d": 4}[match[2][0]]
        size = 2 if match[2].endswith("short") else size
        return match[1], size * int(match[3] or 1)
    match = _LDS.fullmatch(mnemonic)
    if match and "_tr_" not in mnemonic:
        return match[1], int(match[2]) // 8
    return None


def narrow_runs(moved: Sequence[Transfer]) -> list[str]:
    """Return the narrow transfers of runs of 16 bytes or more that wide ones could move."""
    by_base: dict[tuple[object, ...], list[Transfer]] = {}
    for item in moved:
        by_base.setdefault((item.way, *item.base), []).append(item)
    return [text for group in by_base.values() for text in _narrow_of(group)]


def wide_share(moved: Sequence[Transfer]) -> Fraction | None:
    """Return the share of all bytes of a lane that 16-byte instructions move."""
    total = sum(item.bytes for item in moved)
    wide = sum(item.bytes for item in moved if item.bytes == WIDE)
    return Fraction(wide, total) if total else None


def loop_addresses(listing: Disassembly) -> list[range]:
    """Return the addresses of every loop: from the target of a branch back to the branch."""
    base_by_name = {label.name: label.address for label in listing.labels}
    loops = []
    for item in listing.instructions:
        name, _, offset = item.branch_target.partition("+")
        if name not in base_by_name:
            continue
        target = base_by_name[name] + int(offset or "0", 16)
        if target <= item.address:
            loops.append(range(target, item.address + 1))
    return loops


def matrix_counts(listing: Disassembly) -> Counter[tuple[str, bool]]:
    """Return how many matrix instructions there are by mnemonic and whether a loop holds them."""
    loops = loop_addresses(listing)
    return Counter(
        (item.mnemonic, any(item.address in loop for loop in loops))
        for item in listing.instructions
        if decode_effects(item).kind == "mfma"
    )


def waves_per_simd(vgprs: int, sgprs: int, lds_bytes: int, work_items: int) -> tuple[int, str]:
    """Return how many waves a SIMD holds at most, and what limits them; ``""`` for nothing.

    ``vgprs`` counts VGPRs and AGPRs together, ``sgprs`` without VCC and the like. Work-groups
    are resident as a whole.
    """
    waves = -(-work_items // 64)
    groups_by_limit = {
        "": MOST_WAVES * SIMDS // waves,
        "VGPRs": VGPRS // _round(vgprs, VGPR_GRANULE) * SIMDS // waves,
        "SGPRs": SGPRS // (sgprs + EXTRA_SGPRS) * SIMDS // waves,
        "LDS": LDS_BYTES // _round(lds_bytes, LDS_GRANULE),
    }
    limit = min(groups_by_limit, key=lambda name: groups_by_limit[name])
    return -(-groups_by_limit[limit] * waves // SIMDS), limit


def _narrow_of(group: Sequence[Transfer]) -> list[str]:
    """Return the narrow transfers among those of one direction and base."""
    found: list[str] = []
    run: list[Transfer] = []
    for item in [*sorted(group, key=lambda t: t.displacement), None]:
        if item is not None and run and item.displacement == run[-1].displacement + run[-1].bytes:
            run.append(item)
            continue
        narrow = [t for t in run if t.bytes < WIDE]
        if sum(t.bytes for t in narrow) >= WIDE:
            found += [t.text for t in narrow]
        run = [] if item is None else [item]
    return found


def _displacement(item: Instruction) -> int:
    match = _OFFSET.search(item.operands)
    return int(match[1]) if match else 0


def _round(value: int, granule: int) -> int:
    return max(granule, -(-value // granule) * granule)
