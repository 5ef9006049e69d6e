"""Causes: what belongs together, what excludes what, and in which order."""

import pytest

from tests.report.from_rows import plan_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation
from tests.report.varied_cluster import varied_rows

QUEUES = [{"topic": "pay", "broker_name": "broker-a", "queue_id": queue_id} for queue_id in range(4)]


def plan(findings=(), recommendations=(), groups=("g_pay",)):
    return plan_of({
        "cluster": [a_cluster()],
        "group_status": [a_group(name) for name in groups],
        "finding": list(findings),
        "recommendation": list(recommendations),
    })


def advice(action, rules, consumer_group="g_pay", topic=None, number=1, **more):
    return a_recommendation(
        action,
        id=f"{action}-{consumer_group}-{number}",
        consumer_group=consumer_group,
        topic=topic,
        rules=rules,
        **more,
    )


def told(made):
    """Each cause as its rule, the rules of its findings, and the actions of its recommendations."""
    rule = {finding.id: finding.rule for finding in made.findings}
    action = {one.id: one.action for one in made.recommendations}
    return [
        (cause.rule, [rule[one] for one in cause.findings], [action[one] for one in cause.recommendations])
        for cause in made.causes
    ]


def test_orphans_of_a_group_with_a_duplicate_id_are_its_duplicate_id():
    made = plan(
        [
            a_finding("ORPHAN_QUEUE", {"cause": "DUPLICATE_CLIENT_ID", "lag": 7, "orphans": 2}, severity="CRITICAL"),
            a_finding("DUPLICATE_CLIENT_ID", severity="CRITICAL", message="Two consumers share an id."),
        ],
        [advice("FIX_CLIENT_ID", ["DUPLICATE_CLIENT_ID"]), advice("INVESTIGATE", ["ORPHAN_QUEUE"])],
    )

    assert told(made) == [
        ("DUPLICATE_CLIENT_ID", ["ORPHAN_QUEUE", "DUPLICATE_CLIENT_ID"], ["FIX_CLIENT_ID", "INVESTIGATE"])
    ]
    (cause,) = made.causes
    assert (cause.message, cause.action) == ("Two consumers share an id.", "FIX_CLIENT_ID")
    assert (cause.impact.messages_at_risk, cause.impact.unread_queues, cause.impact.lag) == (7, 2, None)


@pytest.mark.parametrize(("queues", "causes"), [(QUEUES[:2], 1), (QUEUES[1:4], 2)], ids=["unread", "others too"])
def test_a_backlog_belongs_to_the_orphans_only_where_all_of_its_queues_are_orphans(queues, causes):
    made = plan([
        a_finding("ORPHAN_QUEUE", {"cause": "strategy MACHINE_ROOM"}, topic="pay", queues=QUEUES[:3]),
        a_finding("LAG_STATE", {"lag": 9}, queues=queues),
    ])

    assert len(made.causes) == causes
    assert made.causes[0].rule == "ORPHAN_QUEUE"


@pytest.mark.parametrize(("severity", "causes"), [("CRITICAL", 1), ("INFO", 2)], ids=["too busy", "clients to spare"])
def test_a_backlog_belongs_to_clients_that_are_too_busy(severity, causes):
    made = plan(
        [
            a_finding("CONSUMER_CAPACITY", {"utilisation_ratio": 1.5}, severity=severity),
            a_finding("LAG_STATE", {"lag": 9}),
            a_finding("LAG_SKEW", {"lag": 12}),
        ],
        [advice("INVESTIGATE", ["LAG_STATE", "LAG_SKEW"])],
    )

    assert len(made.causes) == causes
    assert max(cause.impact.lag or 0 for cause in made.causes) == 12


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


def test_idle_clients_are_answered_by_alternatives_and_those_to_spare_belong_with_them():
    made = plan(
        [a_finding(topic="pay"), a_finding("CONSUMER_CAPACITY", severity="INFO")],
        [
            advice("EXPAND_QUEUES", ["IDLE_CONSUMERS"], consumer_group=None, topic="pay"),
            advice("SCALE_CONSUMERS", ["IDLE_CONSUMERS"]),
            advice("SCALE_CONSUMERS", ["CONSUMER_CAPACITY"], number=2),
        ],
    )

    assert told(made) == [
        (
            "IDLE_CONSUMERS",
            ["IDLE_CONSUMERS", "CONSUMER_CAPACITY"],
            ["SCALE_CONSUMERS", "SCALE_CONSUMERS", "EXPAND_QUEUES"],
        )
    ]
    assert made.alternatives == (tuple(one.id for one in made.recommendations),)


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


