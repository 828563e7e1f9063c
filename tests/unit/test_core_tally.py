"""How the actions of a build are counted, and the exact closing line."""

from __future__ import annotations

from netra_build.build.record.reasons import Ending
from netra_build.build.run.execution import Counts, Tally

UNIT, OBJECT, HSACO = ("unit.s",), ("unit.o",), ("kernel.hsaco", "kernel.text")
REPORT, OTHER = ("report",), ("other",)
SETTLED = [(OBJECT, UNIT), (HSACO, OBJECT), (REPORT, ("kernel.text",)), (OTHER, ("other.s",))]


def test_the_closing_line_says_every_count():
    assert Counts(3, 2, 1, 40).line(1.26) == (
        "netra: ran 3, cut off 2, restored 1, up to date 40 in 1.3 s"
    )
    assert Counts().line(0.04) == "netra: ran 0, cut off 0, restored 0, up to date 0 in 0.0 s"


def test_nothing_is_cut_off_where_nothing_ran():
    assert Tally().counts(SETTLED) == Counts(up_to_date=4)


def test_everything_after_what_ran_is_cut_off_and_the_rest_up_to_date():
    tally = Tally()
    tally.begin(UNIT, "FLAT unit.s")
    tally.end(UNIT, Ending.RAN)
    assert tally.counts(SETTLED) == Counts(ran=1, cut_off=3, up_to_date=1)


def test_what_was_restored_cuts_off_as_what_ran_does():
    tally = Tally()
    tally.end(OBJECT, Ending.RESTORED)
    assert tally.counts(SETTLED[1:]) == Counts(restored=1, cut_off=2, up_to_date=1)


def test_a_failure_is_counted_as_nothing():
    tally = Tally()
    tally.end(UNIT, Ending.FAILED)
    assert tally.count(Ending.FAILED) == 1
    assert tally.counts([]) == Counts()


def test_what_runs_is_known_until_it_ends():
    tally = Tally()
    tally.begin(UNIT, "FLAT unit.s")
    tally.begin(OBJECT, "ASM unit.o")
    assert tally.running() == ("FLAT unit.s", "ASM unit.o")
    tally.end(UNIT, Ending.RAN)
    assert tally.running() == ("ASM unit.o",)
    tally.end(OBJECT, Ending.RAN)
    assert (tally.running(), tally.count(Ending.RAN)) == ((), 2)
