"""report.html: one valid file that needs nothing else, whatever a cluster holds."""

import base64
import hashlib
import itertools
import json
import re

import pytest
from jinja2 import PackageLoader

from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.report import html, limits
from rocketmq_capacity.report.detail import worst_groups
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import DEFAULTS, page_of, plan_of
from tests.report.page_reader import HTML, SVG, by_id, elements, read_page, section, text_of, with_class
from tests.report.row_builders import (
    a_cluster,
    a_finding,
    a_group,
    a_load,
    a_recommendation,
    a_recommended_transition,
    a_strategy,
    metrics,
)
from tests.report.sample_cluster import CLIENTS, sample_rows
from tests.report.varied_cluster import a_scenario, a_step, varied_rows

HOSTILE = [
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "'onmouseover='alert(1)",
    "{{7*7}}",
    "{% raw %}",
    "</style></svg></title><img src=x onerror=alert(1)>",
    "]]><!--",
    "&lt;b&gt;",
    "javascript:alert(1)",
    "pay\u202egnp",
    "a\x00b\x1b[2J",
    "+ADw-script+AD4-",
]
UNKNOWN = "\u2013"
OWN_SCRIPT = re.compile(r"scripts/[A-Za-z0-9][A-Za-z0-9_.-]*\.sh")
FETCHING = {"src", "srcset", "href", "action", "formaction", "poster", "data", "background", "ping", "cite", "manifest"}


TOLD = Policy.model_validate({
    "groups": [{"match": "[aeiou]", "owner": "<b>pay & co</b>", "tier": 1}, {"match": ".", "owner": "others"}],
    "accepted": [
        {"rule": finding["rule"], **place, "by": "<i>li</i>", "why": "a > b", "until": "2030-01-01"}
        for finding in varied_rows(18)["finding"][:6]
        if (place := {name: finding[name] for name in ("consumer_group", "topic") if finding[name] is not None})
    ],
    "freeze": [{"from": "2020-01-01", "to": "2030-01-01", "why": "<u>the sale</u>"}],
    "events": [{"name": "<u>the sale</u>", "from": "2020-01-01", "to": "2100-01-01", "factor": 2.0, "topics": "<b>&"}],
})
"""A policy that gives the page every section that a policy can."""


def page(rows, scenario=None, policy=DEFAULTS):
    return page_of(rows, policy=policy, scenario=scenario)


def inner_links(tree):
    """The ids that links lead to; other links lead to scripts beside the page."""
    return {href[1:] for a in elements(tree, "a") if (href := a.get("href")).startswith("#")}


@pytest.fixture(scope="module")
def varied_page():
    return page(varied_rows(18), a_scenario(), TOLD)


@pytest.fixture(scope="module")
def varied_tree(varied_page):
    return read_page(varied_page)


def test_the_page_is_valid_html(varied_tree):
    assert varied_tree.find(f"{HTML}head/{HTML}title") is not None


def test_the_page_of_the_checks_has_every_section_that_a_policy_gives(varied_tree):
    assert text_of(section(varied_tree, "accepted"))
    assert "<b>pay & co</b>" in text_of(section(varied_tree, "owners"))
    assert "<u>the sale</u>" in text_of(varied_tree)


def test_a_cluster_without_anything_gives_a_valid_page():
    tree = read_page(page({"cluster": [a_cluster()]}))

    assert "Nothing needs to be changed in 0 consumer groups." in text_of(tree)


def test_equal_rows_give_equal_pages(varied_page):
    assert page(varied_rows(18), a_scenario(), TOLD) == varied_page


def test_a_process_that_is_ready_reads_no_template_for_a_page(varied_page, monkeypatch):
    html.get_ready()
    monkeypatch.delattr(PackageLoader, "get_source")

    assert page(varied_rows(18), a_scenario(), TOLD) == varied_page


