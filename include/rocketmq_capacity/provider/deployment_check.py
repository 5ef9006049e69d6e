"""What an Airflow deployment has and lacks for the daily plan: pool, connections, lakes, plugins, notice.

It asks Airflow's own database and settings, so it runs where a component of Airflow runs. ``doctor`` starts it as a
program, because the command line works without Airflow: ``python -m …`` writes the parts as JSON to standard output.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from airflow import plugins_manager
from airflow.models.pool import Pool
from sqlalchemy.exc import SQLAlchemyError

from rocketmq_capacity.errors import BadInput, CapacityError, ConnectionMissing
from rocketmq_capacity.provider.channels import notifier_of
from rocketmq_capacity.provider.connections import connection_of
from rocketmq_capacity.provider.hook import RocketmqHook
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.latest_names import places_of_deployment
from rocketmq_capacity.provider.notice import CONNECTION as NOTICE
from rocketmq_capacity.provider.notice_text import Notice
from rocketmq_capacity.provider.spark_app import CONNECTION as SPARK
from rocketmq_capacity.provider.spark_app import POOL
from rocketmq_capacity.settings.deployment import METRICS_VARIABLE, DeploymentPlaces
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.settings.token_file import read_token
from rocketmq_capacity.store.place import folders_in, is_local

PLUGINS: Final = ("rocketmq_capacity_forms", "rocketmq_capacity_reports")
DATABASE: Final = "run it where Airflow runs, with its settings; airflow db check says whether the database answers"


class Checked(NamedTuple):
    """A part of the deployment, what was found of it, and how to mend it; empty if nothing is missing."""

    name: str
    state: str
    mend: str = ""


def deployment_parts() -> Iterator[Checked]:
    """Everything that the daily plan needs of Airflow. Errors: BadInput for a wrong setting of the deployment."""
    places = places_of_deployment()
    yield _asked(f"pool {POOL}", _pool)
    yield _asked(f"connection {SPARK}", _spark)
    if not places.clusters:
        yield Checked("clusters", "none in RMQC_CLUSTERS: the recorded sample is planned")
    for cluster in places.clusters:
        yield _asked(f"connection {cluster}", partial(_cluster, cluster))
    yield from (_lake(name, where) for name, where in (("RMQC_LAKE", places.lake), ("RMQC_WHAT_IFS", places.what_ifs)))
    yield from _plugins(places)
    yield _metrics_token(places)
    yield _asked(f"connection {NOTICE}", partial(_notice, NOTICE, ("none: no notice is sent", "")))
    yield from _channels(places)


def _asked(name: str, ask: Callable[[], tuple[str, str]]) -> Checked:
    try:
        return Checked(name, *ask())
    except SQLAlchemyError as error:
        return Checked(name, f"Airflow's database does not answer ({type(error).__name__})", DATABASE)


def _pool() -> tuple[str, str]:
    pool = Pool.get_pool(POOL)
    if pool is None:
        return "missing: every task would wait for ever", f'airflow pools set {POOL} 2 "clusters planned at once"'
    return f"{pool.slots} slots", "" if pool.slots else f'give it slots: airflow pools set {POOL} 2 ""'


def _spark() -> tuple[str, str]:
    connection = connection_of(SPARK)
    if connection is None:
        return (
            "missing: no task would start Spark",
            f"airflow connections add {SPARK} --conn-type spark --conn-host ...",
        )
    is_spark = connection.conn_type == "spark"
    return f"{connection.conn_type}, {connection.host or 'without a host'}", "" if is_spark and connection.host else (
        "make it one of the type spark, with the master as its host, such as local[*]"
    )


def _cluster(connection: str) -> tuple[str, str]:
    try:
        return f"name servers {RocketmqHook(connection).get_conn().nameservers}", ""
    except ConnectionMissing:
        return "missing", f"airflow connections add {connection} --conn-type rocketmq --conn-host HOST:PORT"
    except BadInput as error:
        return "wrong", str(error)


def _lake(name: str, where: str) -> Checked:
    try:
        root = lake_of(where).root
        if is_local(root):
            there = next(folder for folder in (root, *root.parents) if folder.exists())
            is_writable = os.access(there, os.W_OK)
            return Checked(name, str(root), "" if is_writable else f"let this user write to {there}")
        return Checked(name, f"{where}: {len(folders_in(root)):,} clusters")
    except CapacityError as error:
        return Checked(name, "not reached", str(error))


def _plugins(places: DeploymentPlaces) -> Iterator[Checked]:
    loaded = {str(one.get("name")) for one in plugins_manager.get_plugin_info()}
    broken = {Path(file).name: error for file, error in plugins_manager.get_import_errors().items()}
    for name in PLUGINS:
        if name in loaded:
            yield Checked(f"plugin {name}", "loaded")
        else:
            why = broken.get(f"{name}.py", "not found").splitlines()[-1]
            mend = (
                f"let [core] plugins_folder be {places.spark_apps.parent / 'plugins'}, and install this package there"
            )
            yield Checked(f"plugin {name}", why, mend)


def _metrics_token(places: DeploymentPlaces) -> Checked:
    name = METRICS_VARIABLE
    if places.metrics_token is None:
        return Checked(name, "none: metrics need a login")
    try:
        read_token(name, places.metrics_token)
    except BadInput as error:
        return Checked(name, "wrong: metrics need a login", str(error))
    return Checked(name, str(places.metrics_token))


def _channels(places: DeploymentPlaces) -> Iterator[Checked]:
    """The connections by which the policy's owners get notices."""
    try:
        channels = read_policy(places.policy).channels
    except BadInput as error:
        yield Checked("RMQC_POLICY", "wrong", str(error))
        return
    owners: dict[str, list[str]] = {}
    for owner, channel in channels.items():
        owners.setdefault(channel, []).append(owner)
    for channel, names in owners.items():
        missing = f"missing: no notice for {', '.join(names)}"
        mend = f"airflow connections add {channel} --conn-json ..., see the how-to of owners"
        yield _asked(f"connection {channel}", partial(_notice, channel, (missing, mend)))


def _notice(connection: str, missing: tuple[str, str]) -> tuple[str, str]:
    channel = connection_of(connection)
    if channel is None:
        return missing
    try:
        notifier_of(channel, Notice("", (), ""))
    except BadInput as error:
        return "wrong", str(error)
    return f"sends by {channel.extra_dejson.get('webhook') or channel.conn_type}", ""


def main() -> int:
    """Write the parts; a wrong setting is one more part."""
    parts: list[Checked] = []
    try:
        parts += deployment_parts()
    except CapacityError as error:
        parts.append(Checked("deployment", "wrong", str(error)))
    sys.stdout.write(json.dumps(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
