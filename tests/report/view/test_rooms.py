"""Machine rooms on the page: who reads where, what each strategy would change, rooms without clients."""

from typing import Any

from tests.report.from_rows import page_of
from tests.report.page_reader import elements, read_page, table_of, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group

EVIDENCE: dict[str, Any] = {
    "queues": 8,
    "cross_room_share": 0.5,
    "unknown_room_clients": 1,
    "matrix": [
        {"client_room": "hz", "broker_room": "hz", "queues": 2},
        {"client_room": "hz", "broker_room": "sh", "queues": 4},
        {"client_room": None, "broker_room": "sh", "queues": 2},
    ],
    "rooms_without_clients": ["sh"],
    "rooms_without_queues": [],
    "strategies": [
        {"strategy": "AVG", "cross_room_share": 0.5},
        {"strategy": "MACHINE_ROOM_NEARBY-AVG", "cross_room_share": 0.25},
    ],
    "nearby": {
        "strategy": "MACHINE_ROOM_NEARBY-AVG",
        "cross_room_share": 0.25,
        "idle": 1,
        "excess": 1.5,
        "starving_rooms": ["hz"],
    },
}


def _page(**changes: Any) -> Any:
    finding = a_finding("CROSS_ROOM", EVIDENCE | changes, message="half of them cross")
    return read_page(page_of({"cluster": [a_cluster()], "group_status": [a_group()], "finding": [finding]}))


def test_the_matrix_has_rooms_of_clients_down_and_rooms_of_brokers_across() -> None:
    assert table_of(_page(), "by room of the broker") == [
        ["Clients in", "hz", "sh"],
        ["hz", "2", "4"],
        ["not known", "0", "2"],
    ]


def test_only_cells_of_two_known_rooms_are_marked_as_crossing() -> None:
    crossing = [text_of(one) for one in elements(_page(), "td") if "crosses" in (one.get("class") or "")]

    assert crossing == ["4"]


def test_each_strategy_has_its_share_the_lowest_first() -> None:
    assert table_of(_page(), "Queues read from another room, by strategy")[1:] == [
        ["MACHINE_ROOM_NEARBY-AVG", "25 %"],
        ["AVG", "50 %"],
    ]


def test_rooms_without_clients_and_what_nearby_would_change_are_said() -> None:
    text = text_of(_page())

    assert "Rooms with queues of the group and none of its clients: sh." in text
    assert "Rooms with clients of the group" not in text
    assert (
        "Under MACHINE_ROOM_NEARBY-AVG, 25 % of the queues would be read from another room instead of 50 %, 1 client "
        "would be idle, EXCESS by queues would be 1.5, and clients of hz would get next to nothing."
    ) in text


def test_what_the_tables_show_is_not_said_a_second_time() -> None:
    text = text_of(_page())

    assert "unknown room clients" in text
    assert "starving rooms" not in text


def test_a_finding_of_an_earlier_version_shows_its_evidence_as_it_is() -> None:
    assert "rooms without clients" in text_of(_page(matrix=[]))
