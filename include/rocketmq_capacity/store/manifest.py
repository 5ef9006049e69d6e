"""The manifest of a finished step: its datasets, and every file of each with its size."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from rocketmq_capacity.store.writing import write_whole

Sizes = dict[str, int]
"""The files of a dataset by name, each with its size in bytes."""


class Manifest(msgspec.Struct, frozen=True):
    """What a manifest holds; an earlier version of this program listed no files."""

    step: str
    datasets: list[str]
    files: dict[str, Sizes] | None = None


def read_manifest(file: Path) -> Manifest | None:
    """The manifest, or None if there is no whole one of the step that the file is named after."""
    try:
        manifest = msgspec.json.decode(file.read_bytes(), type=Manifest)
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    return manifest if manifest.step == file.stem else None


def write_manifest(file: Path, folders: Mapping[str, Path]) -> None:
    """Write the manifest of the step that the file is named after; ``folders`` are those of its datasets, by name."""
    names = sorted(folders)
    manifest = Manifest(file.stem, names, {name: sizes_in(folders[name]) for name in names})
    write_whole(file, msgspec.json.encode(manifest) + b"\n")


def sizes_in(folder: Path) -> Sizes:
    """The visible parquet files of a dataset's folder. Links are not followed, neither of the folder nor in it."""
    found: Sizes = {}
    with suppress(FileNotFoundError):
        if not folder.is_symlink():
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_ours = entry.name.endswith(".parquet") and not entry.name.startswith(".")
                    if is_ours and entry.is_file(follow_symlinks=False):
                        found[entry.name] = entry.stat(follow_symlinks=False).st_size
    return dict(sorted(found.items()))


def difference(listed: Sizes, held: Sizes) -> str | None:
    """What is first wrong with a dataset's files, in words; None if they are as the manifest lists them."""
    for name, size in listed.items():
        if name not in held:
            return f"{name} is missing"
        if held[name] != size:
            return f"{name} has {held[name]:,} bytes instead of {size:,}"
    added: Sequence[str] = [name for name in held if name not in listed]
    return f"{added[0]} is none of its files" if added else None
