"""The manifest of a finished step: its datasets, and every file of each."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec

from rocketmq_capacity.store.place import difference, errors_in_one_line, file_system, key_of
from rocketmq_capacity.store.writing import write_whole

Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class File(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of a dataset, as its writer has handed it over.

    Attributes:
        size_bytes: of the whole file.
        rows: in it; None where an earlier version of this program wrote the manifest.
        sha256: of its bytes, in hexadecimal digits; None as for ``rows``.
    """

    size_bytes: Number
    rows: Number | None = None
    sha256: str | None = None


Files = dict[str, File]
"""The files of a dataset by name."""


class Manifest(msgspec.Struct, frozen=True):
    """What a manifest holds. Earlier versions of this program listed only the sizes of files, or no files."""

    step: str
    datasets: list[str]
    files: dict[str, dict[str, Number | File]] | None = None

    def listed(self, dataset: str) -> Files | None:
        """The files of a dataset; None if the manifest does not list them."""
        if self.files is None or dataset not in self.files:
            return None
        held = self.files[dataset].items()
        return {name: file if isinstance(file, File) else File(file) for name, file in held}


def read_manifest(file: Path) -> Manifest | None:
    """The manifest, or None if there is no whole one of the step that the file is named after.

    Errors: StoreUnreachable if it is in a store that does not tell: a step that nobody can ask about may be finished.
    """
    try:
        with errors_in_one_line(file):
            content = file.read_bytes()
        manifest = msgspec.json.decode(content, type=Manifest)
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    return manifest if manifest.step == file.stem else None


def write_manifest(file: Path, datasets: Mapping[str, Files]) -> None:
    """Write the manifest of the step that the file is named after; ``datasets`` are the files of each, by its name."""
    names = sorted(datasets)
    manifest = Manifest(file.stem, names, {name: {**datasets[name]} for name in names})
    write_whole(file, msgspec.json.encode(manifest) + b"\n")


def sizes_in(folder: Path) -> dict[str, int]:
    """The visible parquet files of a dataset's folder, each with its size in bytes, by name.

    Links are not followed, neither of the folder nor in it.
    """
    sizes: dict[str, int] = {}
    with suppress(FileNotFoundError):
        if not folder.is_symlink():
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_ours = entry.name.endswith(".parquet") and not entry.name.startswith(".")
                    if is_ours and entry.is_file(follow_symlinks=False):
                        sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
    return dict(sorted(sizes.items()))


def sizes_below(folder: Path) -> dict[str, dict[str, int]]:
    """The sizes of all files of a folder of datasets in a store, by dataset and name."""
    sizes: dict[str, dict[str, int]] = {}
    with suppress(FileNotFoundError), errors_in_one_line(folder):
        for key, about in file_system(folder).find(key_of(folder), detail=True).items():
            dataset, name = key.split("/")[-2:]
            sizes.setdefault(dataset, {})[name] = about["size"]
    return sizes


def sizes_of(files: Files) -> dict[str, int]:
    """The sizes of files in bytes, by name."""
    return {name: file.size_bytes for name, file in files.items()}


def listed_in_store(steps: Path, tables: Path) -> dict[str, tuple[Files, str | None]]:
    """What the manifests in a store's folder list, by dataset, and what is wrong with the files of each."""
    held, listed_files = sizes_below(tables), {}
    manifests = [one for one in map(read_manifest, steps.glob("*.json")) if one is not None]
    for name, listed in ((name, one.listed(name)) for one in manifests for name in one.datasets):
        if listed is not None:
            listed_files[name] = listed, difference(sizes_of(listed), held.get(name, {}))
    return listed_files
