"""One card for each loss of a broker, a room or a name server, on the page."""

from typing import Any

from rocketmq_capacity.report.limits import LOSSES
from tests.report.from_rows import page_of
from tests.report.page_reader import elements, read_page, section, table_of, text_of, with_class
from tests.report.row_builders import (
    a_cluster,
    a_cluster_failure,
    a_finding,
    a_group,
    a_group_failure,
    a_producer_failure,
    a_recommendation,
    a_topic_failure,
)

NOBODY: dict[str, Any] = {"can_pull": False, "can_pop": False, "read_again_s": None}
EVERYBODY: dict[str, Any] = {"can_pull": True, "can_pull_in_order": True, "can_pop": True}


def _rows(*groups: dict[str, Any], **others: Any) -> Any:
    names = sorted({row["consumer_group"] for row in groups} | {"g_pay"})
    return {
        "cluster": [a_cluster()],
        "group_status": [a_group(name) for name in names],
        "finding": [a_finding(consumer_group=name) for name in names],
        "group_failure": list(groups),
    } | others


def _section(rows: Any) -> Any:
    return section(read_page(page_of(rows)), "failures")


def _cards(rows: Any) -> dict[str, dict[str, list[str]]]:
    """By title, the sentences of each part; a line of the comparison is one too."""
    cards = {}
    for card in elements(_section(rows), "article"):
        phases = [one for one in elements(card, "div") if elements(one, "h4") and one.get("class") != "phases"]
        cards[text_of(elements(card, "h3")[0])] = {
            text_of(elements(phase, "h4")[0]): [
                *(" | ".join(text_of(cell) for cell in row) for row in elements(phase, "tr")[1:]),
                *(text_of(line) for line in elements(phase, "li")),
            ]
            for phase in phases
        }
    return cards


def _table(rows: Any, caption: str) -> list[list[str]]:
    return table_of(_section(rows), caption)[1:]


def test_a_card_tells_a_loss_from_its_first_minutes_until_it_is_over() -> None:
    silent: dict[str, Any] = {"ending": "SILENT", "failing": "ALL", "worst_ms": 3_000, "until_s": 155.0}
    rows = _rows(
        a_group_failure("g_pay", verdict="WORSE", reasons=["CAPACITY"], busy_ratio=0.9, unread_queues=2),
        a_group_failure("g_log", clients_today=3, clients_left=3, waiting_messages=1_000),
        topic_failure=[a_topic_failure("pay", msgs_per_s=70.0), a_topic_failure("log", msgs_per_s=30.0)],
        cluster_failure=[
            a_cluster_failure(**NOBODY, why="It has no slave: nobody reads its queues until it is back."),
            a_cluster_failure("RESTART", **NOBODY | {"read_again_s": 75.4, "is_estimated": True}),
        ],
        producer_failure=[a_producer_failure(), a_producer_failure(**silent)],
    )

    assert _cards(rows) == {
        "Broker lost broker-a": {
            "The first minutes": [
                "If its process ends, messages are sent again elsewhere, and none fails (p_pay).",
                "If its machine is gone, messages whose turn it is there fail for up to 155 s, up to 15,500 messages"
                " (p_pay).",
                "2 groups read there: nobody reads these 8 queues.",
                "All other queues are read again after at most 180 s.",
            ],
            "Afterwards": [
                "Busiest client of g_pay | 40 % | 90 %",
                "Clients | 8 | 8",
                "Queues unread because of it | 0 | 10",
                "Groups too busy 1: g_pay",
            ],
            "Until it is back": [
                "It has no slave: nobody reads its queues until it is back.",
                "1,007 messages wait there that groups have not read, summed over the groups.",
                "Producers write these 100 messages/s to the other brokers.",
                "If it was killed and starts again, its queues are read after about 75 s.",
            ],
        }
    }


