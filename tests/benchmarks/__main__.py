"""``make bench``: the planner beside the official classes and the official admin client, on this machine.

Every ratio is of times that were measured in this one run. Parts can be named: fleet, group, snapshot, dag.
"""

import argparse
import os

from tests.benchmarks.allocation import STRATEGIES, time_ours, time_theirs
from tests.benchmarks.dag import time_dag
from tests.benchmarks.fleet import Fleet, equal_groups, fleet_of
from tests.benchmarks.snapshot import GROUPS, MANY_THREADS, time_snapshots, warm

MIB = 1024**2


def main() -> None:
    """Run the parts and print what they gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="fleet, group, snapshot, dag (default: all)")
    parser.add_argument("--topics", type=int, default=5_000, help="of the fleet (default: 5,000)")
    parser.add_argument("--groups", type=int, default=10_000, help="of the fleet (default: 10,000)")
    parser.add_argument("--clients", type=int, default=200_000, help="of the fleet (default: 200,000)")
    parser.add_argument("--live-topics", type=int, default=300, help="of the live cluster (default: 300)")
    args = parser.parse_args()
    parts = args.parts or ["fleet", "group", "snapshot", "dag"]
    print(f"cores: {os.cpu_count()}")
    if "fleet" in parts:
        size = f"{args.topics:,} topics, {args.groups:,} groups, {args.clients:,} clients"
        compare(f"fleet of {size}", fleet_of(args.topics, args.groups, args.clients), STRATEGIES)
    if "group" in parts:
        one_group()
    if "snapshot" in parts:
        snapshot(args.live_topics)
    if "dag" in parts:
        dag()


def compare(title: str, fleet: Fleet, strategies: tuple[str, ...]) -> None:
    """All strategies in one Spark plan, tables written, beside the official classes and beside bare writing."""
    print(f"\n{title}")
    ours = time_ours(fleet, strategies)
    theirs = 0.0
    for timing in time_theirs(fleet, strategies):
        theirs += timing.seconds
        rows = ours.rows.get(timing.strategy, 0)
        print(f"  {timing.strategy:35} official {timing.seconds:8.2f} s  {timing.rows:11,} rows, ours {rows:11,}")
    first, seconds, floor = ours.seconds[0], ours.later, ours.floor
    print(f"  all: official classes {theirs:.2f} s; ours {seconds:.2f} s, the first time {first:.2f} s")
    print(f"  all: Spark writing these {sum(ours.rows.values()):,} rows without computing them {floor:.2f} s")
    print(f"  official / ours: {theirs / seconds:.1f}   ours / floor: {seconds / floor:.2f}")
    print(f"  peak memory of all processes of ours: {ours.peak_bytes / MIB:,.0f} MiB")


def one_group() -> None:
    """CONSISTENT_HASH for a large group, alone and as one of many in a plan, beside the official class."""
    queues, clients, many = 4_096, 1_000, 100
    print(f"\none group of {queues:,} queues and {clients:,} clients under CONSISTENT_HASH")
    strategies = ("CONSISTENT_HASH",)
    (theirs,) = time_theirs(equal_groups(1, queues, clients), strategies)
    of_one = time_ours(equal_groups(1, queues, clients), strategies, is_small=True)
    of_many = time_ours(equal_groups(many, queues, clients), strategies)
    alone, each = of_one.later, of_many.later / many
    print(f"  official class, once a client: {theirs.seconds:.2f} s")
    print(f"  ours, a plan of this group alone: {alone:.2f} s; official / ours: {theirs.seconds / alone:.0f}")
    print(f"  ours, each of {many} such groups in one plan: {each:.3f} s; official / ours: {theirs.seconds / each:.0f}")
    floors = f"{of_one.floor:.3f} s alone, {of_many.floor / many:.3f} s each of {many}"
    print(f"  Spark writing these rows without computing them: {floors}")


def snapshot(topics: int) -> None:
    """One sample of everything beside the official admin client, cold and warm, with one thread and with many."""
    timing = time_snapshots(topics)
    print(f"\nsnapshot of a live cluster of three brokers, {timing.topics} topics and {GROUPS} groups with clients")
    print(f"  ours: {timing.ours:.2f} s  ({', '.join(f'{s:.2f}' for s in timing.seconds)})")
    for theirs in (timing.one_thread, timing.many_threads):
        threads = "sequential" if theirs.threads == 1 else f"{MANY_THREADS} threads"
        took = f"warm {warm(theirs):.2f} s, cold {theirs.seconds[0]:.2f} s, {theirs.calls:,} calls"
        print(f"  DefaultMQAdminExt, {threads}: {took}; official / ours: {warm(theirs) / timing.ours:.1f}")


def dag() -> None:
    """The daily Dag on the recorded inventory beside the same apps in a shell script."""
    timing = time_dag()
    print("\na run of the daily Dag on the recorded inventory")
    print(f"  the Dag: {timing.dag_seconds:.1f} s, Airflow's own start included")
    apps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in timing.steps.items())
    print(f"  the same apps in a shell script: {timing.shell_seconds:.1f} s  ({apps})")
    print(f"  Dag / script: {timing.dag_seconds / timing.shell_seconds:.2f}")


if __name__ == "__main__":
    main()
