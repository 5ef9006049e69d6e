"""The Airflow plugin: capacity reports in the Airflow UI, behind Airflow's login.

Every Airflow process loads this file, so it imports nothing but Airflow's plugin class. The pages themselves stand in
``rocketmq_capacity_pages`` and are imported where Airflow asks for its apps: in the API server.
"""

from functools import cached_property
from typing import Any

from airflow.plugins_manager import AirflowPlugin

PREFIX = "/rocketmq-capacity"


class RocketmqCapacityReports(AirflowPlugin):
    """An entry of the navigation, a tab on every run, and the app behind both."""

    name = "rocketmq_capacity_reports"
    # No slash before the addresses: Airflow's page resolves them against its own base, URL prefix included.
    external_views = [  # noqa: RUF012  # an instance variable, as Airflow declares it
        {
            "name": "Capacity reports",
            "href": f"{PREFIX[1:]}/",
            "destination": "nav",
            "nav_top_level": True,
            "url_route": "rocketmq-capacity",
        },
        {
            "name": "Capacity reports",
            "href": f"{PREFIX[1:]}/dag-runs/{{DAG_ID}}/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "rocketmq-capacity-reports",
        },
    ]

    @cached_property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]  # a list to whoever asks
        """The app, made when the API server asks for it."""
        from rocketmq_capacity_pages.app import create_app

        from rocketmq_capacity.formats import register_formats

        register_formats()  # the trigger forms' texts are checked in the API server, which runs no Dag file
        return [{"name": "RocketMQ capacity reports", "app": create_app(), "url_prefix": PREFIX}]
