"""The matrix instructions that the resource table counts are those that a work-group runs."""

from __future__ import annotations

import pytest
from kernel_statements import scenario

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.checkasm.hazards.kernel_statistics import matrix_counts
from netra_build.checkasm.model.launch import Options, prepare
from netra_build.cli.author.kernel_minimums import SHAPE_BY_TACTIC, Product

VARIANTS = {"attention_gqa8_fp8kv": "qo32"}
CASES = {"attention_splitseq_stage1": "one_split", "attention_gqa8_fp8kv": "tile_edges"}


@pytest.fixture(params=sorted(SHAPE_BY_TACTIC))
def tactic(request) -> str:
    return request.param


@pytest.fixture
def ran(tactic, toolchain, root) -> tuple[dict[str, int], dict[tuple[str, bool], int]]:
    """Run one work-group; return the instructions run by mnemonic, and those of the listing."""
    variant = VARIANTS.get(tactic, "")
    source = (root / "golden/gfx950" / tactic / variant / "kernel.s").read_bytes()
    hsaco = toolchain.link([toolchain.assemble(source)])
    symbol = read_code_object(hsaco, tactic).kernels[0].symbol
    launch = scenario(tactic, variant, CASES.get(tactic, "random"), 1)
    arguments = list(launch.values.values())
    prepared = prepare(hsaco, symbol, toolchain, symbol)
    report = prepared.launch((1, 1, 1), launch.block, arguments, Options()).report
    listing = parse_disassembly(toolchain.disassemble(hsaco, label=tactic))
    return dict(report.instructions_by_mnemonic), dict(matrix_counts(listing))


def passes(product: Product, ran: dict[str, int], listed: dict[tuple[str, bool], int]) -> float:
    """Return how often a work-group went through the product, by the count of its waves."""
    return ran[product.mnemonic] / (listed[product.mnemonic, product.is_loop] * product.waves)


def test_a_work_group_runs_what_the_table_counts(tactic, ran):
    products = SHAPE_BY_TACTIC[tactic].products
    straight = {passes(product, *ran) for product in products if not product.is_loop}
    loops = {passes(product, *ran) for product in products if product.is_loop}
    assert straight <= {1}
    assert len(loops) <= 1
    assert all(count >= 1 and count == int(count) for count in loops)


@pytest.mark.parametrize("tactic", ["dense_m1_fp8_one_wave", "dense_m1_fp8_four_wave_lds"])
def test_loops_of_a_fixed_shape_go_round_as_often_as_stated(tactic, ran):
    (product,) = SHAPE_BY_TACTIC[tactic].products
    assert passes(product, *ran) == product.passes
