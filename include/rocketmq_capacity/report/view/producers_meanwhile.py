"""What producers do while a what-if's brokers are in trouble, as a table."""

from collections.abc import Iterator
from dataclasses import dataclass

from rocketmq_capacity.plan_file.troubled_broker import Producers, ProducersRoute
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import NAMED_IN_A_CELL, TABLE_ROWS
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.report.view.sending import in_words
from rocketmq_capacity.settings.producers import SYNC, Sending
from rocketmq_capacity.tables.compare import Course
from rocketmq_capacity.vocabulary import JAVA
from rocketmq_capacity.wording import counted, listed

HEADERS = (
    "Producers",
    "Topics",
    "Messages to these brokers",
    "Messages that fail",
    "Last one that fails",
    "Tries of a message",
    "Mean latency",
    "Comes back on average, at most",
    "Last try at a lost or read-only broker",
    "Displaced queues",
)
ENDINGS = {"KILL": "killed", "SILENT": "silent"}


@dataclass(frozen=True, slots=True)
class ProducersMeanwhile:
    """What producers do meanwhile.

    Attributes:
        caption: of the table.
        rows: the figures of each kind of producers on each route, in the order of the headers.
        brokers: the brokers in trouble, in words.
        assumed: how threads send, in words.
        left_out: topics without an entry, in words; empty if all topics have one.
        seen: the producers of the snapshot by generation, in words; empty where they are unknown.
    """

    caption: str
    rows: First[tuple[str, ...]]
    brokers: str
    assumed: str
    left_out: str
    seen: str
    headers: tuple[str, ...] = HEADERS


def producers_meanwhile(producers: Producers) -> ProducersMeanwhile | None:
    """The table; None where no topic has queues on these brokers."""
    if not producers.routes:
        return None
    brokers = listed(producers.troubled_brokers)
    rows = [_row(course, route) for route in producers.routes for course in route.courses]
    seen = (f"{counted(count, 'producer')} {name}" for name, count in producers.producers.items())
    return ProducersMeanwhile(
        caption=f"Share of the messages at {brokers}",
        rows=First(rows[:TABLE_ROWS], len(rows)),
        brokers=brokers,
        assumed=f"Each thread sends a message every {number(producers.send_interval_ms)} ms, which takes "
        f"{number(producers.usual_latency_ms)} ms at a healthy broker, and asks for the route every "
        f"{number(producers.poll_nameserver_s)} s.",
        left_out=" ".join(_left_out(producers)),
        seen=listed(list(seen)) if producers.producers else "",
    )


def _left_out(producers: Producers) -> Iterator[str]:
    """What is not computed, in sentences."""
    left = producers.topics_left_out
    if left:
        yield f"Left out: {counted(left, 'topic')} whose queues are unknown, or laid out as in few other topics."
    endings = {course.ending for course in producers.routes[0].courses}
    shorter = [route for route in producers.routes if {course.ending for course in route.courses} != endings]
    if shorter:
        topics = counted(sum(route.topics for route in shorter), "topic")
        yield f"For {topics} with a rare layout of queues, only killed brokers are computed, and no silent ones."


def _names(course: Course) -> tuple[str, str]:
    """A kind of producers in two lines."""
    client = "Proxy (gRPC)" if course.client != JAVA else "Java of all versions"
    name = client if course.versions == "all" else course.versions
    setting = "with tolerance" if course.has_fault_tolerance else "without tolerance"
    if course.has_detector:
        setting = "tolerance and detector"
    ending = "" if course.ending is None else f", {ENDINGS[course.ending]}"
    return name, f"{setting}{ending}{_sending(course)}"


def _sending(course: Course) -> str:
    """How the producers send, where it is not RocketMQ's default."""
    sending = Sending(course.sending or SYNC, course.retries or 0, course.timeout_ms)
    return "" if course.sending is None or sending == Sending() else f", {in_words(sending)}"


def _topics(route: ProducersRoute) -> str:
    named = route.topic_names[:NAMED_IN_A_CELL]
    more = route.topics - len(named)
    return f"{', '.join(named)} and {number(more)} more" if more else listed(list(named))


def _row(course: Course, route: ProducersRoute) -> tuple[str, ...]:
    failing = "" if course.failed_messages is None else f" ({number(course.failed_messages)})"
    returns = _both(course.returns_mean_s, course.returns_worst_s)
    if course.stays_away_ratio:
        returns = f"{returns}; {per_cent(course.stays_away_ratio)} do not" if course.stays_away_ratio < 1 else "never"
    return (
        ", ".join(_names(course)),
        _topics(route),
        per_cent(course.troubled_ratio),
        f"{per_cent(course.failed_ratio)}{failing}",
        "none" if course.last_failed_s is None else f"{number(course.last_failed_s)} s",
        number(course.tries_per_message),
        f"{number(course.mean_latency_ms)} ms",
        returns,
        "" if course.left_worst_s is None else f"{number(course.left_worst_s)} s",
        number(course.displaced_queues),
    )


def _both(mean: float | None, worst: float | None) -> str:
    return "" if mean is None else f"{number(mean)} s, {number(worst)} s"
