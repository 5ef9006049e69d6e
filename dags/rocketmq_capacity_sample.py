"""Samples RocketMQ clusters between two plans.

Asks each cluster how far its topics are written, how much its groups have not read, and who their members are. A sample
takes some seconds and few requests: one a broker, one a topic on each broker, and one a group. It changes nothing.

**What comes in**: the clusters of the deployment (`RMQC_CLUSTERS`). Without any, nothing is sampled.

**What comes out**: tables in the lake, in the folder `.samples` of each cluster, one folder a day. A day or a moment
without a sample stays without one. What did not answer is a row of failures.

**How often, and how long they are kept**: `samples` in the policy file, every five minutes for 90 days. The Dag plans
nothing, and sends no notice.

| task | does |
|---|---|
| `sources` | says which clusters are sampled; each is independent |
| `take.sample` | asks the cluster, and adds the sample to the day |
"""

from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, get_current_context, task, task_group

from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.sampling import every
from rocketmq_capacity.provider.source import sources as sources_of
from rocketmq_capacity.provider.spark_app import ASK_AGAIN, ClusterApp
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of

PLACES = DeploymentPlaces.of(home_of(__file__))

# A sample that is late is of no use, and the next one is due.
TIME_LIMIT = timedelta(minutes=30)
# Two samples at the same time would ask the same brokers twice.
RUNS_AT_ONCE = 1
# Not that of the plans: a plan that takes an hour would leave an hour without samples.
POOL = "default_pool"

with DAG(
    **every_dag(__file__, __doc__),
    schedule=every(PLACES),
    max_active_runs=RUNS_AT_ONCE,
    dagrun_timeout=TIME_LIMIT,
) as dag:

    @task
    def sources() -> list[dict[str, Any]]:
        """List the clusters of the deployment."""
        run = get_current_context()["dag_run"]
        arguments = (source.task_arguments(run) for source in sources_of({}, PLACES) if source.connection)
        return [{"run_key": one["run_key"], "connection": one["connection"]} for one in arguments]

    @task_group
    def take(run_key: str, connection: str) -> None:
        """Sample one cluster; the failure of another one does not stop it."""
        ClusterApp(
            step="sample",
            connection=connection,
            run_key=run_key,
            places=PLACES,
            lake=PLACES.lake,
            **{**ASK_AGAIN, "pool": POOL},
        )

    take.expand_kwargs(sources())
