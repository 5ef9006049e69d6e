"""The Airflow plugin: capacity reports in the Airflow UI, behind Airflow's login.

Every Airflow process loads this file, so it imports nothing but Airflow's plugin class. The pages themselves are in
``rocketmq_capacity_pages``, which only the API server imports, when it asks for the apps.
"""

from functools import cached_property
from typing import Any

from airflow.plugins_manager import AirflowPlugin

PREFIX = "/rocketmq-capacity"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='{colour}' "
    "stroke-width='2' stroke-linecap='round' stroke-linejoin='round'%3E"
    "%3Cpath d='M4 20h16M7 16v-5M12 16V6M17 16v-8'/%3E%3C/svg%3E"
)
ICONS = {"icon": ICON.format(colour="%23334155"), "icon_dark_mode": ICON.format(colour="%23e2e8f0")}


class RocketmqCapacityReports(AirflowPlugin):
    """An entry in the navigation, a tab on every run, and the app with their pages."""

    name = "rocketmq_capacity_reports"
    # No slash before the addresses: Airflow's page resolves them against its own base, URL prefix included.
    external_views = [  # noqa: RUF012  # Airflow declares it as a variable of the instance
        {
            "name": "Capacity",
            "href": f"{PREFIX[1:]}/",
            "destination": "nav",
            "nav_top_level": True,
            "url_route": "rocketmq-capacity",
            **ICONS,
        },
        {
            "name": "Capacity",
            "href": f"{PREFIX[1:]}/dag-runs/{{DAG_ID}}/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "rocketmq-capacity-reports",
            **ICONS,
        },
    ]

    @cached_property
    def fastapi_root_middlewares(self) -> list[dict[str, Any]]:  # type: ignore[override]  # Airflow only reads it
        """Redirects the address without its slash at the end, which Airflow's own page would answer otherwise."""
        from rocketmq_capacity_pages.slash import WithSlash

        return [{"name": "RocketMQ capacity reports", "middleware": WithSlash, "kwargs": {"prefix": PREFIX}}]

    @cached_property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]  # Airflow only reads it
        """The app, made when the API server asks for it."""
        from rocketmq_capacity_pages.app import create_app

        return [{"name": "RocketMQ capacity reports", "app": create_app(), "url_prefix": PREFIX}]
