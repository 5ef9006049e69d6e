"""Topics that producers cannot write to, on the page."""

from typing import Any

from rocketmq_capacity.report.view.unrouted import unrouted_lines
from rocketmq_capacity.tables import UnroutedTopic
from tests.report.from_rows import page_of
from tests.report.page_reader import read_page, table_of
from tests.report.row_builders import a_cluster, a_group_failure


def row(topic: str, outcome: str | None = "NO_ROUTE", **changes: Any) -> UnroutedTopic:
    given: dict[str, Any] = {"is_declared": False, "created_queue_nums": {}, **changes}
    return UnroutedTopic(topic=topic, outcome=outcome, **given)


def test_topics_of_which_a_producer_gets_the_same_share_a_line() -> None:
    lines = unrouted_lines([
        row("made", "CREATED", created_queue_nums={"broker-b": 4, "broker-a": 1}, consumer_groups=("g_b", "g_a")),
        *(row(f"gone{number}", consumer_groups=("g_a",)) for number in range(4)),
        row("refused", "REFUSED"),
        row("unknown", None, created_queue_nums=None),
        row("read", is_declared=True, created_queue_nums=None),
    ])

    no_route = "“No route info of this topic”"
    assert [(line.topics, line.topics.more, line.readers, line.gets) for line in lines] == [
        (("gone0", "gone1", "gone2"), 1, "g_a", f"No broker has it, and none makes it: {no_route}."),
        (
            ("made",),
            0,
            "g_a, g_b",
            "autoCreateTopicEnable: the broker that gets the first message makes it (1 queue on broker-a, 4 queues on"
            " broker-b).",
        ),
        (("read",), 0, "none", f"No queue is writable: {no_route}, whatever autoCreateTopicEnable is."),
        (("refused",), 0, "none", "Brokers have TBW102, and make no topic: TOPIC_NOT_EXIST."),
        (
            ("unknown",),
            0,
            "none",
            "Unknown: brokers do not tell autoCreateTopicEnable, or the queues of TBW102.",
        ),
    ]


def test_the_page_has_the_table_only_where_there_is_such_a_topic() -> None:
    rows: Any = {"cluster": [a_cluster()], "group_failure": [a_group_failure("g_pay")]}
    unrouted = [{"topic": "gone", "is_declared": False, "consumer_groups": ["g_pay"], "outcome": "NO_ROUTE"}]

    assert "Topics without a queue" not in page_of(rows)
    page = read_page(page_of({**rows, "unrouted_topic": unrouted}))
    _, cells = table_of(page, "Topics without a queue")
    assert cells[:2] == ["gone", "g_pay"]
    assert cells[2].startswith("No broker has it, and none makes it")
