"""Clients that own nothing while nobody reads some queues: they stay, because they can have these queues."""

from rocketmq_capacity.settings.policy import Policy
from tests.assessment.cases import a_group, a_topic
from tests.recommendation.answers import answer
from tests.recommendation.cases import broker, java_members
from tests.simulation.clusters import cluster, queues


def test_idle_clients_stay_while_their_strategy_leaves_queues_to_nobody() -> None:
    """Under AVG the four idle clients own the four queues that MACHINE_ROOM leaves out."""
    policy = Policy.model_validate({"strategies": ["AVG", "MACHINE_ROOM", "POP"], "machine_rooms": ["hz"]})
    pay = a_topic("pay", queues("hz@a", 4), queues("sh@b", 4), order=False, message_type="NORMAL")
    group = a_group("g", java_members(8, allocate_strategy="MACHINE_ROOM"), [pay])

    found = answer(cluster([pay], [group], (broker("hz@a"), broker("sh@b"))), policy)

    assert found.judged.rules("g") >= {"IDLE_CONSUMERS", "ORPHAN_QUEUE"}
    assert found.actions("g") == ["CHANGE_STRATEGY"]
    assert found.one("CHANGE_STRATEGY", "g")["after"]["idle"] == 0
