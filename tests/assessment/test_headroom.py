"""How many times its traffic a group bears.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second.
"""

import pytest

from tests.assessment.cases import Part, members, takes
from tests.assessment.judge import Judgement
from tests.simulation.clusters import queues

PART = Part()


def _bears(name: str, rate: float | None) -> None:
    """Four clients that own six queues each."""
    clients = members(4, consume_threads=10, consume_batch_size=1, status=takes(name, 10.0))
    rates = {(broker, i): rate for broker in ("broker-a", "broker-b") for i in range(12)}
    PART.case(name, clients, queues("broker-a", 12), queues("broker-b", 12), rates=rates)


_bears("bears_twice_as_much", 350 / 6)
_bears("is_beyond", 140.0)
_bears("bears_nothing_known", None)
_bears("bears_no_traffic", 0.0)


@pytest.mark.parametrize(("group", "factor"), [("bears_twice_as_much", 2.0), ("is_beyond", 0.7 / 0.84)])
def test_headroom_is_the_bound_over_the_busy_share(judged: Judgement, group: str, factor: float) -> None:
    found = judged.group(group)

    assert found["headroom_factor"] == found["headroom_measured_factor"] == pytest.approx(factor)
    assert found["headroom_breaks"] == "UTILISATION"


@pytest.mark.parametrize("group", ["bears_nothing_known", "bears_no_traffic"])
def test_without_a_known_traffic_there_is_no_headroom(judged: Judgement, group: str) -> None:
    assert judged.group(group)["headroom_factor"] is None
