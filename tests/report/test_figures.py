"""Figures in words."""

import pytest

from rocketmq_capacity.report.figures import figure, label, number, per_cent, signed, when
from rocketmq_capacity.wording import counted


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (0, "0"),
        (1234567, "1,234,567"),
        (1.5, "1.5"),
        (1.0, "1"),
        (12.345, "12.35"),
        (100.0, "100"),
        (1234.5, "1,234"),
        (0.25, "0.25"),
        (0.01234, "0.0123"),
        (0.0, "0"),
        (float("nan"), "unknown"),
        (-2.5, "-2.5"),
    ],
)
def test_a_number_keeps_what_says_something(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("put_msgs_per_s", 41.25, "41.25 messages/s"),
        ("consume_rt_ms", 12, "12 ms"),
        ("size_bytes", 1536, "1.5 KiB"),
        ("size_bytes", 512, "512 B"),
        ("idle_ratio", 0.3333, "33.3 %"),
        ("is_ordered", True, "yes"),
        ("lag", None, "unknown"),
        ("lag", 0, "0 messages"),
        ("lag", 1, "1 message"),
        ("msgs_per_s", 59.985, "59.98 messages/s"),
        ("up_s", 59.985, "59.98 s"),
        ("share", 0.7294, "72.9 %"),
        ("stranded", 1478, "1,478 messages"),
        ("orphans", 2, "2 queues"),
        ("orphan_queues", 2, "2"),
        ("idle", 1, "1 client"),
        ("peak", 1.5, "1.5"),
        ("started_at", "2026-11-20T02:00:00Z", "20 November 2026, 02:00:00 UTC"),
        ("version", "V5_3_3", "V5_3_3"),
    ],
)
def test_a_figure_has_the_unit_that_its_name_says(name, value, text):
    assert figure(name, value) == text


def test_a_label_is_the_name_without_its_unit():
    assert (label("put_msgs_per_s"), label("idle_ratio"), label("queues")) == ("put", "idle", "queues")
    assert (label("msgs_per_s"), label("share"), label("tail_")) == ("traffic", "share", "tail ")


def test_a_figure_of_a_rule_has_the_unit_that_the_rule_says():
    assert figure("max", 5.0, "ALLOCATION_SKEW") == "5 queues"
    assert figure("max", 1.0, "ALLOCATION_SKEW") == "1 queue"
    assert figure("min", 0.5, "TRAFFIC_SKEW") == "0.5 messages/s"


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.0, "100 %"), (0.99996, "99.9 %"), (0.5, "50 %"), (1.267, "126.7 %"), (None, "unknown")]
)
def test_what_is_not_whole_never_reads_as_whole(ratio, text):
    assert per_cent(ratio) == text


def test_a_difference_has_its_sign():
    assert (signed(3), signed(-0.45), signed(0)) == ("+3", "\u22120.45", "no change")


@pytest.mark.parametrize("text", ["yesterday", "", "2026-11-20T02:00:00", "2026-11-20T02:00:00+08:00"])
def test_what_is_no_time_in_utc_stays_as_it_is(text):
    assert when(text) == text


def test_one_and_many():
    assert (counted(1, "client"), counted(0, "client"), counted(2, "is", "are")) == ("1 client", "0 clients", "2 are")
