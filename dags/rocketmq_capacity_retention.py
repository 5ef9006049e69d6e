"""Deletes the snapshots, plans and what-ifs that the policy no longer keeps.

The first task lists the runs, in its log and its XCom. The second task deletes exactly these. It never deletes a
cluster's latest plan, or anything in the lake that no Dag made.

**How long**: `retention` in the policy file, by days and by number of runs of a cluster. Both apply to plans and to
what-ifs. A run by hand with *Only list* deletes nothing.

| task | does |
|---|---|
| `list_expired` | lists the runs to delete, their sizes and the reasons |
| `delete_expired` | deletes them |
"""

import logging
from datetime import UTC, datetime
from typing import Any

from airflow.sdk import DAG, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.refused import refuse
from rocketmq_capacity.settings.deployment import Places, home_of
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.retention import Expired, delete, expired

PLACES = Places.of(home_of(__file__))
LAKES = {"plans": Lake(PLACES.lake), "what-ifs": Lake(PLACES.what_ifs)}

with DAG(
    **every_dag(__file__, __doc__),
    schedule="@daily",
    max_active_runs=1,
    params={
        "only_list": Param(
            False,
            type="boolean",
            title="Only list",
            description="Say what would be deleted, and delete nothing.",
            section="What is done",
        )
    },
) as dag:

    @task
    def list_expired() -> dict[str, list[dict[str, Any]]]:
        """List the runs to delete, their sizes and the reasons."""
        try:
            rules, now = read_policy(PLACES.policy).retention, datetime.now(UTC)
        except BadInput as error:
            refuse(error)
        found = {shelf: expired(lake, rules, now) for shelf, lake in LAKES.items()}
        for shelf, runs in found.items():
            for run in runs:
                words = (shelf, run.cluster, run.run_id, run.size_bytes, run.reason)
                logging.getLogger(__name__).warning("%s: %s/%s, %d bytes: %s", *words)
        return {shelf: [run.as_dict() for run in runs] for shelf, runs in found.items()}

    @task
    def delete_expired(listed: dict[str, list[dict[str, Any]]]) -> None:
        """Delete what was listed, and nothing else."""
        if get_current_context()["params"]["only_list"]:
            raise AirflowSkipException("the form asks only for the list")
        for shelf, runs in listed.items():
            delete(LAKES[shelf], [Expired(**run) for run in runs])

    listed: Any = list_expired()
    delete_expired(listed)