def test_nothing_on_the_page_leads_or_reaches_outside(varied_tree, varied_page):
    for element in varied_tree.iter():
        for name, value in element.attrib.items():
            plain = name.rpartition("}")[2]
            assert not plain.startswith("on"), (element.tag, name)
            if plain in FETCHING:
                assert value.startswith("#") or OWN_SCRIPT.fullmatch(value), (element.tag, name, value)
    for name in ("script", "link", "iframe", "object", "embed", "form", "base", "img", "audio", "video"):
        assert elements(varied_tree, name) == []
    assert not re.search(r"url\((?!#)|@import|https?:", varied_page)


def test_the_page_forbids_itself_everything_but_its_own_style(varied_tree):
    (policy,) = [m for m in elements(varied_tree, "meta") if m.get("http-equiv") == "Content-Security-Policy"]

    (style,) = elements(varied_tree, "style")
    digest = hashlib.sha256(style.text.encode()).digest()
    told = dict(part.split(" ", 1) for part in policy.get("content").split("; "))
    assert [e.tag for e in varied_tree.iter() if e.get("style")] == []
    assert told == {
        "default-src": "'none'",
        "style-src": f"'sha256-{base64.b64encode(digest).decode()}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_headings_step_down_one_level_at_a_time(varied_tree):
    levels = [int(e.tag[-1]) for e in varied_tree.iter() if re.fullmatch(rf"{re.escape(HTML)}h[1-6]", str(e.tag))]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in itertools.pairwise(levels))


def test_every_id_is_unique_and_every_link_arrives(varied_tree):
    ids = [element.get("id") for element in varied_tree.iter() if element.get("id")]
    targets = inner_links(varied_tree)
    labels = {name for e in varied_tree.iter() for name in (e.get("aria-labelledby") or "").split()}

    assert len(ids) == len(set(ids))
    assert targets | labels <= set(ids)


def test_every_table_has_a_caption_or_is_in_a_labelled_region_and_its_headers_have_a_scope(varied_tree):
    tables = elements(varied_tree, "table")

    assert len(tables) > 40
    for region in with_class(varied_tree, "scroll"):
        assert region.get("aria-label")
        assert region.get("tabindex") == "0"
    for table in tables:
        assert all(cell.get("scope") for cell in table.iter(f"{HTML}th"))
        is_evidence = table.get("class") == "small" and table.find(f"{HTML}caption") is None
        assert is_evidence or text_of(table.find(f"{HTML}caption"))


def test_every_chart_is_one_image_with_a_name_and_has_its_numbers_in_a_table_under_it(varied_tree):
    charts = elements(varied_tree, "figure")

    assert len(charts) > 3
    for figure in charts:
        (picture,) = figure.iter(f"{SVG}svg")
        names = picture.get("aria-labelledby").split()
        assert picture.get("role") == "img"
        assert all(text_of(by_id(varied_tree, name)) for name in names)
        (table,) = figure.iter(f"{HTML}table")
        assert len(list(table.iter(f"{HTML}tr"))) > 2


def test_a_charts_bars_are_its_tables_numbers():
    rows = sample_rows()
    rows["strategy_load"].append(a_strategy(strategy="CONFIG", count=metrics([2] * 12, 1.5)))
    rows["client_load"] += [a_load("g_pay", "CONFIG", client, 2) for client in CLIENTS]
    tree = read_page(page(rows))
    (box,) = [f for f in elements(tree, "figure") if "g_pay" in text_of(f.find(f".//{HTML}caption"))]

    cells = [[text_of(cell) for cell in row] for row in box.iter(f"{HTML}tr")]
    drawn = [text_of(t) for t in box.iter(f"{SVG}text")]

    assert cells[0] == ["Client", "AVG (queues)", "CONFIG (queues)"]
    assert cells[1:] == [[f"10.0.0.{n}@1#1", "1", "2"] for n in (10, 11, 12, 1, 2, 3, 4, 5)] + [
        [f"10.0.0.{n}@1#1", "0", "2"] for n in (6, 7, 8, 9)
    ]
    assert [text for text in drawn if "@" in text] == [row[0] for row in cells[1:]]
    # Every figure is drawn twice: its halo, then itself.
    assert drawn.count("0 (idle)") == 2 * 4


