"""What else a release holds: its page, and the OCI layout beside the archive."""

from __future__ import annotations

import pytest
from html_document import faults, read_html
from project import ENGINE, Project

from netra_build.core.disk import RealDisk
from netra_build.release.oci import open_package

STEM = f"dist/{ENGINE}-1.2.0-gfx950"


@pytest.fixture(scope="module")
def released(reported: Project) -> Project:
    """Return a project whose engine is released with a layout; to be read only."""
    done = reported.scons("release", f"engine={ENGINE}", "version=1.2.0", "oci=1")
    assert done.status == 0, done.errors
    assert done.actions == ["REPORT", "SBOM", "RECORD", "PROVEN", "ARCHIVE", "OCI"]
    return reported


def test_archive_and_layout_hold_the_same_package(released):
    archive, layout = (
        open_package(released.path(STEM + suffix), RealDisk())
        for suffix in (".tar.zst", ".oci.tar")
    )
    assert archive == layout
    assert archive.top == f"{ENGINE}-1.2.0-gfx950"


def test_the_page_in_the_package_is_that_of_the_engine(released):
    package = open_package(released.path(f"{STEM}.oci.tar"), RealDisk())
    page = package.files["report.html"]
    assert page == released.path(f"build/reports/{ENGINE}.html").read_bytes()
    assert faults(read_html(page)) == []


def test_the_report_of_a_package_has_its_sizes(released, tmp_path):
    archive = released.path(f"{STEM}.tar.zst")
    done = released.netra("report", str(archive), "--out", str(tmp_path / "page.html"))
    assert done.status == 0, done.errors
    page = read_html((tmp_path / "page.html").read_bytes())
    rows = dict(next(t.rows() for t in page.all("table") if t.rows()[0][0] == "engine/"))
    assert list(rows) == [
        "engine/",
        "LICENSE",
        "RELEASE.json",
        "provenance.json",
        "report.html",
        "sbom.cdx.json",
        "all files",
        f"packed, as {archive.name}",
    ]
    packed = archive.stat().st_size
    assert rows[f"packed, as {archive.name}"].startswith(f"{packed:,} (")


def test_other_programs_unpack_a_layout_that_we_verify(released, tmp_path):
    done = released.run("tar", "-xf", f"{STEM}.oci.tar", "-C", str(tmp_path))
    assert done.status == 0, done.errors
    done = released.netra("verify", str(tmp_path))
    assert done.status == 0, done.errors
    next(tmp_path.glob("blobs/sha256/*")).write_bytes(b"other")
    done = released.netra("verify", str(tmp_path))
    assert done.status == 1
    assert done.errors.startswith(f'netra: {tmp_path}: blob "blobs/sha256/')
    assert done.errors.endswith('" is not what its digest and size say\n')


def test_a_layout_is_of_a_release_alone(project):
    done = project.scons(f"engine={ENGINE}", "oci=1")
    assert (done.status, done.failure) == (2, "netra: scons: oci= is used with release only")


def test_a_release_does_not_differ_from_its_layout(released):
    done = released.netra("diff", f"{STEM}.tar.zst", f"{STEM}.oci.tar")
    assert (done.status, done.output.splitlines()[-1]) == (0, "equal")
