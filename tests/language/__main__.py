"""Writes the catalogue again after a change of a text, and lists what has no translation."""

import sys

from tests.language.written import FILE, untranslated, written

FILE.write_bytes(written())
for message in untranslated():
    sys.stdout.write(f"{message.id}\n")
