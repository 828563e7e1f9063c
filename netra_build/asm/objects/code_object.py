"""The code object as a record: sections, symbols, kernels with descriptor, code and metadata."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from netra_build.asm.objects.descriptor import DESCRIPTOR_BYTES, KernelDescriptor, read_descriptor
from netra_build.asm.objects.elf import (
    AMDGPU_MACHINE,
    ET_DYN,
    HEADER_BYTES,
    ElfFile,
    Section,
    Symbol,
    is_elf64,
    read_headers,
    read_sections,
    read_symbols,
    refuse_damaged_tables,
)
from netra_build.asm.objects.metadata import (
    NOTE_OWNER,
    NOTE_TYPE,
    KernelMetadata,
    decode_metadata,
    read_kernels,
    split_notes,
)
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput

MAX_OBJECT_BYTES = 64 * 1024 * 1024
MAX_SECTIONS = 1024
PROCESSOR_BY_MACH = {0x4C: "gfx942", 0x4F: "gfx950"}
TARGET_PREFIX = "amdgcn-amd-amdhsa--"
ABI_VERSIONS = range(2, 5)
"""EI_ABIVERSION of the code object versions 4 to 6, which say features by the same ELF flags."""

_FEATURE_SHIFTS = {"sramecc": 10, "xnack": 8}
_FEATURE_SIGNS = ("", "", "-", "+")

_LINK_HINT = "link it with ld.lld -shared"
_WRONG_NUMBER = "code object has an unusable number of sections"


@dataclass(frozen=True)
class Kernel:
    """One kernel: its symbol, descriptor, code and what the metadata says about it."""

    symbol: str
    descriptor: KernelDescriptor
    descriptor_address: int
    entry_address: int
    code: bytes
    """The bytes from the entry to the symbol's end."""
    metadata: KernelMetadata | None


@dataclass(frozen=True)
class CodeObject:
    """A linked AMDGPU code object. ``data`` is the whole file."""

    data: bytes
    machine: int
    e_flags: int
    os_abi: int
    abi_version: int
    target: str
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    text: bytes
    text_address: int
    kernels: tuple[Kernel, ...]
    """In order of descriptor address."""
    metadata: Mapping[str, Json]
    """The whole decoded note."""

    @property
    def version(self) -> int:
        """The code object version, 4 to 6."""
        return self.abi_version + 2

    def section(self, name: str) -> Section | None:
        """Return the first section called ``name``, or None."""
        return next((section for section in self.sections if section.name == name), None)

    def emitted(self, *symbols: str) -> str:
        """Return the first of ``symbols`` that is a kernel; the first of all if none is."""
        known = {kernel.symbol for kernel in self.kernels}
        return next((symbol for symbol in symbols if symbol in known), symbols[0])

    def kernel(self, symbol: str, location: str) -> Kernel:
        """Return the kernel called ``symbol``; ``BadInput`` when there is none."""
        for kernel in self.kernels:
            if kernel.symbol == symbol:
                return kernel
        known = ", ".join(f'"{kernel.symbol}"' for kernel in self.kernels) or "none"
        raise BadInput(f'code object has no kernel "{symbol}"; it has {known}', location=location)


def read_code_object(
    data: bytes, location: str, processors: Collection[str] = ("gfx950",)
) -> CodeObject:
    """Decode a linked code object for one of ``processors``.

    Every fault is one ``BadInput`` line at ``location``.
    """
    if len(data) > MAX_OBJECT_BYTES:
        raise BadInput(
            "code object is too large",
            location=location,
            expected=f"at most {MAX_OBJECT_BYTES} bytes",
            got=len(data),
        )
    if not is_elf64(data):
        raise BadInput("not a 64-bit little-endian ELF file", location=location)
    if len(data) < HEADER_BYTES:
        raise BadInput("code object is cut short", location=location)
    kind, machine = struct.unpack_from("<2H", data, 16)
    (count,) = struct.unpack_from("<H", data, 60)
    for is_fit, fact, expected, got, hint in (
        (machine == AMDGPU_MACHINE, "ELF file is for another machine", AMDGPU_MACHINE, machine, ""),
        (kind == ET_DYN, "code object is not linked", f"ELF type {ET_DYN}", kind, _LINK_HINT),
        (0 < count <= MAX_SECTIONS, _WRONG_NUMBER, f"1 to {MAX_SECTIONS}", count, ""),
    ):
        if not is_fit:
            raise BadInput(fact, location=location, expected=expected, got=got, hint=hint)
    try:
        elf = read_headers(data, location)
    except BadInput:
        raise BadInput("code object is damaged", location=location) from None
    if (abi := elf.header.ident[8]) not in ABI_VERSIONS:
        known = f"EI_ABIVERSION {ABI_VERSIONS[0]} to {ABI_VERSIONS[-1]}"
        fact = "code object has an unknown version"
        raise BadInput(fact, location=location, expected=known, got=abi)
    code = _read(elf, location)
    processor = code.target.removeprefix(TARGET_PREFIX).partition(":")[0]
    if processor not in processors:
        raise BadInput(
            "code object is for another processor",
            location=location,
            expected=" or ".join(f'"{one}"' for one in processors),
            got=f'"{processor}"',
        )
    return code


def kernel_and_metadata(
    code: CodeObject, symbol: str, location: str
) -> tuple[Kernel, KernelMetadata]:
    """Return the kernel ``symbol`` with its metadata; ``BadInput`` when either is missing."""
    kernel = code.kernel(symbol, location)
    if kernel.metadata is None:
        raise BadInput(f'kernel "{symbol}" has no metadata', location=location)
    return kernel, kernel.metadata


