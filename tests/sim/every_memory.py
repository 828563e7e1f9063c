"""Rows: loads, stores and atomics of global memory, flat, through buffers and in LDS."""

from __future__ import annotations

from collections.abc import Callable

from every_integer import signed
from every_numbers import BF16, F16, F32, F64, Format, plus
from every_operands import Row, row

ROWS: list[Row] = []
FILL = "global_store_dwordx4 {p}, {a}, s[4:5]\ns_waitcnt vmcnt(0)\n"
FILL_LDS = "ds_write_b128 {l}, {a}\ns_waitcnt lgkmcnt(0)\n"
DONE = "\ns_waitcnt vmcnt(0) lgkmcnt(0)"
WIDTHS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}
FAMILIES = {"global": "{p}, V, s[4:5]", "flat": "{f}, V", "buffer": "V, {p}, {r}, 0 offen"}
"""How an atomic of each family names its place; V is the data."""


def words(width: int) -> str:
    return f"u32x{width // 4}" if width > 4 else "u32"


def access(family: str, data: str, *, is_load: bool) -> str:
    """Write operands in the family's order."""
    if family == "buffer":
        return f"{data}, {{p}}, {{r}}, 0 offen"
    address, base = ("{p}", ", s[4:5]") if family == "global" else ("{f}", "")
    return f"{data}, {address}{base}" if is_load else f"{address}, {data}{base}"


def piece(value: int, at: int, width: int) -> int:
    return value >> 8 * at & (1 << 8 * width) - 1


