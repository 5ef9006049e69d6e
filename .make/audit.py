"""Asks an index of vulnerabilities about every pin; fails at one that nobody has accepted with a reason.

If the index cannot be asked, it says so in one line and fails; with AUDIT_OFFLINE=1 in the environment it passes.
Arguments beside its own go to pip-audit.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pins import BUILDS, HOME, RUNS, TESTS, pinned

ACCEPTED: Final = ".ci/accepted-vulnerabilities.txt"
OFFLINE: Final = "AUDIT_OFFLINE"


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """One that an installed version has; ``fixed_in`` is empty where no version is known."""

    package: str
    version: str
    ids: tuple[str, ...]
    fixed_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the index says: how many pins it answered for, what they have, and why it did not answer for others."""

    audited: int
    found: tuple[Vulnerability, ...]
    unanswered: dict[str, str]


def main() -> int:
    """Ask about one pin, and about all of them if that was answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pins", type=Path, nargs="+", default=[RUNS, TESTS, BUILDS])
    parser.add_argument("--accepted", type=Path, default=HOME / ACCEPTED)
    told, others = parser.parse_known_args()
    pins = sorted({str(requirement) for file in told.pins for requirement in pinned(file)})
    is_offline = os.environ.get(OFFLINE) == "1"
    trial = ask(pins[:1], others)
    if not trial.audited:
        reason = next(iter(trial.unanswered.values()))
        passed = "; AUDIT_OFFLINE is set, so this passes" if is_offline else ""
        print(f"audit: the index of vulnerabilities cannot be asked here, so no pin is audited{passed}: {reason}")
        return 0 if is_offline else 1
    answer = ask(pins, others)
    return judge(answer, accepted(told.accepted), told.accepted) or int(bool(answer.unanswered) and not is_offline)


def ask(pins: Sequence[str], others: Sequence[str]) -> Answer:
    """The answer of pip-audit about these pins; nothing is resolved, installed or built."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(pins))
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--requirement", file.name, "--no-deps", "--disable-pip"]
        quiet = ["--progress-spinner", "off", "--format", "json", "--timeout", "30"]
        run = subprocess.run([*command, *quiet, *others], capture_output=True, text=True, check=False)
    try:
        rows = json.loads(run.stdout)["dependencies"]
    except ValueError:
        # It ended with an error of its own, whose last line says most.
        return Answer(0, (), {"all": (run.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]})
    return Answer(
        sum("vulns" in row for row in rows),
        tuple(
            Vulnerability(row["name"], row["version"], (each["id"], *each["aliases"]), tuple(each["fix_versions"]))
            for row in rows
            for each in row.get("vulns", ())
        ),
        {row["name"]: row["skip_reason"] for row in rows if "skip_reason" in row},
    )


def accepted(file: Path) -> dict[str, str]:
    """Of each vulnerability that is accepted: why."""
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    parts = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {identity: reason.strip() for identity, _, reason in parts}


def judge(answer: Answer, reasons: dict[str, str], file: Path) -> int:
    """Print what was found; 1 if something is not accepted, or if an accepted vulnerability is gone."""
    for name, why in answer.unanswered.items():
        print(f"audit: not audited: {name}: {why}")
    refused = 0
    for each in answer.found:
        reason = next((reasons[identity] for identity in each.ids if reasons.get(identity)), None)
        mended = f"mended in {', '.join(each.fixed_in)}" if each.fixed_in else "mended in no version yet"
        print(f"audit: {each.package} {each.version}: {', '.join(each.ids)}; {mended}; {reason or 'NOT ACCEPTED'}")
        refused += reason is None
    present = {identity for each in answer.found for identity in each.ids}
    gone = sorted(reasons.keys() - present)
    for identity in gone:
        print(f"audit: {identity} is accepted in {file}, and no pin has it any longer: delete its line")
    print(
        f"audit: pins audited: {answer.audited}; vulnerabilities: {len(answer.found)}, of which not accepted: {refused}"
    )
    return 1 if refused or gone else 0


if __name__ == "__main__":
    sys.exit(main())
