"""Release packages: archive, record, bill of materials, provenance and signature, all of bytes."""
