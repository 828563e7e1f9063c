"""How many matrix instructions a kernel runs for its shape, against the least the shape needs."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from netra_build.asm.objects.disassembly import Disassembly
from netra_build.checkasm.hazards.kernel_statistics import matrix_counts
from netra_build.cli.author.kernel_minimums import Product, Shape
from netra_build.core.errors import BadInput


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
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left), _evaluate(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    raise ValueError("a formula holds whole numbers, +, * and / alone")
