"""What owners were told, as the lake keeps it: in a folder and in an object store."""

from pathlib import Path
from uuid import uuid4

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.notices import keep_record, record
from rocketmq_capacity.store.place import usable_place
from tests.fixtures.s3 import BUCKET, S3


def keeps_the_last(lake: Lake) -> None:
    cluster = lake.run("C1", "r1").folder.parent
    assert record(cluster) is None
    for content in (b"first", b"second"):
        keep_record(cluster, content)
        assert record(cluster) == content
    assert list(lake.runs("C1")) == []


def test_a_folder_keeps_what_was_told_last_and_takes_it_for_no_run(tmp_path: Path) -> None:
    keeps_the_last(Lake(tmp_path))


def test_an_object_store_does_so_too(s3: S3) -> None:
    keeps_the_last(Lake(usable_place(f"s3://{BUCKET}/{uuid4().hex}")))


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "C1").mkdir()
    (tmp_path / "C1" / ".notices").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(BadInput, match="is a link"):
        record(tmp_path / "C1")
    with pytest.raises(BadInput, match="is a link"):
        keep_record(tmp_path / "C1", b"x")
    assert list((tmp_path / "elsewhere").iterdir()) == []