def test_a_recorded_snapshot_says_when_it_was_recorded_and_how_it_is_dated():
    rows = sample_rows()
    assert "Snapshot of 20 November 2026, 02:00:00 UTC" in text_of(read_page(page_of(rows)))

    rows["cluster"] = [a_cluster(recorded_at="2026-09-01T15:27:09Z")]

    told = text_of(read_page(page_of(rows)))
    assert "Snapshot recorded on 1 September 2026, 15:27:09 UTC, dated 20 November 2026, 02:00:00 UTC" in told


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_and_nothing_else(name):
    rows = sample_rows()
    rows["cluster"] = [a_cluster(taken_at=name, recorded_at=name, fingerprint=name)]
    for dataset in ("group_status", "strategy_load", "client_load"):
        for row in rows[dataset]:
            row["consumer_group"] = name
    for row in rows["group_status"]:
        row |= {"topics": [name], "provision_reason": name}
    for row in rows["strategy_load"]:
        row |= {"idle_clients": [name], "orphan_queues": [{"topic": name, "broker_name": name, "queue_id": 0}]}
        row |= {"reason": name}
    rows["client_load"][0]["client_id"] = name
    rows["failure"] = [{"broker_addr": name, "request": name, "error": name}]
    names = {"consumer_group": name, "topic": name, "message": name, "broker_name": name, "subjects": [name]}
    rows["finding"] = [a_finding(evidence={name: {name: [name, {name: name}]}, "t": [{name: name}]}, **names)]
    change = {"groups": {name: {name: name}}}
    texts = {"id": name, "consumer_group": name, "topic": name, "reason": name, "commands": [name]}
    rows["recommendation"] = [a_recommendation(before=change, after={"groups": {name: {name: 1}}}, **texts)]
    scenario = a_scenario() | {"name": name, "changes": [{"change": name, name: name}]}
    scenario["groups"][0]["consumer_group"] = name
    scenario["findings_added"] = []

    text = page(rows, scenario)
    tree = read_page(text)
    harmless = read_page(page(sample_rows() | {"failure": rows["failure"]}, a_scenario()))

    assert {e.tag for e in tree.iter()} <= {e.tag for e in harmless.iter()} | {f"{HTML}pre", f"{HTML}ol"}
    allowed = {name for e in harmless.iter() for name in e.attrib}
    assert {name for e in tree.iter() for name in e.attrib} <= allowed
    assert "49" not in text_of(by_id(tree, "group-1"))
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)
    shown = re.sub(r"[\x00-\x1f\u202e]", lambda c: f"[U+{ord(c[0]):04X}]", name)
    assert shown in text_of(by_id(tree, "group-1"))
    assert any(shown[:12] in text_of(t) for t in tree.iter(f"{SVG}text"))


def test_a_what_if_says_how_to_carry_it_out_step_by_step():
    text = text_of(read_page(page(sample_rows(), a_scenario())))

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
    text = text_of(read_page(page(rows)))

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
    text = text_of(read_page(page(rows)))

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

    assert f"at most 53.5 s, and {said} consumed twice." in text_of(read_page(page(rows)))


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

    text = text_of(by_id(read_page(page(rows)), plan_of(rows).causes[0].anchor))

    assert text.count("pay broker-a 3") == 2
    assert "queue_id" not in text


def test_what_to_do_first_is_the_worst_and_offers_a_choice():
    rows = sample_rows()
    rows["finding"].append(
        a_finding("ORPHAN_QUEUE", {"orphans": 2}, severity="CRITICAL", message="2 queues have no reader.")
    )

    first, second = causes(page(rows))

    assert told_in(first) == "Critical Queues that nobody reads 2 queues without reader g_pay 2 queues have no reader."
    assert "No change is proposed" in text_of(first)
    assert told_in(second).startswith("Warning Run 8 consumers of g_pay Change in the clients one of 2 ways")


