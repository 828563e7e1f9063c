"""What a new tactic is laid out from: names, kernargs and what is refused."""

from __future__ import annotations

import pytest

from netra_build.authoring.skeleton import abi_record, catalog_entry, plan_skeleton, skeleton_files
from netra_build.core.errors import BadInput

SPELLING = "at most 48 lower-case letters, digits and single _"


def planned(*arguments: str):
    return plan_skeleton("moe.add_bias", "add_bias_m1", None, arguments)


def test_the_names_follow_from_family_and_id():
    plan = planned()
    assert (plan.symbol, plan.macro) == ("netra_add_bias_m1_gfx950", "NETRA_ADD_BIAS_M1")
    assert plan.operation == "add_bias_m1"
    assert plan.catalog == "manifests/gfx950/tactics/moe.json"
    assert plan.abi == "manifests/gfx950/contracts/add_bias_m1.json"
    assert sorted(skeleton_files(plan)) == [
        "golden/gfx950/add_bias_m1/kernel.s",
        "kernels/gfx950/templates/moe/add_bias_m1.inc",
        "statements/gfx950/add_bias_m1.py",
        "tests/sim/test_tactic_add_bias_m1.py",
    ]


@pytest.mark.parametrize(
    ("arguments", "offsets", "size"),
    [
        ((), [0, 8, 16, 20], 24),
        (("n:u32", "x:read", "y:write"), [0, 8, 16], 24),
        (("x:read", "y:write", "n:u32"), [0, 8, 16], 24),
        (
            ("n:u32", "a:f32", "x:read", "y:write", "z:read_write", "f:u32"),
            [0, 4, 8, 16, 24, 32],
            40,
        ),
    ],
)
def test_kernargs_are_aligned_in_the_order_given(arguments, offsets, size):
    plan = planned(*arguments)
    assert [item.offset for item in plan.kernargs] == offsets
    assert plan.kernarg_bytes == size
    listed = abi_record(plan)["arguments"]
    assert [entry["offset"] for entry in listed] == offsets


def test_an_argument_word_decides_the_record():
    listed = abi_record(planned("x:read", "y:write", "z:read_write", "n:u32", "a:f32"))["arguments"]
    found = [(a["name"], a["size"], a["kind"], a["access"], a["dtype"]) for a in listed]
    assert found == [
        ("x", 8, "pointer", "read", "fp32"),
        ("y", 8, "pointer", "write", "fp32"),
        ("z", 8, "pointer", "read_write", "fp32"),
        ("n", 4, "u32", "value", "u32"),
        ("a", 4, "u32", "value", "fp32"),
    ]


def test_without_a_factor_the_kernel_doubles():
    files = skeleton_files(planned("x:read", "y:write", "n:u32"))
    assert b"v_mul_f32 v3, 2.0, v3\n" in files["golden/gfx950/add_bias_m1/kernel.s"]
    assert b"factor = np.float32(2)\n" in files["statements/gfx950/add_bias_m1.py"]


def test_a_new_tactic_is_an_experiment_without_evidence():
    entry = catalog_entry(planned(), "1" * 64, "2" * 64)
    assert (entry["maturity"], entry["acceptance_scope"]) == ("experiment", "unproven")
    assert entry["evidence_set"] == "none"
    assert (entry["template_sha256"], entry["source_closure_sha256"]) == ("1" * 64, "2" * 64)


@pytest.mark.parametrize(
    ("family", "name", "operation", "arguments", "message"),
    [
        ("moe", "a", None, [], 'family cannot be used; expected dotted lower-case words, '
         'as in moe.silu_quant, got "moe"'),
        ("Moe.x", "a", None, [], 'family cannot be used; expected dotted lower-case words, '
         'as in moe.silu_quant, got "Moe.x"'),
        ("../x.y", "a", None, [], 'family cannot be used; expected dotted lower-case words, '
         'as in moe.silu_quant, got "../x.y"'),
        ("common.x", "a", None, [], "family cannot be used; expected another first word: all "
         'families share common, got "common.x"'),
        ("moe.x", "A", None, [], f'tactic id cannot be used; expected {SPELLING}, got "A"'),
        ("moe.x", "a__b", None, [], f'tactic id cannot be used; expected {SPELLING}, got "a__b"'),
        ("moe.x", "a\n", None, [], f'tactic id cannot be used; expected {SPELLING}, got "a\\n"'),
        ("moe.x", "../a", None, [], f'tactic id cannot be used; expected {SPELLING}, got "../a"'),
        ("moe.x", "a" * 49, None, [],
         f'tactic id cannot be used; expected {SPELLING}, got "{"a" * 49}"'),
        ("moe.x", "json", None, [],
         'tactic id cannot be used; expected a name that Python leaves free, got "json"'),
        ("moe.x", "import", None, [],
         'tactic id cannot be used; expected a name that Python leaves free, got "import"'),
        ("moe.x", "a", "b c", [], f'operation cannot be used; expected {SPELLING}, got "b c"'),
        ("moe.x", "gemma_a", None, [],
         'names hold that of a model; expected names that fit any model, got "gemma"'),
        ("moe.x", "a", None, ["x:read", "n:u32"],
         'an argument is missing; expected one that is write, got "x:read n:u32"'),
        ("moe.x", "a", None, ["x:read", "y:write", "y:u32"],
         'argument is given twice; expected names that differ, got "y"'),
        ("moe.x", "a", None, ["source:read", "y:write", "n:u32"],
         f'argument name cannot be used; expected {SPELLING}, got "source"'),
        ("moe.x", "a", None, [f"a{n}:u32" for n in range(17)],
         'too many arguments are given; expected at most 16, got "17"'),
    ],
)  # fmt: skip
def test_what_cannot_be_laid_out_is_refused(family, name, operation, arguments, message):
    with pytest.raises(BadInput) as caught:
        plan_skeleton(family, name, operation, arguments)
    assert str(caught.value) == f"netra new-tactic: {message}"


def test_an_unknown_access_word_offers_the_nearest():
    with pytest.raises(BadInput) as caught:
        planned("x:reed")
    fact, hint = 'argument "x:reed" has no access word', 'hint: did you mean "read"?'
    assert str(caught.value) == f"netra new-tactic: {fact}\n{hint}"
