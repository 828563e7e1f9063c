"""A product folder that is whole exactly when its seal is there.

The seal is the product's last file: a JSON object whose ``files`` names every other file. Before
the first file is rewritten the seal is withdrawn, files of the former product that the new one
does not make are removed, and a journal names what is being made; the journal is removed right
after the new seal is written. A build that is killed leaves a folder without a seal, and the
next one knows from the journal what of it is ours.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from netra_build.build.run.build_lock import LOCK
from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk, confined_path
from netra_build.core.errors import BadInput, DamagedStore
from netra_build.core.folders import lock_folder
from netra_build.core.stamps import entries_below

JOURNAL = ".netra-unfinished.json"
JOURNAL_FORMAT = "netra-journal-1"


def refuse_unfinished(folder: Path, disk: Disk) -> None:
    """Raise ``BadInput`` when a build of this folder was cut off or failed."""
    if disk.is_file(folder / JOURNAL):
        raise BadInput(
            "folder is not whole: a build of it was cut off or failed",
            location=str(folder),
            hint="build it again",
        )


Listing = Callable[[dict[str, Json]], Json]
"""Returns the names of the other files from a seal."""


def listed_files(seal: dict[str, Json]) -> Json:
    """Return what a seal of ours says under ``files``."""
    return seal.get("files")


class Product:
    """The state of one product folder during a build; safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        seal: str,
        names: Iterable[str],
        disk: Disk,
        listing: Listing = listed_files,
        *,
        is_alone: bool = False,
    ) -> None:
        """Name the product's files; nobody else's stay in the folder of one that ``is_alone``."""
        self.folder = folder
        self.is_alone = is_alone
        self.listing = listing
        self.seal = seal
        self.names = frozenset(names)
        self._kept_folders = {"."}
        """All that files of the product lie in: another thread may be making one of them."""
        folders = set(self.names)
        while folders := {os.path.dirname(name) for name in folders} - {""}:
            self._kept_folders |= folders
        self.disk = disk
        self._lock = threading.Lock()
        self.has_begun = False
        """Whether this build has withdrawn the seal, here or in another process."""
        self.has_withdrawn = False
        """Whether there was a seal when this build began."""
        self._unlock: Callable[[], None] = lambda: None
        self._read: dict[tuple[str, str], frozenset[str]] = {}
        """The names in seal and journal when they were last read, by name and BLAKE3 of each."""

    def refuse_foreign(self) -> None:
        """Raise ``BadInput`` when the folder holds files but neither seal nor journal of ours.

        A folder of the product's own may have lost both, as long as it holds a file of the
        product. It may not be a link: what is in the folder behind it is not ours to remove.
        """
        if self.is_alone and os.path.islink(self.folder):
            raise BadInput(
                "folder of a product is a link",
                location=str(self.folder),
                hint="remove the link, or build into another folder with out=",
            )
        self._refuse_nested()
        if not self.disk.is_folder(self.folder):
            self._refuse_file()
            return
        has_own = self.is_alone and any(self.disk.is_file(self.folder / n) for n in self.names)
        if self._known() or has_own:
            return
        found = self.disk.any_file_under(self.folder)
        if found is not None and found.name != f".{JOURNAL}.part":
            raise BadInput(
                f'folder holds "{found.relative_to(self.folder).as_posix()}", '
                "which no build of ours has made",
                location=str(self.folder),
                hint="name a new folder or an engine directory",
            )

    def _refuse_file(self) -> None:
        for path in (self.folder, *self.folder.parents):
            if self.disk.is_folder(path):
                return
            if self.disk.exists(path):
                raise BadInput("not a folder", location=str(path), hint="name a folder with out=")

    def _refuse_nested(self) -> None:
        """Refuse a folder inside another product's, or around one: each would hold the other.

        A build folder is no product's own: what has a lock there is made to lie beside others.
        """
        if self._is_shared(self.folder):
            return
        names = () if self.is_alone else entries_below(str(self.folder))
        below = {(self.folder / name).parent for name in names} - {self.folder}
        for other in (*Path(os.path.abspath(self.folder)).parents, *sorted(below)):
            marked = any(self.disk.is_file(other / mark) for mark in (self.seal, JOURNAL))
            if marked and not self._is_shared(other):
                raise BadInput(
                    f'one of two products lies in the other, "{other}"',
                    location=str(self.folder),
                    hint="name another folder with out=",
                )

    def _is_shared(self, folder: Path) -> bool:
        """Tell whether a folder is that of builds, which holds one product beside another."""
        return self.disk.is_file(folder / LOCK)

    def begin(self) -> None:
        """Withdraw the seal and remove what the former product alone had; done once a build."""
        with self._lock:
            if self.has_begun:
                return
            self._unlock = lock_folder(str(self.folder))
            stale = frozenset[str]().union(*self._known().values()) - self.names
            journal = {"format": JOURNAL_FORMAT, "files": sorted(self.names)}
            for name in self.extra_names():
                self._remove(self.folder / name)  # found by a walk that follows no link
            for name in sorted(stale):
                self._remove(confined_path(self.folder, name, str(self.folder)))
            self.disk.write_bytes(self.folder / JOURNAL, plain_canonical_bytes(journal))
            self._refuse_nested()  # of two that begin at once, one sees the journal of the other
            self.has_withdrawn = self.disk.is_file(self.folder / self.seal)
            self.disk.remove(self.folder / self.seal)
            self.has_begun = True

    def extra_names(self) -> tuple[str, ...]:
        """Return what stands in the way: links for folders, and in a folder of its own all else."""
        if not self.is_alone:
            links = (name for name in self._kept_folders if os.path.islink(self.folder / name))
            return tuple(sorted(set(links) - {"."}))
        found = entries_below(str(self.folder))
        known = {*self.names, JOURNAL, *(f"{folder}/" for folder in self._kept_folders)}
        return tuple(name for name in found if name not in known)

    def refuse_extra(self) -> None:
        """Raise ``BadInput`` for what has come into the folder since this build began."""
        for name in self.extra_names():
            fact = f'folder holds "{name}", which has come while the build ran'
            raise BadInput(fact, location=str(self.folder), hint="build again")

    def finish(self) -> None:
        """Remove the journal: the seal has been written."""
        with self._lock:
            self.disk.remove(self.folder / JOURNAL)
            self._unlock()

    def _remove(self, path: Path) -> None:
        """Remove a file or empty folder, and the folders that it leaves empty in turn.

        Folders that the product has files in stay, empty or not.
        """
        if not self.disk.remove_empty_folder(path):
            self.disk.remove(path)
        parent = path.parent
        while parent.relative_to(self.folder).as_posix() not in self._kept_folders:
            if not self.disk.remove_empty_folder(parent):
                break
            parent = parent.parent

    def _known(self) -> dict[tuple[str, str], frozenset[str]]:
        """Return the files that seal and journal name; the same bytes are not taken apart again."""
        paths = (self.folder / self.seal, self.folder / JOURNAL)
        self._read = dict(self._listed(path) for path in paths if self.disk.is_file(path))
        return self._read

    def _listed(self, path: Path) -> tuple[tuple[str, str], frozenset[str]]:
        """Return the names in a seal or journal, and what was read."""
        hint = f"remove the folder {self.folder} and build again"
        try:
            data = self.disk.read_bytes(path)
            content = path.name, blake3_hex(data)
            if content in self._read:
                return content, self._read[content]
            listing = self.listing if path.name == self.seal else listed_files
            files = listing(parse_object(data, str(path)))
        except BadInput as error:
            raise DamagedStore(error.fact, location=str(path), hint=hint) from None
        if not isinstance(files, dict | list) or not all(isinstance(f, str) for f in files):
            raise DamagedStore("names no files", location=str(path), hint=hint)
        return content, frozenset(files)
