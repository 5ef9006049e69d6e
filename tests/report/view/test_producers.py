"""The section on producers: the most uneven topics first, and the brokers that are furthest from their share."""

from rocketmq_capacity.report.limits import UNEVEN_TOPICS
from rocketmq_capacity.report.view.producers import producers_of
from rocketmq_capacity.tables.assess.brokers import ProducerBalance
from tests.report.from_rows import page_of, typed
from tests.report.row_builders import Row, a_cluster, a_producer_balance


def _balances(*rows: Row) -> list[ProducerBalance]:
    balances: list[ProducerBalance] = typed(ProducerBalance, {"producer_balance": rows})
    return balances


def test_without_an_uneven_topic_there_is_no_section() -> None:
    assert producers_of([]) is None
    assert "How producers spread messages" not in page_of({"cluster": [a_cluster()]})


def test_the_most_uneven_topic_is_first_and_the_rest_is_counted() -> None:
    rows = [a_producer_balance(f"t{number:02}", peak=1.1 + number) for number in range(UNEVEN_TOPICS + 3)]
    view = producers_of(_balances(*rows))
    assert view is not None
    assert (view[0].topic, len(view), view.more) == ("t14", UNEVEN_TOPICS, 3)


def test_the_brokers_furthest_from_their_share_are_named() -> None:
    expected = {f"broker-{number}": 0.2 for number in range(5)}
    measured = expected | {"broker-4": 0.3, "broker-2": 0.05, "broker-1": 0.25}
    row = a_producer_balance(broker_expected_ratios=expected, broker_measured_ratios=measured)
    view = producers_of(_balances(row))
    assert view is not None
    (line,) = view
    assert line.brokers.more == 2
    assert line.brokers == ("broker-2: 5 % (20 %)", "broker-4: 30 % (20 %)", "broker-1: 25 % (20 %)")
    assert line.producers == ("only_a", "old")


def test_the_page_has_the_section() -> None:
    page = page_of({"cluster": [a_cluster()], "producer_balance": [a_producer_balance("pay")]})
    assert "How producers spread messages" in page
    assert "broker-a: 80 % (50 %)" in page
