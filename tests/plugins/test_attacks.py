"""What a running API server spends on a what-if that is sent to do harm, and whether others are served meanwhile.

The bounds are wide: an attack that gets through costs ten times as much, or more than any machine has.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Final
from urllib.request import urlopen

import psutil
import pytest

from tests.fixtures.hostile_yaml import nested_aliases
from tests.plugins.api_server import ANSWERS_WITHIN_S, PREFIX, ApiServer

pytestmark = [pytest.mark.airflow, pytest.mark.slow]
TRIGGER: Final = "/api/v2/dags/rocketmq_what_if/dagRuns"
MOST_CPU_S: Final = 5.0
MOST_MEMORY: Final = 150 << 20
AT_ONCE: Final = 4


def body(**conf: object) -> bytes:
    return json.dumps({"logical_date": None, "conf": conf}).encode()


ATTACKS: Final[dict[str, Callable[[], bytes]]] = {
    "375 bytes of aliases": lambda: body(scenario=nested_aliases("name", 9)),
    "418 bytes of aliases": lambda: body(scenario=nested_aliases("name", 10)),
    "48 MB of client ids": lambda: body(change="add_clients", consumer_group="g", client_ids=["c"] * 9_600_000),
    "aliases for the policy": lambda: body(
        change="lose_broker", broker_name="b", policy_changes=nested_aliases("machine_rooms", 10)
    ),
    "a long text": lambda: body(scenario="a: " * 150_000),
    "many fields": lambda: body(change="lose_broker", broker_name="b", **{f"k{n}": 1 for n in range(40_000)}),
    "many fields of Airflow": lambda: body(
        change="lose_broker", broker_name="b", **{f"airflow/{n}": 1 for n in range(30_000)}
    ),
    "deep JSON": lambda: b'{"conf": {"topic": ' + b"[" * 500_000,
}
"""What makes the body of each; the largest takes seconds."""
TAKEN: Final = {400, 413, 422}


class Spent:
    """CPU seconds and resident bytes of the server's processes, since it was made."""

    def __init__(self, server: ApiServer) -> None:
        first = psutil.Process(server.pid)
        self._processes = [first, *first.children(recursive=True)]
        self._before = self._now()

    def _now(self) -> tuple[float, int]:
        times = [process.cpu_times() for process in self._processes]
        return sum(t.user + t.system for t in times), sum(p.memory_info().rss for p in self._processes)

    def check(self) -> None:
        cpu_s, memory = (after - before for after, before in zip(self._now(), self._before, strict=True))
        assert cpu_s < MOST_CPU_S
        assert memory < MOST_MEMORY


def sent(server: ApiServer, content: bytes, **headers: str) -> int:
    """The status of a trigger with that body."""
    told = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=ANSWERS_WITHIN_S)) as connection:
        connection.request("POST", PREFIX + TRIGGER, content, told)
        return connection.getresponse().status


def attack(server: ApiServer, content: bytes, **headers: str) -> set[int]:
    """The statuses of several attacks at once; checks that others are served meanwhile, and what it has cost."""
    spent, is_over = Spent(server), threading.Event()

    def others() -> int:
        served = 0
        while not served or not is_over.is_set():
            with urlopen(f"{server.url}/api/v2/version", timeout=ANSWERS_WITHIN_S) as answer:
                served += answer.status == 200
            time.sleep(0.05)
        return served

    with ThreadPoolExecutor(AT_ONCE + 1) as threads:
        meanwhile = threads.submit(others)
        try:
            statuses = set(threads.map(lambda _: sent(server, content, **headers), range(AT_ONCE)))
        finally:
            is_over.set()
        assert meanwhile.result(ANSWERS_WITHIN_S)
    spent.check()
    return statuses


@pytest.mark.parametrize("name", ATTACKS)
def test_without_a_login_nothing_is_spent(server: ApiServer, name: str) -> None:
    assert attack(server, ATTACKS[name]()) == {401}


@pytest.mark.parametrize("name", ATTACKS)
def test_who_may_not_trigger_is_refused_without_a_look(server: ApiServer, name: str) -> None:
    assert attack(server, ATTACKS[name](), Authorization=f"Bearer {server.token('viewer')}") == {403}


@pytest.mark.parametrize("name", ATTACKS)
def test_who_may_trigger_is_refused_at_little_cost(server: ApiServer, name: str) -> None:
    assert attack(server, ATTACKS[name](), Authorization=f"Bearer {server.token('admin')}") <= TAKEN


@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_a_web_page_of_another_origin_makes_nothing_be_read(server: ApiServer, kind: str) -> None:
    cookie = f"_token={server.token('admin')}"
    page = {"Content_Type": kind, "Origin": "https://evil.example"}

    assert attack(server, ATTACKS["418 bytes of aliases"](), **page) == {401}
    assert attack(server, ATTACKS["418 bytes of aliases"](), **page, Cookie=cookie) == {403}


def test_the_refusal_comes_before_a_byte_of_the_body(server: ApiServer) -> None:
    head = f"POST {PREFIX}{TRIGGER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 48000000"
    with socket.create_connection(("127.0.0.1", server.port), timeout=ANSWERS_WITHIN_S) as connection:
        connection.sendall(f"{head}\r\n\r\n".encode())

        assert connection.recv(12) == b"HTTP/1.1 401"
