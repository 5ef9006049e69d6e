"""The address of a lake: a folder, or a URL that may name an Airflow connection."""

import json

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider.lakes import LakeAddress, address_of, lake_of, variables_of

pytestmark = pytest.mark.airflow


@pytest.mark.parametrize(
    ("where", "place", "connection"),
    [
        ("/data/lake", "/data/lake", ""),
        ("/data/a@b", "/data/a@b", ""),
        ("s3://bucket/prefix", "s3://bucket/prefix", ""),
        ("s3://my_conn@bucket", "s3://bucket", "my_conn"),
        ("s3://my_conn@bucket/a/b@c", "s3://bucket/a/b@c", "my_conn"),
        ("gs://bucket/x@y", "gs://bucket/x@y", ""),
        ("abfs://lake@acct.dfs.core.windows.net/x", "abfs://lake@acct.dfs.core.windows.net/x", ""),
    ],
)
def test_an_address_has_a_place_and_perhaps_a_connection(where: str, place: str, connection: str) -> None:
    assert address_of(where) == LakeAddress(place, connection)


@pytest.mark.parametrize("where", ["gs://my_conn@bucket", "s3://@bucket", "hdfs://my_conn@host/x"])
def test_a_connection_that_cannot_open_the_store_is_refused(where: str) -> None:
    with pytest.raises(BadInput, match=r"expected s3://CONNECTION@bucket/prefix, or a URL without a connection"):
        lake_of(where)


def test_a_connection_that_airflow_does_not_have_is_named() -> None:
    with pytest.raises(BadInput, match="names the connection not_there, which Airflow does not have"):
        lake_of("s3://not_there@bucket/prefix")


def test_a_connection_becomes_the_variables_of_its_store(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {"endpoint_url": "https://store.example", "region_name": "eu-central-1"}
    told = {"conn_type": "aws", "login": "key", "password": "secret", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_OF_THE_TEST", json.dumps(told))
    where = "s3://of_the_test@bucket/prefix"
    assert variables_of(where) == {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_ENDPOINT_URL": "https://store.example",
        "AWS_REGION": "eu-central-1",
    }
    assert str(lake_of(where).root) == "s3://bucket/prefix"
