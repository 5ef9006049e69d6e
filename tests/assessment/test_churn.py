"""What one client or one broker more or fewer moves under each strategy, and which strategies are Pareto-best."""

import msgspec
import pytest
import yaml

from rocketmq_capacity.assessment.assess import GroupAssessment
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, TopicQueues
from rocketmq_capacity.tables import StrategyLoad
from tests.assessment.cases import a_group, a_topic, members
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import cluster, queues

POLICY = Policy(strategies=("AVG", "AVG_BY_CIRCLE", "POP"))


def judged(clients: list[Client], *layout: TopicQueues) -> GroupAssessment:
    pay = a_topic("pay", *(layout or (queues("broker-a"), queues("broker-b"))))
    (found,) = plain_plan(cluster([pay], [a_group("g", clients, [pay])]), POLICY).assessments
    return found


def moves(one: StrategyLoad) -> tuple[int | None, int | None, int | None]:
    return one.moved_one_fewer, one.moved_one_more, one.moved_broker_lost


def by_strategy(found: GroupAssessment) -> dict[str, StrategyLoad]:
    return {one.strategy: one for one in found.loads}


def test_moves_of_eight_queues_on_two_brokers_and_two_clients() -> None:
    """AVG: c02's four go to c01; of three clients each gets 3, 3 and 2; without a broker each keeps two.

    AVG_BY_CIRCLE: c02's four go to c01; the third client takes every third; without a broker the turns stay.
    """
    loads = by_strategy(judged(members(2)))

    assert moves(loads["AVG"]) == (4, 3, 2)
    assert moves(loads["AVG_BY_CIRCLE"]) == (4, 4, 0)
    assert moves(loads["POP"]) == (8, 8, 0)


def test_of_equally_even_strategies_the_one_that_moves_less_is_pareto_best() -> None:
    """AVG moves nine queues and AVG_BY_CIRCLE eight; POP shares its queues and is not compared."""
    loads = by_strategy(judged(members(2)))

    assert {name: one.is_pareto_best for name, one in loads.items()} == {
        "AVG": False,
        "AVG_BY_CIRCLE": True,
        "POP": None,
    }


def test_strategies_that_do_the_same_are_both_pareto_best() -> None:
    """Each client owns one queue, and the last one's goes to the first."""
    loads = by_strategy(judged(members(2), queues("broker-a", 2)))

    assert moves(loads["AVG"]) == moves(loads["AVG_BY_CIRCLE"]) == (1, 0, 0)
    assert (loads["AVG"].is_pareto_best, loads["AVG_BY_CIRCLE"].is_pareto_best) == (True, True)


@pytest.mark.parametrize("clients", [0, 1])
def test_what_cannot_be_compared_is_not_known(clients: int) -> None:
    for one in judged(members(clients)).loads:
        assert one.is_pareto_best is None
        assert one.moved_one_fewer is None


def test_no_strategy_beats_a_pareto_best_one_and_one_beats_every_other() -> None:
    """Over a generated cluster, by the definition."""
    policy = Policy.model_validate(yaml.safe_load(policy_for_generated()))
    plan = plain_plan(msgspec.convert(generated(40, 7), Inventory), policy)
    marks = {True: 0, False: 0}
    for found in plan.assessments:
        aims = {
            one.strategy: (
                len(one.orphan_queues),
                len(one.doubly_owned_queues),
                round(one.count["excess"], 6),
                sum(filter(None, moves(one))),
            )
            for one in found.loads
            if one.count is not None and one.count.get("excess") is not None and None not in moves(one)
        }
        told = {one.strategy: one.is_pareto_best for one in found.loads if one.is_pareto_best is not None}
        assert told.keys() == aims.keys()
        for name, is_best in told.items():
            beaten = any(
                other != aims[name] and all(a <= b for a, b in zip(other, aims[name], strict=True))
                for other in aims.values()
            )
            assert is_best is not beaten, (found.status.consumer_group, name)
            marks[is_best] += 1
    assert min(marks.values()) > 10
