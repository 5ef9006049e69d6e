"""How a task refuses its input: one line in its log, and no other try."""

import logging
from typing import Final, NoReturn

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule

from rocketmq_capacity.errors import BadInput


class Refused(SystemExit):
    """The task refuses its input. Airflow logs the traceback of any other exception."""


NO_RETRY: Final = ExceptionRetryPolicy([
    RetryRule(Refused, RetryAction.FAIL, reason="another try gets the same answer")
])


def refuse(reason: object) -> NoReturn:
    """End the task with this line in its log. Errors: `Refused`."""
    logging.getLogger(__name__).error("%s", reason)
    raise Refused(BadInput.exit_status)
