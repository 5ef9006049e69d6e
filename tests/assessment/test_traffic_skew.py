"""TRAFFIC_SKEW: some clients receive more messages than another division of the queues would give them."""

from tests.assessment.cases import Part
from tests.assessment.judge import Judgement

PART = Part()

# Ten messages a second on each queue, so that four clients' counts are their traffic in tens.
PART.owning("peak_of_1_50", [6, 4, 3, 3])
PART.owning("peak_of_1_75", [7, 3, 3, 3])
PART.owning("peak_of_3_08", [10, 1, 1, 1])


def _with_heavy_queue(name: str, beside: float) -> None:
    """c01 owns a queue of 10 messages a second, which somebody must take, and one of ``beside``; the others have 6."""
    PART.owning(name, [2, 1, 1, 1], rates={0: 10.0, 1: beside, 2: 6.0, 3: 6.0, 4: 6.0})


_with_heavy_queue("traffic_excess_of_1_10", 1.0)
_with_heavy_queue("traffic_excess_of_1_15", 1.5)
PART.owning("heavy_queue_alone", [1, 1, 1, 1], rates={0: 100.0, 1: 1.0, 2: 1.0, 3: 1.0})
PART.owning("traffic_unknown", [10, 1, 1, 1], rates=dict.fromkeys(range(12), 10.0))
PART.owning("no_traffic", [10, 1, 1, 1], rates=dict.fromkeys(range(13), 0.0), lag=1000)
PART.owning("traffic_of_nobody", [10, 1, 1, 1], message_model="BROADCASTING")


def test_a_client_with_more_than_one_and_a_half_times_the_mean_is_flagged(judged: Judgement) -> None:
    found = judged.finding("TRAFFIC_SKEW", "peak_of_1_75")

    assert found["severity"] == "WARNING"
    assert found["subjects"] == ["c01"]
    # 70, 30, 30, 30: the mean is 40, which queues of 10 allow, the deviation sqrt(300);
    # GINI = (30 * (-3 - 1 + 1) + 70 * 3) / (4 * 160).
    assert found["evidence"] == {
        "peak": 1.75,
        "floor": 1.0,
        "excess": 1.75,
        "gini": 0.1875,
        "cv": 0.433,
        "max": 70.0,
        "min": 30.0,
        "msgs_per_s": 160.0,
        "peak_utilisation_ratio": None,
    }
    assert found["message"] == "The busiest client receives 1.75 times the mean: c01."


def test_one_and_a_half_times_the_mean_is_not_flagged_yet(judged: Judgement) -> None:
    assert judged.found("TRAFFIC_SKEW", "peak_of_1_50") is None


def test_no_skew_is_critical_however_large(judged: Judgement) -> None:
    assert judged.finding("TRAFFIC_SKEW", "peak_of_3_08")["severity"] == "WARNING"


def test_a_tenth_above_what_the_heaviest_queue_makes_necessary_is_not_flagged_yet(judged: Judgement) -> None:
    assert judged.found("TRAFFIC_SKEW", "traffic_excess_of_1_10") is None
    assert judged.finding("TRAFFIC_SKEW", "traffic_excess_of_1_15")["evidence"]["excess"] == 1.15


def test_one_queue_that_is_the_load_is_not_the_allocations_fault(judged: Judgement) -> None:
    assert judged.found("TRAFFIC_SKEW", "heavy_queue_alone") is None
    assert judged.found("HOT_QUEUE", topic="heavy_queue_alone") is not None


def test_traffic_that_is_not_known_is_not_judged(judged: Judgement) -> None:
    assert judged.found("TRAFFIC_SKEW", "traffic_unknown") is None
    assert judged.found("TRAFFIC_SKEW", "no_traffic") is None


def test_broadcasting_clients_receive_everything(judged: Judgement) -> None:
    assert judged.found("TRAFFIC_SKEW", "traffic_of_nobody") is None
