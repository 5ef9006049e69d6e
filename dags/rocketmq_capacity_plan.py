"""Plans the consumer capacity of a RocketMQ cluster.

Takes a snapshot, runs every allocation strategy, flags what is wrong and publishes a report with recommendations.

**What comes in**: a live cluster, named by its name servers, or an inventory file recorded earlier. A run by hand may
name either; a run that names neither, as the daily one, plans the cluster of `RMQC_NAMESERVER`, or else the recorded
sample.

**What comes out**: for each run a folder of the lake with `report/report.html`, `report/plan.json`,
`report/findings.csv`, `report/recommendations.csv`, and the tables they were made from. The asset
`rocketmq_capacity_report` tells where they are and how much was found.

| task | does |
|---|---|
| `snapshot` | asks every broker and stores what they said; reads only, never changes the cluster |
| `allocate` | gives the queues of every group to its clients, once for each strategy, as RocketMQ itself would |
| `assess` | measures loads and skew, and flags what is wrong |
| `recommend` | finds the smallest safe change for each finding, and its `mqadmin` commands |
| `publish` | writes the report and the plan |

**Clearing a run** plans again from the snapshot that the run stored, because a cluster cannot be asked about
yesterday; there is no catch-up for the same reason. To plan the cluster as it is now, trigger a new run.

**Where Spark runs** is told by the connection `spark_default` alone: `local[*]`, `spark://…`, `k8s://…` or `yarn`.
"""

import os
from datetime import timedelta
from functools import partial
from pathlib import Path

import pendulum
from airflow.sdk import DAG, chain

from rocketmq_capacity.provider.places import Places
from rocketmq_capacity.provider.report_asset import REPORT, tell_report
from rocketmq_capacity.provider.run_key import run_key
from rocketmq_capacity.provider.source import source_argument, source_params
from rocketmq_capacity.provider.spark_app import COMPUTE_AGAIN, READ_AGAIN, spark_app

PLACES = Places.of(Path(os.environ.get("PROJECT_HOME") or Path(__file__).resolve().parents[1]))

# A large fleet is planned in minutes; a run that takes hours hangs, and would keep the next day's waiting.
TIME_LIMIT = timedelta(hours=2)
# Two runs would only fight for the same cores, and ask the same brokers twice.
RUNS_AT_ONCE = 1

with DAG(
    dag_id=Path(__file__).stem,
    description=__doc__.partition(".")[0],
    doc_md=__doc__,
    schedule="@daily",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    max_active_runs=RUNS_AT_ONCE,
    dagrun_timeout=TIME_LIMIT,
    params=source_params(),
    user_defined_macros={"run_key": run_key, "source_argument": partial(source_argument, places=PLACES)},
    tags=["rocketmq", "capacity"],
) as dag:
    # 1. the only task that talks to the cluster
    snapshot = spark_app("snapshot", PLACES, "{{ source_argument(params, dag_run) }}", **READ_AGAIN)
    # 2.-4. tables to tables
    allocate = spark_app("allocate", PLACES, **COMPUTE_AGAIN)
    assess = spark_app("assess", PLACES, **COMPUTE_AGAIN)
    recommend = spark_app("recommend", PLACES, **COMPUTE_AGAIN)
    # 5. what people read, and the asset that says where it is
    publish = spark_app(
        "publish", PLACES, outlets=[REPORT], post_execute=partial(tell_report, lake=PLACES.lake), **COMPUTE_AGAIN
    )

    chain(snapshot, allocate, assess, recommend, publish)
