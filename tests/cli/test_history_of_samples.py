"""``plan --history`` of a folder that has samples between snapshots: a group is planned at its busy hour."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rocketmq_capacity.snapshot.collect_sample import ClusterSample
from rocketmq_capacity.steps.sample import store_sample
from rocketmq_capacity.store.lake import Lake
from tests.cli.conftest import Refusal
from tests.cli.planned import SAMPLE, plan_of
from tests.fixtures.samples import at, sample

TAKEN = datetime(2026, 11, 23, 7, 9, 25, tzinfo=UTC)
STEP = timedelta(minutes=30)
LAST = timedelta(hours=20)
USUAL = 60.0
BUSY = timedelta(hours=20)
"""Each evening from then on, for two hours, ten times the messages come; in one half hour fifty times."""


def rate(moment: datetime) -> float:
    of_day = moment - moment.replace(hour=0, minute=0)
    if moment.date().day == 20 and of_day == BUSY:
        return 50 * USUAL
    return 10 * USUAL if BUSY <= of_day < BUSY + 4 * STEP else USUAL


def until_next(moment: datetime) -> timedelta:
    """Half an hour where something changes: in the evenings, and in the last twenty hours."""
    evening = moment.replace(hour=0, minute=0) + BUSY
    return STEP if evening <= moment < evening + 4 * STEP or TAKEN - moment < LAST else 2 * STEP


def take(cluster_name: str = "shop") -> list[ClusterSample]:
    """A week of samples; the members of a group are other ones in each of the last ones."""
    moment, written, taken = TAKEN.replace(hour=0, minute=0, second=0) - timedelta(days=6), 0.0, []
    while moment < TAKEN:
        number = int((TAKEN - moment) / STEP) % 2 if TAKEN - moment < LAST else 0
        members = {"ledger": [f"10.9.0.1@{number}#1", f"10.9.0.1@{number}#2"]}
        ends = {"account_ledger": int(written)}
        taken.append(sample(at(0, moment), ends, members=members, cluster_name=cluster_name))
        written += rate(moment) * until_next(moment).total_seconds()
        moment += until_next(moment)
    return taken


@pytest.mark.slow
def test_a_plan_takes_the_busy_hour_and_members_that_came_and_went_from_samples(tmp_path: Path) -> None:
    for one in take():
        store_sample(Lake(tmp_path / "lake"), one, 90)
    (tmp_path / "history").symlink_to(tmp_path / "lake" / "shop")
    made = plan_of(SAMPLE, tmp_path / "out", "--history", tmp_path / "history")

    peak = next(one for one in made.plan.groups if one.consumer_group == "ledger").peak
    assert peak is not None
    assert (peak.msgs_per_s, peak.days) == (10 * USUAL, 7)
    assert (peak.at or "")[11:13] in ("20", "21")
    assert (peak.most_msgs_per_s, peak.most_at) == (50 * USUAL, "2026-11-20T20:00:00Z")
    (finding,) = [one for one in made.plan.findings if one.rule == "REBALANCE_FREQUENCY"]
    assert finding.consumer_group == "ledger"
    assert "at most 3,000 messages/s between two samples" in (made.folder / "report.html").read_text("utf-8")


def test_samples_of_another_cluster_are_refused_with_their_day(refusal: Refusal, tmp_path: Path) -> None:
    for one in take("other")[-2:]:
        store_sample(Lake(tmp_path / "lake"), one, 90)
    line = refusal("plan", f"--inventory={SAMPLE}", f"--history={tmp_path / 'lake' / 'other'}", "--out=out")
    day = tmp_path / "lake" / "other" / ".samples" / "2026-11-23"
    assert line == f"{day}: cluster_name: is 'other'; expected 'shop', the planned cluster"
