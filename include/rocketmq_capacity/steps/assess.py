"""The third step: loads, skew, and what is wrong."""

from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.assess import assess as assessed
from rocketmq_capacity.lake import Lake
from rocketmq_capacity.run_lookup import run_before
from rocketmq_capacity.side_by_side import side_by_side
from rocketmq_capacity.steps.allocate import allocation_of
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, SNAPSHOT, Planning


def findings_before(lake: Lake, planning: Planning) -> DataFrame | None:
    """What the run before found in the same cluster, for the rules that need two runs; None for a first run."""
    run = run_before(lake, planning.run)
    return None if run is None else replace(planning, run=run).read(contracts.Finding)


def assess(planning: Planning, earlier: DataFrame | None = None) -> None:
    """Measure every strategy's loads and find what is wrong; ``earlier`` is the findings of the run before."""
    with planning.step(ASSESS, SNAPSHOT, ALLOCATE) as written:
        result = assessed(
            planning.read_all(contracts.SNAPSHOT),
            planning.read(contracts.Allocation),
            planning.read(contracts.StrategyStatus),
            planning.policy,
            partial(allocation_of, planning),
            planning.settle,
            earlier,
        )
        frames = {
            contracts.ClientLoad: result.client_load,
            contracts.StrategyLoad: result.strategy_load,
            contracts.GroupStatus: result.group_status,
            contracts.Finding: result.finding,
        }
        side_by_side(*(partial(planning.write, dataset, frame.coalesce(1)) for dataset, frame in frames.items()))
        written += frames
