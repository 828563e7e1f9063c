"""Verify the code objects of a recipe from their own files: every record and report made again."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.errors import BadInput
from netra_build.core.json_difference import hold_same
from netra_build.formats.vocabulary import CODE_OBJECTS
from netra_build.inspect.validate.engine_folder import ProductFiles
from netra_build.inspect.validate.objects import Claim, ObjectVerifier, closure_record, stated_tools
from netra_build.plan.instances import INCLUDES
from netra_build.release.kernels import RESULT, KernelRow, kernel_rows, read_as_ours
from netra_build.stages import build_result

NEEDED = (".json", ".text", ".metadata.txt", ".dis", ".checks.json")
"""What a build of ours writes about every code object, as suffixes."""
MEMBER_KEYS = ("name", "tactic", "tactic_id", "contract_id", "maturity", "symbol", "source")


def verify_result(files: Mapping[str, bytes], tools: Toolchain | None) -> list[str]:
    """Raise ``BadInput`` with the first thing in a recipe's product that is not what it must be.

    ``files`` are those of the product by their names. Returns the files that were not verified,
    most of them for lack of a tool chain.
    """
    product = ProductFiles(files)
    product.read(RESULT)
    verifier = ObjectVerifier(product, tools)
    with read_as_ours(RESULT):
        rows = kernel_rows(CODE_OBJECTS, files, RESULT)
        for artifact in parse_object(files[RESULT], RESULT)["artifacts"]:
            stem = f"metadata/{artifact['name']}"
            for suffix in NEEDED:
                product.read(stem + suffix)
            own = [row for row in rows if row.hsaco == artifact["hsaco"]]
            claims = _claims(artifact, own, parse_object(files[f"{stem}.json"], f"{stem}.json"))
            verifier.verify(artifact["name"], claims, artifact["locked_text_sha256"])
        for name in sorted(files.keys() - product.used):
            raise BadInput("file is named by nothing in the product", location=name)
        _check_document(product, rows)
    return verifier.unverified


def _claims(
    artifact: Mapping[str, Json], rows: list[KernelRow], record: Mapping[str, Json]
) -> list[Claim]:
    described = record.get("kernels") or [record]
    return [
        Claim(
            stem=member["name"],
            symbol=member["symbol"],
            tactic=member["tactic"],
            maturity=row.maturity,
            threads=kernel["resources"]["threads"],
            source=member["source"],
            includes=tuple(f"{INCLUDES}/{name}" for name in row.includes),
        )
        for member, row, kernel in zip(artifact["members"], rows, described, strict=True)
    ]


def _check_document(product: ProductFiles, rows: list[KernelRow]) -> None:
    """Write ``build-result.json`` again from the files that it lists."""
    files = product.files
    stated = parse_object(files[RESULT], RESULT)
    inputs = dict(files)
    del inputs[RESULT]
    for artifact in stated["artifacts"]:
        inputs[f"conform:{artifact['name']}"] = b""
        for member in artifact["members"]:
            row = next(row for row in rows if row.source == member["source"])
            inputs[f"closure:{member['name']}"] = closure_record(
                product, row.includes[0], row.source
            )
    artifacts = [
        {
            "name": artifact["name"],
            "members": [
                {key: member[key] for key in MEMBER_KEYS} for member in artifact["members"]
            ],
            "locked_text_sha256": artifact["locked_text_sha256"],
        }
        for artifact in stated["artifacts"]
    ]
    described = build_result.describe(inputs, {"artifacts": artifacts}, None)
    given = {"deployment": stated["deployment"]}
    written = build_result.join_parts(described, given, stated_tools(stated["toolchain"]))["result"]
    hold_same(parse_object(written, RESULT), stated, "record differs from the files", RESULT)
    if written != files[RESULT]:
        raise BadInput("document is not written canonically", location=RESULT)
