"""What actions made, kept by action digest for all checkouts of a user.

A store is a folder that many processes share. It holds contents by their BLAKE3, the outputs of
actions by action digest, and records: JSON documents by kind and key. Its bound is kept by removing
what was used longest ago. Nothing in it is believed: whatever is read is verified, and what does
not verify is removed, so that a build is never wrong or stopped because of its store.

In reading order:

- ``store``: **the face**: ``Store``, ``open_store``, ``store_place``. What a build asks of a store:
  outputs, blobs, records, and answers to questions about tools.
- ``contents``: what the files are called and what they say.
- ``files``: the file operations. No link is followed, every write is whole.
- ``ledger``: how full the store is, and what leaves it when it is too full.
- ``request_trace``: a finished request by content: what decided about it, and what it made; whether
  it fits a checkout, and writing all that it made, before a graph exists.

``store`` needs ``contents``, ``files`` and ``ledger``, and nothing else of them knows of it.
``request_trace`` needs ``store`` and what ``build/freshness`` knows of inputs. From outside of
this folder only the command ``netra store`` asks for ``contents``, ``files`` and ``ledger``.
"""
