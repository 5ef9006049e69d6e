"""What rules find, what the run before found, and what groups ask of their topics."""

from typing import Annotated, ClassVar, Final

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Queue, QueueId, one_of
from rocketmq_capacity.vocabulary import SEVERITIES

PENDING: Final = "PENDING"
"""A rule that flaps has found it once."""
OPEN: Final = "OPEN"
CLOSING: Final = "CLOSING"
"""A rule that flaps has not found it once."""
FoundPlace = tuple[str, str | None, str | None, str | None]
"""Rule, group, topic and broker of a finding."""


class Finding(Dataset, frozen=True, kw_only=True):
    """What is wrong.

    Grain: one row a finding: a rule and what it is about. Findings of a rule about one thing differ in what they say.
    Units: those of the figures in ``evidence`` are in their names.
    """

    KEY: ClassVar[tuple[str, ...]] = ("rule", "consumer_group", "topic", "broker_name", "message")

    rule: Annotated[str, means("name of the rule")]
    severity: Annotated[str, one_of(*SEVERITIES), means("INFO, WARNING or CRITICAL")]
    consumer_group: Annotated[str | None, means("the group that it is about; null if there is none")] = None
    topic: Annotated[str | None, means("the topic that it is about; null if there is none")] = None
    broker_name: Annotated[str | None, means("the broker that it is about; null if there is none")] = None
    subjects: Annotated[
        tuple[str, ...], means("client ids, brokers or groups that it is about, sorted; queues are in queues")
    ] = ()
    queues: Annotated[tuple[Queue, ...], means("queues that it is about, sorted")] = ()
    evidence: Annotated[str, means("JSON object of the figures that it is based on")]
    message: Annotated[str, means("one sentence for people")]

    @property
    def about(self) -> tuple[str | Queue, ...]:
        """Queues and other subjects, as the plan file has them in ``subjects``."""
        return (*self.queues, *self.subjects)


class FindingSince(Dataset, frozen=True, kw_only=True):
    """Since when a row of runs has found something, and in which state it is; no rows if there is no run before.

    The row is unbroken, but for runs in which it is CLOSING: single ones of what a rule that flaps finds, and those with
    an incomplete snapshot.

    Grain: one row a rule, group, topic and broker of findings, and of findings that close.
    Units: a UTC time.
    """

    KEY: ClassVar[tuple[str, ...]] = ("rule", "consumer_group", "topic", "broker_name")

    rule: Annotated[str, means("name of the rule")]
    consumer_group: Annotated[str | None, means("the finding's; null if there is none")] = None
    topic: Annotated[str | None, means("the finding's; null if there is none, or if it is only an example")] = None
    broker_name: Annotated[str | None, means("the finding's; null if there is none")] = None
    since: Annotated[str, means("taken_at of the first run of the row")]
    state: Annotated[
        str | None,
        one_of(PENDING, OPEN, CLOSING),
        means(
            "PENDING: found for the first time by a rule that flaps, and not CRITICAL; OPEN; CLOSING: it "
            "was OPEN, and this run does not find it; null in tables of earlier versions, where all are OPEN"
        ),
    ] = None
    open_since: Annotated[
        str | None, means("taken_at of the run that opened it; null if none has, and in earlier versions")
    ] = None
    least_severity: Annotated[
        str | None,
        one_of(*SEVERITIES),
        means("the lowest severity that the row of runs has; null in tables of earlier versions"),
    ] = None

    @property
    def place(self) -> FoundPlace:
        """The rule and the names that it is about."""
        return self.rule, self.consumer_group, self.topic, self.broker_name


class RunBefore(Dataset, frozen=True, kw_only=True):
    """The run that this one is compared with; no row if there is no run before.

    Grain: one row a run.
    Key: none.
    Units: a UTC time.
    """

    taken_at: Annotated[str, means("when its snapshot was taken")]


class FindingBefore(Finding, frozen=True, kw_only=True):
    """What the run before found, so that a plan can say what is new, worse and gone; no rows if there is no run before.

    Grain: one row a finding of the run before; those that were closing in it are there too.
    Units: those of the figures in ``evidence`` are in their names.
    """


class LedgerBefore(Dataset, frozen=True, kw_only=True):
    """What the plan before recommended, and what its ledger lists; no rows if there is no run before.

    Grain: one row a recommendation, or an entry of its ledger.
    Key: none.
    Units: those of the figures in ``entry`` are in their names.
    """

    id: Annotated[str, means("that of the recommendation")]
    entry: Annotated[str, means("JSON object, as in plan.json's ledger.entries")]


class OffsetBefore(Dataset, frozen=True, kw_only=True):
    """Offsets in the run before, of the groups that its recommendations are about; no rows if there is no run before.

    Grain: one row a group and queue.
    Units: ``consumer_offset`` is an offset.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "broker_name", "queue_id")

    consumer_group: Annotated[str, means("name of the consumer group")]
    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on that broker")]
    consumer_offset: Annotated[
        BigCount | None, means("offset of the next message to read, as committed; null if unknown")
    ] = None


class LedgerRate(Dataset, frozen=True, kw_only=True):
    """How often an action's predictions came, up to the plan before; no rows if there is no run before.

    Grain: one row an action.
    Units: recommendations, counted.
    """

    KEY: ClassVar[tuple[str, ...]] = ("action",)

    action: Annotated[str, means("name of the action")]
    verified: Annotated[BigCount, means("carried out, and all came as predicted")]
    failed: Annotated[BigCount, means("carried out, and something predicted did not come")]
    otherwise: Annotated[BigCount, means("something else was done instead")]


class Demand(Dataset, frozen=True, kw_only=True):
    """Groups that more queues of a topic might help.

    Grain: one row a topic, rule and group.
    Units: client ids and queues, counted; ``busy_…`` are ratios, 1 is always busy.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "rule", "consumer_group")

    topic: Annotated[str, means("the topic that might get more queues")]
    rule: Annotated[str, means("the rule whose finding they would answer")]
    consumer_group: Annotated[str, means("the group that the finding is about")]
    clients: Annotated[Count, means("different client ids of the group")]
    queues_per_broker: Annotated[
        Count | None, means("queues needed on each writable broker; null if the number is still to be found")
    ] = None
    then_clients: Annotated[Count | None, means("clients that are enough with these queues; null: those of today")] = (
        None
    )
    busy_before: Annotated[
        Amount | None, means("busy share of the group's busiest client at the peak; null if nobody is too busy")
    ] = None
    busy_after: Annotated[Amount | None, means("the same with these queues and clients")] = None
    in_days: Annotated[
        Amount | None, means("days from now, for whose traffic both are foretold; null: for the peak")
    ] = None