def test_a_cause_is_shown_once_and_its_group_links_to_it():
    tree = read_page(page(sample_rows()))

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

    change, look = with_class(read_page(page(rows)), "advice")

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

    (line,) = causes(page(rows))

    assert told_in(line).startswith("Warning 5 times: Consumers of one group that divide the queues differently")
    assert len(with_class(line, "cause")) == 1 + 5


def test_more_queues_of_several_topics_are_shown_as_one():
    rows = sample_rows()
    rows["group_status"] = [a_group(topics=["pay", "refund"])]
    rows["recommendation"] = [a_recommendation(id=topic, topic=topic) for topic in ("pay", "refund")]

    (way,) = with_class(read_page(page(rows)), "advice")

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

    titles = [text_of(title) for title in with_class(read_page(page(rows)), "title")]

    assert titles == [
        f"Let all clients of g_pay run another strategy: messages shared out unevenly, {topic}" for topic in topics
    ]


def test_the_check_and_the_way_back_are_beside_the_change():
    rows = sample_rows()
    check = {"check_command": "mqadmin topicRoute -t pay", "check_shows": "six queues."}
    moves_nothing = {"action": "CHECK_PRODUCER_KEYS", "way_back": "Take them away."}
    rows["recommendation"] = [a_recommendation() | check | moves_nothing]

    (way,) = with_class(read_page(page(rows)), "advice")

    told = [text_of(one) for one in elements(way, "dd")]
    assert told == ["mqadmin topicRoute -t pay It must show: six queues.", "Take them away."]


def test_the_reason_why_strategies_cannot_run_is_shown_once_for_all_groups():
    rows = sample_rows()
    names = ["g_pay", "g_other"]
    rows["group_status"] = [a_group(name) for name in names]
    refused = {"is_applicable": False, "reason": "the policy names no machine_rooms"}
    rows["strategy_load"] = [a_strategy(name, "MACHINE_ROOM") | refused for name in names]

    text = text_of(read_page(page(rows)))

    assert text.count("the policy names no machine_rooms") == 1
    assert "MACHINE_ROOM in 2 groups: the policy names no machine_rooms" in text


def test_a_manual_recommendation_says_so_and_warns_of_its_commands():
    rows = sample_rows()
    rows["recommendation"] = [
        a_recommendation(is_manual=True, commands=["# mqadmin updateTopic"], reason="It is ordered.")
    ]

    (advice,) = with_class(read_page(page(rows)), "advice")

    assert "Manual: a person decides" in text_of(advice)
    assert "It is ordered." in text_of(advice)
    assert "Do not run these as they are" in text_of(advice)


def test_each_command_has_its_line_and_a_line_end_inside_one_is_visible():
    rows = sample_rows()
    rows["recommendation"] = [a_recommendation(commands=["mqadmin a", "mqadmin b -t 'x\ny'"])]

    (block,) = elements(read_page(page(rows)), "pre")

    assert "".join(block.itertext()).splitlines() == ["mqadmin a", "mqadmin b -t 'x[U+000A]y'"]


def test_an_undecided_group_says_why():
    text = text_of(read_page(page(sample_rows())))

    assert "Why 1 group is undecided." in text
    assert "no client reports its response time (1 group)" in text
    assert "Undecided: no client reports its response time" in text


def test_an_incomplete_snapshot_says_what_is_missing(varied_tree):
    text = text_of(varied_tree)

    assert "97.2 %" in text
    assert "Incomplete. 2 requests went unanswered." in text
    rows = [[text_of(cell) for cell in row] for row in elements(varied_tree, "tr")]
    assert ["10.0.1.2:10911", "GET_ALL_TOPIC_CONFIG", "timed out after 5 s"] in rows


