"""Where the question is that a test puts into a server's database."""

from typing import Final

DAG_ID: Final = "rocketmq_capacity_approval"
QUESTION: Final = f"/api/v2/dags/{DAG_ID}/dagRuns/asked/taskInstances/approval.ask/-1/hitlDetails"
DIGEST: Final = "0" * 64
