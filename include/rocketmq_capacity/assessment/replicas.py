"""What a broker's slaves do without their master: who reads from them, and who is elected."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Protocol

from rocketmq_capacity.tables import Broker

TRUE: Final = "true"


class Replica(Protocol):
    """A slave of a broker, as the inventory or the table has it."""

    @property
    def config(self) -> Mapping[str, str] | None:
        """The broker's properties; None where they are unknown."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Who can read the queues of a broker without a master; None where the slaves' settings are unknown.

    Attributes:
        pull: clients that pull and consume in any order.
        pull_in_order: clients that consume in order, which lock each queue at the master.
        pop: clients that pop.
    """

    pull: bool | None
    pull_in_order: bool | None
    pop: bool | None


EVERYBODY: Final = Reading(pull=True, pull_in_order=True, pop=True)


def masterless(brokers: Iterable[Broker]) -> dict[str, list[Broker]]:
    """The slaves of each broker without a master, by name, in the order of their broker ids."""
    replicas: dict[str, list[Broker]] = {}
    for broker in sorted(brokers, key=lambda one: (one.broker_name, one.broker_id)):
        replicas.setdefault(broker.broker_name, []).append(broker)
    return {name: slaves for name, slaves in replicas.items() if slaves[0].broker_id}


def registered_only_with(nameservers: AbstractSet[str], masters: Mapping[str, Replica]) -> tuple[str, ...] | None:
    """The brokers that register with these name servers alone (namesrvAddr); None if one does not tell where it does.

    Args:
        nameservers: their addresses.
        masters: the first replica of each broker, by name.
    """
    alone = []
    for name, master in masters.items():
        namesrv_addr = (master.config or {}).get("namesrvAddr")
        if namesrv_addr is None:
            return None
        addresses = {one.strip() for one in namesrv_addr.split(";") if one.strip()}
        if addresses and addresses <= nameservers:
            alone.append(name)
    return tuple(alone)


def elects_a_master(slaves: Sequence[Replica]) -> bool:
    """Whether a controller makes one of the slaves the new master (enableControllerMode)."""
    return any(_is_set(slave, "enableControllerMode") for slave in slaves)


def has_acting_master(slaves: Sequence[Replica]) -> bool:
    """Whether the first slave acts for the master (enableSlaveActingMaster): its route is read only."""
    return any(_is_set(slave, "enableSlaveActingMaster") for slave in slaves)


def readable_without_master(slaves: Sequence[Replica]) -> Reading:
    """Who can read from the slaves, which are ordered by their broker id.

    Clients turn to the slave with the smallest id. One without slaveReadEnable refuses every pull, even where it acts
    for the master. Locks of orderly consumers and pops go to a broker with the id 0 alone. The route has one only where
    the slave acts for the master and the name server has supportActingMaster, which no broker tells.
    Source: MQClientInstance.findBrokerAddressInSubscribe, PullMessageProcessor.rejectRequest, RebalanceImpl.lock,
    RouteInfoManager.pickupTopicRouteData, rocketmq-all-5.3.3.
    """
    if not slaves:
        return Reading(pull=False, pull_in_order=False, pop=False)
    pull = _is_set(slaves[0], "slaveReadEnable")
    acts = _is_set(slaves[0], "enableSlaveActingMaster")
    has_id_0 = None if acts is not False else False
    return Reading(
        pull=pull,
        pull_in_order=False if pull is False or has_id_0 is False else None,
        pop=has_id_0,
    )


def _is_set(slave: Replica, key: str) -> bool | None:
    """Whether a switch is on; None where the broker does not say."""
    value = (slave.config or {}).get(key)
    return None if value is None else value.lower() == TRUE
