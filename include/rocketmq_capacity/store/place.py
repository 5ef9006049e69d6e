"""Where files are: a folder of this machine, or a URL of an object store. Only this room knows the difference.

A place in a store is a path of universal-pathlib: it has the members of a `pathlib.Path`, and code that only reads,
joins and lists works on both. Endpoint and credentials are the store's own variables (``AWS_ENDPOINT_URL``,
``AWS_ACCESS_KEY_ID`` and so on), so a place that is sent to an executor has no secret in it.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple, cast
from uuid import uuid4

from rocketmq_capacity.errors import BadInput, StoreUnreachable, printable, shown
from rocketmq_capacity.time_limit import TimeLimit, within

TIME_LIMIT_S: Final = 20
"""For one answer of a store; its package asks some times more, so a store that is silent is given up in minutes."""
FIRST_ANSWER_S: Final = 60
"""For the first question of an app, with all tries of the store's package."""
CHECK: Final = ".check-"
"""The beginning of the name of an object that only shows that one can be written."""
_CHECKED: Final = b"that this object can be written and read"
LONGEST_REASON: Final = 200
AT_A_TIME: Final = 8
"""So many files of a store are asked for at once, and are in memory."""
SMALL_BYTES: Final = 100_000
PUT_AT_ONCE: Final = 32
"""So many small files are put there at once: fewer wait for a distant store, and more take longer for each."""
PUT_TOGETHER: Final = 500
"""So many small files are in memory."""


class _Store(NamedTuple):
    """A kind of object store.

    Attributes:
        package: speaks to it.
        extra: of this distribution, which installs the package.
        variables: the beginning of the names of its own variables; empty if it has none.
    """

    package: str
    extra: str
    variables: str = ""


STORES: Final = {
    "s3": _Store("s3fs", "s3", "AWS_"),
    "gs": _Store("gcsfs", "gcs"),
    "abfs": _Store("adlfs", "azure", "AZURE_"),
    "hdfs": _Store("hdfs_native", "hdfs"),
}
"""By the scheme of the URL."""
HDFS: Final = "hdfs"
_NO_NAMES: Final = frozenset({"", ".", ".."})
_S3: Final = {
    "key": "AWS_ACCESS_KEY_ID",
    "secret": "AWS_SECRET_ACCESS_KEY",
    "token": "AWS_SESSION_TOKEN",
    "endpoint_url": "AWS_ENDPOINT_URL",
}
"""The arguments of s3fs, and the variable of each."""


def place_of(text: str, variables: Mapping[str, str] = os.environ) -> Path:
    """The place that a folder's path or a URL names, without asking for it.

    Args:
        text: the path or the URL.
        variables: the store's own, with endpoint and credentials; those of the environment stay out of the place.

    Errors: BadInput for a URL of another kind; StoreUnreachable if the store's package is not installed.
    """
    scheme, is_url, rest = text.partition("://")
    if not is_url and text.partition(":")[0].lower() not in STORES:
        return Path(text)
    if scheme not in STORES or not rest.strip("/"):
        allowed = ", ".join(f"{name}://bucket/prefix" for name in STORES)
        raise BadInput("the lake", "", f"is {shown(text)}; expected a folder or {allowed}")
    # A store takes these for names, and its client or the server for the folder above.
    if not _NO_NAMES.isdisjoint(rest.rstrip("/").split("/")[1:]):
        problem = f"is {shown(text)}, where a part is empty, '.' or '..'; expected names between the slashes"
        raise BadInput("the lake", "", problem)
    store = STORES[scheme]
    try:
        import_module(store.package)
        from upath import UPath
    except ImportError as error:
        problem = f"the package {error.name} is not installed; expected pip install 'rocketmq-capacity[{store.extra}]'"
        raise StoreUnreachable(f"{text}: {problem}") from None
    logging.getLogger(store.package).addHandler(logging.NullHandler())  # what it logs is told in one line
    if scheme == HDFS:
        _keep_over_forks()
    return cast(Path, UPath(text.rstrip("/"), **_options(scheme, variables)))


@cache
def _keep_over_forks() -> None:
    """Let a forked process keep the clients of HDFS that its parent has, which fsspec takes away from it.

    The last reference to a client waits for the client's threads, which the forked process does not have: it would
    never end. PySpark forks to start its JVM.
    """
    clients = import_module(f"{STORES[HDFS].package}.fsspec").HdfsFileSystem._cache
    kept: dict[int, Any] = {}
    os.register_at_fork(before=lambda: kept.update((id(client), client) for client in [*clients.values()]))


def usable_place(text: str) -> Path:
    """The same, of a store that has answered: a small object was written, and deleted again.

    Errors: as `place_of`, and StoreUnreachable if the bucket is missing, or does not let this process write.
    """
    place = place_of(text)
    if not is_local(place):
        name = f"{CHECK}{uuid4().hex}"
        try:
            with errors_in_one_line(place):
                _within_the_limit(place, partial(_put_and_delete, place, name))
        except FileNotFoundError:
            raise StoreUnreachable(f"{_named(place)}: there is no such bucket; expected one that exists") from None
    return place


