"""Causes: their order, their ids and their words, and what excludes what."""

import pytest

from tests.report.causes_told import advice, plan, told
from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation
from tests.report.varied_cluster import varied_rows


def test_a_cause_says_how_busy_a_client_is_at_the_peak_as_its_sentence_does():
    (cause,) = plan([a_finding("CONSUMER_CAPACITY", {"utilisation_ratio": 0.9, "peak_utilisation_ratio": 1.5})]).causes

    assert cause.impact.utilisation_ratio == 1.5


def test_one_change_of_a_topic_that_helps_two_groups_is_one_cause():
    made = plan(
        [a_finding(consumer_group=name, topic="pay") for name in ("g_pay", "g_refund")],
        [advice("EXPAND_QUEUES", ["IDLE_CONSUMERS"], consumer_group=None, topic="pay")],
        groups=("g_pay", "g_refund"),
    )

    (cause,) = made.causes
    assert (cause.consumer_group, cause.topic, len(cause.findings)) == (None, "pay", 2)


def test_more_queues_of_several_topics_go_together_and_exclude_another_strategy():
    made = plan(
        [a_finding("CROSS_TOPIC_SKEW")],
        [
            advice("CHANGE_STRATEGY", ["CROSS_TOPIC_SKEW"]),
            *(a_recommendation(id=topic, topic=topic, rules=["CROSS_TOPIC_SKEW"]) for topic in ("pay", "refund")),
        ],
        groups=(),
    )

    assert made.alternatives == ()  # a group that is not there reads no topic
    with_group = plan_of({
        "cluster": [a_cluster()],
        "group_status": [a_group(topics=["pay", "refund"])],
        "finding": [a_finding("CROSS_TOPIC_SKEW")],
        "recommendation": [
            advice("CHANGE_STRATEGY", ["CROSS_TOPIC_SKEW"]),
            *(a_recommendation(id=topic, topic=topic, rules=["CROSS_TOPIC_SKEW"]) for topic in ("pay", "refund")),
        ],
    })
    change = "CHANGE_STRATEGY-g_pay-1"
    assert with_group.alternatives == ((change, "pay"), (change, "refund"))
    assert len(with_group.causes) == 1


def test_what_has_to_be_done_in_any_case_is_no_alternative():
    made = plan(
        [a_finding("DUPLICATE_CLIENT_ID"), a_finding("ALLOCATION_SKEW")],
        [
            advice("FIX_CLIENT_ID", ["DUPLICATE_CLIENT_ID", "ALLOCATION_SKEW"]),
            advice("CHANGE_STRATEGY", ["ALLOCATION_SKEW"]),
        ],
    )

    assert made.alternatives == ()
    assert len(made.causes) == 1


def test_the_worst_cause_is_first_and_among_equals_the_one_with_more_messages_at_risk():
    made = plan([
        a_finding("READ_LESS_THAN_WRITE", {"stranded": 5}, consumer_group=None, topic="a", severity="CRITICAL"),
        a_finding("READ_LESS_THAN_WRITE", {"stranded": 500}, consumer_group=None, topic="b", severity="CRITICAL"),
        a_finding("ORPHAN_QUEUE", {"lag": None}, severity="WARNING"),
    ])

    assert [cause.topic for cause in made.causes] == ["b", "a", None]
    assert made.causes[2].impact.messages_at_risk is None


def test_what_nothing_answers_and_what_answers_nothing_are_causes_too():
    made = plan([a_finding("HOT_QUEUE")], [advice("CHANGE_STRATEGY", ["LAG_SKEW"])])

    assert told(made) == [("HOT_QUEUE", ["HOT_QUEUE"], []), ("LAG_SKEW", [], ["CHANGE_STRATEGY"])]
    assert [cause.severity for cause in made.causes] == ["WARNING", "INFO"]


def test_ids_stay_the_same_while_what_they_are_about_does():
    one, other = (
        plan([a_finding(subjects=subjects, message=message)])
        for subjects, message in (
            (["a"], "1 of 9"),
            (["a"], "1 of 8"),
        )
    )
    moved = plan([a_finding(subjects=["b"])])

    assert one.findings[0].id == other.findings[0].id != moved.findings[0].id
    assert one.causes[0].id == moved.causes[0].id


def test_findings_that_differ_in_nothing_but_words_have_ids_of_their_own():
    made = plan([a_finding(message="one"), a_finding(message="two")])

    assert len({finding.id for finding in made.findings}) == 2


def test_everything_belongs_to_one_cause_in_any_order_of_the_rows():
    made = plan_of(varied_rows(40))

    assert sorted(one for cause in made.causes for one in cause.findings) == sorted(one.id for one in made.findings)
    named = sorted(one for cause in made.causes for one in cause.recommendations)
    assert named == sorted(one.id for one in made.recommendations)
    assert len({cause.id for cause in made.causes}) == len(made.causes)


