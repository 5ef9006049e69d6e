"""Deletes the snapshots, plans and what-ifs that the policy no longer keeps.

The first task lists the runs, in its log and its XCom. The second task deletes exactly these. It never deletes a
cluster's latest plan, or anything in the lake that no Dag made.

**How long**: `retention` in the policy file, by days and by number of runs of a cluster. Both apply to plans and to
what-ifs. A run by hand with *Only list* deletes nothing.

**Never by mistake**: if more than the policy's share of a cluster's runs would go at once, nothing is deleted. Nor is
anything if there was no run for more than 45 days, until three days have runs again. The machine's clock may be wrong
then. A run by hand with *Delete any number* deletes them all the same. A run that a process works on is kept, and so
are runs of the future. Links are not followed.

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

from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.form_text import phrase
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.refused import one_line_errors
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.retention import Expired, ahead, check_clock, check_share, delete, expired

PLACES = DeploymentPlaces.of(home_of(__file__))


def lakes() -> dict[str, Lake]:
    """The lakes by the names of their pages."""
    return {"plans": lake_of(PLACES.lake), "what-ifs": lake_of(PLACES.what_ifs)}


with DAG(
    **every_dag(__file__, __doc__),
    schedule="@daily",
    max_active_runs=1,
    params={
        "only_list": Param(
            False,
            type="boolean",
            title=phrase("Only list"),
            description=phrase("Say what would be deleted, and delete nothing."),
            section=phrase("What is done"),
        ),
        "any_number": Param(
            False,
            type="boolean",
            title=phrase("Delete any number"),
            description=phrase(
                "Delete more runs of a cluster at once than the policy's share, such as after a change of it."
            ),
            section=phrase("What is done"),
        ),
    },
) as dag:

    @task
    @one_line_errors()
    def list_expired() -> dict[str, list[dict[str, Any]]]:
        """List the runs to delete, their sizes and the reasons."""
        rules, now = read_policy(PLACES.policy).retention, datetime.now(UTC)
        there, params, log = lakes(), get_current_context()["params"], logging.getLogger(__name__)
        expired_runs = {shelf: expired(lake, rules, now) for shelf, lake in there.items()}
        for shelf, lake in there.items():
            if names := ahead(lake, now):
                log.warning("%s: %d runs due after now are kept, such as %s", shelf, len(names), names[0])
        for shelf, runs in expired_runs.items():
            for run in runs:
                words = (shelf, run.cluster, run.run_id, run.size_bytes, run.reason)
                log.warning("%s: %s/%s, %d bytes: %s", *words)
        if any(expired_runs.values()) and not (params["only_list"] or params["any_number"]):
            check_clock(there.values(), now)
            for shelf, runs in expired_runs.items():
                check_share(there[shelf], runs, rules)
        return {shelf: [run.as_dict() for run in runs] for shelf, runs in expired_runs.items()}

    @task
    @one_line_errors()
    def delete_expired(listed: dict[str, list[dict[str, Any]]]) -> None:
        """Delete what was listed, and nothing else."""
        if get_current_context()["params"]["only_list"]:
            raise AirflowSkipException("the form asks only for the list")
        there = lakes()
        for shelf, runs in listed.items():
            for run in delete(there[shelf], [Expired(**run) for run in runs]):
                log = logging.getLogger(__name__)
                words = (shelf, run.cluster, run.run_id)
                log.warning("%s: %s/%s is kept: a process still works on it, or it has links", *words)

    listed: Any = list_expired()
    delete_expired(listed)
