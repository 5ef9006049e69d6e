"""Every strategy by its name: its shares, and why it cannot run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from rocketmq_capacity.allocation import (
    avg,
    avg_by_circle,
    config,
    consistent_hash,
    consistent_hash_go,
    machine_room,
    machine_room_4_7_1,
    machine_room_nearby,
    own_class,
    pop,
)
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import GO_V2, JAVA_4_7_1, Dialect


@dataclass(frozen=True, slots=True)
class Strategy:
    """One allocation strategy.

    Attributes:
        shares: the share of each consumer, if the strategy can run.
        refusal: why it cannot run for a group that has consumers and queues, in RocketMQ's words if it has some; None
            if it can run. A strategy without this function always runs.
        throws: the indexes of the topics for which it throws, each with its message; None if it never throws.
        dialects: by dialect, the implementation of clients that compute it differently.
        can_join: whether ``shares`` takes joined divisions too. Such a function finds the consumers only by the members
            ``consumers``, ``first_place``, ``consumers_of_part`` and ``parts`` of the division.
    """

    shares: Callable[[Division, Policy], Shares]
    refusal: Callable[[Division, Policy], str | None] | None = None
    throws: Callable[[Division, Policy], Mapping[int, str]] | None = None
    dialects: Mapping[Dialect, "Strategy"] = field(default_factory=dict)
    can_join: bool = False


STRATEGIES: Final[dict[str, Strategy]] = {
    avg.NAME: Strategy(avg.shares, can_join=True),
    avg_by_circle.NAME: Strategy(avg_by_circle.shares, can_join=True),
    config.NAME: Strategy(config.shares, config.refusal),
    machine_room.NAME: Strategy(
        machine_room.shares,
        machine_room.refusal,
        dialects={
            JAVA_4_7_1: Strategy(machine_room_4_7_1.shares_by_java, machine_room.refusal),
            GO_V2: Strategy(machine_room_4_7_1.shares_by_go, machine_room.refusal),
        },
        can_join=True,
    ),
    **{
        name: Strategy(
            partial(machine_room_nearby.shares, inner),
            machine_room_nearby.refusal,
            machine_room_nearby.throws,
            dialects={GO_V2: Strategy(avg.shares)},  # AllocateByMachineNearby, "TODO" in strategy.go at 2173d07
            can_join=True,
        )
        for name, inner in machine_room_nearby.INNER.items()
    },
    consistent_hash.NAME: Strategy(
        consistent_hash.shares, dialects={GO_V2: Strategy(consistent_hash_go.shares)}, can_join=True
    ),
    pop.NAME: Strategy(pop.shares, pop.refusal, can_join=True),
}
OWN_CLASS: Final = Strategy(own_class.shares, own_class.refusal, own_class.throws)


def strategy_of(name: str) -> Strategy:
    """The strategy of this name; a name that is not known here is a class of the deployment's own."""
    return STRATEGIES.get(name, OWN_CLASS)
