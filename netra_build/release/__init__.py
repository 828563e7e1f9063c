"""The parts of a release package: archive, record, bill of materials, provenance and signature.

In reading order:

``layout``
    The names of a package and its files, and the limits on their sizes.
``origin``
    What a release was made from: the request, sources by digest, tools, Python and its libraries;
    and the libraries that only releases need.
``kernels``
    The kernels of a product, as its own documents describe them: one row each.
``record``
    ``RELEASE.json``: what was proven of the product, the digest of every file; and the refusal of
    a product that is not pinned, complete, proven and checked.
``sbom``, ``provenance``
    The bill of materials (CycloneDX), the statement about every file (in-toto, SLSA), and the
    statement signed (DSSE, Ed25519).
``ustar``, ``archive``
    The tar layer, written in one form and read in no other; the zstd frame around it, with
    declared and limited sizes.
``oci``
    The same release as an OCI image layout, and ``open_package``, which reads all forms.

Everything works on bytes: a package is a mapping from file name to content. Equal products give
equal packages. Input is untrusted until it was compared with what we would have written.

May import ``core``, ``build`` (digests, records of actions), ``asm/source`` and ``formats``. The
stages that use it are in ``stages/release_package.py``, their graph in ``releasing.py``, the
verification of every claim in ``inspect/validate/package.py``. Start with
``record.release_record``.
"""
