"""When clients and brokers notice a change: RocketMQ's timers, as a cluster has set them.

The constants come from the classes at rocketmq-all-5.3.3. A broker's configuration overrides them. The intervals of
clients come from the policy (``thresholds.TRANSITION``), because clients do not report them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Ending
from rocketmq_capacity.simulation.delays import Delay
from rocketmq_capacity.vocabulary import REQUEST_S

MIN_REBALANCE_S: Final = 1.0
"""RebalanceService.minInterval: a notified client waits until its last rebalance is this long ago."""
NOTIFY_TIMER_S: Final = 15.0
"""DefaultConsumerIdsChangeListener: how often brokers notify members if realTimeNotifyConsumerChange is false."""
CHANNEL_SCAN_S: Final = 10.0
"""ClientHousekeepingService: how often a broker looks for silent clients. It does not notify the others when it drops
one (ConsumerManager.scanNotActiveChannel sends no CHANGE), so they find out in their rebalance loop."""
BROKER_LOCK_S: Final = 60.0
"""RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME. unlockBatchMQ ends one earlier; a closed connection does not."""
UNLOCK_DELAY_S: Final = 20.0
"""RebalancePushImpl.UNLOCK_DELAY_TIME_MILLS: so long a client may keep the lock of a queue that it no longer reads."""
MAX_SPAN: Final = 2_000 + 32
"""How far the committed offset can be behind the newest consumed message; it is that of the oldest unfinished message.

