"""What a what-if says of a lost master in words: each kind of clients, and how they come back."""

from collections.abc import Iterator
from typing import Final

from rocketmq_capacity.assessment.master_loss import MasterLoss, Use
from rocketmq_capacity.vocabulary import REQUEST_S

HELD_S: Final = 30
"""ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME: so long after its last lock a client consumes what it holds in order."""
SLAVE_SYNC_S: Final = 60
"""BrokerController.handleSlaveSynchronize: a slave copies the offsets of groups from its master this often."""


def meaning(loss: MasterLoss, use: Use, *, has_slaves: bool) -> str:
    """What happens to clients of a kind."""
    if use == "WRITE":
        return _writing(loss)
    if loss.is_elected:
        return _elected(use)
    if not has_slaves:
        return "Nobody answers them: the broker has no slave."
    if use == "PULL":
        return _pulling(loss)
    served = loss.is_served(use)
    wait = _locking(loss) if use == "PULL_IN_ORDER" else "They pop from a master alone."
    if served is None:
        return f"{wait} {_acting(loss, use)}"
    if use == "PULL_IN_ORDER" and loss.reading.pull is False:
        return f"{wait} The slave refuses to be read, too."
    return f"{wait} No slave acts for it (enableSlaveActingMaster)."


def _locking(loss: MasterLoss) -> str:
    """What clients do that consume in order: a real client goes on with a slave while its lock lasts."""
    what = "what they hold" if loss.reading.pull is False else "what they hold, and what the slave gives them"
    return f"They consume for {HELD_S} s at most after their last lock, {what}. They lock a queue at a master alone."


def _writing(loss: MasterLoss) -> str:
    if loss.is_elected:
        return (
            "They send to the new master when their route has it. A controller elects only a slave that was in sync;"
            " which ones were, no broker tells."
        )
    killed_s, silent_s = loss.routed_s("KILL"), loss.routed_s("SILENT")
    return (
        f"Their route lacks it after {killed_s:g} s at most if its process ends, and {silent_s:g} s if its machine is"
        " gone."
        " Then they send to other brokers. Until then each send there fails, and is tried again elsewhere."
    )


def _elected(use: Use) -> str:
    if use == "PULL_IN_ORDER":
        return "They lock their queues at the new master when their route has it."
    return "They turn to the new master when their route has it."


def _pulling(loss: MasterLoss) -> str:
    """What clients that pull in any order do.

    Source: for Go fetchConsumeOffsetFromBroker (offset_store.go), FindBrokerAddrByName (route.go), client-go v2.1.2.
    """
    if loss.reading.pull is None:
        unknown = "UNDECIDED: the slave with the smallest id does not report slaveReadEnable."
        return f"{unknown} If it is set, {_after(loss, 'PULL')}"
    if not loss.reading.pull:
        return "The slave with the smallest id refuses: its slaveReadEnable is false."
    old_s = SLAVE_SYNC_S + loss.clients.persist_offset_s
    return (
        "They turn to the slave with the smallest id when their route lacks the master. They cannot read what it has"
        f" not copied. A client that starts meanwhile begins at the slave's copy of its offset, about {old_s:g} s old"
        " at most, and consumes the messages since then again. A Go v2 client that starts meanwhile does not read"
        " there, because it asks the master alone for its offsets."
    )


def _acting(loss: MasterLoss, use: Use) -> str:
    if not loss.acts:
        return f"UNDECIDED: the slave does not report enableSlaveActingMaster. If it is set, {_after(loss, use)}"
    return (
        "UNDECIDED: a slave acts for it only where the name servers have supportActingMaster, which no broker tells."
        f" If it is set, {_after(loss, use)}"
    )


def _after(loss: MasterLoss, use: Use) -> str:
    """When clients would be served, if they were."""
    killed_s, silent_s = loss.would_be_served_s(use, "KILL"), loss.would_be_served_s(use, "SILENT")
    return (
        f"they are served after {killed_s:g} s at most if its process ends, and {silent_s:g} s if its machine is gone."
    )


def coming_back(loss: MasterLoss, restart: str | None) -> Iterator[str]:
    """How clients come back when the master returns.

    Args:
        loss: the loss.
        restart: what a restart of the broker takes, in words; None if unknown.
    """
    if loss.is_elected:
        yield "It comes back as a slave, and clients stay with the new master."
        return
    if restart is not None:
        yield f"Started again after a kill: {restart[:1].lower()}{restart[1:]}"
    write_s, pop_s = loss.back_s("WRITE"), loss.back_s("POP")
    pull_s, order_s = loss.back_s("PULL"), loss.back_s("PULL_IN_ORDER")
    yield (
        f"It registers when it is up. Producers send there again after {write_s:g} s more at most, clients that pop"
        f" read after {pop_s:g} s, clients that pull after {pull_s:g} s, and clients that consume in order, which lock"
        f" their queues anew, after {order_s:g} s. It answers pulls only after a heartbeat of the client: Java clients"
        " from 5.2.0 on send it when they connect, so that it is mostly less."
    )
    if loss.reading.pull is False:
        yield "What waits there is read from the committed offsets on."
        return
    persist_s = loss.clients.persist_offset_s + REQUEST_S
    yield (
        "Clients that read from a slave go on where they are: their next pull goes to the master, and they commit their"
        f" offsets there within {persist_s:g} s."
    )
    if loss.acts:
        yield "With totalReplicas above 1 the master takes over the slaves' offsets before it registers."
    else:
        yield (
            "The master has the offsets of before the loss: a client that starts before the others have committed"
            " consumes again what was read from the slave."
        )
