"""The package as a zip. Spark gives it to executors, which have no other way to get it on a cluster.

The zip has the byte code of each module. Python cannot add it to a zip, so every app would compile the package again.
Other versions of Python ignore the byte code.
"""

import io
import py_compile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocketmq_capacity.provider.private_folder import private_folder
from rocketmq_capacity.settings.deployment import PACKAGE

# The oldest moment that a zip can have. With it, equal sources give equal bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def packed(package: Path = PACKAGE) -> bytes:
    """The package, templates included, as a zip with its folder at the root; equal sources give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, name in _files(package):
            _add(archive, name, file.read_bytes())
            if file.suffix == ".py":
                _add(archive, f"{name}c", _byte_code(file, name))
    return buffer.getvalue()


@contextmanager
def packed_file() -> Iterator[Path]:
    """The zip as a file, as long as the body runs.

    Every task packs its own installed package into a folder that only it can write to. So no zip is believed that
    somebody else has written.
    """
    with private_folder() as folder:
        file = folder / "rocketmq_capacity.zip"
        file.write_bytes(packed())
        yield file


def _files(package: Path) -> Iterator[tuple[Path, str]]:
    """Every file of the package and its name in the zip."""
    for file in sorted(package.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file, file.relative_to(package.parent).as_posix()


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
