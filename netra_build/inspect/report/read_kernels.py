"""Facts of the code objects: resources and code from the object, claims from its reports.

A report counts only for the ``.text`` that it names; one about other code is marked so.
"""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.asm.objects.code_object import Kernel, kernel_and_metadata
from netra_build.asm.objects.listings import Disassembly
from netra_build.checkasm.hazards.kernel_statistics import code_of, instruction_mix, waves_per_simd
from netra_build.core.canonical_json import parse_object
from netra_build.core.digests import sha256_hex
from netra_build.formats.fields import Fields
from netra_build.inspect.diff.code_objects import CodeSide, product_code
from netra_build.inspect.diff.documents import Files
from netra_build.inspect.report.facts import (
    OPEN,
    PROVEN,
    REFUTED,
    Claim,
    KernelFacts,
    Launch,
    ObjectFacts,
    PlannedObject,
    counted,
    grouped,
)

IDENTICAL = "identical"
NOT_BUILT = Claim(OPEN, "not built", "The code object is not here.")
OTHER_CODE = Claim(REFUTED, "of other code", "The report speaks of another .text than this one.")


def document(files: Files, name: str) -> Fields | None:
    """Return a JSON document of the product, or None when it is not there."""
    return Fields(parse_object(files[name], name), name) if name in files else None


def object_facts(files: Files, planned: PlannedObject) -> ObjectFacts:
    """Return the facts of one code object; ``BadInput`` names the file that cannot be read."""
    stem = f"metadata/{planned.stem}"
    side = product_code(files, planned.name) if planned.name in files else None
    text_sha256 = None if side is None else sha256_hex(side.code.text)
    checks = document(files, f"{stem}.checks.json")
    golden = f"generated/golden/{planned.stem}"
    return ObjectFacts(
        **vars(planned),
        size_bytes=None if side is None else len(side.code.data),
        text_sha256=text_sha256,
        goldens=tuple(n for n in files if n == f"{golden}.s" or _is_numbered(n, golden, ".s")),
        equivalence=equivalence_claim(document(files, f"{stem}.equivalence.json"), text_sha256),
        checks=checks_claim(checks, text_sha256),
        findings=() if checks is None else tuple(map(_finding, checks.objects("findings"))),
        kernels=() if side is None else tuple(_kernels(files, planned, side)),
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


def _finding(row: Fields) -> tuple[str, ...]:
    place = f"{row.text('kernel', '', empty=True)} {row.text('instruction', '', empty=True)}"
    return (*(row.text(key) for key in ("severity", "rule", "message")), place.strip())


def _kernels(files: Files, planned: PlannedObject, side: CodeSide) -> Iterator[KernelFacts]:
    """Yield the facts of each kernel, with the numeric report that names its symbol."""
    stem = f"metadata/{planned.stem}"
    names = [n for n in files if _is_numbered(n, stem, ".numerics.json")]
    found = (document(files, name) for name in (f"{stem}.numerics.json", *names))
    reports = {report.text("symbol"): report for report in found if report is not None}
    for kernel in side.code.kernels:
        yield _kernel(kernel, side, reports.get(kernel.symbol), planned.name)


def _kernel(kernel: Kernel, side: CodeSide, report: Fields | None, location: str) -> KernelFacts:
    _, data = kernel_and_metadata(side.code, kernel.symbol, location)
    launches = () if report is None else tuple(map(_launch, report.objects("runs")))
    waves, limit = 0, "work-items"  # of a work-group that the target cannot hold
    if 0 < data.max_flat_workgroup_size <= 1024:
        lds, size = data.group_segment_fixed_size, data.max_flat_workgroup_size
        waves, limit = waves_per_simd(data.vgpr_count, data.sgpr_count, lds, size)
    code = side.instructions(kernel)
    label = ""
    if report is not None:
        variant = report.text("variant", "", empty=True)
        label = f"{report.text('tactic')}/{variant}" if variant else report.text("tactic")
    return KernelFacts(
        symbol=kernel.symbol,
        metadata=data,
        code_bytes=len(kernel.code),
        waves=waves,
        limit=limit,
        mix=None if code is None else instruction_mix(code_of(Disassembly(tuple(code), ()))),
        numerics=numerics_claim(report, launches, sha256_hex(side.code.text)),
        launches=launches,
        label=label,
    )


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
