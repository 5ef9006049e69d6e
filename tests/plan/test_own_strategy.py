"""A strategy of the deployment's own: a class in a jar, which Spark's JVM is asked with the groups that run it."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq
import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.own_strategy import OwnStrategy
from tests.fixtures.plan_here import PlanHere
from tests.oracle.own_jar import OWN, own_jars
from tests.oracle.requirement import started_or_skipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.java, pytest.mark.slow]

CLIENTS: Final = ("10.0.0.10@1", "10.0.0.1@1", "10.0.0.2@1")
"""In Java's order."""


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A jar with the class, and those of RocketMQ's client with what they need."""
    return started_or_skipped(lambda: own_jars(tmp_path_factory.mktemp("jar")))


def topic(name: str, queues: int) -> dict[str, Any]:
    return {
        "topic": name,
        "queues": [{"broker_name": "broker-a", "read_queue_nums": queues, "write_queue_nums": queues, "perm": 6}],
    }


def group(name: str, topics: list[str], **facts: Any) -> dict[str, Any]:
    clients = [{"client_id": one, "language": "JAVA", "version": "V5_3_3", **facts} for one in CLIENTS]
    return {
        "consumer_group": name,
        "message_model": "CLUSTERING",
        "subscriptions": [{"topic": one, "expression_type": "TAG", "expression": "*"} for one in topics],
        "clients": clients,
    }


INVENTORY: Final = {
    "format": "rocketmq-capacity/inventory/1",
    "cluster_name": "C1",
    "taken_at": "2026-11-20T02:00:00Z",
    "brokers": [
        {"broker_name": "broker-a", "broker_id": 0, "broker_addr": "a:10911", "broker_perm": 6, "version": "V5_3_3"}
    ],
    "topics": [topic("pay", 5), topic("bad", 4), topic("few", 2), topic("%RETRY%g_own", 1)],
    "consumer_groups": [
        group("g_own", ["pay", "%RETRY%g_own"], allocate_strategy=OWN),
        group("g_partly", ["pay", "bad"]),
        group("g_idle", ["few"]),
        group("g_avg", ["pay"]),
    ],
}


def policy(jars: list[str], *groups: str) -> str:
    entry = {"class": OWN, "jar": jars}
    return json.dumps({"strategies": ["AVG", "POP"], "current_strategies": dict.fromkeys(groups, entry)})


@pytest.fixture(scope="module")
def out(plan_here: PlanHere, jars: list[str]) -> Path:
    return plan_here(INVENTORY, policy(jars, "g_own", "g_partly", "g_idle", "g_absent"))


@pytest.fixture(scope="module")
def plan(out: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((out / "plan.json").read_text("utf-8"))
    return read


def entry_of(plan: dict[str, Any], name: str, strategy: str = OWN) -> dict[str, Any]:
    (found,) = (one for one in plan["groups"] if one["consumer_group"] == name)
    entry: dict[str, Any] = next(one for one in found["strategies"] if one["strategy"] == strategy)
    return entry


def test_its_rows_are_beside_those_of_the_built_in_strategies(out: Path) -> None:
    rows = pq.read_table(out / "tables" / "allocation").to_pylist()
    of_group = [row for row in rows if row["consumer_group"] == "g_own"]
    assert {row["strategy"] for row in of_group} == {"AVG", "POP", OWN}
    own = sorted(
        (row["queue_id"], row["client_id"]) for row in of_group if (row["strategy"], row["topic"]) == (OWN, "pay")
    )
    last, middle, first = CLIENTS
    assert own == [(0, first), (1, middle), (2, last), (3, first), (4, middle)]
    assert {row["strategy"] for row in rows if row["consumer_group"] == "g_avg"} == {"AVG", "POP"}


def test_it_is_what_the_group_runs(plan: dict[str, Any]) -> None:
    runs = {one["consumer_group"]: (one["current_strategy"], one["current_strategy_source"]) for one in plan["groups"]}
    assert runs == {
        "g_own": (OWN, "reported"),
        "g_partly": (OWN, "policy"),
        "g_idle": (OWN, "policy"),
        "g_avg": ("AVG", "default"),
    }
    entry = entry_of(plan, "g_own")
    assert (entry["applicable"], entry["reason"], entry["idle_clients"], entry["orphan_queues"]) == (True, None, [], [])
    assert entry["count"]["peak"] == 1.2


def test_findings_look_at_what_it_gives(plan: dict[str, Any]) -> None:
    (idle,) = (one for one in plan["findings"] if one["rule"] == "IDLE_CONSUMERS")
    assert (idle["consumer_group"], idle["subjects"]) == ("g_idle", [CLIENTS[0]])


def test_changes_that_the_class_was_not_asked_about_are_not_recommended(plan: dict[str, Any]) -> None:
    of_group = Counter(one["action"] for one in plan["recommendations"] if one["consumer_group"] == "g_idle")
    assert not any(one["action"] == "EXPAND_QUEUES" for one in plan["recommendations"])
    assert of_group["SCALE_CONSUMERS"] == 0


def test_a_topic_for_which_it_throws_keeps_its_owners(out: Path, plan: dict[str, Any]) -> None:
    entry = entry_of(plan, "g_partly")
    assert (entry["applicable"], entry["count"]) == (True, None)
    assert entry["reason"] == "java.lang.IllegalStateException: no queue of bad (throws for bad)"
    rows = pq.read_table(out / "tables" / "allocation").to_pylist()
    assert {row["topic"] for row in rows if (row["consumer_group"], row["strategy"]) == ("g_partly", OWN)} == {"pay"}


@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        ({"class": "com.acme.Missing"}, "does not give com.acme.Missing (java.lang.ClassNotFoundException: com.acme.M"),
        (
            {"class": "java.lang.String"},
            "is java.lang.String, which is not an org.apache.rocketmq.client.consumer.Allocate",
        ),
        ({"class": f"{OWN}$Told"}, "which cannot be made: java.lang.NoSuchMethodException"),
        ({"class": f"{OWN}$Broken"}, "which cannot be made: java.lang.IllegalArgumentException: not configured"),
        ({"jar": "/nowhere/own.jar"}, "is /nowhere/own.jar, which is not a file; expected a jar file"),
    ],
)
def test_what_is_no_such_strategy_is_refused(
    spark: "SparkSession", jars: list[str], strategy: dict[str, Any], says: str
) -> None:
    from rocketmq_capacity.spark.own_class import OwnClass

    entry = OwnStrategy.model_validate({"class": OWN, "jar": jars} | strategy)
    with pytest.raises(BadInput) as caught:
        OwnClass(spark.sparkContext, entry, "current_strategies.g")
    assert says in str(caught.value)
    assert "current_strategies.g." in str(caught.value)


def test_a_jar_without_rocketmqs_client_gives_a_clear_error(spark: "SparkSession", jars: list[str]) -> None:
    from rocketmq_capacity.spark.own_class import OwnClass

    entry = OwnStrategy.model_validate({"class": OWN, "jar": jars[0]})
    with pytest.raises(BadInput, match="expected the jars of rocketmq-client"):
        OwnClass(spark.sparkContext, entry, "current_strategies.g")
