"""The package as a zip, which Spark hands to executors: they have no other way to it on a cluster."""

import io
import os
import tempfile
import zipfile
from pathlib import Path

from rocketmq_capacity.places import PACKAGE

# The oldest moment a zip can tell; with it equal sources give equal bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def packed(package: Path = PACKAGE) -> bytes:
    """The package, templates included, as a zip with its folder at the root; equal sources give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            entry = zipfile.ZipInfo(file.relative_to(package.parent).as_posix(), _NO_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return buffer.getvalue()


def write_packed(file: Path) -> None:
    """Write the zip where it is missing or of other sources; whoever reads meanwhile sees the old or the new one."""
    content = packed()
    if file.is_file() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=file.parent, suffix=".part")
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    Path(scratch).chmod(0o644)
    Path(scratch).replace(file)
