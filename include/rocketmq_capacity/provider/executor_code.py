"""The package as a zip. Spark gives it to executors, which have no other way to get it on a cluster.

The zip has the byte code of each module. Python cannot add it to a zip, so every app would compile the package again.
Other versions of Python ignore the byte code.
"""

import hashlib
import importlib.util
import io
import py_compile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from rocketmq_capacity.settings.deployment import PACKAGE
from rocketmq_capacity.store.lake import write_whole

# The oldest moment that a zip can have. With it, equal sources give equal bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def packed(package: Path = PACKAGE) -> bytes:
    """The package, templates included, as a zip with its folder at the root; equal sources give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = _digest(package)
        for file, name in _files(package):
            _add(archive, name, file.read_bytes())
            if file.suffix == ".py":
                _add(archive, f"{name}c", _byte_code(file, name))
    return buffer.getvalue()


def write_packed(file: Path) -> None:
    """Write the zip if it is missing or was made from other sources. Readers see the old or the new one.

    Tasks that begin at the same time wait for the one that writes. The lock ends with its process. The next writer
    deletes what a killed one left.
    """
    if _comment(file) == (digest := _digest(PACKAGE)):
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock"), preserve_lock_file=True):
        if _comment(file) == digest:
            return
        for left in file.parent.glob("*.part"):
            left.unlink()
        write_whole(file, packed())


def _files(package: Path) -> Iterator[tuple[Path, str]]:
    """Every file of the package and its name in the zip."""
    for file in sorted(package.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file, file.relative_to(package.parent).as_posix()


def _digest(package: Path) -> bytes:
    """What the zip was made from: the sources, and the Python that its byte code is for."""
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER)
    for file, name in _files(package):
        digest.update(b"%s\0%s" % (name.encode(), hashlib.sha256(file.read_bytes()).digest()))
    return digest.hexdigest().encode()


def _comment(file: Path) -> bytes | None:
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.comment
    except (OSError, zipfile.BadZipFile):
        return None


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _NO_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _byte_code(file: Path, name: str) -> bytes:
    """The compiled module. Tracebacks name its place in the zip. It has no time in it."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "module.pyc"
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(file), str(compiled), dfile=name, doraise=True, invalidation_mode=mode)
        return compiled.read_bytes()
