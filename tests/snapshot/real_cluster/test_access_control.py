"""A broker with access control is read with credentials, refuses without them, and its secrets are never kept."""

from collections.abc import Iterator
from typing import Final

import pytest

from rocketmq_capacity.client.settings import Credentials
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory_file import render_inventory
from tests.cluster.guarded import access_control
from tests.cluster.rocketmq import Broker, Cluster
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

PASSWORD: Final = "not-to-be-kept"


@pytest.fixture(scope="module")
def guarded() -> Iterator[Cluster]:
    started = started_or_skipped(
        Cluster([Broker("broker-a", config=access_control(PASSWORD))], cluster_name="C1").start
    )
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
    assert PASSWORD not in b"".join(render_inventory(inventory)).decode()


@pytest.mark.parametrize(
    ("credentials", "words"),
    [
        (None, "username cannot be null"),
        (Credentials("reader", "wrong"), "check signature failed"),
        (Credentials("nobody", PASSWORD), "User:nobody is not found"),
    ],
)
def test_wrong_credentials_give_the_brokers_own_message(
    guarded: Cluster, credentials: Credentials | None, words: str
) -> None:
    with pytest.raises(ClusterUnreachable) as refused:
        collect_now([guarded.nameserver], options=CollectOptions(credentials=credentials))
    address = guarded.broker_addrs["broker-a", 0]
    said = f"access to the brokers was refused: {address}: answered code 16 (NO_PERMISSION): {words}."
    assert str(refused.value) == said
