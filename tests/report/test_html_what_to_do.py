"""report.html: causes, and what is recommended against them."""

import json

import pytest

from tests.report.from_rows import page_of, plan_of
from tests.report.made_scenario import a_scenario, a_step
from tests.report.page_reader import HTML, by_id, elements, read_page, text_of, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation, a_recommended_transition
from tests.report.sample_cluster import sample_rows


def test_a_what_if_says_how_to_carry_it_out_step_by_step():
    text = text_of(read_page(page_of(sample_rows(), scenario=a_scenario())))

    for step in ("Write down", "Read down"):
        for part in (
            "What comes of",
            "mqadmin topicRoute -t pay It must show: what",
            "What blocks",
            "The way back from",
        ):
            assert f"{part} {step}" in text
    assert "mqadmin updateTopic -r 4 -w 2" in text
    assert "The fewest that serve every group of it: 2 on each writable broker." in text


def test_a_recommendation_with_steps_shows_them_instead_of_its_commands():
    rows = sample_rows()
    steps = json.dumps([a_step("Write down", ["mqadmin updateTopic -r 4 -w 2"]), a_step("Read down", [])])
    rows["recommendation"] = [
        row | {"commands": ["mqadmin all of them"], "steps": steps} for row in rows["recommendation"]
    ]
    text = text_of(read_page(page_of(rows)))

    assert "The way back from Read down." in text
    assert "mqadmin updateTopic -r 4 -w 2" in text
    assert "mqadmin all of them" not in text


def test_fixed_lists_are_a_sentence_that_says_what_they_move_and_where_they_are():
    rows = sample_rows()
    lists = {
        "moved_queues": 2,
        "before": {"count": {"excess": 1.5}},
        "after": {"count": {"excess": 1.0}},
        "note": "Make all lists anew.",
        "clients": {"c1\n": [{"topic": "pay", "broker_name": 'a"b', "queue_id": i} for i in range(99)], "c2": []},
    }
    rows["recommendation"] = [row | {"config_assignment": json.dumps(lists)} for row in rows["recommendation"]]
    rows["recommended_transition"] = [
        a_recommended_transition(row["id"], is_of_lists=True, moved_queues=2, new_queues=0)
        for row in rows["recommendation"]
    ]
    text = text_of(read_page(page_of(rows)))

    assert "Until all have restarted" in text
    assert "2 queues get another owner. A queue is unread for 25.5 s on average, at most 53.5 s" in text
    assert "At the same time, at most 2 queues are unread and 1 read twice." in text
    assert "Or a fixed list of queues for each client (CONFIG): 2 queues with another owner" in text
    assert "Make all lists anew." in text
    assert "The lists are in plan.json (config_assignment) and recommendations.csv." in text
    assert "new MessageQueue" not in text


@pytest.mark.parametrize(
    ("worst", "said"),
    [(100.0, "at most 100 messages are"), (0.0, "no message is"), (None, "an unknown number is")],
)
def test_a_recommendation_that_moves_queues_says_how_many_messages_come_twice(worst, said):
    rows = sample_rows()
    wanted = rows["recommendation"][0]["id"]
    rows["recommended_transition"] = [a_recommended_transition(wanted, messages_twice_worst=worst)]

    assert f"at most 53.5 s, and {said} consumed twice." in text_of(read_page(page_of(rows)))


def causes(text):
    """The lines of what to do first, and each cause behind its line."""
    first = elements(read_page(text), "section")[1]
    return [line for line in first if "cause" in (line.get("class") or "").split()]


def told_in(cause):
    return text_of(cause.find(f"{HTML}summary"))


def test_a_queue_is_shown_in_short_among_subjects_and_in_the_evidence():
    queue = {"topic": "pay", "broker_name": "broker-a", "queue_id": 3}
    evidence = {"hottest": [{"queue": queue, "msgs_per_s": 21.0}]}
    rows = sample_rows() | {"finding": [a_finding("HOT_QUEUE", queues=[queue], evidence=evidence)]}

    text = text_of(by_id(read_page(page_of(rows)), plan_of(rows).causes[0].anchor))

    assert text.count("pay broker-a 3") == 2
    assert "queue_id" not in text


def test_what_to_do_first_is_the_worst_and_offers_a_choice():
    rows = sample_rows()
    rows["finding"].append(
        a_finding("ORPHAN_QUEUE", {"orphans": 2}, severity="CRITICAL", message="2 queues have no reader.")
    )

    first, second = causes(page_of(rows))

    assert told_in(first) == "Critical Queues that nobody reads 2 queues without reader g_pay 2 queues have no reader."
    assert "No change is proposed" in text_of(first)
    assert told_in(second).startswith("Warning Run 8 consumers of g_pay Change in the clients one of 2 ways")


