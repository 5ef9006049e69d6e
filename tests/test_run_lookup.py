"""Finding a run by its id alone."""

from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput, DatasetMissing
from rocketmq_capacity.lake import Lake
from rocketmq_capacity.run_lookup import existing_run, stored_run


def store(lake: Lake, cluster: str, run_id: str) -> None:
    run = lake.run(cluster, run_id)
    run.folder.mkdir(parents=True)
    run.inventory.touch()


def test_a_run_is_found_whatever_its_cluster_is_called(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    store(lake, "C1", "r1")
    store(lake, "C2", "r2")

    assert existing_run(lake, "r2") == lake.run("C2", "r2")


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
