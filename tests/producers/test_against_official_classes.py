"""The model of sending makes the choices of RocketMQ's own producers and Proxy."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Final

import pytest

from rocketmq_capacity.producers.generation import release_of
from rocketmq_capacity.producers.java_numbers import hash_of
from rocketmq_capacity.producers.producer import ProducerThread, SendAnswer, SendOutcome
from rocketmq_capacity.producers.proxy import ProxyChoice
from rocketmq_capacity.producers.route import WritePlace
from tests.oracle.official_sender import (
    VERSIONS,
    Learning,
    Result,
    Scenario,
    Step,
    ask_buckets,
    ask_producer,
    ask_proxy,
)
from tests.oracle.requirement import started_or_skipped
from tests.producers.test_ordered import consistent_hash

pytestmark = pytest.mark.java

SCENARIOS: Final = 120
STEPS: Final = 40
LATENCIES_MS: Final = (0, 1, 49, 50, 99, 100, 549, 550, 999, 1_000, 1_799, 1_800, 2_000, 2_999, 3_000, 5_000, 20_000)
CODES: Final = (1, 2, 13, 14, 16, 17, 204, 205, 1_500)
WAITS_MS: Final = (0, 1, 10, 500, 2_000, 5_000, 10_000, 29_999, 30_000, 60_000, 600_000)
LAST_INDEX: Final = 2**31 - 1
BROKERS: Final = ("broker-a", "broker-b", "broker-c", "AaAa", "BBBB", "AaBB", "b", "c")
"""Java's hash codes of AaAa, BBBB and AaBB are equal."""


def random_answer(dice: Random, *, in_trouble: bool) -> SendAnswer:
    if not in_trouble:
        return SendAnswer(dice.choice((0, 1, 10, 60)))
    outcome = dice.choice((
        SendOutcome.STORED,
        SendOutcome.STORED,
        SendOutcome.UNREACHABLE,
        SendOutcome.UNKNOWN_ADDRESS,
        None,
    ))
    return SendAnswer(dice.choice(LATENCIES_MS), dice.choice(CODES) if outcome is None else outcome)


def random_route(dice: Random, names: Sequence[str]) -> tuple[WritePlace, ...]:
    return tuple(
        WritePlace(name, dice.randint(1, 4), dice.choice((6, 6, 6, 6, 2, 4)), dice.random() < 0.9) for name in names
    )


def random_start(dice: Random) -> int:
    return dice.choice((0, dice.randrange(LAST_INDEX), LAST_INDEX - dice.randint(1, 60)))


def random_scenario(dice: Random) -> Scenario:
    names = dice.sample(BROKERS, dice.randint(1, 5))
    route = random_route(dice, names)
    trouble = dice.choice((0.0, 0.2, 0.6, 1.0))
    is_bad = [dice.random() < trouble for _ in route]
    steps = list[Step | Learning]()
    for _ in range(STEPS):
        if dice.random() < 0.05:
            some = dice.sample(names, dice.randint(1, len(names)))
            steps.append(Learning(dice.choice(WAITS_MS), random_route(dice, some), random_start(dice)))
        if dice.random() < 0.1:
            is_bad = [dice.random() < trouble for _ in route]
        answers = tuple(random_answer(dice, in_trouble=bad) for bad in is_bad)
        steps.append(Step(dice.random() < 0.1, dice.choice(WAITS_MS), answers))
    return Scenario(
        route,
        tuple(steps),
        start=random_start(dice),
        worst_start=dice.choice((0, dice.randrange(LAST_INDEX), LAST_INDEX - dice.randint(1, 20))),
        resets=tuple(dice.randrange(LAST_INDEX) for _ in range(4 * STEPS)),
        tolerates=dice.random() < 0.75,
        detects=dice.random() < 0.5,
        retries=dice.choice((0, 1, 2, 2, 4)),
        timeout_ms=dice.choice((3_000, 3_000, 500, 10_000)),
    )


def played(sender: ProducerThread | ProxyChoice, scenario: Scenario) -> list[Result]:
    results, now = list[Result](), 0
    for step in scenario.steps:
        now += step.wait_ms
        if isinstance(step, Learning):
            sender.learn(step.route, step.start)
            results.append(Result((), "LEARNT", now))
            continue
        answers = {place.broker_name: answer for place, answer in zip(scenario.route, step.answers, strict=True)}
        if step.is_detection:
            sender.detect(now, partial(detected, answers))
            results.append(Result((), "DETECTED", now))
            continue
        sent = sender.send(now, answers.__getitem__)
        now = sent.ended_at_ms
        tries = tuple((queue.broker_name, queue.queue_id) for queue in sent.tries)
        results.append(Result(tries, "OK" if sent.is_stored else "FAILED", now))
    return results


