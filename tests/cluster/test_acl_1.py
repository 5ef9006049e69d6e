"""A real broker with access control 1.0: the account of the how-to reads everything, and an administrator is seen."""

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest
import yaml

from rocketmq_capacity.client.reach import reach
from rocketmq_capacity.client.settings import ConnectionSettings, Credentials
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from tests.cluster.each_request import denied, requests
from tests.cluster.rocketmq import Broker, Cluster
from tests.docs.rights_table import PAGE, ROWS
from tests.oracle.requirement import started_or_skipped

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

ADMIN: Final = "administrator"
READER: Final = "capacity-reader"
OF_GROUPS: Final = "reader-of-groups"
SECRET_KEY: Final = secrets.token_hex(16)


@dataclass(frozen=True)
class Guarded:
    """A running cluster, and the settings of a connection as one of its accounts."""

    cluster: Cluster

    def settings(self, access_key: str, secret_key: str = SECRET_KEY) -> ConnectionSettings:
        return ConnectionSettings(credentials=Credentials(access_key, secret_key))


def account_of_the_how_to() -> dict[str, object]:
    """The account as the page shows it."""
    lines = PAGE.partition("- accessKey: capacity-reader")[2].partition("```")[0]
    (account,) = yaml.safe_load(f"- accessKey: {READER}{lines}".replace("<secret key>", SECRET_KEY))
    assert account["accessKey"] == READER
    return dict(account)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home = tmp_path_factory.mktemp("home")
    reader = account_of_the_how_to()
    accounts = [
        {"accessKey": ADMIN, "secretKey": SECRET_KEY, "admin": True},
        reader,
        {**reader, "accessKey": OF_GROUPS, "defaultGroupPerm": "SUB"},
    ]
    (home / "conf").mkdir()
    (home / "conf/plain_acl.yml").write_text(yaml.safe_dump({"accounts": accounts}), "utf-8")
    (home / "admin.properties").write_text(f"access={ADMIN}\nsecret={SECRET_KEY}\n", "utf-8")
    options = [f"-Drocketmq.home.dir={home}", f"-Dcapacity.keys={home / 'admin.properties'}"]
    broker = Broker("broker-a", has_acl_1=True, config={"aclEnable": "true"})
    started = started_or_skipped(Cluster([broker], cluster_name="C1", jvm=options).start)
    with started:
        started.create_topic("pay", {"broker-a": 4})
        started.create_group("g_pay")
        yield Guarded(started)


def test_the_account_of_the_how_to_takes_a_complete_snapshot(guarded: Guarded) -> None:
    options = CollectOptions(settings=guarded.settings(READER))
    inventory = collect_now([guarded.cluster.nameserver], options=options)
    assert inventory.failures == ()
    assert [broker.version for broker in inventory.brokers] == ["V5_3_2"]
    (pay,) = (topic for topic in inventory.topics if topic.topic == "pay")
    assert len(pay.offsets or ()) == 4
    assert "g_pay" in {group.consumer_group for group in inventory.consumer_groups}
    assert inventory.producers is not None


def test_wrong_keys_are_refused(guarded: Guarded) -> None:
    options = CollectOptions(settings=guarded.settings(READER, "wrong-and-not-to-be-told"))
    with pytest.raises(ClusterUnreachable, match="Check signature failed for accessKey=capacity-reader"):
        collect_now([guarded.cluster.nameserver], options=options)


@pytest.mark.parametrize(
    ("account", "cells"),
    [
        (READER, {"`SUB` of the group", "administrator, from 5.3.0 on"}),
        (OF_GROUPS, {"administrator, from 5.3.0 on"}),
        (ADMIN, set()),
    ],
)
def test_the_broker_denies_what_the_how_to_says_and_nothing_else(
    guarded: Guarded, account: str, cells: set[str]
) -> None:
    needs = {row.code for row in ROWS if row.acl_1 in cells}
    asked = requests("pay", "g_pay", account)
    assert denied(guarded.cluster.broker_addrs["broker-a", 0], asked, guarded.settings(account)) == needs


@pytest.mark.parametrize(
    ("account", "words", "is_too_much"),
    [
        (READER, "no administrator; which topics it may read or write cannot be asked", False),
        (ADMIN, "every right: it is an administrator", True),
    ],
)
def test_an_administrator_is_seen(guarded: Guarded, account: str, words: str, is_too_much: bool) -> None:
    (broker,) = asyncio.run(reach([guarded.cluster.nameserver], guarded.settings(account))).brokers
    assert broker.rights is not None
    assert broker.rights.words.startswith(words)
    assert bool(broker.rights.mend) == is_too_much
