"""LLVM's development files from the distribution's packages, unpacked and not installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from netra_build.asm.native.processes import Ended, run_program
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.errors import ToolchainFailed

APT_GET = Path("/usr/bin/apt-get")
DPKG_DEB = Path("/usr/bin/dpkg-deb")
DPKG_QUERY = Path("/usr/bin/dpkg-query")
DOWNLOAD_SECONDS = 600.0
HINT = "install llvm-{major}-dev, liblld-{major}-dev and liblld-{major}"


def package_names(major: str) -> tuple[str, ...]:
    """Return the packages that hold headers and archives of LLVM ``major``."""
    return (f"llvm-{major}-dev", f"liblld-{major}-dev", f"liblld-{major}")


def fetch_packages(
    major: str, programs: Toolchain, folder: Path, apt_options: Sequence[str]
) -> None:
    """Download the packages of the installed version into ``folder`` and unpack them there.

    Raises ``ToolchainFailed`` with what to install when that cannot be done.
    """
    hint = HINT.format(major=major)
    if not (programs.disk.is_file(APT_GET) and programs.disk.is_file(DPKG_DEB)):
        raise ToolchainFailed(
            "LLVM's development files are missing", location="native part", hint=hint
        )
    version = _installed_version(f"llvm-{major}", programs, folder)
    wanted = [f"{name}={version}" if version else name for name in package_names(major)]
    download = [str(APT_GET), "-qq", *apt_options, "download", *wanted]
    ended = _run(download, folder)
    if ended.code:
        # An old list names files that are gone; only root may renew the system's own lists.
        _run([str(APT_GET), "-qq", *apt_options, "update"], folder)
        ended = _run(download, folder)
    archives = programs.disk.files_under(folder, ".deb")
    if ended.code or not archives:
        raise ToolchainFailed(
            "LLVM's development files cannot be downloaded", location="native part", hint=hint
        )
    for archive in archives:
        if _run([str(DPKG_DEB), "-x", str(archive), str(folder)], folder).code:
            raise ToolchainFailed("cannot be unpacked", location=archive.name, hint=hint)


def _installed_version(package: str, programs: Toolchain, folder: Path) -> str:
    """Return the installed version of a package, empty when it is not installed."""
    if not programs.disk.is_file(DPKG_QUERY):
        return ""
    ended = _run([str(DPKG_QUERY), "-W", "-f=${Version}", package], folder)
    return "" if ended.code else ended.text.strip()


def _run(command: Sequence[str], folder: Path) -> Ended:
    return run_program(command, folder=folder, timeout_seconds=DOWNLOAD_SECONDS, library_path=())
