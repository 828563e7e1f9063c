"""Statements are inputs of the simulations: an edit of one runs its own again, and nothing else."""

from __future__ import annotations

from project import ENGINE, Project, tree_digests

MOE = "statements/gfx950/moe.py"


def test_an_edit_of_a_statement_simulates_its_tactics_again(built: Project) -> None:
    before = tree_digests(built.engine())
    built.edit(MOE, "SLOTS = 9\n", "SLOTS = 9  # eight experts and the shared one\n")
    assert sorted(built.scons(f"engine={ENGINE}").actions) == [*["NUMER"] * 3, "SEALED"]
    assert tree_digests(built.engine()) == before


def test_a_misspelt_statement_stops_a_finished_engine(built: Project) -> None:
    built.edit(MOE, '"moe_silu_quant_decode_m1": Entry', '"moe_silu_quant_decode_m": Entry')
    message = (
        'netra: statements/gfx950/moe.py:217: no catalog has the tactic "moe_silu_quant_decode_m"\n'
        'hint: did you mean "moe_silu_quant_decode_m1"?\n'
    )
    for words in ([f"engine={ENGINE}"], ["check-numerics", "tactic=moe_silu_quant_decode_m1"]):
        done = built.scons(*words)
        assert (done.status, done.errors) == (2, message)


def test_a_mistake_in_a_statement_is_one_line(built: Project) -> None:
    built.edit("statements/gfx950/block_scaled.py", "    terms = []\n", "    terms = [][0]\n")
    done = built.scons(f"engine={ENGINE}", "-k")
    assert done.status == 2
    line = (
        "statements/gfx950/block_scaled.py:20: statement raises IndexError: list index out of range"
    )
    assert line in done.errors
    assert "Traceback" not in done.output + done.errors
