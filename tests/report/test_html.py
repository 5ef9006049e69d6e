"""report.html: one valid file that needs nothing else, whatever a cluster holds."""

import base64
import hashlib
import itertools
import re

import pytest
from jinja2 import PackageLoader

from rocketmq_capacity.report import html
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import page_of
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import (
    HTML,
    SVG,
    by_id,
    cells_of,
    elements,
    inner_links,
    read_page,
    section,
    text_of,
    with_class,
)
from tests.report.row_builders import a_cluster, a_finding, a_group, a_load, a_recommendation, a_strategy, metrics
from tests.report.sample_cluster import CLIENTS, sample_rows
from tests.report.varied_cluster import varied_rows

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


@pytest.fixture(scope="module")
def varied_page():
    return page_of(varied_rows(18), scenario=a_scenario(), policy=TOLD)


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
    tree = read_page(page_of({"cluster": [a_cluster()]}))

    assert "Nothing needs to be changed in 0 consumer groups." in text_of(tree)


def test_equal_rows_give_equal_pages(varied_page):
    assert page_of(varied_rows(18), scenario=a_scenario(), policy=TOLD) == varied_page


def test_a_process_that_is_ready_reads_no_template_for_a_page(varied_page, monkeypatch):
    html.get_ready()
    monkeypatch.delattr(PackageLoader, "get_source")

    assert page_of(varied_rows(18), scenario=a_scenario(), policy=TOLD) == varied_page


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
    tree = read_page(page_of(rows))
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

    text = page_of(rows, scenario=scenario)
    tree = read_page(text)
    harmless = read_page(page_of(sample_rows() | {"failure": rows["failure"]}, scenario=a_scenario()))

    assert {e.tag for e in tree.iter()} <= {e.tag for e in harmless.iter()} | {f"{HTML}pre", f"{HTML}ol"}
    allowed = {name for e in harmless.iter() for name in e.attrib}
    assert {name for e in tree.iter() for name in e.attrib} <= allowed
    assert "49" not in text_of(by_id(tree, "group-1"))
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)
    shown = re.sub(r"[\x00-\x1f\u202e]", lambda c: f"[U+{ord(c[0]):04X}]", name)
    assert shown in text_of(by_id(tree, "group-1"))
    assert any(shown[:12] in text_of(t) for t in tree.iter(f"{SVG}text"))


def test_the_reason_why_strategies_cannot_run_is_shown_once_for_all_groups():
    rows = sample_rows()
    names = ["g_pay", "g_other"]
    rows["group_status"] = [a_group(name) for name in names]
    refused = {"is_applicable": False, "reason": "the policy names no machine_rooms"}
    rows["strategy_load"] = [a_strategy(name, "MACHINE_ROOM") | refused for name in names]

    text = text_of(read_page(page_of(rows)))

    assert text.count("the policy names no machine_rooms") == 1
    assert "MACHINE_ROOM in 2 groups: the policy names no machine_rooms" in text


def test_an_undecided_group_says_why():
    text = text_of(read_page(page_of(sample_rows())))

    assert "Why 1 group is undecided." in text
    assert "no client reports its response time (1 group)" in text
    assert "Undecided: no client reports its response time" in text


def test_an_incomplete_snapshot_says_what_is_missing(varied_tree):
    text = text_of(varied_tree)

    assert "97.2 %" in text
    assert "Incomplete. 2 requests went unanswered." in text
    assert ["10.0.1.2:10911", "GET_ALL_TOPIC_CONFIG", "timed out after 5 s"] in cells_of(varied_tree)


def test_a_what_if_is_no_plan_of_the_cluster_as_it_is(varied_tree):
    first_section = elements(varied_tree, "section")[0]

    assert text_of(first_section).startswith(
        "What-if: lose broker-b This is not the cluster as it is. Not everything is still carried: nobody can read or"
        " write pay. The busiest client exceeds 70 % at the peak in 2 groups: g_worker, g_was, only by these changes"
        " g_worker. 12 messages wait on queues that are gone or lose all readers. Gone: 4 queues of 1 group. What"
        " falls with them, such as lag, is not better. Everything on this page"
    )
    assert "These changes make the cluster worse. 1 group is worse off: g_pay_gateway" in text_of(first_section)
    assert "1 new, 0 mended, 1 gone with what is lost, 1 no longer judged" in text_of(first_section)
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


def test_a_group_whose_clients_share_one_id_has_one_id():
    shared = a_group(connections=2, distinct_client_ids=1)
    (table,) = with_class(read_page(page_of({"cluster": [a_cluster()], "group_status": [shared]})), "groups")

    assert cells_of(table)[1][6] == "2 (1 id)"


def test_what_no_load_is_known_by_is_one_list():
    rows = {"cluster": [a_cluster()], "group_status": [a_group()], "finding": [a_finding()]}
    nothing = [a_strategy(count=None, traffic=None, lag=None)]

    assert "No load is known by queues, messages per second and lag." in page_of(rows | {"strategy_load": nothing})


def test_a_group_of_one_client_has_nothing_to_compare():
    alone = a_group(connections=1, distinct_client_ids=1)
    rows = {"cluster": [a_cluster()], "group_status": [alone], "finding": [a_finding()]}
    nothing = [a_strategy(count=None, traffic=None, lag=None)]

    assert "No load is known" not in page_of(rows | {"strategy_load": nothing})


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

    tree = read_page(page_of(rows))

    (table,) = with_class(tree, "groups")
    lines = cells_of(table)[1:]
    assert {line[0]: line[6] for line in lines} == {
        "g_both": "6 (gRPC and remoting)",
        "g_grpc": "6 (gRPC)",
        "g_pay": "6",
    }
    assert "POP (a Proxy assigns the queues)" in text_of(tree)