def test_a_what_if_is_no_plan_of_the_cluster_as_it_is(varied_tree):
    first_section = elements(varied_tree, "section")[0]

    assert text_of(first_section).startswith(
        "What-if: lose broker-b This is not the cluster as it is. Not everything is still carried: nobody can read or"
        " write pay. The busiest client exceeds 70 % at the peak in 2 groups: g_worker, g_was, only by these changes"
        " g_worker. 12 messages wait on queues that are gone or lose all readers. Gone: 4 queues of 1 group. What"
        " falls with them, such as lag, is not better. Everything on this page"
    )
    assert "These changes make the cluster worse. 1 group is worse off: g_pay_gateway" in text_of(first_section)
    assert "1 come, 0 are mended, 1 are gone with what is lost, 1 can no longer be judged" in text_of(first_section)
    assert "pay: too few messages are written after the change." in text_of(first_section)
    assert "Not judged: who owns which queue after the change is not known." in text_of(first_section)
    assert "1 of 9 consumers own no queue. Gone with broker broker-b." in text_of(first_section)
    of_groups, *_, of_strategies = (
        [[text_of(cell) for cell in row] for row in table.iter(f"{HTML}tr")][2:]
        for table in first_section.iter(f"{HTML}table")
    )
    assert of_groups == [
        [
            "g_pay_gateway",
            "Worse pay has no readable queue any more, and producers cannot send to it",
            *("60 %", "unknown", "12", "6"),
        ]
    ]
    assert of_strategies == [
        ["g_pay_gateway", "CONSISTENT_HASH in use", "2 (12.5 %)", "0", "1", "1.12", "1.60", UNKNOWN, UNKNOWN],
        ["g_pay_gateway", "AVG", "6 (37.5 %)", "0", "1", "1.12", "1.60", UNKNOWN, UNKNOWN],
    ]
    assert text_of(varied_tree.find(f"{HTML}head/{HTML}title")).startswith("What-if: ")


@pytest.mark.slow
def test_a_big_cluster_lists_every_group_and_counts_what_it_leaves_out():
    groups = 1_000
    rows = varied_rows(groups)
    text = page(rows)
    tree = read_page(text)

    (table,) = with_class(tree, "groups")
    assert len(list(table.iter(f"{HTML}tr"))) == limits.GROUPS + 1
    assert len(with_class(tree, "group")) == limits.GROUPS_IN_DETAIL
    assert len(elements(tree, "figure")) == limits.CHARTS + 1
    plan = plan_of(rows)
    shown = [one for one in with_class(tree, "cause") if "fold" not in one.get("class").split()]
    hidden = [int(found.replace(",", "")) for found in re.findall(r"([\d,]+) more of [\d,]+ (?:is|are) in", text)]
    hidden += [int(found.replace(",", "")) for found in re.findall(r"([\d,]+) more causes? (?:is|are) in", text)]
    assert len(shown) + sum(hidden) == len(plan.causes)
    assert f"{groups - limits.GROUPS:,} more groups are in plan.json" in text
    assert "further uneven groups have none" in text
    assert len(text) < 2_550_000


def test_a_huge_cluster_lists_the_groups_with_the_worst_findings_by_name_and_counts_the_others(monkeypatch):
    monkeypatch.setattr("rocketmq_capacity.report.view.page.GROUPS", 10)
    monkeypatch.setattr("rocketmq_capacity.report.detail.GROUPS_IN_DETAIL", 3)
    rows = varied_rows(18)
    worst = worst_groups(plan_of(rows))[:10]

    tree = read_page(page(rows))

    (table,) = with_class(tree, "groups")
    assert [text_of(row[0]) for row in table.iter(f"{HTML}tr")][1:] == list(worst)
    assert len(with_class(tree, "group")) == 3
    ids = {element.get("id") for element in tree.iter() if element.get("id")}
    assert inner_links(tree) <= ids
    told = " ".join(text_of(note) for note in with_class(tree, "more"))
    assert re.search(r"\b8 more groups\b", told)


