"""The one place where anything is tried again: a request that failed for a reason that may pass."""

from typing import Final

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from rocketmq_capacity.client.errors import ConnectError, ConnectionLostError, RequestTimeoutError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ResponseError

_LONGEST_WAIT_S: Final = 5.0
_NOT_READY: Final = "name server not ready"  # ClientRequestProcessor.java, rocketmq-all-5.3.3
_NO_ELEMENT: Final = "NoSuchElementException"  # 28 before the broker has its first figures


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
        or (error.request == RequestCode.GET_BROKER_RUNTIME_INFO and _NO_ELEMENT in remark)
    )


def retrying(settings: ConnectionSettings) -> AsyncRetrying:
    """The policy for one request; the last error is raised.

    Each wait is drawn evenly from 0 up to a bound, which doubles from attempt to attempt. What a broker refused at one
    moment does not come back all at one moment.
    """
    return AsyncRetrying(
        stop=stop_after_attempt(settings.attempts),
        wait=wait_random_exponential(multiplier=settings.retry_wait_s, max=_LONGEST_WAIT_S),
        retry=retry_if_exception(is_transient),
        reraise=True,
    )
