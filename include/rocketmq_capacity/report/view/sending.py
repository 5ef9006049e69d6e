"""How producers send, in words."""

from rocketmq_capacity.report.figures import number
from rocketmq_capacity.settings.producers import ASYNC, ONEWAY, Sending
from rocketmq_capacity.wording import counted


def in_words(sending: Sending) -> str:
    """One way to send."""
    if sending.mode == ONEWAY:
        return "one-way"
    mode = "asynchronous" if sending.mode == ASYNC else "synchronous"
    retries = counted(sending.retries, "retry", "retries") if sending.retries else "no retries"
    return f"{mode}, {retries}, {number(sending.timeout_ms)} ms"
