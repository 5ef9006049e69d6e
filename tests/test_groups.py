"""Which tests several processes begin with, and which they do at once."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any, Final

import pytest

from tests.fixtures.groups import Together, group_of, waits

BROKERS: Final = [f"tests/cluster/test_{name}.py::test" for name in ("proxies", "topology", "ledger", "acl_1")]
OTHERS: Final = [f"tests/{name}/test_it.py::test" for name in ("stack", "browser", "cli", "report", "docs", "tables")]


class Process:
    """One of xdist's processes: what it was given is done when we say so."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def begun(processes: int, tests: list[str]) -> tuple[Together, list[Process]]:
    """The scheduler of so many processes, which have begun. Of each file there are three tests."""
    option = SimpleNamespace(loadscopereorder=False)
    config: Any = SimpleNamespace(getvalue=lambda _: [f"{processes}*popen"], option=option)
    together, nodes = Together(config), [Process(f"gw{number}") for number in range(processes)]
    collected = [f"{test}_{number}" for test in tests for number in range(3)]
    for node in nodes:
        together.add_node(node)
        together.add_node_collection(node, collected)
    together.schedule()
    return together, nodes


def given(together: Together, node: Process) -> list[str]:
    """The folders and files that a process was given, in their order."""
    assert together.collection is not None
    return list(OrderedDict.fromkeys(group_of(together.collection[index]) for index in node.given))


@pytest.mark.parametrize(("processes", "waiting"), [(4, 2), (3, 2), (2, 1), (1, 1)])
def test_half_of_the_processes_begin_with_tests_that_wait_for_brokers(processes: int, waiting: int) -> None:
    together, nodes = begun(processes, [*BROKERS, *OTHERS])
    assert [waits(given(together, node)[0]) for node in nodes].count(True) == waiting


def test_a_process_goes_on_with_what_the_others_leave_room_for() -> None:
    together, nodes = begun(4, [*BROKERS, *OTHERS])
    brokers, computes = nodes[0], nodes[2]
    for node in (computes, brokers):
        together.mark_test_complete(node, node.given[0])
    assert given(together, brokers) == ["tests/cluster/test_proxies.py", "tests/cluster/test_ledger.py"]
    assert given(together, computes) == ["tests/stack", "tests/cli"]


def test_all_tests_are_given_where_all_of_them_wait_or_none() -> None:
    for tests in (BROKERS, OTHERS):
        together, nodes = begun(4, tests)
        for turn in range(3 * len(tests)):
            for node in nodes:
                for index in node.given[turn : turn + 1]:
                    together.mark_test_complete(node, index)
        assert sorted(index for node in nodes for index in node.given) == list(range(3 * len(tests)))
        assert not together.has_pending
