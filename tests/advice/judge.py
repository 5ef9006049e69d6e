"""What a plan says, compared with what is wrong: of a healthy fleet nothing, of a fault one cause."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

Plan = Mapping[str, Any]

LINES_PER_100_GROUPS: Final = 2
"""Findings and recommendations that a healthy fleet may have."""
DANGERS: Final = ("WARNING", "CRITICAL")


@dataclass(frozen=True)
class Expected:
    """What a plan has to say of one fault.

    Attributes:
        rule: of the cause.
        severities: of which the cause has one.
        actions: of which one is the first answer.
        consumer_group: what it is about, as are ``topic`` and ``broker_name``; None if it is not about one.
        also: rules whose findings may be consequences within the cause.
        may_name: further groups, topics and brokers that it may name.
    """

    rule: str
    severities: tuple[str, ...]
    actions: tuple[str, ...]
    consumer_group: str | None = None
    topic: str | None = None
    broker_name: str | None = None
    also: frozenset[str] = frozenset()
    may_name: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All names that findings and recommendations may be about."""
        own = {self.consumer_group, self.topic, self.broker_name} - {None}
        return self.may_name | {name for name in own if name is not None}


@dataclass(frozen=True)
class Judgement:
    """How a plan's causes agree with a fault."""

    expected: Expected
    plan: Plan = field(repr=False)

    @cached_property
    def cause(self) -> Plan | None:
        """The cause of the expected rule and subject."""
        return next((one for one in self.plan["causes"] if self._is_it(one)), None)

    @cached_property
    def extra(self) -> list[Plan]:
        """The other causes."""
        return [one for one in self.plan["causes"] if one is not self.cause]

    @property
    def found(self) -> str:
        """The rules, actions and severities of the plan's causes, in a few words."""
        return ", ".join(map(_in_words, self.plan["causes"])) or "nothing"

    @cached_property
    def problems(self) -> list[str]:
        """What is not as expected, each in a sentence; empty if everything is."""
        return list(self._problems())

    def _problems(self) -> Iterator[str]:
        cause, expected = self.cause, self.expected
        if cause is None:
            yield f"no cause {expected.rule} of {', '.join(sorted(expected.names)) or 'the cluster'}"
        else:
            if cause["severity"] not in expected.severities:
                yield f"{cause['severity']}, expected {' or '.join(expected.severities)}"
            if cause["action"] not in expected.actions:
                yield f"first answer {cause['action']}, expected {' or '.join(expected.actions)}"
            rules = {finding["rule"] for finding in self._findings(cause)} - {expected.rule} - expected.also
            if rules:
                yield f"consequences {', '.join(sorted(rules))}"
        for one in self.extra:
            yield f"another cause: {_in_words(one)}"
        foreign = sorted(set(self._named()) - expected.names)
        if foreign:
            yield f"names {', '.join(foreign)}"

    def _is_it(self, cause: Plan) -> bool:
        expected = self.expected
        findings = [finding for finding in self._findings(cause) if finding["rule"] == expected.rule]
        about = [expected.consumer_group, expected.topic, expected.broker_name]
        return cause["rule"] == expected.rule and any(
            all(
                name is None or name in (finding[key], *finding["subjects"])
                for key, name in zip(("consumer_group", "topic", "broker_name"), about, strict=True)
            )
            for finding in findings
        )

    def _findings(self, cause: Plan) -> list[Plan]:
        ids = set(cause["findings"])
        return [finding for finding in self.plan["findings"] if finding["id"] in ids]

    def _named(self) -> Iterator[str]:
        for one in (*self.plan["findings"], *self.plan["recommendations"]):
            yield from (one[key] for key in ("consumer_group", "topic", "broker_name") if one.get(key))


def noise(plan: Plan) -> list[str]:
    """What the plan of a healthy fleet should not say; empty if nothing."""
    loud = [
        f"{one['severity']} {one['rule']} {_about(one)}: {one['message']}"
        for one in plan["findings"]
        if one["severity"] in DANGERS
    ]
    loud += [
        f"{one['action']} {_about(one)} changes the cluster: {one['reason']}"
        for one in plan["recommendations"]
        if one["changes_cluster"]
    ]
    lines = len(plan["findings"]) + len(plan["recommendations"])
    most = len(plan["groups"]) * LINES_PER_100_GROUPS // 100
    if lines > most:
        loud.append(f"{lines} lines for {len(plan['groups'])} groups, at most {most}: {', '.join(_counts(plan))}")
    return loud


def _counts(plan: Plan) -> list[str]:
    names = [one["rule"] for one in plan["findings"]] + [one["action"] for one in plan["recommendations"]]
    return [f"{names.count(name)} {name}" for name in sorted(set(names))]


def _about(one: Plan) -> str:
    return " ".join(str(one[key]) for key in ("consumer_group", "topic", "broker_name") if one.get(key)) or "cluster"


def _in_words(cause: Plan) -> str:
    return f"{cause['severity']} {cause['rule']} → {cause['action']} ({_about(cause)})"
