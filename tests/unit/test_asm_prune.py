"""Macros that nothing reaches leave the unit; whatever could be called stays."""

from __future__ import annotations

import pytest

from netra_build.asm.source.closure import Closure, flat_unit

HEAD = ".macro NETRA_A x\ns_nop \\x\n.endm\n.macro NETRA_B x\ns_nop 1\nNETRA_A \\x\n.endm\n"
USED = ".macro NETRA_C\ns_nop 2\n.endm\n"


def pruned(text: str) -> str:
    """Return the pruned unit."""
    return flat_unit(text.encode(), Closure({}, ()), "unit.s").decode()


def test_an_unreached_macro_is_dropped() -> None:
    assert pruned(HEAD + USED + "NETRA_C\n") == USED + "NETRA_C\n"


def test_what_a_reached_macro_calls_is_kept() -> None:
    text = HEAD + "NETRA_B 3\n"
    assert pruned(text) == text


def test_a_change_in_an_unreached_macro_leaves_the_unit_alone() -> None:
    one = HEAD + USED + "NETRA_C\n"
    assert pruned(one) == pruned(one.replace("s_nop 1", "s_nop 7"))


@pytest.mark.parametrize(
    "use",
    [
        "NETRA_C NETRA_A\n",  # passed on as an argument
        ".irp word, NETRA_A\n\\word 1\n.endr\n",  # a repeat's value becomes the first word
        ".irp tail, A, Z\nNETRA_\\tail 1\n.endr\n",  # completed by an expansion
        ".irp head, NETRA\n\\head\\()_A 1\n.endr\n",  # completed in front
        ".purgem NETRA_A\n",
    ],
)
def test_every_way_to_reach_a_macro_keeps_it(use: str) -> None:
    assert ".macro NETRA_A x\n" in pruned(HEAD + USED + use)


def test_names_without_a_capital_are_never_dropped() -> None:
    """A dropped macro called like an instruction would change the code silently."""
    text = ".macro s_twice\ns_nop 1\n.endm\ns_endpgm\n"
    assert pruned(text) == text


def test_nested_definitions_go_and_stay_with_their_outer_one() -> None:
    nested = ".macro NETRA_OUTER\n.macro NETRA_INNER\ns_nop 0\n.endm\nNETRA_INNER\n.endm\n"
    assert pruned(nested + "s_endpgm\n") == "s_endpgm\n"
    assert pruned(nested + "NETRA_OUTER\n") == nested + "NETRA_OUTER\n"
