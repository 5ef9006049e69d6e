"""The Airflow plugin that checks forms in the API server, where the JSON schemas of their fields cannot.

Every Airflow process loads this file, so it imports nothing but Airflow's plugin class.
"""

from functools import cached_property
from typing import Any

from airflow.plugins_manager import AirflowPlugin


class RocketmqCapacityForms(AirflowPlugin):
    """The formats of the forms' texts, and the middlewares before Airflow's API."""

    name = "rocketmq_capacity_forms"

    @cached_property
    def fastapi_root_middlewares(self) -> list[dict[str, Any]]:  # type: ignore[override]  # Airflow only reads it
        """Made when the API server asks for it. That process reads no Dag file, so the formats are registered here."""
        from rocketmq_capacity.provider.answer_form import AnswerForm
        from rocketmq_capacity.provider.form_formats import register_formats
        from rocketmq_capacity.provider.trigger_form import TriggerForm

        register_formats()
        return [
            {"name": "RocketMQ capacity trigger form", "middleware": TriggerForm},
            {"name": "RocketMQ capacity answer", "middleware": AnswerForm},
        ]
