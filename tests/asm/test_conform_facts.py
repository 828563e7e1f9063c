"""Every fact of an ABI record that a code object can get wrong, each with a fault made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.mutate.campaign import golden_subject
from netra_build.core.errors import Refused
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.golden import golden_sources
from netra_build.formats.library import open_library
from netra_build.stages.check_object import CONFORM

TACTIC = "attention_splitseq_stage2"
SYMBOL = f"netra_{TACTIC}_gfx950"
SECOND = "read_only}\n      - {.name: out"


def conformity(root: Path, toolchain: Toolchain, old: str, new: str) -> bytes:
    """Return the report on the golden source with one text replaced."""
    library = open_library(toolchain.disk, root, ())
    (golden,) = golden_sources(library, TACTIC)
    tactics = load_catalog(library, derive_pins=True).tactics
    (tactic,) = (one for one in tactics if one.name == f"gfx950.{TACTIC}")
    unit = library.read(golden.source)
    contract = golden_subject(library, golden, tactic).contract
    text = unit.decode()
    assert text.count(old) == 1
    hsaco = toolchain.link([toolchain.assemble(text.replace(old, new).encode())])
    parameters = {"hsaco": "k.hsaco", "contracts": {SYMBOL: contract}}
    return CONFORM.run({"hsaco": hsaco}, parameters, None)["report"]


FAULTS = [
    (".amdhsa_system_sgpr_workgroup_id_y 1", ".amdhsa_system_sgpr_workgroup_id_y 0",
     "work-group ids", "xy", "x"),
    (".amdhsa_system_sgpr_workgroup_id_z 0", ".amdhsa_system_sgpr_workgroup_id_z 1",
     "work-group ids", "xy", "xyz"),
    (".amdhsa_system_vgpr_workitem_id 0", ".amdhsa_system_vgpr_workitem_id 1",
     "work-item id mode", "0", "1"),
    (".amdhsa_user_sgpr_count 2", ".amdhsa_user_sgpr_count 3", "number of user SGPRs", "2", "3"),
    (".kernarg_segment_align: 8", ".kernarg_segment_align: 4", "alignment of kernargs", "8", "4"),
    (".max_flat_workgroup_size: 256", ".max_flat_workgroup_size: 512",
     "largest work-group", "256", "512"),
    (".amdhsa_next_free_sgpr 34", ".amdhsa_next_free_sgpr 50", "allocated SGPRs", "48", "64"),
    (SECOND, SECOND.replace("read_only", "read_write"),
     "access of kernarg 1", "read_only", "read_write"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "fact", "expected", "got"), FAULTS)
def test_a_fact_of_the_record_is_held(
    root: Path, toolchain: Toolchain, old: str, new: str, fact: str, expected: str, got: str
) -> None:
    with pytest.raises(Refused) as refused:
        conformity(root, toolchain, old, new)
    line = f"{fact} (ABI record) of {SYMBOL} differs from the contract"
    assert str(refused.value) == f"k.hsaco: {line}; expected {expected}, got {got}"


def test_the_golden_source_conforms(root: Path, toolchain: Toolchain) -> None:
    report = conformity(root, toolchain, SECOND, SECOND).decode()
    facts = {fault[2] for fault in FAULTS}
    assert [fact for fact in sorted(facts) if f'"{fact} (ABI record)' not in report] == []