def test_the_busiest_client_is_that_of_the_group_that_the_loss_raises_most() -> None:
    """A client that is busy for another reason, today as well, is none of the loss."""
    rows = _rows(
        a_group_failure("sick", busy_today=3.186, busy_ratio=3.186),
        a_group_failure("g_log", busy_today=0.2, busy_ratio=0.5),
        a_group_failure("g_pay", busy_today=0.6, busy_ratio=0.7),
    )
    none = _rows(a_group_failure("sick", busy_today=3.186, busy_ratio=3.1865))

    (card,) = _cards(rows).values()
    assert card["Afterwards"][0] == "Busiest client of g_log | 20 % | 50 %"
    assert "318" not in text_of(_section(rows))
    (card,) = _cards(none).values()
    assert "No group's busiest client gets busier." in card["Afterwards"]
    assert "318" not in text_of(_section(none))


def test_what_is_unknown_is_said_and_never_counted_as_0() -> None:
    unknown: dict[str, Any] = {"moved_today": None, "busy_ratio": None, "verdict": "UNDECIDED", "unread_queues": None}
    rows = _rows(
        a_group_failure("g_pay", **unknown, waiting_messages=None, clients_left=None),
        topic_failure=[a_topic_failure(msgs_per_s=None, writable_queues=None)],
    )

    (card,) = _cards(rows).values()
    assert card["Afterwards"] == [
        "Queues unread because of it | 0 | 4 or more",
        "No group is known to be worse off.",
        "For 1 group it is unknown whether it is worse off.",
    ]
    assert card["Until it is back"] == [
        "It is unknown how many messages wait there that groups have not read.",
    ]
    half_known = _rows(a_group_failure(waiting_messages=7), a_group_failure("g_new", waiting_messages=None))
    (card,) = _cards(half_known).values()
    assert card["Until it is back"] == [
        "7 messages wait there that groups have not read, summed over the groups.",
        "For 1 group that is unknown.",
    ]
    lost = _rows(a_group_failure(busy_ratio=None))
    (card,) = _cards(lost).values()
    assert "For 1 group it is unknown how busy the clients become." in card["Afterwards"]
    figures = [text_of(one) for one in elements(_section(rows), "dd")]
    assert figures == ["unknown", "4", "unknown"]


def test_topics_that_nobody_can_read_or_write_are_named_with_what_cannot_be_sent() -> None:
    gone: dict[str, Any] = {"readable_queues": 0, "writable_queues": 0, "msgs_per_s": 3.0}
    topics = [a_topic_failure(f"t{number}", **gone) for number in range(5)]
    topics += [a_topic_failure("never", was_readable=False, was_writable=False, **gone)]
    only = [a_producer_failure(failing="ONLY_THERE", until_s=None, producer_groups=[])]
    only.append(a_producer_failure(ending="SILENT", failing="ALL", until_s=None))

    (card,) = _cards(_rows(a_group_failure(), topic_failure=topics, producer_failure=only)).values()

    assert card["The first minutes"][:2] == [
        "If its process ends, messages of topics that are only there fail (all producers).",
        "If its machine is gone, messages whose turn it is there fail until it is back (p_pay).",
    ]
    assert "Topics nobody can write 5: t0, t1, t2 and 2 more" in card["Afterwards"]
    assert "Topics nobody can read 5: t0, t1, t2 and 2 more" in card["Afterwards"]
    assert "15 messages/s of 5 topics cannot be sent." in card["Until it is back"]


def test_cards_are_in_the_order_of_their_harm_and_the_rest_is_counted() -> None:
    brokers = [f"b{number:02}" for number in range(LOSSES + 4)]
    servers = [a_cluster_failure(lost=broker, **NOBODY) for broker in brokers]
    rows = _rows(
        *(a_group_failure(lost=broker, verdict="WORSE" if broker == "b19" else "UNCHANGED") for broker in brokers),
        cluster_failure=[*servers, a_cluster_failure("NAME_SERVER", "n1:9876", is_writable=True, **EVERYBODY)],
    )

    titles = list(_cards(rows))

    assert titles[:2] == ["Broker lost b19", "Broker lost b00"]
    assert len(titles) == LOSSES
    text = text_of(_section(rows))
    assert "The losses of 5 more do less harm" in text
    assert "The loss of 1 broker or room makes groups worse off" in text
    assert "Nobody reads the messages in the queues of 20 brokers while their masters are lost." in text


