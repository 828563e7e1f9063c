"""``netra simulate``: what it prints, writes and returns."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from netra_build.checkasm.model.arguments import FORMS, read_arguments, read_sizes
from netra_build.cli.main import run_command
from netra_build.cli.prove.check import NO_SILICON
from netra_build.core.errors import BadInput

DOUBLE = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
global_load_dword v2, v1, s[2:3]
s_waitcnt vmcnt(0)
v_add_u32 v2, v2, v2
global_store_dword v1, v2, s[2:3]
"""


@pytest.fixture
def hsaco(bench, tmp_path: Path) -> Path:
    path = tmp_path / "k.hsaco"
    path.write_bytes(bench.build(DOUBLE))
    return path


def fault(*words: str) -> str:
    with pytest.raises(BadInput) as caught:
        run_command(["simulate", *words])
    return str(caught.value)


def test_a_clean_run(hsaco, tmp_path, capsys):
    out = tmp_path / "out.npy"
    words = ["simulate", str(hsaco), "--arg", "data=count:u32:8x8", "--output", f"data={out}"]
    assert run_command(words) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith('buffer "data": uint32 8x8, blake3 ')
    assert last == f"8 wave-instructions, clean; {NO_SILICON}"
    after = np.load(out)
    assert after.tolist() == (2 * np.arange(64).reshape(8, 8)).tolist()


def test_findings_make_the_exit_code_one(hsaco, capsys):
    assert run_command(["simulate", str(hsaco), "--arg", "data=zeros:u32:63"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    fact = 'out-of-bounds: address 0x7dffffffff00 is 0 bytes past the end of "data" (252 bytes)'
    assert lines[0].partition(": ")[2].startswith(fact.partition("0x")[0])
    assert lines[3] == f"8 wave-instructions, 2 findings; {NO_SILICON}"


def test_json(hsaco, capsys):
    words = ["simulate", str(hsaco), "--arg", "data=zeros:u32:63", "--json"]
    assert run_command(words) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "netra-simulation-1"
    assert document["scope"] == "simulated"
    assert document["counts"] == {"out-of-bounds": 2}
    assert document["wave_instructions"] == 8
    assert document["instructions"]["global_load_dword"] == 1
    assert document["buffers"]["data"]["shape"] == [63]
    first, second = document["findings"]
    assert (first["kind"], first["lane"], first["wave"]) == ("out-of-bounds", 63, 0)
    assert second["instruction"] == "global_store_dword v1, v2, s[2:3]"


def test_coverage(capsys):
    assert run_command(["simulate", "--coverage", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "v_mfma_f32_16x16x128_f8f6f4" in document["implemented"]
    assert "s_memtime" in document["missing"]
    assert not set(document["implemented"]) & set(document["missing"])
    assert run_command(["simulate", "--coverage"]) == 0
    head, notes, refused = capsys.readouterr().out.splitlines()
    total = len(document["implemented"]) + len(document["missing"])
    assert head == f"{len(document['implemented'])} of {total} base mnemonics implemented"
    assert notes.endswith("v_mfma_scale_f32_32x32x64_f8f6f4")
    assert "s_memtime" in refused.split()


def test_coverage_of_a_code_object(hsaco, bench, tmp_path, capsys):
    assert run_command(["simulate", "--coverage", str(hsaco)]) == 0
    head, notes, refused = capsys.readouterr().out.splitlines()
    done, of, total, *_ = head.split()
    assert (done, of) == (total, "of")
    assert int(total) < 20
    assert (notes, refused) == ("lane maps from programming notes only: none", "refused: none")
    other = tmp_path / "other.hsaco"
    other.write_bytes(bench.build("s_memtime s[4:5]\n" + DOUBLE))
    assert run_command(["simulate", str(other), "--coverage", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["missing"] == ["s_memtime"]
    assert len(document["implemented"]) == int(total)


def test_bad_words(hsaco, tmp_path):
    path = str(hsaco)
    assert fault() == ("no code object is given\nhint: netra simulate -h shows the options")
    assert fault(path, "--arg", "data") == '"data" is no argument; expected NAME=VALUE, got data'
    assert fault(path, "--arg", "data=1", "--arg", "data=2") == 'argument "data" is given twice'
    assert fault(path, "--arg", "data=x.txt") == (
        f'argument "data" cannot be read; expected {FORMS}, got "x.txt"'
    )
    assert fault(path, "--arg", "data=zeros:u33:4") == (
        'argument "data" has the unknown type "u33"\nhint: did you mean "u32"?'
    )
    assert fault(path, "--arg", "data=zeros:u32:99999x99999") == (
        'argument "data" is too large; expected at most 1073741824, got 9999800001'
    )
    assert fault(path, "--seed", "-5") == ("--seed: number is out of range; expected >= 0, got -5")
    assert fault(path, "--grid", "1,2,3,4") == 'grid cannot be read; expected X,Y,Z, got "1,2,3,4"'
    assert fault(path, "--arg", "data=zeros:u32:64", "--output", "data=x.txt") == (
        '"data=x.txt" names no buffer and file; expected NAME=FILE.npy, got data=x.txt'
    )
    junk = tmp_path / "junk.npy"
    junk.write_bytes(b"no numpy")
    assert fault(path, "--arg", f"data={junk}") == f"{junk}: not a numpy file"


def test_several_kernels_need_a_symbol(toolchain, tmp_path):
    both = tmp_path / "two.hsaco"
    source = "".join(
        f".globl {n}\n.type {n},@function\n.p2align 8\n{n}:\ns_endpgm\n.size {n}, .-{n}\n"
        for n in ("a", "b")
    )
    head = '.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n.text\n'
    kernels = "".join(
        f".amdhsa_kernel {n}\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n"
        ".amdhsa_accum_offset 8\n.end_amdhsa_kernel\n"
        for n in ("a", "b")
    )
    rows = "".join(
        f"  - .name: {n}\n    .symbol: {n}.kd\n    .kernarg_segment_size: 0\n"
        "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n"
        "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 8\n"
        "    .vgpr_count: 8\n    .max_flat_workgroup_size: 64\n"
        for n in ("a", "b")
    )
    note = f".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n{rows}...\n"
    unit = f"{head}{source}.rodata\n.p2align 6\n{kernels}{note}.end_amdgpu_metadata\n"
    both.write_bytes(toolchain.link([toolchain.assemble(unit.encode())]))
    assert fault(str(both)) == (f'{both}: code object has 2 kernels: "a", "b"\nhint: give --symbol')
    assert run_command(["simulate", str(both), "--symbol", "b"]) == 0


def test_values_of_arguments():
    array = np.arange(6, dtype=np.int16)

    def read(name: str) -> bytes:
        assert name == "a.npy"
        stream = io.BytesIO()
        np.save(stream, array)
        return stream.getvalue()

    words = ["a=a.npy", "b=-5", "c=0x10", "d=2.5", "e=null", "f=random:f32:3", "g=random:u8:4"]
    found = read_arguments(words, read, 7)
    again = read_arguments(words, read, 7)
    other = read_arguments(words, read, 8)
    assert found["a"].tolist() == array.tolist()
    assert [found[name] for name in "bcde"] == [-5, 16, 2.5, 0]
    assert found["f"].dtype == np.float32
    assert found["g"].dtype == np.uint8
    assert found["f"].tolist() == again["f"].tolist() != other["f"].tolist()
    assert read_sizes("3", "grid") == (3, 1, 1)
    assert read_sizes("3,4,5", "grid") == (3, 4, 5)