def placed(old: int, value: int, at: int, width: int) -> int:
    raw = bytearray(old.to_bytes(16, "little"))
    raw[at : at + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    return int.from_bytes(raw, "little")


# Loads and stores

NARROW_LOADS = {"ubyte": (1, 8, 0), "sbyte": (1, 8, 1), "ushort": (2, 16, 0), "sshort": (2, 16, 1)}
HALF_LOADS = {"ubyte_d16": (1, 0), "sbyte_d16": (1, 1), "short_d16": (2, 0)}
NARROW_STORES = {"byte": (1, 0), "short": (2, 0), "byte_d16_hi": (1, 16), "short_d16_hi": (2, 16)}


def loads(family: str) -> None:
    operands = access(family, "{x}", is_load=True)
    for suffix, width in WIDTHS.items():
        at = 16 - width
        ROWS.append(
            row(
                f"{family}_load_{suffix}",
                f"u32x4 : {words(width)}",
                lambda a, at=at, w=width: piece(a, at, w),
                f"{FILL}{family}_load_{suffix} {operands} offset:{at}{DONE}",
            )
        )
    for suffix, (width, bits, is_signed) in NARROW_LOADS.items():
        at = 5 + width
        ROWS.append(
            row(
                f"{family}_load_{suffix}",
                "u32x4 : u32",
                lambda a, at=at, w=width, b=bits, s=is_signed: (
                    signed(piece(a, at, w), b) if s else piece(a, at, w)
                ),
                f"{FILL}{family}_load_{suffix} {operands} offset:{at}{DONE}",
            )
        )
    for suffix, (width, is_signed) in HALF_LOADS.items():
        for half, kind in (("", "u16_lo"), ("_hi", "u16_hi")):
            ROWS.append(
                row(
                    f"{family}_load_{suffix}{half}",
                    f"u32x4 : {kind}",
                    lambda a, w=width, s=is_signed: (
                        signed(piece(a, 9, w), 8) if s else piece(a, 9, w)
                    ),
                    f"{FILL}{family}_load_{suffix}{half} {operands} offset:9{DONE}",
                )
            )


def stores(family: str) -> None:
    operands = access(family, "{b}", is_load=False)
    shapes = {suffix: (width, 0) for suffix, width in WIDTHS.items()} | NARROW_STORES
    for suffix, (width, shift) in shapes.items():
        at = 16 - width if width >= 4 else 3 + width
        ROWS.append(
            row(
                f"{family}_store_{suffix}",
                f"u32x4 {words(width)} : u32x4",
                lambda a, b, at=at, w=width, shift=shift: placed(a, b >> shift, at, w),
                f"{FILL}{family}_store_{suffix} {operands} offset:{at}\ns_waitcnt vmcnt(0) "
                f"lgkmcnt(0)\nglobal_load_dwordx4 {{x}}, {{p}}, s[4:5]{DONE}",
            )
        )


for _family in FAMILIES:
    loads(_family)
    stores(_family)

DIRECT = {"dword": (4, 0), "dwordx3": (12, 0), "dwordx4": (16, 0)}
DIRECT |= {"ubyte": (1, 0), "sbyte": (1, 8), "ushort": (2, 0), "sshort": (2, 16)}
for _suffix, (_width, _sign) in DIRECT.items():
    # Lane i fills the bytes behind M0 + offset + i * size.
    _count, _at = max(_width // 4, 1), 16 - max(_width, 4)
    _reads = "\n".join(f"ds_read_b32 v{80 + at}, v3 offset:{4 * at}" for at in range(_count))
    ROWS.append(
        row(
            f"global_load_lds_{_suffix}",
            f"u32x4 : {words(4 * _count)}",
            lambda a, at=_at, w=_width, s=_sign: (
                signed(piece(a, at, w), s) if s else piece(a, at, w)
            ),
            f"{FILL}s_mov_b32 m0, 0x800\nv_mul_u32_u24 v3, {_count}, v0\n"
            f"v_add_u32 v3, {0x800 + _at}, v3\ns_nop 4\n"
            f"global_load_lds_{_suffix} {{p}}, s[4:5] offset:{_at}\ns_waitcnt vmcnt(0)\n"
            f"{_reads}{DONE}",
        )
    )

# LDS loads and stores

LDS_WIDTHS = {"b32": 4, "b64": 8, "b96": 12, "b128": 16}
for _suffix, _width in LDS_WIDTHS.items():
    _at = 0 if _width == 12 else 16 - _width
    ROWS += [
        row(
            f"ds_read_{_suffix}",
            f"u32x4 : {words(_width)}",
            lambda a, at=_at, w=_width: piece(a, at, w),
            f"{FILL_LDS}ds_read_{_suffix} {{x}}, {{l}} offset:{_at}{DONE}",
        ),
        row(
            f"ds_write_{_suffix}",
            f"u32x4 {words(_width)} : u32x4",
            lambda a, b, at=_at, w=_width: placed(a, b, at, w),
            f"{FILL_LDS}ds_write_{_suffix} {{l}}, {{b}} offset:{_at}\ns_waitcnt lgkmcnt(0)\n"
            f"ds_read_b128 {{x}}, {{l}}{DONE}",
        ),
    ]
for _name, _width, _sign in (("u8", 1, 0), ("i8", 1, 8), ("u16", 2, 0), ("i16", 2, 16)):
    for _half, _kind in (("", "u32"), ("_d16", "u16_lo"), ("_d16_hi", "u16_hi")):
        if _name == "i16" and _half:
            continue
        ROWS.append(
            row(
                f"ds_read_{_name}{_half}",
                f"u32x4 : {_kind}",
                lambda a, w=_width, s=_sign: signed(piece(a, 10, w), s) if s else piece(a, 10, w),
                f"{FILL_LDS}ds_read_{_name}{_half} {{x}}, {{l}} offset:10{DONE}",
            )
        )
for _suffix, _width, _shift in (
    ("b8", 1, 0),
    ("b16", 2, 0),
    ("b8_d16_hi", 1, 16),
    ("b16_d16_hi", 2, 16),
):
    ROWS.append(
        row(
            f"ds_write_{_suffix}",
            "u32x4 u32 : u32x4",
            lambda a, b, w=_width, shift=_shift: placed(a, b >> shift, 6, w),
            f"{FILL_LDS}ds_write_{_suffix} {{l}}, {{b}} offset:6\ns_waitcnt lgkmcnt(0)\n"
            f"ds_read_b128 {{x}}, {{l}}{DONE}",
        )
    )
for _bits, _unit in ((32, 4), (64, 8)):
    _kind, _far = f"u{_bits}", 1024 // (64 * _unit)
    _last = 16 // _unit - 1
    ROWS += [
        row(
            f"ds_read2_b{_bits}",
            f"u32x4 : {_kind}x2",
            lambda a, w=_unit, last=_last: piece(a, w * last, w) | piece(a, 0, w) << 8 * w,
            f"{FILL_LDS}ds_read2_b{_bits} {{x}}, {{l}} offset0:{_last} offset1:0{DONE}",
        ),
        row(
            f"ds_write2_b{_bits}",
            f"u32x4 {_kind} {_kind} : u32x4",
            lambda a, b, c, w=_unit, last=_last: placed(placed(a, b, w * last, w), c, 0, w),
            f"{FILL_LDS}ds_write2_b{_bits} {{l}}, {{b}}, {{c}} offset0:{_last} offset1:0\n"
            f"s_waitcnt lgkmcnt(0)\nds_read_b128 {{x}}, {{l}}{DONE}",
        ),
        row(
            f"ds_read2st64_b{_bits}",
            f"{_kind} {_kind} : {_kind}x2",
            lambda a, b, bits=_bits: a | b << bits,
            f"ds_write_b{_bits} {{l}}, {{a}} offset:3072\nds_write_b{_bits} {{l}}, {{b}} "
            f"offset:1024\ns_waitcnt lgkmcnt(0)\nds_read2st64_b{_bits} {{x}}, {{l}} "
            f"offset0:{3 * _far} offset1:{_far}{DONE}",
        ),
        row(
            f"ds_write2st64_b{_bits}",
            f"{_kind} {_kind} : {_kind} {_kind}",
            lambda a, b: (a, b),
            f"ds_write2st64_b{_bits} {{l}}, {{a}}, {{b}} offset0:{2 * _far} offset1:{5 * _far}\n"
            f"s_waitcnt lgkmcnt(0)\nds_read_b{_bits} {{x}}, {{l}} offset:2048\n"
            f"ds_read_b{_bits} {{y}}, {{l}} offset:5120{DONE}",
        ),
    ]

# Atomics: each lane has a place of its own; the dword before it must not change

Fold = Callable[[int, int], int | None]


def by_sign(choose: Callable[..., int], bits: int) -> Fold:
    return lambda old, new: choose(old, new, key=lambda value: signed(value, bits))


def integer_folds(bits: int) -> dict[str, Fold]:
    return {
        "add": lambda old, new: old + new,
        "sub": lambda old, new: old - new,
        "smin": by_sign(min, bits),
        "umin": min,
        "smax": by_sign(max, bits),
        "umax": max,
        "and": lambda old, new: old & new,
        "or": lambda old, new: old | new,
        "xor": lambda old, new: old ^ new,
        "inc": lambda old, new: 0 if old >= new else old + 1,
        "dec": lambda old, new: new if old == 0 or old > new else old - 1,
        "swap": lambda old, new: new,
    }


def extreme(f: Format, choose: Callable[..., int]) -> Fold:
    """What a NaN or two zeros do is not said."""

    def fold(old: int, new: int) -> int | None:
        x, y = f.value(old), f.value(new)
        return None if x != x or y != y or x == y else (old if choose(x, y) == x else new)

    return fold


def pairs(f: Format) -> Fold:
    return lambda old, new: (
        plus(f, old & 0xFFFF, new & 0xFFFF) | plus(f, old >> 16, new >> 16) << 16
    )


def near_old(bits: int):
    """Draw operands around the old value, so that equality and wrapping happen."""

    def draw(rng) -> tuple[int, int, int]:
        old = rng.choice((0, rng.getrandbits(bits)))
        new = rng.choice((old, old + 1, old - 1, rng.getrandbits(bits))) & (1 << bits) - 1
        return old, rng.getrandbits(32), new

    return draw


def atomic(name: str, kind: str, fold: Fold, text: str, returns: bool, draw=None) -> None:
    """``text`` runs the atomic at byte 8 of the lane's place with the operand {c}."""
    bits = 64 if "64" in kind else 32
    is_lds = name.startswith("ds_")
    wide = "b64" if bits == 64 else "b32"
    if is_lds:
        fill = f"ds_write_{wide} {{l}}, {{a}} offset:8\nds_write_b32 {{l}}, {{b}} offset:4\n"
        look = f"ds_read_{wide} {{LAST}}, {{l}} offset:8\nds_read_b32 {{MORE}}, {{l}} offset:4"
    else:
        suffix = "dwordx2" if bits == 64 else "dword"
        fill = f"global_store_{suffix} {{p}}, {{a}}, s[4:5] offset:8\n"
        fill += "global_store_dword {p}, {b}, s[4:5] offset:4\n"
        look = f"global_load_{suffix} {{LAST}}, {{p}}, s[4:5] offset:8\n"
        look += "global_load_dword {MORE}, {p}, s[4:5] offset:4"
    names = ("y", "z") if returns else ("x", "y")
    look = look.replace("LAST", names[0]).replace("MORE", names[1])
    wait = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"

    def run(old: int, other: int, *new: int):
        after = fold(old, *new)
        return (old, after, other) if returns else (after, other)

    extra = " " + kind if "cmp" in name or "mskor" in name else ""
    results = f"{kind} {kind} u32" if returns else f"{kind} u32"
    ROWS.append(
        row(
            name,
            f"{kind} u32 {kind}{extra} : {results}",
            run,
            fill + wait + text + wait + look + DONE,
            draw=draw,
        )
    )


def memory_atomics(suffix: str, kind: str, fold: Fold, draw=None) -> None:
    move = "v_mov_b64 {x}, {c}" if "64" in kind else "v_mov_b32 {x}, {c}"
    texts = {
        "global": ("{x}, {p}, {c}, s[4:5]", "{p}, {c}, s[4:5]"),
        "flat": ("{x}, {f}, {c}", "{f}, {c}"),
        "buffer": ("{x}, {p}, {r}, 0 offen", "{c}, {p}, {r}, 0 offen"),
    }
    for family, (returning, plain) in texts.items():
        name = f"{family}_atomic_{suffix}"
        before = f"{move}\n" if family == "buffer" else ""
        atomic(name, kind, fold, f"{before}{name} {returning} offset:8 sc0", True, draw)
        atomic(name, kind, fold, f"{name} {plain} offset:8", False, draw)


def lds_atomics(name: str, size: str, kind: str, fold: Fold, draw=None) -> None:
    operands = "{c}, {d}" if name in ("cmpst", "mskor") else "{c}"
    full = f"ds_{name}_rtn_{size}"
    atomic(full, kind, fold, f"{full} {{x}}, {{l}}, {operands} offset:8", True, draw)
    if name != "wrxchg":
        full = f"ds_{name}_{size}"
        atomic(full, kind, fold, f"{full} {{l}}, {operands} offset:8", False, draw)


LDS_NAMES = {"add": "add u", "sub": "sub u", "smin": "min i", "umin": "min u", "smax": "max i"}
LDS_NAMES |= {"umax": "max u", "and": "and b", "or": "or b", "xor": "xor b", "inc": "inc u"}
LDS_NAMES |= {"dec": "dec u", "swap": "wrxchg b"}
for _bits, _tail in ((32, ""), (64, "_x2")):
    _kind = f"u{_bits}"
    for _name, _fold in integer_folds(_bits).items():
        memory_atomics(_name + _tail, _kind, _fold, near_old(_bits))
        _lds, _letter = LDS_NAMES[_name].split()
        lds_atomics(_lds, f"{_letter}{_bits}", _kind, _fold, near_old(_bits))
    lds_atomics("rsub", f"u{_bits}", _kind, lambda old, new: new - old, near_old(_bits))

    def _three(rng, bits=_bits):
        old = rng.getrandbits(bits)
        return (
            old,
            rng.getrandbits(32),
            rng.choice((old, old ^ 1 << bits - 1)),
            rng.getrandbits(bits),
        )

    # LDS takes the expected value first, global memory the new one.
    lds_atomics(
        "cmpst", f"b{_bits}", _kind, lambda old, want, new: new if old == want else old, _three
    )
    lds_atomics("mskor", f"b{_bits}", _kind, lambda old, clear, set: old & ~clear | set)

    def _pair(rng, bits=_bits):
        old, other, want, new = _three(rng, bits)
        return old, other, new, want

    for _family, _address in FAMILIES.items():
        _text = "v_mov_b32 v60, {c}\nv_mov_b32 v61, {d}\n"
        _span = "v[60:61]"
        if _bits == 64:
            _text, _span = "v_mov_b64 v[60:61], {c}\nv_mov_b64 v[62:63], {d}\n", "v[60:63]"
        _name = f"{_family}_atomic_cmpswap{_tail}"
        _fold = lambda old, new, want: new if old == want else old  # noqa: E731
        _plain = _address.replace("V", _span)
        atomic(_name, _kind, _fold, f"{_text}{_name} {_plain} offset:8", False, _pair)
        _returning = f"{_text}{_name} {{x}}, {_plain} offset:8 sc0"
        if _family == "buffer":
            # The data registers receive what memory held.
            _returning = f"{_text}{_name} {_plain} offset:8 sc0\ns_waitcnt vmcnt(0)\n"
            _returning += "v_mov_b64 {x}, v[60:61]" if _bits == 64 else "v_mov_b32 {x}, v60"
        atomic(_name, _kind, _fold, _returning, True, _pair)

FLOATS = {
    "add_f32": ("f32", lambda old, new: plus(F32, old, new)),
    "add_f64": ("f64", lambda old, new: plus(F64, old, new)),
    "min_f64": ("f64", extreme(F64, min)),
    "max_f64": ("f64", extreme(F64, max)),
    "pk_add_f16": ("f16x2", pairs(F16)),
    "pk_add_bf16": ("bf16x2", pairs(BF16)),
}
for _name, (_kind, _fold) in FLOATS.items():
    memory_atomics(_name, _kind, _fold)
    _lds, _, _size = _name.rpartition("_")
    lds_atomics(_lds, _size, _kind, _fold)
lds_atomics("min", "f32", "f32", extreme(F32, min))
lds_atomics("max", "f32", "f32", extreme(F32, max))
