"""Facts of the code objects: resources and code from the object, claims from its reports.

A report counts only for the ``.text`` that it names; one about other code is marked so.
"""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.asm.objects.code_object import (
    CodeObject,
    Kernel,
    kernel_and_metadata,
    read_code_object,
)
from netra_build.asm.objects.listings import Disassembly, parse_disassembly
from netra_build.checkasm.hazards.flow import kernel_instructions
from netra_build.checkasm.hazards.kernel_statistics import code_of, instruction_mix, waves_per_simd
from netra_build.core.canonical_json import parse_object
from netra_build.core.digests import sha256_hex
from netra_build.formats.fields import Fields
from netra_build.inspect.report.facts import (
    OPEN,
    PROVEN,
    REFUTED,
    Claim,
    Finding,
    KernelFacts,
    Launch,
    ObjectFacts,
    PlannedObject,
    counted,
    grouped,
)

Files = Mapping[str, bytes]

IDENTICAL = "identical"
NOT_BUILT = Claim(OPEN, "not built", "The code object is not here.")
OTHER_CODE = Claim(REFUTED, "of other code", "The report speaks of another .text than this one.")


def document(files: Files, name: str) -> Fields | None:
    """Return a JSON document of the product, or None when it is not there."""
    return Fields(parse_object(files[name], name), name) if name in files else None


def object_facts(files: Files, planned: PlannedObject) -> ObjectFacts:
    """Return the facts of one code object; ``BadInput`` names the file that cannot be read."""
    stem = f"metadata/{planned.stem}"
    code = read_code_object(files[planned.name], planned.name) if planned.name in files else None
    text_sha256 = None if code is None else sha256_hex(code.text)
    checks = document(files, f"{stem}.checks.json")
    golden = f"generated/golden/{planned.stem}"
    return ObjectFacts(
        **vars(planned),
        size_bytes=None if code is None else len(code.data),
        text_sha256=text_sha256,
        goldens=tuple(n for n in files if n == f"{golden}.s" or _is_numbered(n, golden, ".s")),
        equivalence=equivalence_claim(document(files, f"{stem}.equivalence.json"), text_sha256),
        checks=checks_claim(checks, text_sha256),
        findings=() if checks is None else tuple(map(_finding, checks.objects("findings"))),
        kernels=() if code is None else _kernels(files, planned, code),
    )


def _is_numbered(name: str, stem: str, suffix: str) -> bool:
    """Tell whether a name is ``STEM.NUMBER.SUFFIX``, of a member of an object of several."""
    middle = name.removeprefix(f"{stem}.").removesuffix(suffix)
    return name == f"{stem}.{middle}{suffix}" and middle.isdecimal()


def equivalence_claim(report: Fields | None, text_sha256: str | None) -> Claim:
    """Return the result of the comparison with the golden source for this ``.text``."""
    if text_sha256 is None:
        return NOT_BUILT
    if report is None:
        return Claim(OPEN, "not compared", "There is no golden source to compare with.")
    if report.text("generated_text_sha256") != text_sha256:
        return OTHER_CODE
    published = IDENTICAL if report.boolean("text_byte_identical") else "text_differs"
    verdict = report.text("verdict", published)
    if verdict == IDENTICAL:
        said = ".text, kernel descriptor and metadata equal those of the golden source."
        return Claim(PROVEN, "identical", said)
    return Claim(REFUTED, verdict.replace("_", " "), "It differs from the golden source.")


def checks_claim(report: Fields | None, text_sha256: str | None) -> Claim:
    """Return the result of the static checks: waits, hazards, registers and kernargs."""
    if text_sha256 is None:
        return NOT_BUILT
    if report is None:
        return Claim(OPEN, "not run", "The static checks have not been run.")
    counts = report.child("counts")
    errors, warnings = counts.integer("error"), counts.integer("warning")
    said = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
    if errors:
        return Claim(REFUTED, counted(errors, "error"), f"{said}.")
    word = f"passed, {counted(warnings, 'warning')}" if warnings else "passed"
    return Claim(PROVEN, word, f"Waits, hazards, registers and kernargs: {said}.")