def test_brokers_without_which_nothing_goes_wrong_share_a_line() -> None:
    servers = [a_cluster_failure(lost=name, **EVERYBODY) for name in ("broker-a", "broker-b")]
    servers += [a_cluster_failure("NAME_SERVER", f"n{number}:9876", **EVERYBODY) for number in (1, 2)]
    servers.append(a_cluster_failure(lost="broker-c", **EVERYBODY | {"can_pull_in_order": None}))
    rows = _rows(a_group_failure(), a_group_failure(lost="broker-b"), cluster_failure=servers)

    assert list(_cards(rows)) == ["Broker lost broker-c"]
    text = text_of(_section(rows))
    assert "nothing goes wrong without one of these: 4: broker-a, broker-b, n1:9876, n2:9876" in text
    assert "No loss of a broker or room makes a group worse off" in text


def test_a_loss_of_which_only_a_groups_fate_is_unknown_shares_a_line_with_others() -> None:
    servers = [a_cluster_failure(lost=name, **EVERYBODY) for name in ("broker-a", "broker-b", "broker-c")]
    fate: dict[str, Any] = {"verdict": "UNDECIDED", "moved_today": None}
    rows = _rows(
        a_group_failure("g_new", lost="broker-a", **fate),
        a_group_failure("g_new", lost="broker-b", **fate),
        a_group_failure("g_log", lost="broker-b", verdict="WORSE", reasons=["CAPACITY"]),
        a_group_failure("g_log", lost="broker-c"),
        cluster_failure=servers,
    )

    assert list(_cards(rows)) == ["Broker lost broker-b"]
    text = text_of(_section(rows))
    assert "Nothing is known to go wrong after the first minutes without one of these: 1: broker-a." in text
    assert "Groups of which that is unknown: 1: g_new." in text
    assert "nothing goes wrong without one of these: 1: broker-c" in text


def test_a_card_and_the_cause_that_is_the_brokers_loss_lead_to_each_other() -> None:
    loss = a_finding("BROKER_LOSS", consumer_group=None, broker_name="broker-a", subjects=["broker-a"])
    rows = _rows(a_group_failure(verdict="WORSE"), a_group_failure(lost="broker-b", verdict="WORSE"), finding=[loss])
    page = read_page(page_of(rows))

    bodies = [one for one in elements(page, "div") if (one.get("id") or "").startswith("cause-")]
    (cause,) = (one for one in bodies if "What the loss does" in text_of(one))
    cards = {text_of(elements(one, "h3")[0]): one for one in elements(page, "article") if one.get("id")}
    card = cards["Broker lost broker-a"]
    assert f"#{card.get('id')}" in [link.get("href") for link in elements(cause, "a")]
    assert f"#{cause.get('id')}" in [link.get("href") for link in elements(card, "a")]
    assert "What to do about it" not in text_of(cards["Broker lost broker-b"])


def test_a_cause_of_several_brokers_names_the_one_that_its_sentence_is_about() -> None:
    messages = {"broker-a": "Without it nobody can write pay.", "broker-b": "Without it nobody can read mail."}
    losses = [
        a_finding("BROKER_LOSS", consumer_group=None, broker_name=name, message=message)
        for name, message in messages.items()
    ]
    look = a_recommendation("INVESTIGATE", topic=None, rules=["BROKER_LOSS"], before={"broker_names": [*messages]})

    for findings, said in ((losses, f"broker-a {messages['broker-a']}"), (losses[:1], messages["broker-a"])):
        page = read_page(page_of(_rows(finding=findings, recommendation=[look])))
        assert [text_of(one) for one in with_class(page, "sentence")] == [said]


