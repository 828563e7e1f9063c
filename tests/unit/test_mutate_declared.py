"""What is made of descriptor directives and metadata, and the tables of a document."""

from __future__ import annotations

from collections import Counter

import pytest

from netra_build.checkasm.mutate.document import Argument, Record, label_of, read_record, rendered
from netra_build.checkasm.mutate.mutant import Mutant, Verdict, read_unit
from netra_build.checkasm.mutate.report import Result
from netra_build.checkasm.mutate.statements import declared_mutants
from netra_build.core.errors import BadInput

KERNEL = "\t.amdhsa_kernel k\n\t\t{}\n\t.end_amdhsa_kernel\n"
METADATA = "\t.amdgpu_metadata\n---\n{}\n...\n\t.end_amdgpu_metadata\n"


def made(text: str) -> list[tuple[str, str]]:
    """Return kind and text of every mutant."""
    mutants = declared_mutants(read_unit("k.s", text.encode()))
    return [(one.kind, one.after) for one in mutants]


DIRECTIVES = [
    (".amdhsa_next_free_vgpr 15", ["next_free_vgpr 23", "next_free_vgpr 7"]),
    (".amdhsa_next_free_vgpr 6", ["next_free_vgpr 14"]),
    (".amdhsa_next_free_sgpr 34", ["next_free_sgpr 50", "next_free_sgpr 18"]),
    (".amdhsa_accum_offset 16", ["accum_offset 20", "accum_offset 12"]),
    (".amdhsa_kernarg_size 88", ["kernarg_size 96", "kernarg_size 80"]),
    (".amdhsa_group_segment_fixed_size 0", ["group_segment_fixed_size 512"]),
    (".amdhsa_ieee_mode 1", ["ieee_mode 2", "ieee_mode 0"]),
    (".amdhsa_system_sgpr_workgroup_id_z 0", ["system_sgpr_workgroup_id_z 1"]),
    (".amdhsa_next_free_vgpr COUNT", []),
]


@pytest.mark.parametrize(("directive", "texts"), DIRECTIVES)
def test_a_directive_is_one_granule_or_one_off(directive: str, texts: list[str]) -> None:
    expected = [("descriptor", f".amdhsa_{text}") for text in texts]
    assert made(KERNEL.format(directive)) == expected


ENTRIES = [
    ("    .vgpr_count: 15", ["    .vgpr_count: 23", "    .vgpr_count: 7"]),
    ("    .wavefront_size: 64", ["    .wavefront_size: 96", "    .wavefront_size: 32"]),
    ("    .kernarg_segment_size: 4", ["    .kernarg_segment_size: 12"]),
    (
        "- {.name: a, .offset: 8, .size: 8, .value_kind: by_value}",
        [
            "- {.name: a, .offset: 12, .size: 8, .value_kind: by_value}",
            "- {.name: a, .offset: 4, .size: 8, .value_kind: by_value}",
            "- {.name: a, .offset: 8, .size: 12, .value_kind: by_value}",
            "- {.name: a, .offset: 8, .size: 4, .value_kind: by_value}",
            "- {.name: a, .offset: 8, .size: 8, .value_kind: global_buffer}",
        ],
    ),
    (".actual_access: read_only}", [".actual_access: write_only}"]),
    (".actual_access: write_only}", [".actual_access: read_write}"]),
    ("amdhsa.version: [1, 2]", []),
    ("    .symbol: k.kd", []),
]


@pytest.mark.parametrize(("entry", "texts"), ENTRIES)
def test_an_entry_is_another_one(entry: str, texts: list[str]) -> None:
    assert made(METADATA.format(entry)) == [("metadata", text) for text in texts]


# The document

EMPTY = """# Title

<!-- scores -->
<!-- end of scores -->

Between.

<!-- arguments -->
<!-- end of arguments -->
The end.
"""
HEAD = (
    "| specialization | ordering mutants | ordering caught | ordering score | value mutants "
    "| of possible | equivalent | assembler | static | conform | model | dynamic | numerics "
    "| long run | guard | value caught | value score |\n" + "|---" * 17 + "|\n"
)