def numerics_claim(report: Fields | None, launches: tuple[Launch, ...], text_sha256: str) -> Claim:
    """Return the results of the functional model for this ``.text``."""
    if report is None:
        return Claim(OPEN, "not run", "It has not been run against a numeric contract.")
    if report.text("text_sha256") != text_sha256:
        return OTHER_CODE
    differing = sum(launch.differing for launch in launches)
    elements = sum(launch.elements for launch in launches)
    said = f"{counted(len(launches), 'launch', 'launches')}, {grouped(elements)} outputs compared"
    if report.text("verdict") != "passed" or differing:
        return Claim(REFUTED, "differs", f"{said}, {grouped(differing)} differ.")
    if not launches:
        return Claim(OPEN, "nothing run", "The report holds no launch.")
    return Claim(PROVEN, report.text("scope"), f"{said}, none differs.")


def _finding(row: Fields) -> Finding:
    place = f"{row.text('kernel', '', empty=True)} {row.text('instruction', '', empty=True)}"
    return Finding(row.text("severity"), row.text("rule"), place.strip(), row.text("message"))


def _kernels(files: Files, planned: PlannedObject, code: CodeObject) -> tuple[KernelFacts, ...]:
    listed = files.get(f"metadata/{planned.stem}.dis")
    listing = None
    if listed is not None:
        text = listed.decode("utf-8", "backslashreplace")
        listing = parse_disassembly(text, f"metadata/{planned.stem}.dis")
    reports = _numeric_reports(files, planned.stem)
    facts = [
        _kernel(kernel, code, listing, reports.get(kernel.symbol), planned.name)
        for kernel in code.kernels
    ]
    return tuple(facts)


def _numeric_reports(files: Files, stem: str) -> dict[str, Fields]:
    """Return the numeric reports of an object by the symbol that they name."""
    names = [f"metadata/{stem}.numerics.json"]
    names += [n for n in files if _is_numbered(n, f"metadata/{stem}", ".numerics.json")]
    reports = (report for name in names if (report := document(files, name)) is not None)
    return {report.text("symbol"): report for report in reports}


def _kernel(
    kernel: Kernel,
    code: CodeObject,
    listing: Disassembly | None,
    report: Fields | None,
    location: str,
) -> KernelFacts:
    _, data = kernel_and_metadata(code, kernel.symbol, location)
    launches = () if report is None else tuple(map(_launch, report.objects("runs")))
    lds = data.group_segment_fixed_size
    waves, limit = _waves(data.vgpr_count, data.sgpr_count, lds, data.max_flat_workgroup_size)
    return KernelFacts(
        symbol=kernel.symbol,
        vgprs=data.vgpr_count,
        agprs=data.agpr_count or 0,
        sgprs=data.sgpr_count,
        lds_bytes=lds,
        private_bytes=data.private_segment_fixed_size,
        kernarg_bytes=data.kernarg_segment_size,
        work_items=data.max_flat_workgroup_size,
        code_bytes=len(kernel.code),
        waves=waves,
        limit=limit,
        mix=None if listing is None else _mix(kernel, listing),
        numerics=numerics_claim(report, launches, sha256_hex(code.text)),
        launches=launches,
        label="" if report is None else _label(report),
    )


def _waves(vgprs: int, sgprs: int, lds_bytes: int, work_items: int) -> tuple[int, str]:
    """Return waves and limit; 0 for a work-group that the target cannot hold."""
    if not 0 < work_items <= 1024:
        return 0, "work-items"
    return waves_per_simd(vgprs, sgprs, lds_bytes, work_items)


def _mix(kernel: Kernel, listing: Disassembly) -> dict[str, int]:
    return instruction_mix(code_of(Disassembly(kernel_instructions(kernel, listing), ())))


def _launch(row: Fields) -> Launch:
    parts = row.text("label").split("/")
    case, seed = (parts[-2], parts[-1]) if len(parts) > 1 else (parts[0], "")
    return Launch(
        case=case,
        seed=seed,
        elements=row.integer("elements"),
        differing=row.integer("differing"),
        wave_instructions=row.integer("wave_instructions", 0),
    )


def _label(report: Fields) -> str:
    variant = report.text("variant", "", empty=True)
    return f"{report.text('tactic')}/{variant}" if variant else report.text("tactic")
