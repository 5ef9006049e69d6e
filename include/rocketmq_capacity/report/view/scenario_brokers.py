"""What a what-if says of the brokers that it names: one without its master, and one that is slow."""

from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.plan_file.troubled_broker import LostMasterOutlook, SlowBrokerOutlook
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.view.lost_masters import LostMasterView, lost_master_view
from rocketmq_capacity.wording import counted

ANSWERS = {True: "can read it", False: "cannot read it", None: "may read it: its slaves do not say"}


@dataclass(frozen=True, slots=True)
class BrokerLines:
    """One of these brokers: its name, what happens to it, and a line for each kind of client."""

    name: str
    happens: str
    lines: tuple[tuple[str, str], ...]
    lost_master: LostMasterView | None = None
    """In place of the lines."""


def broker_lines(scenario: ScenarioResult) -> tuple[BrokerLines, ...]:
    """The brokers in the order of the changes."""
    brokers = () if scenario.brokers is UNSET else scenario.brokers
    return tuple(_master(one) if isinstance(one, LostMasterOutlook) else _slow(one) for one in brokers)


def _master(outlook: LostMasterOutlook) -> BrokerLines:
    clients = (
        ("clients that pull", outlook.can_read.pull),
        ("clients that consume in order", outlook.can_read.pull_in_order),
        ("clients that pop", outlook.can_read.pop),
    )
    write = "can write it" if outlook.is_writable else f"cannot write its {number(outlook.writable_queues)} queues"
    lines = (("producers", write), *((who, ANSWERS[can]) for who, can in clients))
    stays = "no slave stays" if not outlook.replicas else f"{counted(outlook.replicas, 'slave')} left"
    elected = ", and a controller makes one of them the new master" if outlook.has_new_master else ""
    return BrokerLines(outlook.broker_name, f"loses its master; {stays}{elected}", lines, lost_master_view(outlook))


def _slow(outlook: SlowBrokerOutlook) -> BrokerLines:
    fails = ", longer than a send may take: these messages fail" if outlook.fails else ""
    lines = (
        ("producers without latency fault tolerance, the default", "go on sending there"),
        *(
            (
                f"producers {each.versions} with it",
                "go on sending there"
                if each.most_sends_per_thread is None
                else f"send at most {number(each.most_sends_per_thread)} there from each synchronous thread; after it "
                f"is fast again, avoid it for at most {each.avoided_for_s_afterwards:,.1f} s more, and then wait for "
                "its turn",
            )
            for each in outlook.producers
        ),
    )
    return BrokerLines(
        outlook.broker_name, f"takes {outlook.latency_ms:,g} ms for a message{fails}, for {outlook.for_s:,g} s", lines
    )
