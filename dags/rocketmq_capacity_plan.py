"""Plans the consumer capacity of RocketMQ clusters.

Takes a snapshot of each cluster, runs every allocation strategy, flags what is wrong and publishes a report with
recommendations.

**What comes in**: the clusters of the deployment (`RMQC_CLUSTERS`, Airflow connections of the type `rocketmq`), each
with its own tasks. A run by hand may choose some of them, or name a recorded inventory file. Without any cluster, the
run plans the recorded sample. The sample then gets the moment that the run was due as its date, and the report says so.

**What comes out**: for each cluster a folder of the lake with `report/report.html`, `report/plan.json`,
`report/capacity.json`, `report/findings.csv`, `report/recommendations.csv`, `report/scripts/`, `report/metrics.prom`,
`report/runbook.md`, `report/desired_state.yaml`, and the tables that they were made from. The asset
`rocketmq_capacity_report` says where they are and how much was found. *Capacity* shows them.

**A run that decides otherwise** than the deployment's policy, by *Strategies* or *Policy changes*, is a trial. Its
report says what differs. It is no part of the trend, asks for no approval, sends no notice, and is no history of later
runs. *Replaces the day's plan* makes it count.

| task | does |
|---|---|
| `sources` | says which clusters this run plans; each goes through the other tasks independently |
| `plan.snapshot` | asks every broker and stores what they said; reads only, never changes the cluster |
| `plan.allocate` | gives the queues of every group to its clients under each strategy, as RocketMQ itself would |
| `plan.assess` | measures loads and skew, and flags what is wrong |
| `plan.recommend` | finds the smallest safe change for each finding, and its `mqadmin` commands |
| `plan.publish` | writes the report and the plan |

**Clearing a run** plans again from the snapshot that the run stored, because a cluster cannot be asked about
yesterday. There is no catch-up and no backfill for the same reason. To plan the cluster as it is now, trigger a new
run.

**Where Spark runs**: on the master of the connection `spark_default`: `local[*]`, `spark://…`, `k8s://…` or `yarn`. The
slots of the pool `rocketmq_capacity` limit how many clusters are planned at the same time.

**Who gets a notice**: each owner for whom the policy names a channel, once a day, if causes are new, worse or gone.
With a connection `rocketmq_capacity_notice`, a notice is sent there for each plan, for a task that failed, and for a
run that has not ended `RMQC_LATE_AFTER_MINUTES` after it was queued. Trials send none.
"""

from datetime import timedelta
from functools import partial
from typing import Any

from airflow.sdk import DAG, chain, get_current_context, task, task_group

from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.form import policy_params, replaces_param
from rocketmq_capacity.provider.notice import late_alerts, send_failed, send_published
from rocketmq_capacity.provider.report_asset import REPORT, add_report_facts
from rocketmq_capacity.provider.source import clusters_param, inventory_param
from rocketmq_capacity.provider.source import sources as sources_of
from rocketmq_capacity.provider.spark_app import COMPUTE_AGAIN, PublishApp, SnapshotApp, SparkApp
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of

PLACES = DeploymentPlaces.of(home_of(__file__))

# A large fleet is planned in minutes. A run that takes hours hangs, and the next day's run would wait for it.
TIME_LIMIT = timedelta(hours=2)
# Two runs at the same time would need the same cores, and ask the same brokers twice.
RUNS_AT_ONCE = 1

with DAG(
    **every_dag(__file__, __doc__, on_failure_callback=send_failed),
    schedule="@daily",
    max_active_runs=RUNS_AT_ONCE,
    dagrun_timeout=TIME_LIMIT,
    deadline=late_alerts(PLACES),
    params={
        "clusters": clusters_param(PLACES),
        "inventory": inventory_param(),
        **policy_params(),
        "replaces_plan": replaces_param(),
    },
) as dag:

    @task
    def sources() -> list[dict[str, Any]]:
        """List the clusters that this run plans, with the names of their runs in the lake."""
        context = get_current_context()
        run = context["dag_run"]
        return [source.task_arguments(run) for source in sources_of(context["params"], PLACES)]

    @task_group
    def plan(run_key: str, connection: str | None, inventory: str | None) -> None:
        """Plan one cluster; the failure of another one does not stop it."""
        run: dict[str, Any] = {"places": PLACES, "lake": PLACES.lake, "run_key": run_key}
        app = partial(SparkApp, **run, **COMPUTE_AGAIN)
        # 1. the only task that talks to the cluster
        snapshot = SnapshotApp(connection=connection, inventory=inventory, **run)
        # 2.-4. tables to tables
        allocate, assess, recommend = app(step="allocate"), app(step="assess"), app(step="recommend")
        # 5. what people read, and the asset that says where it is
        publish = PublishApp(
            shelf="plans",
            outlets=[REPORT],
            post_execute=partial(add_report_facts, lake=PLACES.lake),
            on_success_callback=partial(send_published, places=PLACES),
            **run,
            **COMPUTE_AGAIN,
        )

        chain(snapshot, allocate, assess, recommend, publish)

    plan.expand_kwargs(sources())