def test_a_cause_is_as_old_as_its_oldest_finding_and_new_where_all_are():
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "finding": [
            a_finding("ORPHAN_QUEUE", {"cause": "DUPLICATE_CLIENT_ID"}),
            a_finding("DUPLICATE_CLIENT_ID"),
            a_finding("HOT_QUEUE", consumer_group=None, topic="pay"),
        ],
        "finding_since": [
            {"rule": "ORPHAN_QUEUE", "consumer_group": "g_pay", "since": "2026-11-20T02:00:00Z"},
            {"rule": "DUPLICATE_CLIENT_ID", "consumer_group": "g_pay", "since": "2026-11-17T02:00:00Z"},
            {"rule": "HOT_QUEUE", "topic": "pay", "since": "2026-11-20T02:00:00Z"},
        ],
    }

    known = {cause.rule: (cause.since, cause.is_new) for cause in plan_of(rows).causes}
    assert known == {
        "DUPLICATE_CLIENT_ID": ("2026-11-17T02:00:00Z", False),
        "HOT_QUEUE": ("2026-11-20T02:00:00Z", True),
    }
    first = plan_of(rows | {"finding_since": []})
    assert {(cause.since, cause.is_new) for cause in first.causes} == {(None, None)}


def test_a_cause_adds_rates_up_without_digits_that_depend_on_their_order():
    orphans = {"cause": "DUPLICATE_CLIENT_ID", "orphans": 1}
    made = plan([
        a_finding("DUPLICATE_CLIENT_ID"),
        *(a_finding("ORPHAN_QUEUE", orphans | {"msgs_per_s": rate}, topic=str(rate)) for rate in (0.1, 0.2)),
    ])

    (cause,) = made.causes
    assert (cause.impact.unread_queues, cause.impact.unread_msgs_per_s) == (2, 0.3)


def test_the_topics_that_level_a_broker_without_topics_are_one_cause_with_it():
    proposed = {"proposed": [{"topic": "pay"}, {"topic": "refund"}]}
    made = plan(
        [
            a_finding("TOPIC_COVERAGE", proposed, severity="INFO", consumer_group=None, broker_name=broker)
            for broker in ("broker-c", "broker-d")
        ],
        [
            advice("CREATE_TOPIC_ON_BROKER", ["TOPIC_COVERAGE"], consumer_group=None, topic=topic, number=topic)
            for topic in ("pay", "refund", "elsewhere")
        ],
    )

    assert told(made) == [
        ("TOPIC_COVERAGE", ["TOPIC_COVERAGE"] * 2, ["CREATE_TOPIC_ON_BROKER"] * 2),
        ("TOPIC_COVERAGE", [], ["CREATE_TOPIC_ON_BROKER"]),
    ]


def _crossing(group, pairs, mb_per_s, **more):
    evidence = {"pairs": [dict(zip(("client_room", "broker_room"), pair, strict=True)) for pair in pairs]}
    return a_finding(
        "CROSS_ROOM", evidence | {"cross_room_mb_per_s": mb_per_s}, severity="INFO", consumer_group=group, **more
    )


def test_groups_that_read_across_two_rooms_are_one_line_of_these_rooms_by_megabytes():
    made = plan(
        [
            _crossing("g_1", [("hz", "sh")], 1.5),
            _crossing("g_2", [("sh", "hz"), ("hz", "bj")], 2.0),
            _crossing("g_3", [("bj", "hz")], 9.0),
        ],
        [advice("CHANGE_STRATEGY", ["CROSS_ROOM"], consumer_group=f"g_{n}") for n in (1, 2, 3)],
        groups=("g_1", "g_2", "g_3"),
    )

    assert [(cause.title, cause.message, cause.consumer_group) for cause in made.causes] == [
        (
            "Messages between the machine rooms bj and hz",
            "1 group reads 9.00 MB a second between the machine rooms bj and hz.",
            "g_3",
        ),
        (
            "Messages between the machine rooms hz and sh",
            "2 groups read 3.50 MB a second between the machine rooms hz and sh.",
            None,
        ),
    ]
    assert [cause.impact.cross_room_mb_per_s for cause in made.causes] == [9.0, 3.5]


def test_clients_beyond_the_queues_are_idle_whatever_another_one_subscribes_to():
    made = plan(
        [
            a_finding("SUBSCRIPTION_MISMATCH", severity="CRITICAL", subjects=["c3"]),
            a_finding("IDLE_CONSUMERS", severity="INFO", subjects=["c3", "c9"]),
        ],
        [advice("FIX_SUBSCRIPTION", ["SUBSCRIPTION_MISMATCH"]), advice("SCALE_CONSUMERS", ["IDLE_CONSUMERS"])],
    )

    assert [cause.rule for cause in made.causes] == ["SUBSCRIPTION_MISMATCH", "IDLE_CONSUMERS"]


def test_causes_of_one_title_also_say_what_is_wrong():
    made = plan(
        [a_finding("TRAFFIC_SKEW", severity="WARNING"), a_finding("CONSUMER_CAPACITY", severity="WARNING")],
        [
            advice("SCALE_CONSUMERS", ["TRAFFIC_SKEW"]),
            advice("SCALE_CONSUMERS", ["CONSUMER_CAPACITY"], number=2),
        ],
    )

    assert len({cause.title for cause in made.causes}) == len(made.causes) == 2


