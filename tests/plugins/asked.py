"""A question about a plan in a running server's database, as the scheduler leaves it: ``python -m … CLUSTER RUN``."""

import sys
from datetime import UTC, datetime

from airflow.models.dagbag import DBDagBag
from airflow.models.hitl import HITLDetail
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState
from airflow.utils.types import DagRunTriggeredByType, DagRunType
from sqlalchemy.orm import Session

from rocketmq_capacity.provider.approval import answer_fields
from tests.plugins.asked_at import DAG_ID, DIGEST


def asking_task(session: Session) -> TaskInstance:
    """The first task of a new run of the approval's Dag."""
    dag = DBDagBag().get_latest_version_of_dag(DAG_ID, session=session)
    assert dag is not None
    run = dag.create_dagrun(
        run_id="asked",
        run_after=datetime.now(UTC),
        run_type=DagRunType.MANUAL,
        triggered_by=DagRunTriggeredByType.TEST,
        state=DagRunState.RUNNING,
        session=session,
    )
    (ask,) = (one for one in run.get_task_instances(session=session) if one.task_id == "approval.ask")
    return ask


def main() -> None:
    """Make a run of the approval's Dag, and the question of its first task."""
    cluster, run_id = sys.argv[1:]
    with create_session() as session:
        ask = asking_task(session)
        fields = {name: param.serialize() for name, param in answer_fields(DIGEST).items()}
        body = f"[The report](/rocketmq-capacity/reports/plans/{cluster}/{run_id}/)"
        options = {"options": ["Approve", "Reject"], "defaults": ["Reject"]}
        session.add(HITLDetail(ti_id=ask.id, subject="Approve?", body=body, params=fields, **options))


if __name__ == "__main__":
    main()
