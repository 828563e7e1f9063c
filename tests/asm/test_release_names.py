"""A package is what its name says, what is expected, and packed as ours are."""

from __future__ import annotations

import pytest
from release_attacks import RECORD, edited, restated
from release_making import ROOT, netra

from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_REFUSED, Refused
from netra_build.formats.library import open_library
from netra_build.inspect.validate.package import Means, verify_package
from netra_build.release.archive import Package


@pytest.mark.parametrize(
    "stem",
    ["qwen36_moe_m1-2.0.0-gfx950", "other-1.2.0-gfx950", "qwen36_moe_m1-1.2.00", "latest-gfx950"],
)
def test_a_package_that_is_named_for_another_release_is_refused(
    stem, engine_release, tmp_path, capsys
):
    path = tmp_path / f"{stem}.tar.zst"
    path.write_bytes(engine_release.path.read_bytes())
    status, out, err = netra(capsys, "verify", path)
    assert (status, out) == (EXIT_REFUSED, "")
    assert err == (
        f"netra: {path}: file is named for another release; "
        f'expected "qwen36_moe_m1-1.2.0-gfx950", got "{stem}"\n'
    )


@pytest.mark.parametrize(
    ("option", "value", "got"),
    [("name", "other", "qwen36_moe_m1"), ("version", "1.2.1", "1.2.0")],
)
def test_a_package_that_is_not_what_is_expected_is_refused(
    option, value, got, engine_release, capsys
):
    status, out, err = netra(capsys, "verify", engine_release.path, f"--{option}", value)
    assert (status, out) == (EXIT_REFUSED, "")
    assert err == (
        f"netra: {engine_release.path}: release has another {option}; "
        f'expected "{value}", got "{got}"\n'
    )


ARCHIVE = [
    ("level", 3, "claim differs from the content; expected 19, got 3"),
    ("compressor", "lz4", "claim differs from the content; expected zstd, got lz4"),
    ("compressor_version", "new", 'version has the wrong form; expected X.Y.Z, got "new"'),
]


@pytest.mark.parametrize(("key", "value", "fact"), ARCHIVE)
def test_settings_of_an_archive_that_none_of_ours_has_are_refused(key, value, fact, engine_release):
    library = open_library(RealDisk(), ROOT, ())
    files = dict(engine_release.package.files)
    files[RECORD] = edited(files[RECORD], ("archive", key), value)
    package = Package(engine_release.package.top, restated(files))
    with pytest.raises(Refused) as caught:
        verify_package(package, "p", Means(RealDisk(), library, lambda: None))
    assert str(caught.value) == f"p/{RECORD}#/archive/{key}: {fact}"