def test_a_cause_names_only_its_own_of_the_brokers_that_one_look_is_into():
    brokers = ["broker-a", "broker-b"]
    only_there = {"unwritable_topics": ["pay"], "unreadable_topics": [], "groups_under": []}
    made = plan(
        [
            a_finding("BROKER_LOSS", only_there, severity="INFO", consumer_group=None, broker_name="broker-a"),
            a_finding("BROKER_LOSS", consumer_group=None, broker_name="broker-b"),
            a_finding("TOPIC_COVERAGE", severity="INFO", consumer_group=None, topic="pay"),
        ],
        [advice("INVESTIGATE", ["BROKER_LOSS"], None, before={"broker_names": brokers})],
    )

    (loss,) = (cause for cause in made.causes if cause.rule == "BROKER_LOSS")
    assert loss.title.startswith("Look into broker-b: ")


def test_a_cause_names_the_brokers_whose_findings_are_urgent():
    made = plan(
        [
            a_finding("BROKER_LOSS", severity="WARNING", consumer_group=None, broker_name="broker-a"),
            a_finding("BROKER_LOSS", severity="CRITICAL", consumer_group=None, broker_name="broker-b"),
        ],
        [advice("INVESTIGATE", ["BROKER_LOSS"], None, before={"broker_names": ["broker-a", "broker-b"]})],
    )

    (loss,) = made.causes
    assert loss.title.startswith("Look into broker-b: ")


def test_a_lost_broker_comes_before_what_leaves_the_queues_of_one_group_unread():
    orphan = a_finding("ORPHAN_QUEUE", severity="CRITICAL", evidence={"orphans": 4, "msgs_per_s": 90.0, "lag": 9})
    lost = a_finding("BROKER_LOSS", severity="CRITICAL", consumer_group=None, broker_name="broker-b")

    assert [cause.rule for cause in plan([orphan, lost], []).causes] == ["BROKER_LOSS", "ORPHAN_QUEUE"]


def test_what_fewer_queues_explain_comes_of_the_broker_that_crashed():
    crashed = {"gone_s": 9.0, "unread_msgs": 12, "topic_names": ["pay"], "group_names": ["g_pay"]}
    made = plan(
        [
            a_finding("BROKER_LOSS", crashed, severity="CRITICAL", consumer_group=None, broker_name="broker-c"),
            a_finding("IDLE_CONSUMERS", topic="pay"),
            a_finding("TOPIC_COVERAGE", severity="INFO", consumer_group=None, topic="pay"),
            a_finding("DUPLICATE_CLIENT_ID"),
            a_finding("IDLE_CONSUMERS", consumer_group="g_other", topic="other"),
        ],
        [
            advice("INVESTIGATE", ["BROKER_LOSS"], None, before={"broker_names": ["broker-c"]}),
            advice("INVESTIGATE", ["IDLE_CONSUMERS"], number=2),
            advice("INVESTIGATE", ["TOPIC_COVERAGE"], None, topic="pay", number=3),
            advice("FIX_CLIENT_ID", ["DUPLICATE_CLIENT_ID"]),
            advice("SCALE_CONSUMERS", ["IDLE_CONSUMERS"], "g_other"),
        ],
        groups=("g_pay", "g_other"),
    )

    first, *rest = told(made)
    assert first == ("BROKER_LOSS", ["BROKER_LOSS", "IDLE_CONSUMERS", "TOPIC_COVERAGE"], ["INVESTIGATE"] * 3)
    assert [rule for rule, _, _ in rest] == ["DUPLICATE_CLIENT_ID", "IDLE_CONSUMERS"]
    assert made.causes[0].impact.messages_at_risk == 12


@pytest.mark.parametrize(
    ("figure", "title", "why"),
    [
        ("closed_brokers", "Nobody may read on broker-b", "the permission there lets nobody read"),
        ("unreached", "Clients do not reach broker-b", "none of their clients is connected there"),
    ],
)
def test_groups_that_cannot_read_a_broker_are_one_cause(figure, title, why):
    def behind(group, broker, lag):
        return a_finding("LAG_STATE", {figure: [broker], "lag": lag, "state": "STALL"}, consumer_group=group)

    groups = ("g_1", "g_2", "g_3", "g_4")
    made = plan(
        [
            *(behind(group, "broker-b", lag) for group, lag in (("g_1", 7), ("g_2", 5))),
            behind("g_3", "broker-a", 1),
            a_finding("LAG_STATE", {"state": "STALL"}, consumer_group="g_4"),
        ],
        [advice("INVESTIGATE", ["LAG_STATE"], consumer_group=group) for group in groups],
        groups=groups,
    )

    several, *others = sorted(made.causes, key=lambda cause: -len(cause.findings))
    assert (several.title, several.consumer_group, len(several.recommendations)) == (title, None, 2)
    assert several.message == f"2 groups have 12 messages of lag on broker-b: {why}."
    assert sorted(cause.consumer_group for cause in others) == ["g_3", "g_4"]
    (alone,) = (cause for cause in others if cause.consumer_group == "g_3")
    assert alone.message == f"1 group has 1 message of lag on broker-a: {why}."
