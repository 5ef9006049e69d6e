"""Plans a RocketMQ cluster as it would be after a change, and compares it with the cluster as it is.

Nothing is sent to the cluster: its snapshot is copied, the copy is changed, and both are planned.

**What comes in**: a cluster of the deployment or a recorded inventory file, and a scenario as YAML.
**[Choose changes from lists](rocketmq-capacity/what-if)** to have it written. The how-to "Try a change before you make
it" explains the changes.

**What comes out**: a report that is marked as a what-if. It shows before and after, the queues that get another owner,
and the findings that come and go. What-ifs are saved in a lake of their own (`RMQC_WHAT_IFS`) and are never a cluster's
current plan. *Capacity* lists them as what-ifs.

| task | does |
|---|---|
| `scenario` | reads the form, and says what is wrong with it |
| `snapshot` | asks every broker and stores what they said; reads only, never changes the cluster |
| `simulate` | stores the changed snapshot; fails at once if the scenario names something that is not there |
| `before.allocate`, `before.assess` | plan the cluster as it is |
| `after.allocate`, `after.assess`, `after.recommend` | plan the cluster as it would be |
| `publish` | compares both, and writes the report and the plan |

**Clearing a run** plans again from the snapshot that the run stored.
"""

from datetime import timedelta
from functools import partial
from typing import Any

from airflow.sdk import DAG, chain, get_current_context, task, task_group

from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.form import policy_params
from rocketmq_capacity.provider.latest_names import names_at_hand
from rocketmq_capacity.provider.refused import one_line_errors
from rocketmq_capacity.provider.scenario_form import scenario_params, scenario_text
from rocketmq_capacity.provider.source import cluster_param, inventory_param, sources
from rocketmq_capacity.provider.spark_app import COMPUTE_AGAIN, PublishApp, SnapshotApp, SparkApp
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of
from rocketmq_capacity.store.run_key import key_before, run_key

PLACES = DeploymentPlaces.of(home_of(__file__))

# Twice a plan, which is given two hours.
TIME_LIMIT = timedelta(hours=4)
# So that several people can try changes; the pool limits what is computed at the same time.
RUNS_AT_ONCE = 4

with DAG(
    **every_dag(__file__, __doc__),
    schedule=None,
    max_active_runs=RUNS_AT_ONCE,
    dagrun_timeout=TIME_LIMIT,
    params={
        "cluster": cluster_param(PLACES),
        "inventory": inventory_param(),
        **scenario_params(names_at_hand(PLACES)),
        **policy_params(),
    },
) as dag:

    @task
    @one_line_errors()
    def scenario() -> dict[str, Any]:
        """Read the form: the scenario, the cluster, and what the two runs are called in the lake."""
        context = get_current_context()
        (source,) = sources(context["params"], PLACES)[:1]
        arguments = source.task_arguments(context["dag_run"])
        key = run_key(context["dag_run"], source.name)
        # The API server checks this earlier, but Airflow's command line does not use it.
        return {**arguments, "before": key_before(key), "scenario": scenario_text(context["params"])}

    given: Any = scenario()
    app = partial(SparkApp, places=PLACES, lake=PLACES.what_ifs, **COMPUTE_AGAIN)
    before_app, after_app = partial(app, run_key=given["before"]), partial(app, run_key=given["run_key"])

    # 1. the only task that talks to the cluster
    snapshot = SnapshotApp(
        places=PLACES,
        lake=PLACES.what_ifs,
        run_key=given["before"],
        connection=given["connection"],
        inventory=given["inventory"],
    )

    # 2. changes the snapshot: a scenario that does not fit the cluster ends the run before anything is computed
    change = ["--before", given["before"], "--scenario", given["scenario"]]
    simulate = after_app(step="simulate", arguments=change)

    # 3. the cluster as it is
    @task_group
    def before() -> None:
        """Plan the cluster as it is."""
        chain(before_app(step="allocate"), before_app(step="assess"))

    # 4. the cluster as it would be
    @task_group
    def after() -> None:
        """Plan the cluster as it would be."""
        chain(after_app(step="allocate"), after_app(step="assess"), after_app(step="recommend"))

    # 5. what people read
    publish = PublishApp(
        shelf="what-ifs", places=PLACES, lake=PLACES.what_ifs, run_key=given["run_key"], **COMPUTE_AGAIN
    )

    chain(snapshot, simulate, [before(), after()], publish)
