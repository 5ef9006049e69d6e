"""Looks for a secret wherever it may have been left: in files of any kind, as it is or encoded, and in arguments."""

import base64
import contextlib
import gzip
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote, quote_plus

import psutil
import pyarrow.parquet as pq

INTERVAL_S: Final = 0.05
_OPENERS: Final = {b"\x1f\x8b": "gzip", b"PK": "zip", b"PAR1": "parquet"}


def places_that_hold(secret: str, *folders: Path) -> list[str]:
    """The files (or folders' files) that have the secret in their name or content, read as what they are.

    Compressed files and parquet are unpacked; a secret also counts as base64, hexadecimal, in a URL or in JSON.
    """
    needles = forms_of(secret)
    files = [file for place in folders for file in ([place] if place.is_file() else sorted(place.rglob("*")))]
    return [
        str(file)
        for file in files
        if any(needle in str(file).encode() for needle in needles)
        or (file.is_file() and any(needle in text for text in _texts(file) for needle in needles))
    ]


def holds(secret: str, text: str) -> bool:
    """Whether a text has the secret in any form."""
    return any(needle in text.encode() for needle in forms_of(secret))


def forms_of(secret: str) -> set[bytes]:
    """The secret as it may be written; of base64 what does not hang on where in a longer text it began."""
    raw = secret.encode()
    written = {raw, quote(secret).encode(), quote_plus(secret).encode(), json.dumps(secret)[1:-1].encode()}
    written |= {raw.hex().encode(), raw.hex().upper().encode()}
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            # Whole groups of three bytes of the secret alone: neither what stands before it nor what follows.
            inner = raw[(3 - before) % 3 :]
            written.add(encode(inner[: len(inner) // 3 * 3]))
    return {form for form in written if form}


class ArgumentLists:
    """While its context is open, the argument lists of all processes are looked at, again and again."""

    def __init__(self, *secrets: str) -> None:
        self._needles = {form for secret in secrets for form in forms_of(secret)}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.holders: set[str] = set()
        self.programs: set[str] = set()

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """End."""
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        known: set[tuple[str, ...]] = set()
        while not self._done.is_set():
            for process in psutil.process_iter(["cmdline"]):
                words = tuple(process.info["cmdline"] or ())
                # Searched once: the processes that run for long would keep a core busy.
                if words in known:
                    continue
                known.add(words)
                self.programs |= {Path(word).name for word in words}
                if any(needle in word.encode() for word in words for needle in self._needles):
                    self.holders.add(" ".join(words))
            time.sleep(INTERVAL_S)


def _texts(file: Path) -> Iterator[bytes]:
    """The bytes of a file, and what is packed in them."""
    data = file.read_bytes()
    yield data
    kind = next((kind for magic, kind in _OPENERS.items() if data.startswith(magic)), None)
    # A file that is still being written may not be whole yet.
    with contextlib.suppress(OSError, EOFError, zipfile.BadZipFile):
        if kind == "gzip":
            yield gzip.decompress(data)
        elif kind == "zip":
            with zipfile.ZipFile(file) as packed:
                for name in packed.namelist():
                    yield packed.read(name)
        elif kind == "parquet":
            yield json.dumps(pq.read_table(file).to_pylist(), default=str, ensure_ascii=False).encode()
