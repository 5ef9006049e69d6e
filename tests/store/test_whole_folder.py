"""A folder that is written is there whole or not at all, whenever its writer is killed."""

import multiprocessing
import threading
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.store.whole_folder import MARKER, whole_folder
from tests.cli.program import contents
from tests.kills.processes import ended_well, killed_at, points_of
from tests.kills.steps import write_folder, write_folder_in_two_steps


def whole(text: str) -> dict[str, bytes | None]:
    """What `write_folder` writes."""
    marker = b"plan.json\ntables/\ntables/part-0\n"
    return {MARKER: marker, "plan.json": text.encode(), "tables": None, "tables/part-0": text.encode()}


def test_a_killed_writer_leaves_nothing_or_the_whole_and_the_next_one_clears_up(tmp_path: Path) -> None:
    points = points_of(tmp_path, write_folder, tmp_path / "all" / "out", "new", False)
    assert points > 5
    for number in range(1, points + 1):
        place = tmp_path / str(number) / "out"
        assert killed_at(number, tmp_path, write_folder, place, "new", False)
        assert contents(place) in ({}, whole("new"))
        ended_well(write_folder, place, "newer", True)
        assert contents(place) == whole("newer")
        assert [path.name for path in place.parent.iterdir()] == ["out"]


def test_what_is_overwritten_is_there_until_the_new_one_is(tmp_path: Path) -> None:
    write_folder(tmp_path / "all" / "out", "old", overwrite=False)
    for number in range(1, points_of(tmp_path, write_folder, tmp_path / "all" / "out", "new", True) + 1):
        place = tmp_path / str(number) / "out"
        write_folder(place, "old", overwrite=False)
        assert killed_at(number, tmp_path, write_folder, place, "new", True)
        assert contents(place) in (whole("old"), whole("new"))
        ended_well(write_folder, place, "newer", True)
        assert contents(place) == whole("newer")
        assert [path.name for path in place.parent.iterdir()] == ["out"]


def test_without_an_exchange_in_one_step_the_next_writer_puts_the_old_folder_back(tmp_path: Path) -> None:
    write_folder(tmp_path / "all" / "out", "old", overwrite=False)
    missing = 0
    for number in range(1, points_of(tmp_path, write_folder_in_two_steps, tmp_path / "all" / "out", "new", True) + 1):
        place = tmp_path / str(number) / "out"
        write_folder(place, "old", overwrite=False)
        assert killed_at(number, tmp_path, write_folder_in_two_steps, place, "new", True)
        if not place.exists():
            missing += 1
            with pytest.raises(BadInput, match="was restored after an interrupted run"):
                write_folder(place, "newer", overwrite=False)
            assert contents(place) == whole("old")
        assert contents(place) in (whole("old"), whole("new"))
        ended_well(write_folder_in_two_steps, place, "newer", True)
        assert contents(place) == whole("newer")
        assert [path.name for path in place.parent.iterdir()] == ["out"]
    assert missing == 1


def test_whoever_looks_sees_a_whole_folder_at_any_moment(tmp_path: Path) -> None:
    place, is_over, failures = tmp_path / "out", threading.Event(), []
    write_folder(place, "0", overwrite=False)

    def look() -> None:
        while not is_over.is_set():
            try:
                (place / "plan.json").stat()
            except OSError as error:
                failures.append(error)

    looking = threading.Thread(target=look)
    looking.start()
    for number in range(200):
        write_folder(place, str(number), overwrite=True)
    is_over.set()
    looking.join()
    assert failures == []


def test_a_body_that_fails_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "out"
    write_folder(place, "old", overwrite=False)

    def fails() -> None:
        with whole_folder(place, overwrite=True) as folder:
            (folder / "plan.json").write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert contents(place) == whole("old")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_two_writers_at_a_time_are_one_too_many(tmp_path: Path) -> None:
    place = tmp_path / "out"
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    other = context.Process(target=_hold, args=(place, theirs))
    other.start()
    assert ours.recv() == "holds"
    with pytest.raises(BadInput, match="is being written by another run"):
        write_folder(place, "second", overwrite=True)
    ours.send("end")
    other.join()
    assert contents(place) == {MARKER: b"plan.json\n", "plan.json": b"first"}
    write_folder(place, "second", overwrite=True)
    assert contents(place) == whole("second")


def _hold(place: Path, pipe: "multiprocessing.connection.Connection[str, str]") -> None:
    with whole_folder(place, overwrite=False) as folder:
        pipe.send("holds")
        pipe.recv()
        (folder / "plan.json").write_text("first")


def test_a_long_name_is_no_hindrance(tmp_path: Path) -> None:
    place = tmp_path / ("x" * 255)
    write_folder(place, "new", overwrite=False)
    assert contents(place) == whole("new")


@pytest.mark.parametrize("name", ["thesis.txt", ".git", "tables.old"])
def test_a_folder_with_something_that_is_not_ours_is_kept(tmp_path: Path, name: str) -> None:
    place = tmp_path / "out"
    write_folder(place, "old", overwrite=False)
    (place / name).mkdir()
    before = contents(place)
    with pytest.raises(BadInput, match=f"has '{name}', which is no part of a plan"):
        write_folder(place, "new", overwrite=True)
    assert contents(place) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_so_is_one_with_a_file_of_somebody_else_in_a_folder_of_ours(tmp_path: Path) -> None:
    place = tmp_path / "out"
    write_folder(place, "old", overwrite=False)
    (place / "tables" / "thesis.txt").write_text("the only copy")
    with pytest.raises(BadInput, match=r"has 'tables/thesis\.txt', which is no part of a plan"):
        write_folder(place, "new", overwrite=True)
    assert (place / "tables" / "thesis.txt").read_text() == "the only copy"


def test_a_marker_of_an_earlier_version_stands_for_all_that_is_below_its_names(tmp_path: Path) -> None:
    place = tmp_path / "out"
    write_folder(place, "old", overwrite=False)
    (place / MARKER).write_text("plan.json\ntables\n")
    write_folder(place, "new", overwrite=True)
    assert contents(place) == whole("new")


def test_a_folder_without_a_marker_is_kept(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("the only copy")
    with pytest.raises(BadInput, match="has no marker of a plan"):
        write_folder(tmp_path, "new", overwrite=True)
    assert contents(tmp_path) == {"plan.json": b"the only copy"}
