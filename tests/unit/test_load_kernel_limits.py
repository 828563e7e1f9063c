"""Limits of ABI records: how they are read, and that every launch of ours keeps to them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from kernel_statements import entry_of, scenario, stated_tactics

from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.formats.launch import ABI_FOLDER, Limits, read_abi
from netra_build.formats.library import Library

ROOT = Path(__file__).resolve().parent.parent.parent
TACTIC = "attention_splitseq_prepare"
LIMITS = {"grid": [1, 1, 1], "values": {"M": 16}, "elements": {"prefix_len": 9}}


def read(tmp_path: Path, limits: object) -> Limits | None:
    """Return the limits of one of our records with others in their place."""
    record = json.loads((ROOT / ABI_FOLDER / f"{TACTIC}.json").read_text())
    del record["limits"]
    if limits is not None:
        record["limits"] = limits
    path = tmp_path / ABI_FOLDER / f"{TACTIC}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record))
    abi = read_abi(Library(tmp_path, RealDisk()), TACTIC)
    assert abi is not None
    return abi.limits


def test_limits_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, LIMITS) == Limits((1, 1, 1), (("M", 16),), (("prefix_len", 9),))


def test_a_record_needs_no_limits(tmp_path: Path) -> None:
    assert read(tmp_path, None) is None


WRONG = [
    ({**LIMITS, "grid": [1, 1]}, "/grid: three numbers are needed"),
    ({**LIMITS, "grid": [1, "rows", 1]}, "/grid: three numbers are needed"),
    ({**LIMITS, "values": {"prefix_len": 1}}, '/values: unknown key "prefix_len"'),
    ({**LIMITS, "elements": {"M": 1}}, '/elements: unknown key "M"'),
    ({**LIMITS, "values": {"M": -1}}, "/values/M: "),
    ({**LIMITS, "most": 1}, ': unknown key "most"'),
]


@pytest.mark.parametrize(("limits", "message"), WRONG)
def test_wrong_limits_are_refused(tmp_path: Path, limits: object, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, limits)
    assert str(refused.value).startswith(f"{tmp_path}/{ABI_FOLDER}/{TACTIC}.json#/limits{message}")


OURS = [
    (tactic, variant)
    for tactic in stated_tactics()
    for variant in entry_of(tactic).specializations
    if (ROOT / ABI_FOLDER / f"{tactic}.json").is_file()
]


@pytest.mark.parametrize(("tactic", "variant"), OURS)
def test_launches_keep_to_the_limits(tactic: str, variant: str) -> None:
    abi = read_abi(Library(ROOT, RealDisk()), tactic)
    assert abi is not None
    limits = abi.limits
    assert limits is not None
    one = scenario(tactic, variant)
    assert all(size <= most for size, most in zip(one.grid, limits.grid, strict=True))
    for name, most in limits.values:
        assert 0 <= one.values[name] <= most, name
    for name, most in limits.elements:
        elements = one.values[name]
        assert np.all((elements >= 0) & (elements <= most)), name
