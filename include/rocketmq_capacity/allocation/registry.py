"""Every strategy by its name: what it gives to whom, and why it cannot run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from rocketmq_capacity.allocation import (
    avg,
    avg_by_circle,
    config,
    consistent_hash,
    machine_room,
    machine_room_nearby,
    pop,
)
from rocketmq_capacity.contracts.division import Division, Shares
from rocketmq_capacity.settings.policy import Policy


def _never(_: Division, __: Policy) -> None:
    """A strategy that runs for every group."""


def _for_no_topic(_: Division, __: Policy) -> Mapping[int, str]:
    """A strategy that throws for no topic."""
    return {}


@dataclass(frozen=True, slots=True)
class Strategy:
    """One allocation strategy.

    Attributes:
        shares: what each consumer takes, where the strategy can run.
        refusal: why it cannot run for a group that has consumers and queues, in RocketMQ's words where it has some;
            None where it can.
        throws: the indexes of the topics for which it throws, each with what it says.
    """

    shares: Callable[[Division, Policy], Shares]
    refusal: Callable[[Division, Policy], str | None] = _never
    throws: Callable[[Division, Policy], Mapping[int, str]] = _for_no_topic


STRATEGIES: Final[dict[str, Strategy]] = {
    avg.NAME: Strategy(avg.shares),
    avg_by_circle.NAME: Strategy(avg_by_circle.shares),
    config.NAME: Strategy(config.shares, config.refusal),
    machine_room.NAME: Strategy(machine_room.shares, machine_room.refusal),
    **{
        name: Strategy(
            partial(machine_room_nearby.shares, inner), machine_room_nearby.refusal, machine_room_nearby.throws
        )
        for name, inner in machine_room_nearby.INNER.items()
    },
    consistent_hash.NAME: Strategy(consistent_hash.shares),
    pop.NAME: Strategy(pop.shares, pop.refusal),
}