def test_a_cause_is_shown_once_and_its_group_links_to_it():
    tree = read_page(page_of(sample_rows()))

    (group,) = with_class(tree, "group")
    (link,) = [a for a in elements(group, "a") if a.get("href").startswith("#cause-")]
    body = by_id(tree, link.get("href")[1:])
    assert [text_of(way.find(f"{HTML}h3")) for way in with_class(body, "advice")] == [
        "Run 8 consumers of g_pay Change in the clients",
        "Give pay more queues Changes the cluster",
    ]
    assert sum("8 consumers read as much as 12." in (one.text or "") for one in tree.iter()) == 1


def test_what_changes_the_cluster_and_what_only_looks_differ_in_words():
    rows = sample_rows()
    rows["recommendation"] = [
        a_recommendation(commands=["mqadmin updateTopic -n a -b b -t pay -r 6 -w 6 -p 6 -o false"]),
        a_recommendation("INVESTIGATE", consumer_group="g_pay", topic=None, commands=["mqadmin consumerProgress -n a"]),
    ]

    change, look = with_class(read_page(page_of(rows)), "advice")

    assert (change.get("class"), look.get("class")) == ("advice cluster", "advice look")
    assert "Changes the cluster" in text_of(change)
    assert "Only looks" in text_of(look)


def test_equal_causes_of_many_groups_are_one_line_with_their_number():
    names = [f"g{n}" for n in range(5)]
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group(name) for name in names],
        "finding": [a_finding("MIXED_STRATEGIES", consumer_group=name) for name in names],
    }

    (line,) = causes(page_of(rows))

    assert told_in(line).startswith("Warning 5 times: Consumers of one group that divide the queues differently")
    assert len(with_class(line, "cause")) == 1 + 5


def test_more_queues_of_several_topics_are_shown_as_one():
    rows = sample_rows()
    rows["group_status"] = [a_group(topics=["pay", "refund"])]
    rows["recommendation"] = [a_recommendation(id=topic, topic=topic) for topic in ("pay", "refund")]

    (way,) = with_class(read_page(page_of(rows)), "advice")

    assert text_of(way.find(f"{HTML}h3")).startswith("Give pay and refund more queues")
    assert text_of(way).endswith("Ids pay, refund")


def test_no_two_causes_have_one_title():
    topics = ("pay", "pay2")
    rows = sample_rows() | {
        "finding": [a_finding("TRAFFIC_SKEW", topic=topic) for topic in topics],
        "recommendation": [
            a_recommendation(
                "CHANGE_STRATEGY", id=topic, rules=["TRAFFIC_SKEW"], consumer_group="g_pay", topic=topic, reason=topic
            )
            for topic in topics
        ],
    }

    titles = [text_of(title) for title in with_class(read_page(page_of(rows)), "title")]

    assert titles == [
        f"Let all clients of g_pay run another strategy: messages shared out unevenly, {topic}" for topic in topics
    ]


def test_the_check_and_the_way_back_are_beside_the_change():
    rows = sample_rows()
    check = {"check_command": "mqadmin topicRoute -t pay", "check_shows": "six queues."}
    moves_nothing = {"action": "CHECK_PRODUCER_KEYS", "way_back": "Take them away."}
    rows["recommendation"] = [a_recommendation() | check | moves_nothing]

    (way,) = with_class(read_page(page_of(rows)), "advice")

    told = [text_of(one) for one in elements(way, "dd")]
    assert told == ["mqadmin topicRoute -t pay It must show: six queues.", "Take them away."]


def test_a_manual_recommendation_says_so_and_warns_of_its_commands():
    rows = sample_rows()
    rows["recommendation"] = [
        a_recommendation(is_manual=True, commands=["# mqadmin updateTopic"], reason="It is ordered.")
    ]

    (advice,) = with_class(read_page(page_of(rows)), "advice")

    assert "Manual: a person decides" in text_of(advice)
    assert "It is ordered." in text_of(advice)
    assert "Do not run these as they are" in text_of(advice)


def test_each_command_has_its_line_and_a_line_end_inside_one_is_visible():
    rows = sample_rows()
    rows["recommendation"] = [a_recommendation(commands=["mqadmin a", "mqadmin b -t 'x\ny'"])]

    (block,) = elements(read_page(page_of(rows)), "pre")

    assert "".join(block.itertext()).splitlines() == ["mqadmin a", "mqadmin b -t 'x[U+000A]y'"]


@pytest.mark.parametrize(
    ("moved", "new", "said"),
    [
        (0, 24, "24 new queues get their first owner. A queue is unread"),
        (1, 1, "1 queue gets another owner and 1 new queue gets its first owner. A queue is unread"),
    ],
)
def test_a_new_queue_does_not_get_another_owner(moved, new, said):
    rows = sample_rows()
    first = rows["recommendation"][0]["id"]
    rows["recommended_transition"] = [a_recommended_transition(first, moved_queues=moved, new_queues=new)]

    assert said in text_of(read_page(page_of(rows)))
