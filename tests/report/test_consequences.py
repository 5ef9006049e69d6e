"""Causes: which findings are consequences of which."""

import pytest

from tests.report.causes_told import QUEUES, advice, plan, told
from tests.report.row_builders import a_finding


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
