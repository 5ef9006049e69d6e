"""Writes that survive a loss of power: files are whole or not there, and what is reported as done is on the disk."""

import os
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.store.place import check_kept, errors_in_one_line, is_local, put, put_many

AT_ONCE: Final = 16


def write_whole(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file, given as one or in parts, so that readers see the whole new file or the old one."""
    write_together(path.parent, {path.name: data})


def add_whole(path: Path, data: bytes) -> None:
    """Write a new file, so that readers see the whole file or none; its name must tell its content.

    Any number of processes may add files at once, also the same one.

    Errors: BadInput if the folder is a link.
    """
    if not is_local(path):
        write_whole(path, data)
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    refuse_link(part.parent)
    make_folder(part.parent)
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync(path.parent, deep=False)
    finally:
        part.unlink(missing_ok=True)


def write_together(folder: Path, contents: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """Write files of a folder by their names, each as :func:`write_whole` does; a name may have a folder before it.

    All are written next to the old files before the first is replaced. If one cannot be written, all stay as they were.
    They are replaced in the given order; in a store those of folders inside come first, many at once. They are written
    in the opposite order, so that what comes first may take longest to make.

    Errors: BadInput if a folder in between is a link.
    """
    if not is_local(folder):
        _put_together(folder, contents)
        return
    parts = {name: (folder / name).with_name(f".{Path(name).name}.part") for name in contents}
    inside = {part.parent for part in parts.values()}
    for place in inside:
        refuse_link(place)
        make_folder(place)
    try:
        for name, data in reversed(list(contents.items())):
            parts[name].unlink(missing_ok=True)  # what a killed writer left, or a link, which is not followed
            with parts[name].open("xb") as file:
                file.writelines([data] if isinstance(data, bytes) else data)
        sync_together(parts.values())
        for name, part in parts.items():
            Path(part).replace(folder / name)
        sync_together(inside)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _put_together(folder: Path, contents: Mapping[str, bytes | Iterable[bytes]]) -> None:
    """The same in a store, where a file is whole or not there: all are made here before the first one is put there."""
    with tempfile.TemporaryDirectory(prefix="rocketmq-capacity-") as made:
        parts = {name: Path(made) / str(number) for number, name in enumerate(contents)}
        for name, data in reversed(list(contents.items())):
            with parts[name].open("xb") as file:
                file.writelines([data] if isinstance(data, bytes) else data)
        inside = [name for name in parts if "/" in name]  # such as thousands of scripts
        with errors_in_one_line(folder):
            put_many(folder, {name: parts[name] for name in inside})
            for name in [name for name in parts if "/" not in name]:
                put(folder / name, parts[name])
        check_kept(folder, {name: part.stat().st_size for name, part in parts.items()})


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing; all are on the disk when it returns. A store has none."""
    if not is_local(folder):
        return
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in missing:
        sync(place.parent, deep=False)


def refuse_link(path: Path) -> None:
    """Errors: BadInput if the path is a link: it may lead out of the lake."""
    if is_local(path) and path.is_symlink():
        raise BadInput(str(path), "", "is a link; expected a file or a folder of the lake itself")


def sync(folder: Path, *, deep: bool = True) -> None:
    """Wait until a folder or a file is on the disk, with what is in it if ``deep``: power may be lost at any time."""
    if is_local(folder):  # a store answers once it has stored
        sync_together([*_inside(folder), folder] if deep else [folder])


def _inside(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            yield from _inside(entry)
            yield entry
        elif entry.is_file():
            yield entry


def sync_together(places: Collection[Path]) -> None:
    """Wait until these files and folders of this machine are on the disk.

    A file system writes its journal once for all that wait at the same time. So many wait at once.
    """
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for _ in threads.map(_sync, places):
            pass


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
