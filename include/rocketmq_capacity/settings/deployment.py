"""The folders that the Dags of a deployment read and write, set by the environment of the Airflow processes."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Self

from rocketmq_capacity.errors import BadInput, shown

PACKAGE: Final = Path(__file__).resolve().parents[1]
CONNECTION_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""The allowed ids of a cluster's connection: the id is part of a folder's name."""
METRICS_VARIABLE: Final = "RMQC_METRICS_TOKEN_FILE"
MOST_MINUTES: Final = 7 * 24 * 60
"""A daily run that may take longer than a week is never late."""


@dataclass(frozen=True, slots=True)
class DeploymentPlaces:
    """The folders and files of one deployment. All Airflow processes and Spark drivers must see the same ones.

    Attributes:
        lake: ``RMQC_LAKE``, where every run keeps its datasets and its report: a folder (default ``data/lake``), or a
            URL such as ``s3://bucket/prefix`` or ``s3://airflow_connection@bucket/prefix``.
        what_ifs: ``RMQC_WHAT_IFS``, the same for what-ifs, which are never a current plan (default
            ``data/what_ifs``).
        inventories: ``RMQC_INVENTORIES``, the only folder that a run may name an inventory file of (default
            ``data/inventories``).
        clusters: ``RMQC_CLUSTERS``, the ids of the Airflow connections of the planned clusters, separated by commas
            (default: none, and the recorded sample is planned).
        policy: ``RMQC_POLICY``, the policy file (default: none, every key has its default).
        spark_apps: ``RMQC_SPARK_APPS``, the folder of the Spark apps (default ``spark_apps``).
        late_after: ``RMQC_LATE_AFTER_MINUTES``, after which a daily run that has not ended is late (default: never).
        metrics_token: ``RMQC_METRICS_TOKEN_FILE``, a file with a token that opens the metrics of plans and nothing else
            (default: none, and metrics need a login to Airflow).
        sample: the inventory, recorded from a real cluster, that a run without other input plans.
    """

    lake: str
    what_ifs: str
    inventories: Path
    clusters: tuple[str, ...]
    policy: Path | None
    spark_apps: Path
    late_after: timedelta | None
    metrics_token: Path | None
    sample: Path

    @classmethod
    def of(cls, home: Path, environment: Mapping[str, str] = os.environ) -> Self:
        """The folders under ``home``, the folder of ``dags/``, unless the environment names others.

        Errors: BadInput for a URL where only a folder can be, for a connection id that cannot be part of a folder's
        name, and for wrong minutes.
        """

        def place(variable: str, default: str) -> Path:
            folder = environment.get(variable) or ""
            if "://" in folder:
                raise BadInput(variable, "", f"is {shown(folder)}; expected a folder; only lakes may be URLs")
            return Path(folder or home / default)

        return cls(
            lake=environment.get("RMQC_LAKE") or str(home / "data/lake"),
            what_ifs=environment.get("RMQC_WHAT_IFS") or str(home / "data/what_ifs"),
            inventories=place("RMQC_INVENTORIES", "data/inventories"),
            clusters=_connection_ids(environment.get("RMQC_CLUSTERS", "")),
            policy=policy_file(environment),
            spark_apps=place("RMQC_SPARK_APPS", "spark_apps"),
            late_after=_minutes(environment.get("RMQC_LATE_AFTER_MINUTES", "")),
            metrics_token=place(METRICS_VARIABLE, "") if environment.get(METRICS_VARIABLE) else None,
            sample=sample_inventory(),
        )


def policy_file(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The policy file that ``RMQC_POLICY`` names, if it names one."""
    return Path(environment["RMQC_POLICY"]) if environment.get("RMQC_POLICY") else None


def home_of(file: str) -> Path:
    """The parent folder of the defaults: ``PROJECT_HOME``, or else the one above a Dag's or plugin's own."""
    return Path(os.environ.get("PROJECT_HOME") or Path(file).resolve().parents[1])


def _connection_ids(text: str) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(stripped for part in text.split(",") if (stripped := part.strip())))
    for connection_id in ids:
        if not CONNECTION_ID.fullmatch(connection_id):
            raise BadInput(
                "RMQC_CLUSTERS", "", f"names {shown(connection_id)}; expected ids of letters, digits, '_', '.' and '-'"
            )
    return ids


def _minutes(text: str) -> timedelta | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal() or not 0 < int(text) <= MOST_MINUTES:
        problem = f"is {shown(text)}; expected whole minutes from 1 to {MOST_MINUTES}"
        raise BadInput("RMQC_LATE_AFTER_MINUTES", "", problem)
    return timedelta(minutes=int(text))


def sample_inventory() -> Path:
    """The recorded inventory of this installation: inside a wheel, or next to the package in a checkout."""
    in_wheel = PACKAGE / "_shipped" / "sample" / "inventory.json"
    return in_wheel if in_wheel.exists() else PACKAGE.parent / "sample" / "inventory.json"