def _put_and_delete(place: Path, name: str) -> None:
    files = file_system(place)
    put(place / name, _CHECKED)
    check_kept(place, {name: len(_CHECKED)})
    files.rm_file(key_of(place / name))


def _within_the_limit(place: Path, call: Callable[[], None]) -> None:
    """Call it: a store may accept a connection and never answer."""
    try:
        within(FIRST_ANSWER_S, call)
    except TimeLimit:
        problem = f"has not answered within {FIRST_ANSWER_S} s; expected a store that does"
        raise StoreUnreachable(f"{_named(place)}: {problem}") from None


def is_local(place: Path) -> bool:
    """Whether it is a path of this machine."""
    return isinstance(place, Path)


def variables_of(place: Path) -> dict[str, str]:
    """The variables of this process that open the store of a place, for a process on another machine."""
    prefix = "" if is_local(place) else STORES[cast(Any, place).protocol].variables
    return {name: value for name, value in os.environ.items() if prefix and name.startswith(prefix)}


def file_system(place: Path) -> Any:
    """What speaks to the store of a place, as fsspec has it; for a local path its error is an AttributeError.

    Errors: StoreUnreachable if what it needs to know is missing, such as the name of an account.
    """
    try:
        return cast(Any, place).fs
    except (ValueError, RuntimeError) as error:
        raise StoreUnreachable(
            f"{_named(place)}: {error}; expected the store's own variables, or a connection"
        ) from None


def _named(place: Path) -> str:
    """A place as people write it: what a path of HDFS shows has no host."""
    options = getattr(place, "storage_options", {})
    host = ":".join(str(options[name]) for name in ("host", "port") if options.get(name))
    return str(place).replace(f"{HDFS}:///", f"{HDFS}://{host}/", 1)


def key_of(place: Path) -> str:
    """The name of a place in its store; a local path as text."""
    return str(place) if is_local(place) else str(cast(Any, place).path)


def folders_in(place: Path) -> list[str]:
    """The names of the folders in a folder, sorted; links are left out, and a missing folder has none."""
    if not is_local(place):
        return sorted(name for name, about in listed(place).items() if about["type"] == "directory")
    if not place.is_dir():
        return []
    return sorted(inside.name for inside in place.iterdir() if inside.is_dir() and not inside.is_symlink())


def listed(folder: Path) -> dict[str, dict[str, Any]]:
    """What a store says of what is in a folder, by name: ``size``, ``type`` and what else it knows."""
    with suppress(FileNotFoundError), errors_in_one_line(folder):
        key = key_of(folder)
        entries = file_system(folder).ls(key, detail=True)
        return {one["name"].rpartition("/")[2]: one for one in entries if one["name"].rstrip("/") != key}
    return {}


def check_kept(folder: Path, written: Mapping[str, int], held: Mapping[str, int] | None = None) -> None:
    """Check that a store has what it has said to have stored; what it has cut is deleted.

    Args:
        folder: where it was written.
        written: the bytes of each file, by its name, which may have a folder before it.
        held: the same of what is there; by default the store is asked.

    Errors: StoreUnreachable naming the first file that is missing, or has another size.
    """
    if held is None:
        held = _held(folder, written)
    if problem := difference(written, held):
        for name in [name for name in written.keys() & held.keys() if written[name] != held[name]]:
            with suppress(FileNotFoundError, StoreUnreachable), errors_in_one_line(folder):
                file_system(folder).rm_file(key_of(folder / name))
        expected = "expected a store that keeps what it accepts"
        raise StoreUnreachable(f"{_named(folder)}: {problem}, although the store has accepted it; {expected}")


