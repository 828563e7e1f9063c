"""Published libraries are held to what their contracts say, in code objects v4, v5 and v6."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from published_forms import (
    DEPLOYMENT,
    FIRST_ERROR,
    VERSIONS,
    WARNINGS,
    WITHOUT_WAIT,
    edit,
    edit_template,
    library_at,
)
from shared_code_library import TEMPLATE, make_library

from netra_build.build.run.executor import built_files
from netra_build.cli.main import main
from netra_build.core.disk import RealDisk
from netra_build.core.errors import Refused
from netra_build.formats.library import open_library
from netra_build.requests import asked_graph


def recipe(library: Path, out: Path, *words: str) -> int:
    """Build the deployment recipe in this process."""
    where = ["--repo-root", str(library), "--output", str(out)]
    return main(["recipe", "--deployment", DEPLOYMENT, *where, *words])


def keep_first(document):
    """Leave one artifact of the recipe."""
    del document["artifacts"][1:]


def test_every_form_of_every_version_is_built_and_certified(tmp_path, capfd):
    library, out = library_at(tmp_path / "library"), tmp_path / "out"
    assert recipe(library, out) == 0
    printed = capfd.readouterr()
    assert printed.err.splitlines() == WARNINGS
    assert json.loads(printed.out) == {"artifacts": 15, "output": str(out)}
    result = json.loads((out / "build-result.json").read_text())
    assert [one["text_identical"] for one in result["artifacts"]] == [True] * 15
    versions = {one["name"]: one["name"][-1] for one in result["artifacts"]}
    assert {name: (out / f"{name}.hsaco").read_bytes()[8] for name in versions} == {
        name: {"4": 2, "5": 3, "6": 4}[version] for name, version in versions.items()
    }


def test_strict_makes_the_first_warning_an_error(tmp_path, capfd):
    out = tmp_path / "out"
    assert recipe(library_at(tmp_path / "library"), out, "--strict") == 1
    assert capfd.readouterr() == ("", f"netra: {FIRST_ERROR}\n")
    assert not out.exists()


FAULTS = [
    (".kernarg_segment_size: 8", ".kernarg_segment_size: 16", "kernarg size (metadata)", 8, 16),
    (".group_segment_fixed_size: 0", ".group_segment_fixed_size: 64", "fixed LDS (metadata)",
     0, 64),
    (".wavefront_size: 64", ".wavefront_size: 32", "wavefront size", 64, 32),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "what", "expected", "got"), FAULTS)
def test_what_a_contract_says_is_an_error_without_strict(
    old, new, what, expected, got, tmp_path, capfd
):
    library = library_at(tmp_path / "library")
    edit_template(library, {old: new})
    edit(library, DEPLOYMENT, keep_first)
    assert recipe(library, tmp_path / "out") == 1
    fact = f"{what} of kinds_fill_gfx950 differs from the contract"
    line = f"netra: usual_v4.hsaco: {fact}; expected {expected}, got {got}\n"
    assert capfd.readouterr() == ("", line)


def test_a_symbol_that_no_kernel_has_is_refused(tmp_path, capfd):
    library = library_at(tmp_path / "library")
    names = ("KINDS_KERNEL \\symbol\n", "KINDS_METADATA \\symbol")
    edit_template(library, {name: name.replace("\\symbol", "third") for name in names})
    edit(library, DEPLOYMENT, keep_first)
    assert recipe(library, tmp_path / "out") == 2
    fact = 'code object has no kernel "kinds_fill_gfx950"; it has "third"'
    assert capfd.readouterr() == ("", f"netra: usual_v4.hsaco: {fact}\n")


def checked(library: Path, toolchain, strict: bool) -> tuple[dict, list[str]]:
    """Check the recipe's code objects statically; return the summary and what is said."""
    options = {"deployment": str(library / DEPLOYMENT), "strict": strict}
    disk, said = RealDisk(), []
    graph = asked_graph(open_library(disk, library, ()), "checks", None, options)
    files = built_files(graph, library, toolchain, said.append)
    return json.loads(files["checks/kinds.json"]), said


FOUND = [
    f"two_kernels_v{version}.hsaco: static checks of kinds_fill_gfx950{second} find 1 error"
    for version in VERSIONS
    for second in ("", "_second")
]


def test_static_checks_of_a_recipe_name_the_kernels_with_errors(tmp_path, toolchain):
    library = library_at(tmp_path / "library")
    wait = "\ts_waitcnt lgkmcnt(0)\n"
    edit_template(library, {wait: f"\t.if NETRA_FORM != 4\n{wait}\t.endif\n"})

    def unlock(document):
        for artifact in document["artifacts"][9:12]:
            artifact["locked_text_sha256"] = WITHOUT_WAIT

    edit(library, DEPLOYMENT, unlock)
    summary, said = checked(library, toolchain, strict=False)
    assert [f"netra: {line}" for line in said] == WARNINGS + [
        f"netra: warning: {line}" for line in FOUND
    ]
    assert summary["checked"] == 15
    errors = [row for row in summary["kernels"] if row["counts"].get("error")]
    assert [row["hsaco"] for row in errors] == [line.partition(":")[0] for line in FOUND]
    with pytest.raises(Refused) as refused:
        checked(library, toolchain, strict=True)
    place = "check-kernels: static checks find errors in 6 kernels"
    assert str(refused.value) == "\n".join([place, *FOUND])


def test_a_strict_build_in_place_runs_the_static_checks(tmp_path, capfd):
    root = make_library(tmp_path / "library").root
    template = root / TEMPLATE
    template.write_text(template.read_text().replace("\ts_waitcnt lgkmcnt(0)\n", ""))
    where, out = ["--library-root", str(root)], tmp_path / "engine"
    model = ["--model", str(root / "manifests/gfx950/models/pair.json"), "--target", "gfx950"]
    assert main(["pin", *where]) == 0
    assert main(["compile", *model, "--profile", "one", "--output", str(out), *where]) == 0
    validate = ["validate", "--engine", str(out), "--build", *where]
    assert main(validate) == 0
    capfd.readouterr()
    assert main([*validate, "--strict"]) == 1
    hsaco = min((out / "hsaco").iterdir()).relative_to(out)
    line = f"netra: {hsaco}: static checks find 1 error"
    assert capfd.readouterr().err.splitlines()[0] == line
