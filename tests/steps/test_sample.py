"""Samples become tables of their day in the lake; what is damaged there is a row of failures."""

from datetime import timedelta
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.collect_sample import ClusterSample
from rocketmq_capacity.steps.sample import MOST_FILES, in_a_few_words, store_sample
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.samples import sampled_day, sampled_days
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import Row, rows_in
from rocketmq_capacity.tables.sample import (
    SAMPLES,
    GroupSample,
    MemberSample,
    SampleFailure,
    TopicHourSample,
    TopicSample,
)
from tests.fixtures.samples import MIDNIGHT, at, sample


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def store(lake: Lake, one: ClusterSample, keep_days: int = 90) -> Run:
    return store_sample(lake, one, keep_days)


def rows(day: Run, dataset: type[Row]) -> list[Row]:
    return list(rows_in(day.files(dataset.dataset_name()), dataset))


def files(day: Run, dataset: type[Dataset]) -> list[Path]:
    return sorted(day.table(dataset.dataset_name()).iterdir())


def ends(day: Run) -> list[tuple[str, int]]:
    return [(one.at[11:16], one.written) for one in rows(day, TopicSample)]


def days_of(lake: Lake) -> list[str]:
    return [day.folder.name for day in sampled_days(lake.root / "C1")]


def test_each_sample_is_added_to_its_day(lake: Lake) -> None:
    for number in range(3):
        day = store(lake, sample(at(5 * number), {"pay": 100 * number}, lags={"g": number}))
    assert day.folder == lake.root / "C1" / ".samples" / "2026-11-20"
    assert ends(day) == [("00:00", 0), ("00:05", 100), ("00:10", 200)]
    assert [one.lag for one in rows(day, GroupSample)] == [0, 1, 2]
    assert len(files(day, TopicSample)) == 3


def test_a_day_that_is_over_has_one_file_of_each_table_with_a_row_an_hour(lake: Lake) -> None:
    members = [("a", "b"), ("a", "b"), ("a", "c"), ("a", "b")]
    for number, ids in enumerate(members):
        ends, lags = {"ship": 9, "pay": 600 * number}, {"g": number % 3}
        day = store(lake, sample(at(20 * number), ends, lags=lags, members={"g": ids}))
    store(lake, sample(at(0, MIDNIGHT + timedelta(days=1)), {"pay": 9}))
    assert [len(files(day, dataset)) for dataset in SAMPLES] == [1, 1, 1, 1, 1, 0]
    assert [(one.at[11:16], one.topic, one.sampled_s, one.msgs) for one in rows(day, TopicHourSample)] == [
        ("00:00", "pay", 3_600, 1_800),
        ("01:00", "pay", 0, 0),
        ("00:00", "ship", 3_600, 0),
        ("01:00", "ship", 0, 0),
    ]
    assert [(one.at[11:16], one.topic) for one in rows(day, TopicSample)] == [("01:00", "pay"), ("01:00", "ship")]
    assert [(one.at[11:16], one.lag) for one in rows(day, GroupSample)] == [("00:40", 2), ("01:00", 0)]
    assert [(one.first_at[11:16], one.last_at[11:16], one.client_ids) for one in rows(day, MemberSample)] == [
        ("00:00", "00:20", ("a", "b")),
        ("00:40", "00:40", ("a", "c")),
        ("01:00", "01:00", ("a", "b")),
    ]
    assert days_of(lake) == ["2026-11-20", "2026-11-21"]


def test_the_day_under_way_never_has_many_files(lake: Lake) -> None:
    for number in range(MOST_FILES + 2):
        day = store(lake, sample(at(10 * number), {"pay": number}))
    assert len(files(day, TopicSample)) == 2
    # From the last sample before the hour under way.
    assert ends(day) == [("01:50", 11), ("02:00", 12), ("02:10", 13)]
    assert [one.at[11:16] for one in rows(day, TopicHourSample)] == ["00:00", "01:00"]


