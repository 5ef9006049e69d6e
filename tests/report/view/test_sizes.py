"""What if a group had n clients, on the page: a table for each group in detail, and a picture for the first ones."""

from typing import Any

from tests.report.from_rows import page_of
from tests.report.page_reader import elements, read_page, table_of, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group

NEEDED = {
    "utilisation": 0.9,
    "utilisation_lower": 0.9,
    "utilisation_upper": 0.9,
    "is_size_known": True,
    "needed_clients_lower": 3,
    "needed_clients_target": 3,
    "needed_clients_upper": 3,
    "min_safe_clients": 2,
    "target_replicas": 5,
}


def _size(clients: int, busy: float | None, consumer_group: str = "g_pay", **changes: Any) -> dict[str, Any]:
    return {
        "consumer_group": consumer_group,
        "clients": clients,
        "is_today": clients == 2,
        "busy_lower": busy,
        "busy_ratio": busy,
        "busy_upper": busy,
        "idle_clients": max(0, clients - 4),
        "most_queues": 4 // clients or 1,
        "peak": 1.0,
    } | changes


def _page(*sizes: dict[str, Any], groups: int = 1) -> Any:
    names = ["g_pay", *(f"g_{number:02}" for number in range(1, groups))]
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group(name, **NEEDED) for name in names],
        "group_size": list(sizes),
        "finding": [a_finding(consumer_group=name) for name in names],
    }
    return read_page(page_of(rows))


def test_each_number_of_clients_has_its_figures_and_todays_the_least_and_the_needed_one_are_named() -> None:
    lower: dict[str, Any] = {"busy_lower": 0.55, "busy_upper": 0.62}
    page = _page(_size(3, 0.6, **lower), _size(1, 1.8), _size(2, 0.9), _size(5, None))

    assert table_of(page, "had more or fewer clients") == [
        ["Clients", "Busiest client is busy for", "Idle clients", "Most queues of a client", "PEAK by queues"],
        ["1 client", "180 %", "0", "4", "1.00"],
        ["2 clients (today)", "90 %", "0", "2", "1.00"],
        ["3 clients (enough)", "55 % to 62 %", "0", "1", "1.00"],
        ["5 clients (needed)", "unknown", "1", "1", "1.00"],
    ]


def test_numbers_that_are_left_out_are_spoken_of() -> None:
    assert "Not every number has a row." in text_of(_page(_size(1, 0.9), _size(2, 0.5), _size(8, 0.1)))
    assert "Not every number has a row." not in text_of(_page(_size(1, 0.9), _size(2, 0.5)))


def test_a_group_without_rows_has_neither_heading_nor_table() -> None:
    assert "With more or fewer clients" not in text_of(_page())


def test_the_first_groups_have_a_picture_and_all_have_the_table() -> None:
    names = ["g_pay", *(f"g_{number:02}" for number in range(1, 15))]
    page = _page(*(_size(clients, 0.5, name) for name in names for clients in (1, 2)), groups=15)

    captions = [text_of(one) for one in elements(page, "caption") if "more or fewer clients" in text_of(one)]
    assert len(captions) == 15
    pictures = [
        one
        for one in page.iter()
        if one.tag.endswith("svg") and (one.get("aria-labelledby") or "").startswith("sizes-")
    ]
    assert len(pictures) == 12


def test_the_picture_shows_the_busy_share_and_the_idle_clients() -> None:
    text = text_of(_page(_size(1, 1.8), _size(2, 0.9), _size(5, None)))
    assert "Busiest client" in text
    assert "% of its time" in text
    assert "Idle clients" in text
    assert "1 client" in text