def _held(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """The sizes of files of a store by their names, which may have a folder before them; there may be more of them."""
    alone, *more = names
    if not more:  # a folder may have thousands of other files
        with suppress(FileNotFoundError), errors_in_one_line(folder):
            return {alone: file_system(folder).info(key_of(folder / alone))["size"]}
        return {}
    inside = {PurePosixPath(name).parent for name in (alone, *more)}
    sizes = (
        (one / name, about["size"]) for one in inside for name, about in listed(folder.joinpath(*one.parts)).items()
    )
    return {str(path): size_bytes for path, size_bytes in sizes}


def difference(written: Mapping[str, int], held: Mapping[str, int]) -> str | None:
    """What is first wrong with the sizes of files, in words; None if all that was written is there."""
    for name, size_bytes in written.items():
        if name not in held:
            return f"{name} is missing"
        if held[name] != size_bytes:
            return f"{name} has {held[name]:,} bytes instead of {size_bytes:,}"
    return None


def put(place: Path, content: bytes | Path, *, is_new: bool = False) -> None:
    """Put an object into a store, whole or not at all; ``content`` is bytes, or a file of this machine.

    Errors: FileExistsError for bytes that have to be a new object, where there is one.
    """
    files, key = file_system(place), key_of(place)
    if cast(Any, place).protocol != HDFS:
        _put(files, key, content, "create" if is_new else "overwrite")
        return
    # There readers see a file grow, as on a disk.
    part = key_of(place.with_name(f".{uuid4().hex}.part"))
    try:
        _put(files, part, content, "overwrite")
        files.mv(part, key, overwrite=not is_new)
    finally:
        files.rm_file(part)


def put_many(folder: Path, contents: Mapping[str, Path]) -> None:
    """Put files of this machine into a store by their names, which may have a folder before them; in any order.

    A package that gets many small ones at once needs a third less time for each.
    """
    small = [name for name, file in contents.items() if file.stat().st_size <= SMALL_BYTES]
    if cast(Any, folder).protocol == HDFS:
        small = []
    for first in range(0, len(small), PUT_TOGETHER):
        together = {key_of(folder / name): contents[name].read_bytes() for name in small[first : first + PUT_TOGETHER]}
        file_system(folder).pipe(together, batch_size=PUT_AT_ONCE)
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        for _ in threads.map(lambda name: put(folder / name, contents[name]), contents.keys() - {*small}):
            pass


def _put(files: Any, key: str, content: bytes | Path, mode: str) -> None:
    if isinstance(content, Path):
        files.put_file(str(content), key)
    else:
        files.pipe_file(key, content, mode=mode)


def size_in_store(folder: Path) -> int:
    """The bytes of all that a store has below a place."""
    with errors_in_one_line(folder):
        return int(file_system(folder).du(key_of(folder)))


def delete_in_store(folder: Path) -> None:
    """Delete what a store has below a place; a folder of this machine stays. It is no error if there is nothing."""
    if is_local(folder):
        return
    with suppress(FileNotFoundError), errors_in_one_line(folder):
        file_system(folder).rm(key_of(folder), recursive=True)


def contents(places: Sequence[Path]) -> Iterator[bytes]:
    """The bytes of some files of one folder or store, one after the other; none of them is empty.

    A store is asked for some at once: a question takes as long as a small file.
    """
    for first in range(0, len(places), AT_A_TIME):
        part = places[first : first + AT_A_TIME]
        if is_local(part[0]):
            yield from (place.read_bytes() for place in part)
            continue
        with errors_in_one_line(part[0]):
            # From byte 0: a package that is asked for an object without a range asks for its length first.
            held = file_system(part[0]).cat_ranges([*map(key_of, part)], 0, None, on_error="raise")
        yield from held


def opened(place: Path) -> Any:
    """An object as a file: each read is a question to its store, for just what is read."""
    return file_system(place).open(key_of(place), "rb", cache_type="none")


@contextmanager
def errors_in_one_line(place: Path) -> Iterator[None]:
    """Errors: StoreUnreachable instead of whatever the store's package raises while the body asks for this place."""
    if is_local(place):
        yield
        return
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        if not _is_of_store(error, place):
            raise
        reason = str(error).partition("\n\tat ")[0]  # HDFS adds its trace
        said = printable(" ".join(reason.split()))[:LONGEST_REASON] or type(error).__name__
        is_damaged = type(error).__name__ == "FlexibleChecksumError"
        expected = (
            "expected the object as it was written: it is damaged"
            if is_damaged
            else "expected a bucket that exists, and credentials that may read and write there"
        )
        raise StoreUnreachable(f"{_named(place)}: {said}; {expected}") from error


def _is_of_store(error: Exception, place: Path) -> bool:
    rooms = ("botocore", "aiobotocore", "s3fs", "aiohttp", "gcsfs", "google", "adlfs", "azure", "fsspec")
    # The package of HDFS has no errors of its own.
    is_of_hdfs = isinstance(error, RuntimeError) and cast(Any, place).protocol == HDFS
    return is_of_hdfs or isinstance(error, OSError) or type(error).__module__.partition(".")[0] in rooms


def _options(scheme: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """What a store's package needs to know beside its own variables in the environment."""
    if scheme == HDFS:
        return {}
    fresh: dict[str, Any] = {"use_listings_cache": False}  # other processes write there too
    if scheme != "s3":
        return fresh
    limits = {"connect_timeout": TIME_LIMIT_S, "read_timeout": TIME_LIMIT_S, "retries": {"max_attempts": 0}}
    region = variables.get("AWS_REGION")
    keys = {} if variables is os.environ else {name: variables.get(variable) for name, variable in _S3.items()}
    client = {"client_kwargs": {"region_name": region}} if region else {}
    return {**fresh, **keys, "config_kwargs": limits, **client}
