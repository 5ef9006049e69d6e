"""Airflow's operator that asks a person, with fields that an answer may leave out."""

from collections.abc import Mapping
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator


class AskOperator(HITLOperator):
    """Asks a person. An answer through the API may have some of the fields; the others have their defaults.

    Airflow's own operator fails if an answer lacks a field, and the answer is lost.
    """

    def validate_params_input(self, params_input: Mapping[str, Any]) -> None:
        """Check the fields of an answer; errors: ValueError if the question has no such field."""
        super().validate_params_input({**dict(self.params), **params_input} if params_input else {})
