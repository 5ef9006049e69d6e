"""Risks that people have accepted in Airflow, beside the runs of their cluster: one file each, never changed.

They are ``LAKE/<cluster_name>/.accepted/<moment>-<digits>.json``. No run has such a name, so nothing takes the folder
for a run.
"""

from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from pydantic import ValidationError

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.store.writing import write_whole

FOLDER: Final = ".accepted"
DIGITS: Final = 12
"""Hexadecimal digits of a file's name, which tell risks apart that are accepted in the same second."""


def keep_acceptance(cluster: Path, risk: AcceptedRisk, at: datetime) -> Path:
    """Add an accepted risk to those of a cluster's folder; ``at`` is in UTC. The same one again changes nothing."""
    document = {"at": at.strftime("%Y-%m-%dT%H:%M:%SZ"), **risk.model_dump(mode="json", exclude_none=True)}
    content = json_file(document)
    file = cluster / FOLDER / f"{at:%Y-%m-%dT%H.%M.%SZ}-{sha256(content).hexdigest()[:DIGITS]}.json"
    write_whole(file, content)
    return file


def acceptances(cluster: Path, taken_at: str) -> tuple[AcceptedRisk, ...]:
    """The risks that were accepted up to a moment (UTC, ISO-8601) and are not over then, the last accepted first.

    A plan that is made again has those that it had: what was accepted later does not count.

    Errors: BadInput naming a file that is damaged.
    """
    moment = datetime.fromisoformat(taken_at)
    kept = (_read(file) for file in sorted((cluster / FOLDER).glob("*.json"), reverse=True))
    return tuple(risk for at, risk in kept if at <= moment and not risk.is_over(taken_at))


def _read(file: Path) -> tuple[datetime, AcceptedRisk]:
    try:
        document = msgspec.json.decode(file.read_bytes(), type=dict[str, str])
        at = datetime.fromisoformat(document.pop("at"))
        if at.tzinfo is None:
            raise ValueError("a time without its zone")
        return at, AcceptedRisk.model_validate(document)
    except (OSError, KeyError, ValueError, ValidationError) as error:  # msgspec's errors are ValueErrors
        problem = f"is not an accepted risk ({type(error).__name__}); expected what the Dag wrote"
        raise BadInput(str(file), "", problem) from None
