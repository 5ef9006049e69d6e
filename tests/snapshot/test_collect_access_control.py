"""A broker with access control is read with credentials, refuses without them, and its secrets are never kept."""

import json
from collections.abc import Iterator
from typing import Final

import pytest

from rocketmq_capacity.client.settings import Credentials
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory import render_inventory
from tests.cluster.rocketmq import Broker, Cluster
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

PACKAGE: Final = "org.apache.rocketmq.auth.authentication.provider"
PASSWORD: Final = "not-to-be-kept"  # noqa: S105 - of a broker that lives for one test
CONFIG: Final = {
    "authenticationEnabled": "true",
    "authenticationProvider": f"{PACKAGE}.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": f"{PACKAGE}.LocalAuthenticationMetadataProvider",
    "initAuthenticationUser": json.dumps({"username": "reader", "password": PASSWORD}),
    "innerClientAuthenticationCredentials": json.dumps({"accessKey": "reader", "secretKey": PASSWORD}),
}


@pytest.fixture(scope="module")
def guarded() -> Iterator[Cluster]:
    started = started_or_skipped(Cluster([Broker("broker-a", config=CONFIG)], cluster_name="C1").start)
    yield started
    started.close()


def test_with_credentials_everything_is_answered_and_no_secret_is_kept(guarded: Cluster) -> None:
    options = CollectOptions(credentials=Credentials("reader", PASSWORD))
    inventory = collect_now([guarded.nameserver], options=options)
    assert inventory.failures == ()
    (broker,) = inventory.brokers
    assert broker.config is not None
    assert broker.config["authenticationEnabled"] == "true"
    assert not {"initAuthenticationUser", "innerClientAuthenticationCredentials"} & set(broker.config)
    assert PASSWORD not in render_inventory(inventory).decode()


@pytest.mark.parametrize(
    ("credentials", "words"),
    [
        (None, "username cannot be null"),
        (Credentials("reader", "wrong"), "check signature failed"),
        (Credentials("nobody", PASSWORD), "User:nobody is not found"),
    ],
)
def test_without_the_right_credentials_every_refusal_is_a_failure_in_the_brokers_words(
    guarded: Cluster, credentials: Credentials | None, words: str
) -> None:
    inventory = collect_now([guarded.nameserver], options=CollectOptions(credentials=credentials))
    failures = inventory.failures or ()
    assert {"GET_ALL_TOPIC_CONFIG", "GET_ALL_SUBSCRIPTIONGROUP_CONFIG", "GET_BROKER_CONFIG"} <= {
        failure.request for failure in failures
    }
    assert all(f"code 16 (NO_PERMISSION): {words}" in (failure.error or "") for failure in failures)
    assert [broker.broker_name for broker in inventory.brokers] == ["broker-a"]