It is DefaultMQPushConsumer.consumeConcurrentlyMaxSpan, and one pullBatchSize that is fetched at the limit."""
CONSUME_TIMEOUT_S: Final = 15 * 60.0
"""DefaultMQPushConsumer.consumeTimeout: a message that takes longer is sent back, and no longer holds the offset."""

SETTINGS: Final = ("notifyConsumerIdsChangedEnable", "realTimeNotifyConsumerChange", "channelExpiredTimeout")
"""The properties of brokers that matter; the slowest broker counts."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The timers of a cluster and its clients, in seconds.

    Attributes:
        notifies: brokers notify members when the members change.
        is_real_time: they do so at once, not every 15 s.
        channel_expired_s: a broker forgets a client after this long without a heartbeat.
        route_s: how often clients ask for routes (ClientConfig.pollNameServerInterval).
        heartbeat_s: how often clients send heartbeats (ClientConfig.heartbeatBrokerInterval).
        rebalance_s: how often clients rebalance without being told to (RebalanceService.waitInterval).
        persist_s: how often clients commit offsets (ClientConfig.persistConsumerOffsetInterval).
        rollout_s: how long it takes to restart all clients of a group; new code comes with a restart.
        failed_polls: how many polls of a client may fail, because name servers are dead while others answer.
        observed: by property of brokers, whether the snapshot has it; otherwise the default of 5.3.3 counts.
    """

    notifies: bool = True
    is_real_time: bool = True
    channel_expired_s: float = 120.0
    route_s: float = 30.0
    heartbeat_s: float = 30.0
    rebalance_s: float = 20.0
    persist_s: float = 5.0
    rollout_s: float = 60.0
    failed_polls: int = 0
    observed: Mapping[str, bool] | None = None

    @classmethod
    def of(cls, cluster: ClusterFacts, policy: Policy, failed_polls: int = 0) -> "Timing":
        """The timers of a cluster; so many polls of a client may fail."""
        settings = _reported(cluster)
        intervals = policy.thresholds.TRANSITION
        return cls(
            notifies=all(value != "false" for value in settings[SETTINGS[0]]),
            is_real_time=all(value != "false" for value in settings[SETTINGS[1]]),
            channel_expired_s=max((_seconds(value) for value in settings[SETTINGS[2]]), default=120.0),
            route_s=intervals.poll_nameserver_s,
            heartbeat_s=intervals.heartbeat_s,
            rebalance_s=intervals.rebalance_s,
            persist_s=intervals.persist_offset_s,
            rollout_s=intervals.rollout_s,
            failed_polls=failed_polls,
            observed={name: bool(values) for name, values in settings.items()},
        )

    @property
    def notified(self) -> Delay:
        """When a client rebalances after brokers know that the members changed.

        If brokers notify it at once, it only waits until `MIN_REBALANCE_S` after its last rebalance. If they notify it
        by the timer, it rebalances then or in its loop, whichever comes first: on average after ``a / 2 - a² / 6b`` for
        periods a <= b. Brokers send a notification once and get no answer (Broker2Client.notifyConsumerIdsChanged). If
        it is lost, the client notices the change in its loop.
        """
        most = self.rebalance_s + REQUEST_S
        if not self.notifies:
            return Delay.of(0.0, (self.rebalance_s,), most)
        if self.is_real_time:
            return Delay.of(0.0, (MIN_REBALANCE_S,), most)
        short, long = sorted((NOTIFY_TIMER_S, self.rebalance_s))
        mean = short / 2 - short * short / (6 * long)
        return Delay.of(0.0, (2 * mean,), most)

    @property
    def routed(self) -> Delay:
        """When a client rebalances after name servers have another route: it asks for the route, then its loop runs.

        If its name server does not answer, the client finds out at its next request, closes the connection, and asks
        another name server one period later (NettyRemotingClient.getAndCreateNameserverChannel).
        """
        return Delay.of(0.0, (self.route_s, self.rebalance_s), self.asked_s + self.rebalance_s)

    @property
    def asked_s(self) -> float:
        """The most seconds until a client has asked a name server that answers."""
        return (1 + self.failed_polls) * (self.route_s + REQUEST_S)

    @property
    def restarted(self) -> Delay:
        """When a client runs its new code."""
        return Delay.of(0.0, (self.rollout_s,), self.rollout_s + REQUEST_S)

    @property
    def refused_s(self) -> float:
        """For how long brokers may refuse the pulls of a client whose queues have changed.

        Such a rebalance gives the client's subscription a new version. The client sends it to brokers in a heartbeat,
        but not while another heartbeat is in progress. Then brokers answer SUBSCRIPTION_NOT_LATEST to every pull until
        the next heartbeat. This is rare, so only the worst case counts it.
        Source: RebalancePushImpl.messageQueueChanged, MQClientInstance.sendHeartbeatToAllBrokerWithLockV2.
        """
        return self.heartbeat_s

    def forgotten(self, ending: Ending) -> Delay:
        """When the others rebalance after a client has ended; a silent client ends when its heartbeat expires."""
        if ending != "SILENT":
            return self.notified
        fixed = self.channel_expired_s - min(self.heartbeat_s, self.channel_expired_s)
        spans = (min(self.heartbeat_s, self.channel_expired_s), CHANNEL_SCAN_S, self.rebalance_s)
        return Delay.of(fixed, spans, fixed + sum(spans) + REQUEST_S)

    def apart(self, ending: Ending) -> Delay:
        """When a client rebalances, counted from when the first broker forgot another client.

        Each broker forgets clients by its own scan.
        """
        if ending != "SILENT":
            return self.notified
        return Delay.of(0.0, (CHANNEL_SCAN_S, self.rebalance_s), CHANNEL_SCAN_S + self.rebalance_s + REQUEST_S)

    def as_text(self) -> str:
        """JSON of the timers, and the names of the properties that come from the snapshot."""
        shown = {
            "notifyConsumerIdsChangedEnable": self.notifies,
            "realTimeNotifyConsumerChange": self.is_real_time,
            "channelExpiredTimeout_s": self.channel_expired_s,
            "pollNameServerInterval_s": self.route_s,
            "heartbeatBrokerInterval_s": self.heartbeat_s,
            "rebalance_waitInterval_s": self.rebalance_s,
            "persistConsumerOffsetInterval_s": self.persist_s,
            "rollout_s": self.rollout_s,
            "from_snapshot": sorted(name for name, is_told in (self.observed or {}).items() if is_told),
        }
        return json.dumps(shown, separators=(",", ":"))


def _reported(cluster: ClusterFacts) -> dict[str, list[str]]:
    """By setting, the values that brokers report."""
    configs = [one.config for one in cluster.brokers if one.config is not None]
    return {
        name: [value.strip().lower() for config in configs if (value := config.get(name)) is not None]
        for name in SETTINGS
    }


def _seconds(milliseconds: str) -> float:
    """Seconds of a property in milliseconds; the default of 120 s if it is not a number."""
    known = whole_number(milliseconds)
    return 120.0 if known is None else known / 1000
