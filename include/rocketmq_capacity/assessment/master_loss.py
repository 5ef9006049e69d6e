"""A master that is lost while its slaves stay: who is served again without it, and after how many seconds at most.

The table of failures and what-ifs both take their seconds from here. Sources: classes of rocketmq-all-5.3.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rocketmq_capacity.assessment.replicas import (
    EVERYBODY,
    Reading,
    Replica,
    elects_a_master,
    has_acting_master,
    readable_without_master,
)
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.settings.thresholds import TransitionPolicy
from rocketmq_capacity.vocabulary import BROKER_EXPIRED_S, LOCK_RENEWAL_S, NAMESERVER_SCAN_S, REQUEST_S

Way = Literal["KILL", "SILENT"]
"""How a master is lost. KILL: its process ends, and the system closes its connections. SILENT: its machine or its
network is gone, and no connection is closed."""
Use = Literal["WRITE", "PULL", "PULL_IN_ORDER", "POP"]
"""What clients do with a queue: send to it, pull it and consume in any order, pull it and consume in order, pop it."""

PULL_RETRY_S: Final = 3.0
"""DefaultMQPushConsumerImpl.pullTimeDelayMillsWhenException: a client waits this long after a failed pull."""
CONNECT_S: Final = 3.0
"""NettySystemConfig.connectTimeoutMillis: a pull that begins just before the route changes still tries to connect to
the lost machine for this long. A killed broker's machine refuses connections at once."""
NOT_ACTIVE_S: Final = 10.0
"""BrokerConfig.brokerNotActiveTimeoutMillis: after this long a name server expires a broker that has
enableSlaveActingMaster, and not after 120 s (BrokerController.doRegisterBrokerAll, RouteInfoManager.registerBroker)."""
HEARTBEAT_TIMEOUT_S: Final = 10.0
"""BrokerConfig.controllerHeartBeatTimeoutMills: after this long without a heartbeat a controller misses a master."""
CONTROLLER_SCAN_S: Final = 5.0
"""ControllerConfig.scanNotActiveBrokerInterval: how often it looks. It notices a closed connection at once
(DefaultBrokerHeartbeatManager.onBrokerChannelClose)."""


@dataclass(frozen=True, slots=True)
class MasterLoss:
    """What becomes of a broker that loses its master.

    Attributes:
        is_elected: a controller makes one of the slaves the new master.
        acts: the first slave acts for the master; whether the route says so depends on the name server.
        reading: who can read without the master.
        missed_s: by how it is lost, when name servers have another route of it, at most.
        clients: the intervals of clients.
    """

    is_elected: bool
    acts: bool
    reading: Reading
    missed_s: Mapping[Way, float]
    clients: TransitionPolicy

    @classmethod
    def of(cls, master: Replica | None, slaves: Sequence[Replica], clients: TransitionPolicy) -> "MasterLoss":
        """The loss of a master with these slaves, ordered by their broker id.

        A name server expires a silent broker 120 s after it last registered, and drops one whose connection is closed
        at once (BrokerHousekeepingService.onChannelClose). A controller elects a slave.

        Args:
            master: the master; None if it is lost already, so that its settings are unknown.
            slaves: the slaves that stay.
            clients: the intervals of clients.
        """
        is_elected = elects_a_master(slaves)
        if is_elected:
            timeouts_s = [_seconds(one, "controllerHeartBeatTimeoutMills", HEARTBEAT_TIMEOUT_S) for one in slaves]
            silent_s = max(timeouts_s) + CONTROLLER_SCAN_S
        elif master is not None and has_acting_master([master]):
            silent_s = _seconds(master, "brokerNotActiveTimeoutMillis", NOT_ACTIVE_S) + NAMESERVER_SCAN_S
        else:
            silent_s = BROKER_EXPIRED_S + NAMESERVER_SCAN_S
        reading = EVERYBODY if is_elected else readable_without_master(slaves)
        return cls(is_elected, has_acting_master(slaves[:1]), reading, {"KILL": 0.0, "SILENT": silent_s}, clients)

    def is_served(self, use: Use) -> bool | None:
        """Whether clients are served without the master; None if that is unknown."""
        if use == "WRITE":
            return self.is_elected
        return {"PULL": self.reading.pull, "PULL_IN_ORDER": self.reading.pull_in_order, "POP": self.reading.pop}[use]

    def routed_s(self, way: Way) -> float:
        """The most seconds until every client has the new route: it asks for it every 30 s (pollNameServerInterval)."""
        return self.missed_s[way] + self.clients.poll_nameserver_s + REQUEST_S

    def served_s(self, use: Use, way: Way) -> float | None:
        """The most seconds until clients are served again; None if they are not, or if that is unknown."""
        return self.would_be_served_s(use, way) if self.is_served(use) else None

    def would_be_served_s(self, use: Use, way: Way) -> float:
        """The same for clients that are served by all means.

        Their pulls wait for an answer of a silent master until a heartbeat to it fails, which closes the connection
        (NettyRemotingClient.invokeSync). Then each pull fails, and is repeated after some seconds. Clients that consume
        in order lock their queues anew at the new master (RebalanceImpl.lockAll).
        """
        routed_s = self.routed_s(way)
        if use == "WRITE":
            return routed_s
        locked_s = routed_s + LOCK_RENEWAL_S + REQUEST_S if use == "PULL_IN_ORDER" else 0.0
        if way == "SILENT":
            free_s = self.clients.heartbeat_s + REQUEST_S
            return max(max(routed_s, free_s) + CONNECT_S + PULL_RETRY_S, locked_s)
        return max(routed_s + PULL_RETRY_S, locked_s)

    def back_s(self, use: Use) -> float:
        """The most seconds until clients are served by the master when it is back and has registered.

        Clients get the route with the next poll. The next pull goes to the master, since slaves suggest the broker id 0
        (PullMessageProcessor, PullAPIWrapper.recalculatePullFromWhichNode). The master refuses it until it has the
        client's heartbeat (SUBSCRIPTION_NOT_EXIST), but no pop (compensateBasicConsumerInfo). Java clients from 5.2.0
        on send one when they connect, unless another one is in progress (enableHeartbeatChannelEventListener).
        """
        routed_s = self.clients.poll_nameserver_s + REQUEST_S
        if use == "WRITE":
            return routed_s
        if use == "POP":
            return routed_s + PULL_RETRY_S
        accepted_s = self.clients.heartbeat_s + REQUEST_S + PULL_RETRY_S
        return routed_s + (max(accepted_s, LOCK_RENEWAL_S + REQUEST_S) if use == "PULL_IN_ORDER" else accepted_s)


def _seconds(replica: Replica, key: str, usual_s: float) -> float:
    known = whole_number((replica.config or {}).get(key))
    return usual_s if known is None else known / 1000
