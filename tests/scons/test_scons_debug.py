"""Code objects with line tables: beside the product, equal in code, nowhere in it."""

from __future__ import annotations

import io

from elftools.elf.elffile import ELFFile
from project import ENGINE, Project, tree_digests


def test_debug_objects_lie_beside_an_engine_that_they_do_not_change(built: Project) -> None:
    before = tree_digests(built.engine())
    done = built.scons("-j2", f"engine={ENGINE}", "debug=1")
    assert done.status == 0, done.errors
    assert done.actions == ["DEBUG"] * 3
    assert tree_digests(built.engine()) == before
    made = sorted(built.path(f"build/debug/{ENGINE}").iterdir())
    assert [path.name for path in made] == sorted(
        path.name for path in (built.engine() / "hsaco").iterdir()
    )
    for path in made:
        debug, shipped = (
            ELFFile(io.BytesIO(one.read_bytes()))
            for one in (path, built.engine() / "hsaco" / path.name)
        )
        text = debug.get_section_by_name(".text").data()
        assert text == shipped.get_section_by_name(".text").data()
        [unit] = debug.get_dwarf_info().iter_CUs()
        names = debug.get_dwarf_info().line_program_for_CU(unit)["include_directory"]
        assert {name.decode().split("/")[0] for name in names} == {"generated", "kernels"}
        assert str(built.folder).encode() not in path.read_bytes()
    assert built.scons(f"engine={ENGINE}", "debug=1").actions == []


def test_a_name_that_changed_with_the_code_is_followed_to_the_edit(built: Project) -> None:
    """The symbols of an engine change with its kernels' code; the old ones say what changed."""
    reductions = "kernels/gfx950/templates/common/reductions.inc"
    old = "\tv_max_f32_dpp v[\\value], v[\\value], v[\\value] row_ror"
    built.edit(reductions, old, old.replace("v_max", "v_min"))
    done = built.scons("-Q", f"engine={ENGINE}", "why=moe.silu_quant")
    assert (done.status, done.errors) == (0, "")
    lines = [line.strip() for line in done.output.splitlines()]
    assert lines[0].endswith(".hsaco: missing")
    assert lines[1].startswith("STRIP moe_silu_quant_decode_m1 -> hsaco/netra_moe_silu_quant_")
    assert lines[2].startswith('made under a new name, "hsaco/netra_moe_silu_quant_')
    changed = [line for line in lines if line.startswith(f'input "{reductions}" changed b3:')]
    assert len(changed) == 1
