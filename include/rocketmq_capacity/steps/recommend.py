"""The fourth step: the smallest safe changes."""

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.assess import loads_of_variants
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.recommendation.recommend import recommend as recommended
from rocketmq_capacity.steps.allocate import allocation_of
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, RECOMMEND, SNAPSHOT, Planning

CASE: Final = "case_id"
"""The column that keeps the variants of one simulation apart."""


def recommend(planning: Planning) -> None:
    """Answer the findings with the smallest safe changes, each simulated before it is named."""
    with planning.step(RECOMMEND, SNAPSHOT, ALLOCATE, ASSESS) as written:
        # What a person said of the recommendations before is no answer to these.
        planning.run.approval.unlink(missing_ok=True)
        tables = planning.read_all(contracts.SNAPSHOT)
        status, groups = planning.read(contracts.StrategyStatus), planning.read(contracts.GroupStatus)

        def simulate(cases: Mapping[type[Dataset], DataFrame]) -> DataFrame:
            variants = {**tables, **cases}
            allocation = planning.settle(allocation_of(planning, variants, [CASE]))
            return loads_of_variants(variants, allocation, groups, status, planning.policy, [CASE], planning.settle)

        loads, found = planning.read(contracts.StrategyLoad), planning.read(contracts.Finding)
        frame = recommended(tables, loads, groups, found, planning.policy, simulate, planning.settle)
        planning.write(contracts.Recommendation, frame.coalesce(1))
        written.append(contracts.Recommendation)
