"""Stages: pure steps from named bytes and parameters to named bytes.

A stage is a function ``run(inputs, parameters, tools)`` and a ``Stage`` record that names it. It
reads no file, has no state between calls and uses no other stage: inputs and outputs are named by
role, and its code is every module that its own reaches by import. One file holds one
stage, ``STAGE``, or a few that do the same kind of work. In the order of the data:

``instantiate``       a unit's text from a template's constants
``close_includes``    CLOSE and FLATTEN: one flat unit without includes
``assemble``          ASSEMBLE, LINK and DISASSEMBLE: what the tool chain makes
``share_object``      the object of a unit with the same code as another
``read_object``       STRIP, or LAY_OUT as the published build does; READ: text, notes and record
``check_object``      CHECK and CONFORM: static checks, and the comparison with the contract
``check_numerics``    results of the functional model compared with the numeric contract
``golden``            PROVE a golden source, TAKE a code object that a user supplies
``equivalence``       a code object compared with its golden one
``debug_object``      the code object with line tables
``engine_documents``  EMIT, MANIFEST, VALIDATION, SEAL: the documents of an engine directory;
                      COPY: library files into the product
``build_result``      DESCRIBE, RESULT and PUBLISHED: the result of a recipe of code objects
``tabulate``          one table of all equivalence reports
``release_package``   bill of materials, record, provenance, signature, archive, OCI layout

May import ``core``, ``build`` (the ``Stage`` record), ``asm``, ``formats``, ``checkasm`` and
``release``. Start with ``instantiate``; ``chains`` shows how stages follow one another.
"""