def result(label: str, *checks: str) -> Result:
    """Return a result with one caught wait and one value mutant per check, "" for a survivor."""
    wait = Mutant("wait-delete", 1, 2, "s_waitcnt vmcnt(0)", "")
    moves = [Mutant("register", 3, 4, "v_mov_b32 v1, v2", f"v_mov_b32 v1, v{at}") for at in (3, 4)]
    verdicts = [Verdict(wait, "static", "x")]
    verdicts += [Verdict(move, check, "x") for move, check in zip(moves, checks, strict=True)]
    possible = Counter({"wait-delete": 1, "register": 9})
    return Result(f"golden/gfx950/{label}/kernel.s", label, 1, possible, tuple(verdicts))


ROW_B = "| `b` | 1 | 1 | 100.0 % | 2 | 9 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 1 | 50.0 % |\n"
ROW_A = "| `a/x` | 1 | 1 | 100.0 % | 2 | 9 | 0 | 0 | 0 | 0 | 0 | 1 | 1 | 0 | 0 | 2 | 100.0 % |\n"
ARGUMENTS = """| kernel | survivors | verdict and argument |
|---|---|---|
| `b a` | `register: v_mov_b32 v1, (v2\\|v3) -> .*` | Equivalent. Nobody reads it. |
"""
NOTHING = Record({}, (Argument(("b", "a"), "register: v_mov_b32 v1, (v2|v3) -> .*",
                               "Equivalent. Nobody reads it."),))  # fmt: skip


def test_a_record_is_put_between_the_markers() -> None:
    record = NOTHING.with_results([result("b", "numerics", "")])
    text = rendered(EMPTY, record)
    assert text == (
        f"# Title\n\n<!-- scores -->\n\n{HEAD}{ROW_B}\n<!-- end of scores -->\n\nBetween.\n\n"
        f"<!-- arguments -->\n\n{ARGUMENTS}\n<!-- end of arguments -->\nThe end.\n"
    )
    # The same again changes nothing; another kernel's row comes in its order.
    assert record.with_results([result("b", "numerics", "")]) == record
    assert rendered(text, record) == text
    both = record.with_results([result("a/x", "numerics", "dynamic")])
    assert f"{HEAD}{ROW_A}{ROW_B}\n" in rendered(text, both)


def test_a_record_lists_survivors_and_is_read_as_it_was_written() -> None:
    record = NOTHING.with_results(
        [result("b", "numerics", ""), result("a/x", "numerics", "static")]
    )
    (survivor,) = record.kernels["b"].survivors
    assert (survivor.line, survivor.text) == (4, "register: v_mov_b32 v1, v2 -> v_mov_b32 v1, v4")
    assert record.kernels["a/x"].survivors == ()
    assert read_record(record.data(), "r") == record
    # A survivor that is caught now leaves its list.
    caught = record.with_results([result("b", "numerics", "dynamic")])
    assert caught.kernels["b"].survivors == ()
    assert label_of(result("a/x", "static", "static")) == "a/x"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mutation-scores-1", "mutation-scores-2", 'r#/format: record has an unknown format; '
         'expected "netra-mutation-scores-1", got "netra-mutation-scores-2"'),
        ('"line": 4', '"line": "4"', "r#/kernels/b/survivors/0/line: value has the wrong type; "
         "expected integer, got string"),
        ('"numerics": 1', '"numbers": 1', 'r#/kernels/b/caught_by: unknown key "numbers"'),
    ],
)  # fmt: skip
def test_a_wrong_record_is_refused(old: str, new: str, message: str) -> None:
    data = NOTHING.with_results([result("b", "numerics", "")]).data().decode()
    with pytest.raises(BadInput) as refused:
        read_record(data.replace(old, new).encode(), "r")
    assert str(refused.value).partition("\nhint")[0] == message


@pytest.mark.parametrize("marker", [line for line in EMPTY.split("\n") if line[:4] == "<!--"])
def test_a_document_without_its_markers_is_refused(marker: str) -> None:
    with pytest.raises(BadInput) as refused:
        rendered(EMPTY.replace(f"{marker}\n", ""), NOTHING)
    name = "scores" if "scores" in marker else "arguments"
    wanted = f'document has no lines "<!-- {name} -->" and "<!-- end of {name} -->"'
    assert str(refused.value) == wanted
