"""Retries of requests that failed for a reason that may pass. Nothing else in the package is tried again."""

from typing import Final

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from rocketmq_capacity.client.errors import ConnectError, ConnectionLostError, RequestTimeoutError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ResponseError

_LONGEST_WAIT_S: Final = 5.0
_NOT_READY: Final = "name server not ready"  # ClientRequestProcessor.java, rocketmq-all-5.3.3
_NO_ELEMENT: Final = "NoSuchElementException"  # 28 before the broker has its first figures
_FIRST_FIGURES_S: Final = 1.0
"""A broker has its first figures a second after its start. Source: StoreStatsService.FREQUENCY_OF_SAMPLING."""


def is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, ConnectError | ConnectionLostError | RequestTimeoutError):
        return True
    if not isinstance(error, ResponseError):
        return False
    remark = error.remark or ""
    return (
        error.code in (ResponseCode.SYSTEM_BUSY, ResponseCode.FLOW_CONTROL)
        or (error.code == ResponseCode.SYSTEM_ERROR and _NOT_READY in remark)
        or _has_just_started(error)
    )


def _has_just_started(error: BaseException | None) -> bool:
    """Whether a broker has no figures of itself yet."""
    return (
        isinstance(error, ResponseError)
        and error.request == RequestCode.GET_BROKER_RUNTIME_INFO
        and _NO_ELEMENT in (error.remark or "")
    )


def retrying(settings: ConnectionSettings) -> AsyncRetrying:
    """The policy for one request; the last error is raised.

    Each wait is random, from 0 up to a limit that doubles from attempt to attempt. So requests that a broker refused at
    the same moment come back at different moments. A broker that has just started gets the second that it needs.
    """
    usual = wait_random_exponential(multiplier=settings.retry_wait_s, max=_LONGEST_WAIT_S)

    def wait(state: RetryCallState) -> float:
        has_just_started = state.outcome is not None and _has_just_started(state.outcome.exception())
        return _FIRST_FIGURES_S if has_just_started else usual(state)

    return AsyncRetrying(
        stop=stop_after_attempt(settings.attempts),
        wait=wait,
        retry=retry_if_exception(is_transient),
        reraise=True,
    )
