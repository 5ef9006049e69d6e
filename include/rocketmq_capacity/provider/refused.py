"""How a task ends for an error of this package: one line in its log; and no other try, if it refuses its input."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule

from rocketmq_capacity.errors import BadInput, CapacityError
from rocketmq_capacity.provider.form_text import error_words


class Refused(SystemExit):
    """The task refuses its input. Airflow logs the traceback of any other exception."""


NO_RETRY: Final = ExceptionRetryPolicy([
    RetryRule(Refused, RetryAction.FAIL, reason="another try gets the same answer")
])


def refuse(reason: object) -> NoReturn:
    """End the task with this line in its log. Errors: `Refused`."""
    logging.getLogger(__name__).error("%s", error_words(str(reason)))
    raise Refused(BadInput.exit_status)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Errors: `Refused` for bad input, and SystemExit for any other error of this package, each with its line."""
    try:
        yield
    except BadInput as error:
        refuse(error)
    except CapacityError as error:
        logging.getLogger(__name__).error("%s", error_words(str(error)))  # its line says all
        raise SystemExit(error.exit_status) from None
