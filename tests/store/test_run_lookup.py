"""Finding a run by only its id."""

import json
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput, DatasetMissing
from rocketmq_capacity.snapshot.inventory import FORMAT
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_lookup import existing_run, runs_before, stored_run


def store(lake: Lake, cluster: str, run_id: str, taken_at: str = "2026-11-20T02:00:00Z") -> Run:
    """A run that has stored its snapshot."""
    run = lake.run(cluster, run_id)
    facts = {"cluster_name": cluster, "taken_at": taken_at, "brokers": [], "topics": [], "consumer_groups": []}
    run.folder.mkdir(parents=True)
    run.inventory.write_text(json.dumps({"format": FORMAT, **facts}))
    return run


def published(lake: Lake, cluster: str, run_id: str, taken_at: str) -> Run:
    """A run that has gone all the way."""
    run = store(lake, cluster, run_id, taken_at)
    run.begin("publish")
    run.commit("publish", [])
    return run


def test_a_run_is_found_whatever_its_cluster_is_called(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, "C1", "r1")
    store(lake, "C2", "r2")

    assert existing_run(lake, "r2") == lake.run("C2", "r2")


@pytest.mark.parametrize(("own_policy", "counts"), [('{"is_trial": true}', 0), ('{"is_trial": false}', 1), ("{", 0)])
def test_a_trial_is_not_the_run_before(tmp_path: Path, own_policy: str, counts: int) -> None:
    lake = Lake(tmp_path)
    trial = published(lake, "C1", "r1", "2026-11-19T02:00:00Z")
    trial.own_policy.write_text(own_policy)

    assert list(runs_before(lake, store(lake, "C1", "r2"))) == [trial][:counts]


def test_a_folder_without_a_snapshot_is_no_run_yet(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.run("C1", "r1").folder.mkdir(parents=True)

    assert stored_run(lake, "r1") is None
    with pytest.raises(DatasetMissing, match="r1"):
        existing_run(lake, "r1")


def test_an_id_of_two_clusters_is_refused_with_their_names(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, "C1", "r1")
    store(lake, "C2", "r1")

    with pytest.raises(BadInput, match=r"C1, C2"):
        stored_run(lake, "r1")


@pytest.mark.parametrize("run_id", ["", "..", "*", "a/b", "a:b", "-x"])
def test_an_id_that_is_no_plain_folder_name_is_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(BadInput, match="--run-id"):
        stored_run(Lake(tmp_path), run_id)


def test_the_runs_before_are_the_published_ones_of_earlier_snapshots_the_last_first(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    published(lake, "C1", "20261118", "2026-11-18T02:00:00Z")
    before = published(lake, "C1", "20261119", "2026-11-19T02:00:00Z")
    published(lake, "C2", "20261120", "2026-11-20T01:00:00Z")
    store(lake, "C1", "20261120a", "2026-11-20T01:00:00Z")
    run = published(lake, "C1", "20261120b", "2026-11-20T02:00:00Z")
    published(lake, "C1", "20261120c", "2026-11-20T02:00:00Z")
    published(lake, "C1", "20261121", "2026-11-21T02:00:00Z")

    assert [one.folder.name for one in runs_before(lake, run)] == [before.folder.name, "20261118"]


def test_a_first_run_has_none_before_it(tmp_path: Path) -> None:
    lake = Lake(tmp_path)

    assert list(runs_before(lake, store(lake, "C1", "r1"))) == []


@pytest.mark.parametrize(
    "spoiled",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"taken_at": 1}',
        b'{"taken_at": "yesterday"}',
        b'{"taken_at": "2026-11-20T02:00:00"}',
        b'{"taken_at": "2026-11-20T02:00:00Z", "topics": [',
    ],
)
def test_a_damaged_earlier_run_is_set_aside_with_a_warning(
    tmp_path: Path, spoiled: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    lake = Lake(tmp_path)
    run = store(lake, "C1", "r2")
    sound = published(lake, "C1", "r0", "2026-11-18T02:00:00Z")
    published(lake, "C1", "r1", "2026-11-19T02:00:00Z").inventory.write_bytes(spoiled)

    assert list(runs_before(lake, run)) == [sound]
    assert "r1 is set aside: " in caplog.text
    assert "r1/inventory.json: is not a stored inventory (" in caplog.text