def detected(answers: Mapping[str, SendAnswer], broker_name: str) -> bool | None:
    answer = answers[broker_name]
    return None if answer.outcome is SendOutcome.UNKNOWN_ADDRESS else answer.outcome is SendOutcome.STORED


def without_detection(scenario: Scenario) -> Scenario:
    sends = tuple(step for step in scenario.steps if isinstance(step, Learning) or not step.is_detection)
    return Scenario(
        **{name: getattr(scenario, name) for name in Scenario.__slots__} | {"steps": sends, "detects": False}
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_producer_makes_the_official_choices(version: str) -> None:
    dice = Random(version)
    release = release_of(f"V{version.replace('.', '_')}")
    assert release is not None
    scenarios = [random_scenario(dice) for _ in range(SCENARIOS)]
    if not release.generation.has_filters:
        scenarios = [without_detection(one) for one in scenarios]
    official = started_or_skipped(lambda: ask_producer(version, scenarios))
    failed = 0
    for scenario, results in zip(scenarios, official, strict=True):
        producer = ProducerThread(
            release,
            scenario.route,
            start=scenario.start,
            worst_start=scenario.worst_start,
            resets=scenario.resets,
            tolerates=scenario.tolerates,
            detects=scenario.detects,
            retries=scenario.retries,
            timeout_ms=scenario.timeout_ms,
        )
        assert played(producer, scenario) == results, scenario
        failed += sum(one.end == "FAILED" for one in results)
    assert failed > SCENARIOS
    assert sum(isinstance(step, Learning) for one in scenarios for step in one.steps) > SCENARIOS


@pytest.mark.parametrize("mode", ["ASYNC", "ONEWAY"])
def test_a_producer_that_does_not_wait_makes_the_official_choices(mode: str) -> None:
    dice = Random(mode)
    release = release_of("V5_3_3")
    assert release is not None
    scenarios = [
        replace(with_addresses(without_detection(random_scenario(dice))), mode=mode, tolerates=False)
        for _ in range(SCENARIOS)
    ]
    official = started_or_skipped(lambda: ask_producer("5.3.3", scenarios))
    failed = retried = 0
    for scenario, results in zip(scenarios, official, strict=True):
        producer = ProducerThread(
            release,
            scenario.route,
            start=scenario.start,
            mode=mode,
            retries=scenario.retries,
            timeout_ms=scenario.timeout_ms,
        )
        ours = played(producer, scenario)
        if mode == "ONEWAY":  # nobody says whether it is stored; without a queue there is no try
            ours = [one._replace(end="OK") if one.tries else one for one in ours]
        assert ours == results, scenario
        failed += sum(one.end == "FAILED" for one in results)
        retried += sum(len(one.tries) > 1 for one in results)
    assert failed > 0
    assert (retried > SCENARIOS) is (mode == "ASYNC")


def with_addresses(scenario: Scenario) -> Scenario:
    """The same where a client knows the address of every broker."""
    steps = tuple(
        step if isinstance(step, Learning) else step._replace(answers=tuple(map(_with_address, step.answers)))
        for step in scenario.steps
    )
    return replace(scenario, steps=steps)


def _with_address(answer: SendAnswer) -> SendAnswer:
    return answer._replace(outcome=SendOutcome.UNREACHABLE) if answer.outcome is SendOutcome.UNKNOWN_ADDRESS else answer


def test_the_proxy_makes_the_official_choices() -> None:
    dice = Random(7)
    scenarios = [random_scenario(dice) for _ in range(SCENARIOS)]
    starts = [dice.choice((one.start, -one.start, LAST_INDEX - 20, -LAST_INDEX - 1)) for one in scenarios]
    scenarios = [replace(one, start=start) for one, start in zip(scenarios, starts, strict=True)]
    official = started_or_skipped(lambda: ask_proxy(scenarios))
    for scenario, results in zip(scenarios, official, strict=True):
        proxy = ProxyChoice(
            scenario.route, start=scenario.start, tolerates=scenario.tolerates, timeout_ms=scenario.timeout_ms
        )
        assert played(proxy, scenario) == results, scenario


def test_a_message_group_goes_where_the_official_proxy_sends_it() -> None:
    dice = Random(11)
    groups = [(f"order-{dice.randrange(10**9)}", dice.randint(1, 64)) for _ in range(2_000)]
    official = started_or_skipped(lambda: ask_buckets(groups))
    assert [consistent_hash(hash_of(name), queues) for name, queues in groups] == official