@pytest.mark.parametrize(("queues", "causes"), [(QUEUES[:2], 1), (QUEUES[1:4], 2)], ids=["its own", "others too"])
def test_a_backlog_belongs_to_a_sick_client_only_where_all_of_its_queues_are_that_client_s(queues, causes):
    made = plan(
        [
            a_finding(
                "CLIENT_OUTLIER",
                {"behind_queues": QUEUES[:3], "outliers": [{"client_id": "c1", "figure": "consume_rt_ms"}]},
                severity="CRITICAL",
                subjects=["c1"],
            ),
            a_finding("LAG_STATE", {"lag": 9}, severity="CRITICAL", queues=queues),
            a_finding("LAG_SKEW", {"lag": 9}, subjects=["c1"]),
        ],
        [advice("REPLACE_CLIENT", ["CLIENT_OUTLIER"])],
    )

    assert len(made.causes) == causes
    first = made.causes[0]
    assert (first.rule, first.action, first.severity) == ("CLIENT_OUTLIER", "REPLACE_CLIENT", "CRITICAL")


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


def test_a_client_that_subscribes_to_nothing_is_the_cause_of_all_that_it_leaves():
    made = plan(
        [
            a_finding("SUBSCRIPTION_MISMATCH", severity="CRITICAL", subjects=["c3"]),
            a_finding("ORPHAN_QUEUE", {"cause": "SUBSCRIPTION_MISMATCH"}, severity="CRITICAL", queues=QUEUES[:2]),
            a_finding("LAG_STATE", severity="CRITICAL", queues=QUEUES[:2]),
            a_finding("LAG_SKEW"),
            a_finding("IDLE_CONSUMERS", severity="INFO", subjects=["c3"]),
            a_finding("ALLOCATION_SKEW"),
        ],
        [advice("FIX_SUBSCRIPTION", ["SUBSCRIPTION_MISMATCH", "ORPHAN_QUEUE"]), advice("INVESTIGATE", ["LAG_STATE"])],
    )

    (cause,) = made.causes
    assert (cause.rule, cause.action, len(cause.findings)) == ("SUBSCRIPTION_MISMATCH", "FIX_SUBSCRIPTION", 6)


def test_clients_beyond_the_queues_are_idle_whatever_another_one_subscribes_to():
    made = plan(
        [
            a_finding("SUBSCRIPTION_MISMATCH", severity="CRITICAL", subjects=["c3"]),
            a_finding("IDLE_CONSUMERS", severity="INFO", subjects=["c3", "c9"]),
        ],
        [advice("FIX_SUBSCRIPTION", ["SUBSCRIPTION_MISMATCH"]), advice("SCALE_CONSUMERS", ["IDLE_CONSUMERS"])],
    )

    assert [cause.rule for cause in made.causes] == ["SUBSCRIPTION_MISMATCH", "IDLE_CONSUMERS"]


@pytest.mark.parametrize("rule", ["STUCK_QUEUE", "RETENTION_RISK"])
def test_a_backlog_on_queues_that_are_held_back_belongs_to_what_holds_them(rule):
    made = plan([
        a_finding(rule, severity="CRITICAL", queues=QUEUES[:2]),
        a_finding("LAG_STATE", severity="WARNING", queues=QUEUES[:1]),
        a_finding("LAG_SKEW", severity="WARNING"),
    ])

    assert [(cause.rule, len(cause.findings)) for cause in made.causes] == [(rule, 3)]


def test_orphans_that_a_suspended_client_has_not_taken_belong_to_its_queues():
    made = plan([
        a_finding("ORPHAN_QUEUE", {"cause": "STUCK_QUEUE"}, severity="CRITICAL", queues=QUEUES[:1]),
        a_finding("STUCK_QUEUE", severity="WARNING", queues=QUEUES[1:2]),
    ])

    assert [(cause.rule, len(cause.findings)) for cause in made.causes] == [("STUCK_QUEUE", 2)]


def test_what_a_group_that_nobody_runs_has_not_read_belongs_to_that():
    made = plan([
        a_finding("STALE_OBJECT", severity="INFO"),
        a_finding("LAG_STATE", severity="INFO", queues=QUEUES[:1]),
        a_finding("RETENTION_RISK", severity="INFO", queues=QUEUES[:2]),
    ])

    assert [(cause.rule, len(cause.findings)) for cause in made.causes] == [("STALE_OBJECT", 3)]


@pytest.mark.parametrize(("strategy", "causes"), [("AVG", 1), ("MACHINE_ROOM", 2)])
def test_orphans_of_a_strategy_that_leaves_none_come_of_brokers_that_name_other_members(strategy, causes):
    made = plan([
        a_finding("ORPHAN_QUEUE", {"cause": f"strategy {strategy}"}, severity="CRITICAL", queues=QUEUES[:1]),
        a_finding("MEMBERSHIP_DISAGREEMENT", severity="WARNING"),
    ])

    assert len(made.causes) == causes
    assert made.causes[0].rule == ("MEMBERSHIP_DISAGREEMENT" if causes == 1 else "ORPHAN_QUEUE")


