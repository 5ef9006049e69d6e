"""What forbids that clients of a group go, although its figures would allow it.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second. Eight clients own three of 24
queues each; what comes is nothing for them.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryConsumeStatus
from tests.assessment.cases import a_group, a_topic, member, members, takes
from tests.assessment.judge import Judgement, judge
from tests.assessment.test_stuck import held
from tests.simulation.clusters import cluster, queues

TWO = (queues("broker-a", 12), queues("broker-b", 12))
ROOMS = {"rooms": {"clients": [{"pattern": "^(?P<room>[a-z]+)-"}], "brokers": []}}


def _clients(number: int, status: tuple[InventoryConsumeStatus, ...] = takes("t", 10.0), **facts: Any) -> list[Client]:
    return members(number, consume_threads=10, consume_batch_size=1, status=status, **facts)


def _judged(
    clients: list[Client], rate: float = 1.0, days: int = 14, policy: Policy | None = None, **facts: Any
) -> Judgement:
    rates = {(broker, i): rate for broker in ("broker-a", "broker-b") for i in range(12)}
    topic = a_topic("t", *TWO, rates=rates, stored_days=days)
    return judge(cluster([topic], [a_group("g", clients, [topic], **{"lag": 0, **facts})]), policy)


def _blocked(judged: Judgement) -> list[str]:
    """What forbids it; then nothing recommends it, and today's clients are the least."""
    found = judged.group("g")
    assert found["provision_status"] != "OVER_PROVISIONED"
    assert not found["scale_down_allowed"]
    assert found["min_replicas"] >= found["connections"]
    blocked: list[str] = found["scale_down_blocked_by"]
    assert blocked
    return blocked


def test_with_fourteen_quiet_days_three_of_eight_clients_are_enough() -> None:
    judged = _judged(_clients(8))
    found = judged.group("g")

    assert (found["provision_status"], found["scale_down_blocked_by"]) == ("OVER_PROVISIONED", [])
    assert (found["min_replicas"], found["target_replicas"], found["max_replicas"]) == (3, 3, 24)
    assert judged.finding("CONSUMER_CAPACITY", "g")["evidence"]["needed_clients"] == 3


@pytest.mark.parametrize(("rate", "is_found"), [(49.0, True), (50.0, False)])
def test_clients_with_enough_to_do_are_a_saving_and_no_finding(rate: float, is_found: bool) -> None:
    judged = _judged(_clients(8), rate)  # three queues each: busy for 14.7 % and 15 % of their time
    assert judged.group("g")["provision_status"] == "OVER_PROVISIONED"
    assert judged.group("g")["scale_down_allowed"]
    assert (judged.found("CONSUMER_CAPACITY", "g") is not None) == is_found


@pytest.mark.parametrize("days", [0, 13])
def test_with_fewer_days_nobody_goes(days: int) -> None:
    judged = _judged(_clients(8), days=days)

    assert _blocked(judged) == ["TOO_FEW_STORED_DAYS"]
    assert judged.found("CONSUMER_CAPACITY", "g") is None


def test_the_policy_says_how_many_days() -> None:
    policy = Policy.model_validate({"thresholds": {"PROVISION": {"peak_days": 3}}})
    assert _judged(_clients(8), days=3, policy=policy).group("g")["provision_status"] == "OVER_PROVISIONED"


def test_two_clients_of_each_machine_room_stay() -> None:
    def of_rooms(number: int) -> list[Client]:
        return [replace(one, client_id=f"{'abcd'[i % 4]}-{i}") for i, one in enumerate(_clients(number))]

    policy = Policy.model_validate(ROOMS)
    assert _blocked(_judged(of_rooms(8), policy=policy)) == ["TOO_FEW_CLIENTS"]
    assert _judged(of_rooms(12), policy=policy).group("g")["target_replicas"] == 8


def test_the_clients_that_the_policy_keeps_for_a_group_stay() -> None:
    policy = Policy.model_validate({"groups": [{"match": "^g$", "min_clients": 6}]})
    assert _judged(_clients(8), policy=policy).group("g")["target_replicas"] == 6


