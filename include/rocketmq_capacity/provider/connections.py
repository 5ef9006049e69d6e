"""Airflow's connections by their ids: the only module that knows how Airflow says that it gives none."""

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from rocketmq_capacity.errors import ConnectionMissing


def connection_of(connection_id: str) -> Connection | None:
    """The connection; None if Airflow has none of that id, or cannot read or reach it."""
    try:
        return BaseHook.get_connection(connection_id)
    except AirflowNotFoundException:
        return None


def needed_connection(connection_id: str, kind: str) -> Connection:
    """The connection. Errors: ConnectionMissing, which says that one of the type ``kind`` is needed."""
    connection = connection_of(connection_id)
    if connection is None:
        problem = f"Airflow has none of this name, or cannot read it; expected one of the type {kind}"
        raise ConnectionMissing(f"connection {connection_id}: {problem}")
    return connection