def test_causes_of_one_title_also_say_what_is_wrong():
    made = plan(
        [a_finding("TRAFFIC_SKEW", severity="WARNING"), a_finding("CONSUMER_CAPACITY", severity="WARNING")],
        [
            advice("SCALE_CONSUMERS", ["TRAFFIC_SKEW"]),
            advice("SCALE_CONSUMERS", ["CONSUMER_CAPACITY"], number=2),
        ],
    )

    assert len({cause.title for cause in made.causes}) == len(made.causes) == 2


@pytest.mark.parametrize(
    ("idle", "busy", "root", "action"),
    [
        ("WARNING", "WARNING", "CONSUMER_CAPACITY", "EXPAND_QUEUES"),
        ("INFO", "WARNING", "CONSUMER_CAPACITY", "RAISE_CONSUME_THREADS"),
        ("WARNING", "INFO", "IDLE_CONSUMERS", "EXPAND_QUEUES"),
    ],
    ids=["queues mend both", "a setting is easier to undo", "none is needed"],
)
def test_idle_clients_of_a_group_that_is_too_busy_belong_to_that(idle, busy, root, action):
    made = plan(
        [
            a_finding(topic="pay", severity=idle),
            a_finding("CONSUMER_CAPACITY", {"utilisation_ratio": 0.9}, severity=busy),
        ],
        [
            advice("EXPAND_QUEUES", ["CONSUMER_CAPACITY", "IDLE_CONSUMERS"], consumer_group=None, topic="pay"),
            advice("RAISE_CONSUME_THREADS", ["CONSUMER_CAPACITY"]),
        ],
    )

    (cause,) = made.causes
    assert cause.rule == root
    assert cause.action == action


@pytest.mark.parametrize(("idle", "causes"), [(["c1"], 1), (["c1", "c2"], 2)], ids=["starving", "others too"])
def test_idle_clients_belong_to_the_room_that_gets_nothing_only_where_all_of_them_are_in_it(idle, causes):
    made = plan([
        a_finding("IDLE_CONSUMERS", subjects=idle),
        a_finding("ROOM_STARVATION", subjects=["c1", "c3"]),
        a_finding("TRAFFIC_SKEW", subjects=["c9"]),
    ])

    assert sorted((cause.rule, len(cause.findings)) for cause in made.causes)[-1] == ("ROOM_STARVATION", 4 - causes)


def test_messages_shared_out_unevenly_are_a_consequence_of_queues_that_are():
    made = plan(
        [a_finding("TRAFFIC_SKEW"), a_finding("ALLOCATION_SKEW")],
        [advice("CHANGE_STRATEGY", ["ALLOCATION_SKEW", "TRAFFIC_SKEW"])],
    )

    assert told(made) == [("ALLOCATION_SKEW", ["TRAFFIC_SKEW", "ALLOCATION_SKEW"], ["CHANGE_STRATEGY"])]


@pytest.mark.parametrize("rule", ["LAG_STATE", "RETENTION_RISK"])
@pytest.mark.parametrize(("of", "root"), [("lag", "behind"), ("busy", "CONSUMER_CAPACITY")])
def test_lag_is_the_cause_where_clients_have_time_left_and_a_consequence_where_they_have_not(rule, of, root):
    made = plan([
        a_finding("CONSUMER_CAPACITY", {"cause": of}, severity="CRITICAL"),
        a_finding(rule, {"lag": 9}, queues=QUEUES[:1]),
    ])

    (cause,) = made.causes
    assert cause.rule == (rule if root == "behind" else root)


@pytest.mark.parametrize(
    ("evidence", "causes"),
    [
        ({"unwritable_topics": ["pay"], "unreadable_topics": ["pay"], "groups_under": []}, 1),
        ({"unwritable_topics": ["pay"], "unreadable_topics": [], "groups_under": ["g_pay"]}, 2),
        ({"unwritable_topics": ["pay", "mail"], "unreadable_topics": [], "groups_under": []}, 2),
    ],
    ids=["this topic only", "a group is too weak", "another topic"],
)
def test_a_brokers_loss_belongs_to_the_topic_that_is_on_this_broker_alone(evidence, causes):
    made = plan([
        a_finding("BROKER_LOSS", evidence, severity="INFO", consumer_group=None, broker_name="broker-a"),
        a_finding("TOPIC_COVERAGE", severity="INFO", consumer_group=None, topic="pay"),
    ])

    assert len(made.causes) == causes
    assert "TOPIC_COVERAGE" in {cause.rule for cause in made.causes}


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


def test_members_that_brokers_do_not_name_alike_are_the_doubt_of_a_doubtful_snapshot():
    groups = ("g_mail", "g_pay", "g_stock")
    made = plan(
        [
            a_finding("SUSPECT_SNAPSHOT", consumer_group=None, subjects=["g_mail", "g_pay"]),
            *(a_finding("MEMBERSHIP_DISAGREEMENT", consumer_group=name) for name in groups),
        ],
        groups=groups,
    )

    assert [(cause.rule, len(cause.findings)) for cause in made.causes] == [
        ("SUSPECT_SNAPSHOT", 3),
        ("MEMBERSHIP_DISAGREEMENT", 1),
    ]
