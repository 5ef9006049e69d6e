"""What producers see when a broker is lost, for each way to send; latency fault tolerance is off, as by default."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rocketmq_capacity.assessment.topic_failures import TopicLoss
from rocketmq_capacity.producers import KILL, SILENT
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.producers import ASYNC, ONEWAY, SYNC, Sending
from rocketmq_capacity.tables import Producer, ProducerFailure
from rocketmq_capacity.vocabulary import BROKER_FORGOTTEN_S

SCAN_MS: Final = 2_000
"""A client takes an asynchronous request for unanswered 1 s after its time is up, and looks every second.

Source: NettyRemotingAbstract.scanResponseTable, rocketmq-all-5.3.3."""
NOTICED_BY: Final = {SYNC: "EXCEPTION", ASYNC: "CALLBACK", ONEWAY: "NOBODY"}
NONE: Final = "NONE"
ONLY_THERE: Final = "ONLY_THERE"
ALL: Final = "ALL"


def producer_failures(
    places: Iterable[TopicLoss], producers: Iterable[Producer], policy: Policy
) -> Iterator[ProducerFailure]:
    """A row for each broker that producers write to, each ending, and each way to send.

    Args:
        places: business topics without each of their brokers.
        producers: the running producers; none if unknown.
        policy: says how groups send, and how often clients ask for routes.
    """
    sendings = policy.sendings(one.producer_group for one in producers)
    brokers: dict[str, list[TopicLoss]] = {}
    for place in places:
        if place.was_writable is not False:
            brokers.setdefault(place.lost, []).append(place)
    for name in sorted(brokers):
        if any(place.was_writable for place in brokers[name]):
            for ending in (KILL, SILENT):
                yield from _of_broker(name, ending, brokers[name], sendings, policy)


def _of_broker(
    name: str, ending: str, places: Sequence[TopicLoss], sendings: Mapping[Sending, tuple[str, ...]], policy: Policy
) -> Iterator[ProducerFailure]:
    clients = policy.thresholds.TRANSITION
    known_s = BROKER_FORGOTTEN_S if ending == SILENT else 0.0
    is_only_there = _is_only_there(places)
    # A client keeps the route of a topic that is gone. So it tries these messages there until the broker is back.
    has_elsewhere = any(place.writable_queues != 0 for place in places)
    for sending, groups in sendings.items():
        failed_tries = _failed_tries(sending, ending, is_only_there)
        yield ProducerFailure(
            broker_name=name,
            ending=ending,
            sending=sending.mode,
            retries=sending.retries,
            timeout_ms=sending.timeout_ms,
            producer_groups=groups,
            failed_tries=failed_tries,
            failing=_failing(sending, ending, is_only_there),
            noticed_by=NOTICED_BY[sending.mode],
            worst_ms=_worst_ms(sending, ending, failed_tries, policy.thresholds.PRODUCER_TIMELINE.usual_latency_ms),
            until_s=known_s + clients.poll_nameserver_s if has_elsewhere else None,
        )


def _is_only_there(places: Sequence[TopicLoss]) -> bool | None:
    """Whether producers see a topic on this broker alone; None if that is unknown."""
    known = [place for place in places if place.was_writable and place.writable_queues is not None]
    if any(place.writable_queues == 0 for place in known):
        return True
    return False if len(known) == len(places) else None


def _failed_tries(sending: Sending, ending: str, is_only_there: bool | None) -> int | None:
    """The most tries of a message that fail. A silent broker takes all the time that there is for the first one.

    After a refused connection the next try is at another broker. Without another one, all tries are at this one.
    """
    if ending == SILENT or not sending.retries:
        return 1
    if is_only_there is None:
        return None
    return 1 + sending.retries if is_only_there else 1


def _failing(sending: Sending, ending: str, is_only_there: bool | None) -> str | None:
    if ending == SILENT or not sending.retries:
        return ALL
    if is_only_there is None:
        return None
    return ONLY_THERE if is_only_there else NONE


def _worst_ms(sending: Sending, ending: str, failed_tries: int | None, usual_ms: int) -> int:
    """A refused connection takes as long as a message usually does; all tries together stay below the timeout."""
    if sending.timeout_ms is None:
        return 0
    if ending == SILENT:
        return sending.timeout_ms + (SCAN_MS if sending.mode == ASYNC else 0)
    most = 1 + sending.retries
    tries = most if failed_tries is None else min(failed_tries + 1, most)
    return min(tries * usual_ms, sending.timeout_ms)
