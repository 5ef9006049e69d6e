"""What is planned: copies of the recorded sample, and a fleet with everything that an inventory can tell."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import yaml

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from tests.benchmarks.samples import write_days
from tests.fixtures.generated import policy_for_generated, write_fleet
from tests.fixtures.renamed import copies

FLEET_GROUPS: Final = 10_000
SMALL_PER_BIG: Final = 1_000
"""Groups of a fleet for each big one, which has hundreds of clients."""
SEED: Final = 3


@dataclass(frozen=True, slots=True)
class Inputs:
    """A folder of inventories; one that is there already is taken as it is."""

    folder: Path

    def copies(self, k: int) -> Path:
        """The inventory of ``k`` copies of the sample."""
        file = self.folder / f"copies_{k}.json"
        if not file.exists():
            sample = msgspec.json.decode(sample_inventory().read_bytes())
            # One copy is the sample as it is, without marks at its names.
            file.write_bytes(msgspec.json.encode(sample if k == 1 else copies(sample, k)))
        return file

    def fleet(self, groups: int = FLEET_GROUPS) -> Path:
        """The inventory of a fleet: offsets, rates and running info of all groups."""
        file = self.folder / f"fleet_{groups}.json"
        if not file.exists():
            write_fleet(file, groups, SEED, big=groups // SMALL_PER_BIG, as_a_snapshot=True)
        return file

    def samples(self, groups: int = FLEET_GROUPS) -> Path:
        """The cluster's folder of a lake with samples of the fleet."""
        lake = self.folder / f"samples_{groups}"
        inventory = read_inventory(self.fleet(groups))
        return lake / inventory.cluster_name if lake.exists() else write_days(lake, inventory)

    def fleet_policy(self) -> Path:
        """The fleet's policy: seven strategies, and what each of them needs."""
        policy = yaml.safe_load(policy_for_generated())
        # Brokers and clients without a room get one: otherwise MACHINE_ROOM_NEARBY could run for few groups.
        policy["rooms"]["brokers"].append({"pattern": "(?P<room>[a-z]+)"})
        policy["rooms"]["clients"].append({"cidr": "10.0.0.0/8", "room": "sh"})
        file = self.folder / "fleet_policy.yaml"
        file.write_text(yaml.safe_dump(policy, sort_keys=False), encoding="utf-8")
        return file