def test_a_stuck_queue_forbids_it() -> None:
    stuck = member(
        "c01",
        consume_threads=10,
        consume_batch_size=1,
        status=takes("t", 10.0),
        owned_queues=(held("t", 0, dropped=True, pulled_ago_s=602),),
    )
    assert _blocked(_judged([stuck, *_clients(8)[1:]])) == ["STUCK_QUEUE"]


def test_rates_that_contradict_each_other_forbid_it() -> None:
    """Three queues of each client get 3 msg/s by what the brokers count, and 300 msg/s by what the client does."""
    (status,) = takes("t", 10.0)
    says = replace(status, consume_ok_msgs_per_s=300.0, consume_failed_msgs_per_s=0.0)
    agrees = replace(says, consume_ok_msgs_per_s=3.0)
    assert _blocked(_judged(_clients(8, status=(says,)))) == ["RATES_DISAGREE"]
    assert _judged(_clients(8, status=(agrees,))).group("g")["provision_status"] == "OVER_PROVISIONED"


def test_a_stalled_queue_forbids_it() -> None:
    moments = range(12, 0, -1)
    stalled = {("t", "broker-a", 0): [(99_990 - n, 90_000) for n in moments]}
    blocked = _blocked(_judged(_clients(8), lags={("t", "broker-a", 0): 10_000}, samples=stalled))
    assert "LAG_STATE" in blocked


def test_a_critical_finding_forbids_it() -> None:
    twice = [*_clients(7), _clients(7)[0]]
    blocked = _blocked(_judged(twice))
    assert "DUPLICATE_CLIENT_ID" in blocked
    assert "NOT_ALL_READ_ONCE" in blocked


def test_the_loss_of_one_more_client_must_be_survived() -> None:
    # Four clients: three own eight queues each at 50 %, and two twelve each at 75 %.
    assert _blocked(_judged(_clients(4), rate=62.5)) == ["LOSS_NOT_SURVIVED"]
    # 12 x 58 are 69.6 %.
    assert _judged(_clients(4), rate=58.0).group("g")["provision_status"] == "OVER_PROVISIONED"


def test_the_loss_of_a_broker_must_be_survived() -> None:
    # Six of twelve clients own four of 24 queues each. Without broker-b, four queues get six times as much.
    def found(rate: float) -> Any:
        rates = {("broker-a", i): rate for i in range(4)} | {("broker-b", i): rate for i in range(20)}
        topic = a_topic("t", queues("broker-a", 4), queues("broker-b", 20), rates=rates)
        return judge(cluster([topic], [a_group("g", _clients(12), [topic], lag=0)])).group("g")

    assert found(120.0)["scale_down_blocked_by"] == ["LOSS_NOT_SURVIVED"]
    assert (found(110.0)["provision_status"], found(110.0)["target_replicas"]) == ("OVER_PROVISIONED", 6)


def test_a_group_that_needs_its_clients_says_so() -> None:
    assert _blocked(_judged(_clients(4), rate=100.0)) == ["TOO_BUSY_WITHOUT_SOME"]
    assert _blocked(_judged(_clients(4), rate=150.0)) == ["CONSUMER_CAPACITY"]
    assert _blocked(_judged(_clients(4, status=()))) == ["UNDECIDED"]
    assert _blocked(_judged(_clients(4), message_model="BROADCASTING"))[-1] == "NOTHING_TO_DIVIDE"


def test_a_quiet_night_after_a_busy_day_sends_nobody_away() -> None:
    # Tonight 10 msg/s; on each of the days before 2,060.
    rates = {(broker, i): 10 / 24 for broker in ("broker-a", "broker-b") for i in range(12)}
    topic = a_topic("t", *TWO, rates=rates)
    busy = tuple(replace(rate, put_msgs_per_s=2_060.0) for rate in topic.rates or ())
    inventory: Inventory = cluster([replace(topic, rates=busy)], [a_group("g", _clients(3), [topic], lag=0)])
    judged = judge(inventory)

    assert judged.group("g")["provision_status"] != "OVER_PROVISIONED"
    assert judged.group("g")["needed_clients_target"] == 3
