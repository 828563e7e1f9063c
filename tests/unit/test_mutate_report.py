"""The report of a mutation run: scores, text, JSON and Markdown of verdicts made by hand."""

from __future__ import annotations

from collections import Counter

from netra_build.checkasm.mutate.mutant import Mutant, Verdict
from netra_build.checkasm.mutate.report import Result, json_report, markdown_report, text_report


def mutant(kind: str, line: int, before: str, after: str) -> Mutant:
    return Mutant(kind, line - 1, line, before, after)


VERDICTS = (
    Verdict(mutant("wait-delete", 3, "s_waitcnt vmcnt(0)", ""), "static", "missing-wait"),
    Verdict(mutant("wait-delete", 7, "s_waitcnt vmcnt(0)", ""), "", "", "nothing is outstanding"),
    Verdict(mutant("register", 4, "v_mov_b32 v1, v2", "v_mov_b32 v1, v3"), "numerics", "differs"),
    Verdict(mutant("register", 4, "v_mov_b32 v1, v2", "v_mov_b32 v[1:2], v2"), "assembler", "bad"),
    Verdict(mutant("register", 5, "s_add_u32 s1, s2, s3", "s_add_u32 s1, s2, s4"), "", ""),
)
RESULT = Result("k.s", "t", 7, Counter({"wait-delete": 2, "register": 30}), VERDICTS)


def test_a_score_leaves_equivalents_and_refused_texts_out() -> None:
    ordering, value = RESULT.score(("wait-delete",)), RESULT.score(("register",))
    assert (ordering.made, ordering.equivalent, ordering.survivors) == (2, 1, 0)
    assert (ordering.caught, ordering.per_mille) == (1, 1000)
    assert (value.caught, value.per_mille, value.per_mille_assembled) == (2, 666, 500)
    assert RESULT.score(("condition",)).per_mille == 1000


def test_text() -> None:
    assert text_report(RESULT).split("\n") == [
        "k.s: seed 7",
        "kind         possible  made  assembler  static  conform  model  dynamic  numerics"
        "  long run  guard  equivalent  survivors",
        "wait-delete         2     2          -       1        -      -        -         -"
        "         -      -           1          -",
        "register           30     3          1       -        -      -        -         1"
        "         -      -           -          1",
        "ordering: 1 of 1 caught (100.0 %; 100.0 % of those that assemble), "
        "1 proven equivalent, 0 survivors",
        "value: 2 of 3 caught (66.6 %; 50.0 % of those that assemble), "
        "0 proven equivalent, 1 survivors",
        "survivor: k.s:5: register: s_add_u32 s1, s2, s3 -> s_add_u32 s1, s2, s4",
        "equivalent: k.s:7: wait-delete: s_waitcnt vmcnt(0) -> (nothing) (nothing is outstanding)",
    ]


def test_json() -> None:
    report = json_report([RESULT])
    assert report["format"] == "netra-mutation-1"
    (kernel,) = report["kernels"]
    assert kernel["groups"]["value"] == {
        "made": 3,
        "equivalent": 0,
        "caught": 2,
        "survivors": 1,
        "per_mille": 666,
        "per_mille_assembled": 500,
    }
    assert kernel["kinds"]["register"] == {
        "what": "an operand is the next register",
        "possible": 30,
        "made": 3,
        "caught_by": {"assembler": 1, "numerics": 1},
        "equivalent": 0,
        "survivors": 1,
    }
    assert kernel["survivors"] == [
        {
            "kind": "register",
            "line": 5,
            "before": "s_add_u32 s1, s2, s3",
            "after": "s_add_u32 s1, s2, s4",
        }
    ]
    assert kernel["equivalents"][0]["proof"] == "nothing is outstanding"


def test_markdown() -> None:
    lines = markdown_report(RESULT).split("\n")
    assert lines[0] == "### k.s"
    assert lines[2].startswith("| kind | possible | made | assembler | static |")
    assert lines[5] == "| register | 30 | 3 | 1 | - | - | - | - | 1 | - | - | - | 1 |"
    assert lines[9:15] == [
        "",
        "Survivors:",
        "",
        "```",
        "5: register: s_add_u32 s1, s2, s3 -> s_add_u32 s1, s2, s4",
        "```",
    ]
