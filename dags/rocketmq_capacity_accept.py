"""Accepts a risk that a plan has found, in the name of whoever starts the run.

The forms above a cluster's latest report start it, for findings that need nothing for now; you can also trigger it by
hand. **Who may**: everybody who may trigger this Dag. The next plan of the cluster counts the finding apart, with who
accepted it, why and until when. It is back on the day after, or when it gets worse.
`accepted` of the policy file does the same.

Nothing is ever changed or deleted: a risk is accepted until its day. To accept it for longer, accept it again.

| task | does |
|---|---|
| `accept` | keeps the accepted risk beside the runs of the cluster |
"""

from airflow.sdk import DAG, get_current_context, task

from rocketmq_capacity.provider.acceptance import acceptance_params, keep_accepted
from rocketmq_capacity.provider.every_dag import every_dag
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.refused import one_line_errors
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of

PLACES = DeploymentPlaces.of(home_of(__file__))

with DAG(**every_dag(__file__, __doc__), schedule=None, params=acceptance_params()) as dag:

    @task
    @one_line_errors()
    def accept() -> dict[str, str]:
        """Keep the accepted risk beside the runs of the cluster."""
        return keep_accepted(get_current_context(), lake_of(PLACES.lake))

    accept()