def test_a_room_loses_clients_as_well() -> None:
    rows = _rows(a_group_failure("g_pay", "ROOM", "hz", verdict="WORSE", reasons=["REACHABILITY"], clients_left=2))

    card = _cards(rows)["Room lost hz"]

    assert "Clients | 5 | 2" in card["Afterwards"]
    assert "Groups cut off 1: g_pay" in card["Afterwards"]


def test_the_only_name_server_has_a_card() -> None:
    one = a_cluster_failure(
        "NAME_SERVER", "n1:9876", is_writable=True, **EVERYBODY, read_again_s=0.0, why="It is alone."
    )
    rows = _rows(a_group_failure("g_pay", "ONE_MORE", None), cluster_failure=[one])

    assert _cards(rows) == {"Name server lost n1:9876": {"Until it is back": ["It is alone."]}}


def test_a_card_has_the_tables_behind_it() -> None:
    slave = a_cluster_failure()
    restart = a_cluster_failure("RESTART", **NOBODY | {"read_again_s": 75.4, "is_estimated": True})
    rows = _rows(a_group_failure(), cluster_failure=[restart, slave])

    why = "Its slaves stay."
    assert _table(rows, "What can be done with the queues there") == [
        ["Master lost", "no", "yes", "no", "unknown", "163 s", why],
        ["Broker starts again", "no", "no", "no", "no", "about 75 s", why],
    ]
    (card,) = _cards(rows).values()
    assert "Then its queues are read again after at most 163 s." in card["Until it is back"]
    unknown = a_cluster_failure(can_pull=None, read_again_s=None)
    assert _table(_rows(a_group_failure(), cluster_failure=[unknown]), "What can be done")[0][2:6] == [
        "unknown",
        "no",
        "unknown",
        "unknown",
    ]


def _of_producers(*rows: dict[str, Any]) -> list[list[str]]:
    return _table(_rows(a_group_failure(verdict="WORSE"), producer_failure=rows), "What producers see")


def test_producers_that_see_the_same_share_a_line_and_what_nobody_notices_comes_first() -> None:
    often: dict[str, Any] = {"retries": 5, "producer_groups": ["p_a", "p_b", "p_c", "p_d"]}
    one_way: dict[str, Any] = {
        "sending": "ONEWAY",
        "retries": 0,
        "timeout_ms": None,
        "producer_groups": ["p_log"],
        "failing": "ALL",
        "noticed_by": "NOBODY",
        "worst_ms": 0,
    }
    rows = a_producer_failure(), a_producer_failure(**often), a_producer_failure(**one_way)

    p_pay, p_a = "p_pay: synchronous, 2 retries, 3,000 ms", "p_a, p_b, p_c and 1 more: synchronous, 5 retries, 3,000 ms"
    assert _of_producers(*rows) == [
        ["Killed", "p_log: one-way", "1", "all", "nobody", "0 ms", "30 s"],
        ["Killed", f"{p_pay}; {p_a}", "1", "none", "exception of send", "15 ms", "30 s"],
    ]
    only: dict[str, Any] = {"failed_tries": 3, "failing": "ONLY_THERE", "until_s": None}
    assert _of_producers(a_producer_failure(**only)) == [
        [
            *("Killed", "all: synchronous, 2 retries, 3,000 ms", "3", "those of topics that are only there"),
            *("exception of send", "15 ms", "it is back"),
        ]
    ]
    ((*_, tries, failing, _, _, _),) = _of_producers(a_producer_failure(failed_tries=None, failing=None))
    assert (tries, failing) == ("unknown", "unknown")


def test_of_unknown_producers_each_way_to_send_of_the_policy_has_its_words() -> None:
    sync, late = a_producer_failure(producer_groups=[]), a_producer_failure(producer_groups=[], timeout_ms=500)

    ((_, how, *_),) = _of_producers(sync, late)
    assert how == "synchronous, 2 retries, 3,000 ms; synchronous, 2 retries, 500 ms"
