"""Failures of the whole cluster: a lost master, a broker that restarts, a lost name server."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rocketmq_capacity.assessment.master_loss import MasterLoss
from rocketmq_capacity.assessment.replicas import Reading, readable_without_master, registered_only_with
from rocketmq_capacity.model.broker_figures import MIB, put_bytes_per_s
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Broker, ClusterFailure
from rocketmq_capacity.vocabulary import MASTER_LOST, NAME_SERVER_LOST, RESTART
from rocketmq_capacity.wording import fixed, listed

FILE_BYTES: Final = 1 << 30
"""MessageStoreConfig.mappedFileSizeCommitLog."""
CHECKPOINT_S: Final = 60.0 + 3.0
"""How old a broker's checkpoint is at most: flushConsumeQueueThoroughInterval, and what StoreCheckpoint takes off."""


def cluster_failures(cluster: ClusterFacts, policy: Policy) -> Iterator[ClusterFailure]:
    """A row for each lost master, each restarted master, and each lost name server."""
    replicas: dict[str, list[Broker]] = {}
    for broker in sorted(cluster.brokers, key=lambda one: (one.broker_name, one.broker_id)):
        replicas.setdefault(broker.broker_name, []).append(broker)
    for name, (first, *slaves) in replicas.items():
        if first.broker_id:
            yield _masterless(name, (first, *slaves))
        else:
            yield _master_lost(name, slaves, MasterLoss.of(first, slaves, policy.thresholds.TRANSITION))
            yield _restarted(first, policy)
    for address in sorted(set(cluster.cluster.nameservers)):
        yield _nameserver_lost(address, cluster, replicas)


def _master_lost(name: str, slaves: Sequence[Broker], loss: MasterLoss) -> ClusterFailure:
    if not slaves:
        return _failure(
            MASTER_LOST,
            name,
            loss.reading,
            lost_brokers=(name,),
            read_again_s=None,
            why="It has no slave: nobody reads its queues until it is back.",
        )
    if loss.is_elected:
        why = "The controller makes a slave the new master, and clients find it with their next route."
    elif loss.reading.pull is None:
        why = "Its slaves do not report their settings (slaveReadEnable): it is unknown who can read from them."
    elif not loss.reading.pull:
        why = "Its slaves refuse to be read (slaveReadEnable is false): nobody reads its queues until it is back."
    else:
        why = (
            "Clients that pull in any order turn to a slave once the name server has dropped the master. Others need"
            " an acting master (enableSlaveActingMaster, and supportActingMaster of the name server)."
        )
    again_s = loss.served_s("PULL", "SILENT")
    return _failure(MASTER_LOST, name, loss.reading, is_writable=loss.is_elected, read_again_s=again_s, why=why)


def _masterless(name: str, slaves: Sequence[Broker]) -> ClusterFailure:
    """A broker whose master is lost already: what its slaves serve now."""
    reading = readable_without_master(slaves)
    who = "Clients that pull in any order read from a slave" if reading.pull else "Nobody reads its queues"
    if reading.pull is None:
        who = "Its slaves do not report their settings (slaveReadEnable): it is unknown who reads from them"
    return _failure(
        MASTER_LOST,
        name,
        reading,
        read_again_s=0.0 if reading.pull else None,
        why=f"It has no master now. {who}, and nobody writes there until the master is back.",
    )


def _failure(
    failure: str,
    lost: str,
    reading: Reading,
    *,
    why: str,
    read_again_s: float | None,
    is_estimated: bool = False,
    is_writable: bool | None = False,
    lost_brokers: tuple[str, ...] | None = (),
) -> ClusterFailure:
    return ClusterFailure(
        failure=failure,
        lost=lost,
        lost_brokers=lost_brokers,
        is_writable=is_writable,
        can_pull=reading.pull,
        can_pull_in_order=reading.pull_in_order,
        can_pop=reading.pop,
        read_again_s=read_again_s,
        is_estimated=is_estimated,
        why=why,
    )


def _all_or_nobody(can_read: bool | None) -> Reading:
    """All clients can read, or none can; None if unknown."""
    return Reading(pull=can_read, pull_in_order=can_read, pop=can_read)


def _restarted(master: Broker, policy: Policy) -> ClusterFailure:
    """A broker that was killed and starts again: it reads the end of its commit log before it serves anybody."""
    begin = _number(master.runtime, "commitLogMinOffset")
    end = _number(master.runtime, "commitLogMaxOffset")
    seconds: float | None = None
    why = "It is unknown how much its commit log holds."
    if begin is not None and end is not None and begin <= end:
        settings = policy.thresholds.BROKER_RESTART
        read = min(end - begin, _behind_checkpoint(master, end))
        starts_s = settings.start_s + read / (settings.recovered_mib_per_s * MIB)
        clients = policy.thresholds.TRANSITION
        seconds = starts_s + clients.poll_nameserver_s + clients.rebalance_s
        why = (
            f"Its commit log holds {fixed((end - begin) / MIB, 1)} MiB, of which it reads {fixed(read / MIB, 1)} MiB"
            f" first. After {fixed(starts_s, 1)} s it is back, and clients find it with their next route and rebalance."
        )
    return _failure(
        RESTART,
        master.broker_name,
        _all_or_nobody(False),
        lost_brokers=(master.broker_name,),
        read_again_s=seconds,
        is_estimated=True,
        why=why,
    )


def _behind_checkpoint(master: Broker, end: int) -> float:
    """Bytes of the commit log from the file that was written at the last checkpoint to the end.

    Source: CommitLog.recoverAbnormally, which begins at the last file whose first message is not newer than that.
    """
    file = _number(master.config, "mappedFileSizeCommitLog") or FILE_BYTES
    rate = put_bytes_per_s(master.runtime)
    since = file if rate is None else rate * CHECKPOINT_S
    return end - max(end - 1 - since, 0) // file * file


def _nameserver_lost(address: str, cluster: ClusterFacts, replicas: Mapping[str, Sequence[Broker]]) -> ClusterFailure:
    """A name server that does not answer: who knows another one, asks that."""
    if len(set(cluster.cluster.nameservers)) < 2:
        return _failure(
            NAME_SERVER_LOST,
            address,
            _all_or_nobody(True),
            is_writable=True,
            read_again_s=0.0,
            why="It is the only one: clients keep their routes, notice no change of queues, and cannot start.",
        )
    lost = registered_only_with({address}, {name: first for name, (first, *_) in replicas.items()})
    why = (
        "Clients that know other name servers ask one of them for their route after the next one. Clients that know"
        " this one alone keep their routes, notice no change of queues, and cannot start."
    )
    if lost is None:
        why += " It is unknown which brokers register only with it."
    elif lost:
        why += f" Registered only with it: {listed(lost)}. Their queues leave the route of all other clients."
    is_usable = None if lost is None else not lost
    return _failure(
        NAME_SERVER_LOST,
        address,
        _all_or_nobody(is_usable),
        lost_brokers=lost,
        is_writable=is_usable,
        read_again_s=0.0 if is_usable else None,
        why=why,
    )


def _number(figures: Mapping[str, str] | None, name: str) -> int | None:
    return whole_number((figures or {}).get(name))
