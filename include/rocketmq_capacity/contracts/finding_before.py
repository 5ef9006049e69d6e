"""Dataset ``finding_before``."""

from rocketmq_capacity.contracts.finding import Finding


class FindingBefore(Finding, frozen=True, kw_only=True):
    """What the run before found, so that a plan can say what is new, worse and gone; no rows if there is no run before.

    Grain: one row a finding of the run before.
    Units: those of the figures in ``evidence`` are in their names.
    """
