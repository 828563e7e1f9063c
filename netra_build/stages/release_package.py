"""The files of a release package: bill of materials, record, provenance, signature, archive.

Inputs of the first three are as ``origin_of`` takes them.
"""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.release.archive import Package, settings, write_archive
from netra_build.release.oci import oci_files
from netra_build.release.origin import content_of, origin_of
from netra_build.release.provenance import provenance_bytes, sign
from netra_build.release.record import record_bytes, refuse_unready, release_record
from netra_build.release.sbom import sbom_bytes
from netra_build.release.ustar import ustar_pieces


def describe_materials(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return what a package is made of, as CycloneDX 1.6, under the role ``sbom``."""
    return {"sbom": sbom_bytes(content_of(inputs), origin_of(inputs, parameters))}


def record_release(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return ``RELEASE.json`` under the role ``record``; raise ``Refused`` for an unready product.

    The bill of materials is among the files of the package.
    """
    content, origin = content_of(inputs), origin_of(inputs, parameters)
    record = release_record(content, origin, settings())
    refuse_unready(content, origin, record)
    return {"record": record_bytes(record)}


def state_provenance(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the statement of what a package was made from under the role ``statement``."""
    return {"statement": provenance_bytes(content_of(inputs), origin_of(inputs, parameters))}


def sign_statement(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the signed ``statement`` under the role ``envelope``.

    The input ``key`` is a PEM file, which the parameter ``key`` names.
    """
    return {"envelope": sign(inputs["statement"], inputs["key"], parameters["key"])}


def archive(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return all files of a package, the inputs by name, in one under the role ``archive``.

    ``top`` is the folder at the archive's top.
    """
    return {"archive": write_archive(Package(parameters["top"], inputs))}


def oci_layout(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the OCI layout of ``archive``, a tar file, under the role ``layout``."""
    return {"layout": b"".join(ustar_pieces(oci_files(inputs["archive"], "archive")))}


SBOM = Stage("release_sbom", "SBOM", __name__, describe_materials)
RECORD = Stage("release_record", "RECORD", __name__, record_release)
PROVENANCE = Stage("release_provenance", "PROVEN", __name__, state_provenance)
SIGN = Stage("release_sign", "SIGN", __name__, sign_statement)
ARCHIVE = Stage("release_archive", "ARCHIVE", __name__, archive)
OCI = Stage("release_oci", "OCI", __name__, oci_layout)
