"""What Airflow's provider discovery asks for; imports nothing of Airflow, which is still starting then."""

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """The provider as Airflow lists it; ``package-name`` has to equal the distribution's name."""
    return {
        "package-name": "rocketmq-capacity",
        "name": "RocketMQ Capacity",
        "description": "Daily consumer capacity plans for Apache RocketMQ clusters.",
    }
