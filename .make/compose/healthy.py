"""Says by its exit status whether a service is well:  healthy.py SERVICE [ADDRESS OF AIRFLOW'S API SERVER].

Airflow's background services have no port of their own; they are well while their heartbeats arrive, which the API
server shows. The two services of Spark show their state on their own pages.
"""

import sys
from typing import Any, Final

from airflow_api import AirflowApi, Unanswered, fetched

API_SERVER: Final = "http://127.0.0.1:8080"
PARTS: Final = {
    "api-server": "metadatabase",
    "scheduler": "scheduler",
    "dag-processor": "dag_processor",
    "triggerer": "triggerer",
}
SPARK_PAGES: Final = {"spark-master": "http://127.0.0.1:8080/json/", "spark-worker": "http://127.0.0.1:8081/json/"}


def trouble(service: str, api_server: str) -> str:
    """What is wrong with a service; empty where nothing is."""
    if service in SPARK_PAGES:
        return _trouble_of_spark(service, fetched(SPARK_PAGES[service]))
    told = AirflowApi(api_server).get("/monitor/health")[PARTS[service]]
    return "" if told["status"] == "healthy" else str(told)


def _trouble_of_spark(service: str, page: dict[str, Any]) -> str:
    if service == "spark-master":
        return "" if page["status"] == "ALIVE" else str(page["status"])
    return "" if page["masterwebuiurl"] else "not registered with the master"


def main() -> int:
    """Check one service."""
    service, *address = sys.argv[1:]
    try:
        wrong = trouble(service, *address or [API_SERVER])
    except Unanswered as silence:
        wrong = str(silence)
    if wrong:
        print(f"{service}: {wrong}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
