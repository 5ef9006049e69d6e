"""Who logs in to Airflow in these tests, and what they may read."""

from typing import Final

READS: Final = {
    "planner": {"rocketmq_capacity_plan"},
    "dreamer": {"rocketmq_what_if"},
    "stranger": {"some_other_dag"},
}
"""The Dags that these may read; everybody else may read what the simple auth manager lets them."""
USERS: Final = {"admin": "admin", "viewer": "viewer"} | dict.fromkeys(READS, "viewer")
