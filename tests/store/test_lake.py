"""Where runs of a lake are: a cluster's name is a folder's name, and nothing leads out of the lake."""

import os
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput, DatasetMissing
from rocketmq_capacity.store.lake import Lake, Run


@pytest.mark.parametrize("cluster", ["_prod", "-x", "a.b", "C1"])
def test_every_name_of_a_cluster_without_a_dot_in_front_has_a_folder(tmp_path: Path, cluster: str) -> None:
    assert Lake(tmp_path).run(cluster, "20261120T020000Z-x").folder.parent == tmp_path / cluster


@pytest.mark.parametrize("cluster", ["..", ".code", "", "a/b", "a" * 256])
def test_a_name_that_would_be_hidden_or_lead_elsewhere_is_refused(tmp_path: Path, cluster: str) -> None:
    with pytest.raises(BadInput, match="expected letters, digits"):
        Lake(tmp_path).run(cluster, "20261120T020000Z-x")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"step": "assess", "datasets": []}', b'{"datasets": []}', b"\xff"]
)
def test_a_manifest_that_is_not_whole_commits_nothing(tmp_path: Path, content: bytes) -> None:
    run = Run(tmp_path)
    run.begin("publish")
    (tmp_path / "steps" / "publish.json").write_bytes(content)
    assert not run.is_committed("publish")
    with pytest.raises(DatasetMissing, match="the step publish has not finished"):
        run.datasets("publish")


def test_tables_and_the_new_manifest_are_on_the_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def noted(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").resolve().name)
        real(handle)

    monkeypatch.setattr(os, "fsync", noted)
    run = Run(tmp_path / "run")
    run.begin("assess")
    (run.new_table("finding") / "part-0.parquet").write_bytes(b"rows")
    run.commit("assess", ["finding"])
    assert synced == ["part-0.parquet", "finding", ".assess.json.part", "steps"]
