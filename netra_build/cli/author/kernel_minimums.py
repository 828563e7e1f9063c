"""How many matrix instructions the shape of each tactic needs at least, and how many it runs.

A formula counts the matrix instructions of one work-group: tiles of 16 rows times tiles of 16
columns times steps over K, with the largest instruction for the operands. It is data: the table
prints the text and computes its value.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from netra_build.asm.objects.listings import Disassembly
from netra_build.checkasm.hazards.kernel_statistics import matrix_counts
from netra_build.core.errors import BadInput

F8F6F4 = "v_mfma_f32_16x16x128_f8f6f4"
FP8_K32 = "v_mfma_f32_16x16x32_fp8_fp8"
BF16_K32 = "v_mfma_f32_16x16x32_bf16"
BF16_K16 = "v_mfma_f32_16x16x16_bf16"
OPERATORS: Mapping[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Product:
    """The products that one kind of matrix instruction computes, inside a loop or outside.

    ``formula`` is the least number of instructions for one pass of one work-group, ``waves`` how
    many waves run each instruction of the listing, ``passes`` how often the stated shape goes
    through the loop.
    """

    what: str
    mnemonic: str
    formula: str
    waves: int = 1
    passes: int = 1
    is_loop: bool = False


@dataclass(frozen=True)
class Shape:
    """The shape for a tactic's minimum, its products, and why the kernel needs more than that."""

    text: str
    products: tuple[Product, ...]
    reason: str = ""
    bar: float = 1.25


def _extend(heads: int, dimensions: int, waves: int, reason: str) -> Shape:
    d = dimensions
    return Shape(
        text=f"{heads} query heads of one KV head, 4096 prefix keys, 16 new tokens",
        products=(
            Product("S of 64 keys", F8F6F4, f"{heads} * 64/16 * {d}/128", waves, 64, is_loop=True),
            Product(
                "P V of 64 keys", FP8_K32, f"{heads} * {d}/16 * 64/32", waves, 64, is_loop=True
            ),
            Product("S of the new tokens", BF16_K32, f"{heads} * {d}/32", waves),
            Product("P V of the new tokens", BF16_K16, f"{heads} * {d}/16", waves),
        ),
        reason=reason,
    )


def _dense(waves: int, passes: int, in_loop: str) -> Shape:
    text = f"{16 * waves} columns, K 4096"
    product = Product(in_loop, F8F6F4, f"{waves} * 4096/128/{passes}", waves, passes, is_loop=True)
    return Shape(text, (product,))


SHAPE_BY_TACTIC: Mapping[str, Shape] = {
    "moe_gate_up_decode_m1": Shape(
        "16 columns of one expert, K 2048", (Product("w13 x", F8F6F4, "2048/128"),)
    ),
    "moe_down_reduce_decode_m1": Shape(
        "16 columns of 9 experts, K 512, which two waves share",
        (Product("w2 act", F8F6F4, "9 * 512/128"),),
    ),
    "dense_m1_fp8_one_wave": _dense(1, 16, "two blocks of K"),
    "dense_m1_fp8_four_wave_lds": _dense(4, 32, "one block of K"),
    "attention_gqa4_fp8kv": _extend(4, 128, 4, ""),
    "attention_gqa8_fp8kv": _extend(
        4,
        256,
        8,
        "two waves share a head, each with half of the output; both compute its scores, so that "
        "they need not be exchanged through LDS",
    ),
    "attention_splitseq_stage1": Shape(
        "8 query heads of one KV head, one tile of 32 keys",
        (
            Product("S of 32 keys", F8F6F4, "32/16 * 256/128", 4, is_loop=True),
            Product("P V of 32 keys", FP8_K32, "256/16 * 32/32", 4, is_loop=True),
        ),
        reason="each of four waves owns a quarter of the output and computes all scores, so that "
        "no barrier is needed",
        bar=1.6,
    ),
    "gdn_h_m8192_bv16_varlen": Shape(
        "16 rows of V of one head, one chunk of 64 tokens",
        (Product("w H and xs k", BF16_K32, "64/16 * 128/32 + 128/16 * 64/32", 4, is_loop=True),),
    ),
}


@dataclass(frozen=True)
class MatrixWork:
    """Matrix instructions that a work-group runs for a shape, and the least it needs."""

    issued: int
    least: int

    @property
    def ratio(self) -> Fraction:
        """Issued over least."""
        return Fraction(self.issued, self.least)


def matrix_work(listing: Disassembly, shape: Shape | None, location: str) -> MatrixWork | None:
    """Return the matrix work of a shape; None without matrix instructions.

    ``BadInput`` when the shape has no formula for one of them, or one for none of them.
    """
    counts = matrix_counts(listing)
    products = shape.products if shape else ()
    stated = {(item.mnemonic, item.is_loop) for item in products}
    if stated != set(counts):
        raise BadInput(
            "matrix instructions and formulas differ",
            location=location,
            expected=_words(stated),
            got=_words(counts),
            hint="netra_build/cli/author/kernel_minimums.py holds the formulas",
        )
    if not products:
        return None
    issued = sum(
        counts[item.mnemonic, item.is_loop] * item.waves * item.passes for item in products
    )
    return MatrixWork(issued, sum(least(item) * item.passes for item in products))


def least(product: Product) -> int:
    """Return the value of a product's formula; ``ValueError`` unless it is a whole number."""
    value = _evaluate(ast.parse(product.formula, mode="eval").body)
    if value.denominator != 1:
        raise ValueError(f"{product.formula} is not a whole number")
    return int(value)


def _words(items: Iterable[tuple[str, bool]]) -> str:
    words = [f"{name}{' in a loop' if is_loop else ''}" for name, is_loop in sorted(items)]
    return ", ".join(words) or "none"


def _evaluate(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_evaluate(node.left), _evaluate(node.right))
    raise ValueError("a formula holds whole numbers, +, * and / alone")