def _read(elf: ElfFile, location: str) -> CodeObject:
    sections, symbols = read_sections(elf, location), read_symbols(elf, location)
    refuse_damaged_tables(elf, location)
    texts = [section for section in sections if section.name == ".text"]
    if len(texts) != 1:
        raise BadInput(
            "code object has the wrong number of .text sections",
            location=location,
            expected=1,
            got=len(texts),
        )
    document = _metadata(sections, location)
    return CodeObject(
        data=elf.data,
        machine=elf.header.machine,
        e_flags=elf.header.flags,
        os_abi=elf.header.ident[7],
        abi_version=elf.header.ident[8],
        target=_target(document, elf.header.flags, location),
        sections=sections,
        symbols=symbols,
        text=texts[0].data,
        text_address=texts[0].address,
        kernels=_kernels(sections, symbols, read_kernels(document, location), location),
        metadata=document,
    )


def _metadata(sections: tuple[Section, ...], location: str) -> dict[str, Json]:
    found = [
        note.data
        for section in sections
        if section.kind == "note"
        for note in split_notes(section.data, location)
        if note.kind == NOTE_TYPE and note.owner == NOTE_OWNER.rstrip(b"\0")
    ]
    if not found:
        raise BadInput(
            "code object has the wrong number of metadata notes",
            location=location,
            expected=1,
            got=0,
        )
    documents = [decode_metadata(data, location) for data in found]
    return documents[0] if len(documents) == 1 else _merged(documents, location)


def _merged(documents: list[dict[str, Json]], location: str) -> dict[str, Json]:
    """Join the notes that several linked objects brought: one list of kernels, all else equal."""
    kernels: list[Json] = []
    rests = []
    for document in documents:
        listed = document.get("amdhsa.kernels")
        if not isinstance(listed, list):
            raise BadInput("metadata note lists no kernels", location=location)
        kernels += listed
        rests.append({key: item for key, item in document.items() if key != "amdhsa.kernels"})
    if any(rest != rests[0] for rest in rests[1:]):
        raise BadInput("metadata notes of one code object differ", location=location)
    return {**rests[0], "amdhsa.kernels": kernels}


def _target(document: Mapping[str, Json], e_flags: int, location: str) -> str:
    """Return the target that the ELF flags name; the note has to state the same, if any."""
    mach = e_flags & 0xFF
    target = TARGET_PREFIX + PROCESSOR_BY_MACH.get(mach, f"machine {mach:#x}")
    for name, shift in _FEATURE_SHIFTS.items():
        sign = _FEATURE_SIGNS[e_flags >> shift & 3]
        target += f":{name}{sign}" if sign else ""
    stated = document.get("amdhsa.target", target)
    if stated != target:
        fact = "ELF flags and metadata name different targets"
        raise BadInput(fact, location=location, expected=f'"{target}"', got=f'"{stated}"')
    return target


def _kernels(
    sections: tuple[Section, ...],
    symbols: tuple[Symbol, ...],
    listed: tuple[KernelMetadata, ...],
    location: str,
) -> tuple[Kernel, ...]:
    symbol_by_name = {symbol.name: symbol for symbol in symbols}
    metadata_by_symbol = {kernel.symbol: kernel for kernel in listed}
    if len(metadata_by_symbol) != len(listed):
        raise BadInput("metadata lists one kernel twice", location=location)
    descriptors = [s for s in symbols if s.name.endswith(".kd") and s.kind == "object"]
    for missing in sorted(set(metadata_by_symbol) - {symbol.name for symbol in descriptors}):
        raise BadInput(f'metadata names "{missing}", which is no symbol', location=location)
    return tuple(
        _kernel(sections, descriptor, symbol_by_name, metadata_by_symbol, location)
        for descriptor in sorted(descriptors, key=lambda s: (s.address, s.name))
    )


def _kernel(
    sections: tuple[Section, ...],
    symbol: Symbol,
    symbol_by_name: Mapping[str, Symbol],
    metadata_by_symbol: Mapping[str, KernelMetadata],
    location: str,
) -> Kernel:
    name = symbol.name.removesuffix(".kd")
    what = f'descriptor "{symbol.name}"'
    raw = _bytes_at(sections, symbol.address, DESCRIPTOR_BYTES, what, location)
    descriptor = read_descriptor(raw, location)
    entry = symbol_by_name.get(name)
    if entry is None or entry.kind != "func":
        raise BadInput(f'kernel "{name}" has no function symbol', location=location)
    if symbol.address + descriptor.entry_byte_offset != entry.address:
        raise BadInput(
            f'descriptor of "{name}" does not lead to its entry',
            location=location,
            expected=f"{entry.address:#x}",
            got=f"{symbol.address + descriptor.entry_byte_offset:#x}",
        )
    code = _bytes_at(sections, entry.address, entry.size, f'code of "{name}"', location)
    metadata = metadata_by_symbol.get(symbol.name)
    return Kernel(name, descriptor, symbol.address, entry.address, code, metadata)


def _bytes_at(
    sections: tuple[Section, ...], address: int, size: int, what: str, location: str
) -> bytes:
    """Return ``size`` stored bytes at a loaded address, which some section has to hold."""
    for section in sections:
        start = address - section.address
        if section.flags & 2 and section.data and 0 <= start <= len(section.data) - size:
            return section.data[start : start + size]
    raise BadInput(f"{what} lies in no section", location=location)