def test_what_one_group_and_one_finding_say_is_bounded_however_much_there_is():
    names = [f"t{n:03}" for n in range(300)]
    rows = sample_rows()
    rows["group_status"] = [a_group(topics=names)]
    rows["finding"] = [
        a_finding(evidence={"queues": dict.fromkeys(names, 1)} | dict.fromkeys(names, 1)),
        *(a_finding("HOT_QUEUE", topic=name) for name in names),
    ]
    advice = a_recommendation("SCALE_CONSUMERS", topic=None)  # of the whole cluster: it stands first
    rows["recommendation"] = [advice, *(a_recommendation(id=name, topic=name) for name in names)]

    tree = read_page(page(rows))

    (group,) = with_class(tree, "group")
    assert len(elements(with_class(group, "plain")[0], "li")) == limits.CAUSES_A_GROUP
    assert len(with_class(tree, "cause")) <= 2 * limits.FOLDED_CAUSES + 2
    evidence = [one for one in elements(tree, "details") if one.get("class") == "deep"]
    assert all(len(elements(one, "dt")) <= 2 * limits.TABLE_ROWS + 1 for one in evidence)
    told = [text_of(note) for note in with_class(tree, "more")]
    for more in (300 - limits.FOLDED_CAUSES, 300 - limits.TABLE_ROWS, 301 - limits.TABLE_ROWS):
        assert any(note.startswith(f"{more} more") for note in told), more


def test_many_folded_lines_show_fewer_causes_each():
    rows = sample_rows()
    names = [rule for rule in rules() if rule != "SUSPECT_SNAPSHOT"][:25]
    rows["finding"] = [a_finding(rule, topic=f"t{number:02}") for rule in names for number in range(30)]
    rows["recommendation"] = []

    tree = read_page(page(rows))

    told = [text_of(note) for note in with_class(tree, "more")]
    left_out = [note.split()[0] for note in told if "of 30 are in" in note]
    more = 30 - limits.ALL_FOLDED_CAUSES // len(left_out)
    assert len(left_out) > limits.ALL_FOLDED_CAUSES / limits.FOLDED_CAUSES
    assert set(left_out) == {str(more)}


def test_no_severity_or_status_is_shown_by_colour_alone(varied_tree):
    badges, statuses = with_class(varied_tree, "badge"), with_class(varied_tree, "swatch")

    assert all(re.search("[A-Za-z]{4}", text_of(badge)) for badge in badges)
    assert len(badges) > 40
    beside = {child: text_of(parent) for parent in varied_tree.iter() for child in parent}
    assert all(re.search("[a-z]{4}", beside[swatch]) for swatch in statuses)


def test_every_term_that_is_linked_is_in_the_glossary(varied_tree):
    for term in with_class(varied_tree, "term"):
        entry = by_id(varied_tree, term.get("href")[1:])
        assert len(text_of(entry)) > 20


def test_the_page_names_clients_that_are_behind_a_proxy():
    about = {"connections": 6, "distinct_client_ids": 6, "max_useful_clients": None, "message_request_mode": "POP"}
    rows = {
        "cluster": [a_cluster()],
        "group_status": [
            a_group("g_both", **about | {"protocol": "MIXED"}),
            a_group("g_grpc", **about | {"protocol": "GRPC", "current_strategy": "POP"}),
            a_group("g_pay", **about | {"protocol": "REMOTING"}),
        ],
        "finding": [a_finding(consumer_group=name) for name in ("g_both", "g_grpc", "g_pay")],
    }

    tree = read_page(page(rows))

    (table,) = with_class(tree, "groups")
    lines = [[text_of(cell) for cell in row] for row in elements(table, "tr")[1:]]
    assert {line[0]: line[6] for line in lines} == {
        "g_both": "6 (gRPC and remoting)",
        "g_grpc": "6 (gRPC)",
        "g_pay": "6",
    }
    assert "POP (a Proxy assigns the queues)" in text_of(tree)


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

    assert said in text_of(read_page(page(rows)))