def test_only_the_last_days_with_samples_are_kept(lake: Lake) -> None:
    for number in (0, 1, 5, 40, 41):
        store(lake, sample(at(0, MIDNIGHT + timedelta(days=number)), {"pay": 1}), keep_days=3)
    assert days_of(lake) == ["2026-11-25", "2026-12-30", "2026-12-31"]


def test_a_clock_that_went_back_deletes_no_day_and_changes_no_hour_that_is_over(lake: Lake) -> None:
    tomorrow = MIDNIGHT + timedelta(days=1)
    for moment, end in ((at(0), 1), (at(40), 2_401), (at(0, tomorrow), 3), (at(20), 4), (at(90), 5)):
        store(lake, sample(moment, {"pay": end}), keep_days=2)
    assert days_of(lake) == ["2026-11-20", "2026-11-21"]
    store(lake, sample(at(0, MIDNIGHT + timedelta(days=2)), {"pay": 6}), keep_days=3)
    hours = [(one.at[11:16], one.msgs) for one in rows(sampled_days(lake.root / "C1")[0], TopicHourSample)]
    assert hours == [("00:00", 2_400), ("01:00", 0)]


@pytest.fixture
def damaged(lake: Lake) -> tuple[Run, list[Path]]:
    for number in range(4):
        day = store(lake, sample(at(5 * number), {"pay": number}))
    return day, files(day, TopicSample)


def test_a_file_that_cannot_be_read_is_one_row_of_failures(damaged: tuple[Run, list[Path]], lake: Lake) -> None:
    day, (first, second, third, _) = damaged
    first.unlink()
    second.write_bytes(second.read_bytes()[:-1])
    third.write_bytes(b"x" * third.stat().st_size)
    (third.parent / "foreign.parquet").write_bytes(b"PAR1")
    store(lake, sample(at(0, MIDNIGHT + timedelta(days=1)), {"pay": 9}))
    assert ends(day) == [("00:15", 3)]
    failures = {one.broker_addr: (one.request, one.error or "") for one in rows(day, SampleFailure)}
    assert failures.keys() == {first.name, second.name, third.name}
    assert failures[first.name] == failures[second.name] == ("READ_SAMPLE", "is missing, or has another size")
    assert "Parquet" in failures[third.name][1]


def test_a_file_that_is_lost_while_the_day_is_under_way_stops_no_sample(
    damaged: tuple[Run, list[Path]], lake: Lake
) -> None:
    day, (first, *_) = damaged
    first.unlink()
    store(lake, sample(at(20), {"pay": 4}))
    assert [end for _, end in ends(day)] == [1, 2, 3, 4]
    assert [one.broker_addr for one in rows(day, SampleFailure)] == [first.name]


def test_a_writer_that_is_killed_leaves_the_samples_before_it(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    day = store(lake, sample(at(0), {"pay": 1}))
    with monkeypatch.context() as patched:
        patched.setattr(Run, "commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            store(lake, sample(at(5), {"pay": 2}))
    assert ends(Run(day.folder)) == [("00:00", 1)]
    store(lake, sample(at(10), {"pay": 3}))
    assert ends(Run(day.folder)) == [("00:00", 1), ("00:10", 3)]


def test_a_folder_of_days_that_is_a_link_is_not_followed(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (lake.root / "C1").mkdir()
    (lake.root / "C1" / ".samples").symlink_to(elsewhere)
    for ask in (lambda: sampled_days(lake.root / "C1"), lambda: sampled_day(lake, "C1", "2026-11-20")):
        with pytest.raises(BadInput, match="is a link"):
            ask()


def test_a_link_in_the_lake_is_not_followed(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> None:
    (lake.root / "C1").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(BadInput, match="is a link"):
        store(lake, sample(at(0), {"pay": 1}))


def test_a_sample_is_told_in_a_few_words() -> None:
    words = in_a_few_words(sample(at(0), {"pay": 1}, lags={"g": 0}, members={"g": ["a", "b"]}))
    assert words == "C1, 2026-11-20T00:00:00Z: 1 topic, 1 group, 2 clients, 1 broker, 0 failures"
