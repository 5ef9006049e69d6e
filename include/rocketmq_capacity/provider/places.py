"""Where a deployment keeps what the Dags read and write, told by the environment of the Airflow workers."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

PACKAGE: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Places:
    """The folders and files of one deployment; the Airflow workers and the Spark drivers have to see the same ones.

    Attributes:
        lake: ``RMQC_LAKE``, where every run keeps its datasets and its report (default ``data/lake``).
        inventories: ``RMQC_INVENTORIES``, the only folder that a run may name an inventory file of (default
            ``data/inventories``).
        nameserver: ``RMQC_NAMESERVER``, the cluster of a run that names no other input (default: none).
        policy: ``RMQC_POLICY``, the policy file (default: none, every key has its default).
        spark_apps: ``RMQC_SPARK_APPS``, the folder of the Spark apps (default ``spark_apps``).
        sample: what a run without any other input plans: an inventory recorded from a real cluster.
    """

    lake: Path
    inventories: Path
    nameserver: str | None
    policy: Path | None
    spark_apps: Path
    sample: Path

    @classmethod
    def of(cls, home: Path, environment: Mapping[str, str] = os.environ) -> Self:
        """The places under ``home``, the folder of ``dags/``, where the environment names no others."""

        def place(variable: str, default: str) -> Path:
            return Path(environment.get(variable) or home / default)

        return cls(
            lake=place("RMQC_LAKE", "data/lake"),
            inventories=place("RMQC_INVENTORIES", "data/inventories"),
            nameserver=environment.get("RMQC_NAMESERVER") or None,
            policy=Path(environment["RMQC_POLICY"]) if environment.get("RMQC_POLICY") else None,
            spark_apps=place("RMQC_SPARK_APPS", "spark_apps"),
            sample=sample_inventory(),
        )


def sample_inventory() -> Path:
    """The recorded inventory that this installation ships: inside a wheel, or beside the package in a checkout."""
    in_wheel = PACKAGE / "_shipped" / "sample" / "inventory.json"
    return in_wheel if in_wheel.exists() else PACKAGE.parent / "sample" / "inventory.json"
