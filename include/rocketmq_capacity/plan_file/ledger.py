"""The ledger: what became of the recommendations of earlier plans, and how often what they predicted came."""

from typing import Annotated, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means

Value = int | float | str | None
"""A number of queues or clients, a ratio, a strategy or a request mode; None is unknown."""
State = Literal["NEW", "OPEN", "APPROVED", "EXPIRED"]
"""Of a recommendation that is made today."""
Fate = Literal["BEGUN", "CARRIED_OUT", "VERIFIED", "FAILED", "GONE"]
"""Of one that is not made any more."""


class LedgerStanding(Struct, frozen=True, kw_only=True):
    """Where a recommendation of today stands."""

    state: Annotated[
        State,
        means(
            "NEW: no plan before recommended it. OPEN: it waits. APPROVED: somebody approved it, and that "
            "holds. EXPIRED: the approval's time is over, and it is not carried out"
        ),
    ]
    since: Annotated[str, means("taken_at of the first plan that recommended it, without a break")]
    approved_by: Annotated[str | None, means("who approved it last; null if nobody did")] = None
    approved_at: Annotated[str | None, means("when; null if nobody did")] = None
    expires_at: Annotated[str | None, means("until when that approval holds; null if nobody did")] = None
    done: Annotated[
        tuple[int, int] | None,
        means("of the plan before: how many of its changes are made, and of how many; null if none is"),
    ] = None


class LedgerFigure(Struct, frozen=True, kw_only=True):
    """A figure that a recommendation changes, or that it predicted."""

    figure: Annotated[str, means("its name, as in `before` and `after` of recommendations")]
    of: Annotated[str | None, means("the broker or group that it is about; null if that is clear")] = None
    before: Annotated[Value, means("when the recommendation was made")] = None
    predicted: Annotated[Value, means("what it should become")] = None
    came: Annotated[Value, means("what the snapshot says; null if unknown")] = None
    is_right: Annotated[
        bool | None, means("it came as predicted; null if that cannot be judged, or is not asked yet")
    ] = None
    why: Annotated[str | None, means("why it cannot be judged, or what came means; null if nothing has to be said")] = (
        None
    )


class GroupThen(Struct, frozen=True, kw_only=True):
    """What a group was when something was predicted of it."""

    consumer_group: Annotated[str, means("its name")]
    clients: Annotated[int, means("its different client ids, as the recommendation leaves them")]
    msgs_per_s: Annotated[float | None, means("its peak; null if unknown")] = None


GateState = Literal["OPEN", "CLOSED", "UNKNOWN"]


class Gate(Struct, frozen=True, kw_only=True):
    """The gate that a change in steps has come to, as far as the snapshot tells."""

    step: Annotated[int, means("number of the step whose gate it is, from 1")]
    title: Annotated[str, means("of this step")]
    state: Annotated[
        GateState, means("OPEN: go on with the next step. CLOSED: wait. UNKNOWN: run the checks of the step")
    ]
    why: Annotated[str, means("what the snapshot says, in words")]


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """A recommendation of an earlier plan, and what became of it."""

    id: Annotated[str, means("that of the recommendation")]
    action: Annotated[str, means("name of the action")]
    consumer_group: Annotated[str | None, means("the group to change")] = None
    topic: Annotated[str | None, means("the topic to change")] = None
    state: Annotated[
        State | Fate,
        means(
            "BEGUN: some of its steps are done. CARRIED_OUT: done, and what came cannot be judged yet. "
            "VERIFIED: done, and it came as predicted. FAILED: it came otherwise, or something else was done. GONE: "
            "not recommended any more, and not carried out as far as the snapshots tell"
        ),
    ]
    since: Annotated[str, means("taken_at of the first plan that recommended it")]
    at: Annotated[str, means("taken_at of the plan that first found it in this state")]
    approved_by: Annotated[str | None, means("who approved it last; null if nobody did")] = None
    approved_at: Annotated[str | None, means("when; null if nobody did")] = None
    expires_at: Annotated[str | None, means("until when that approval holds; null if nobody did")] = None
    changes: Annotated[tuple[LedgerFigure, ...], means("what it changes")] = ()
    predictions: Annotated[tuple[LedgerFigure, ...], means("what it predicted")] = ()
    groups: Annotated[tuple[GroupThen, ...], means("the groups that it predicted something of")] = ()
    steps: Annotated[tuple[str, ...], means("titles of its steps, if it takes several")] = ()
    gate: Annotated[Gate | None, means("of a change that is BEGUN; null if it is none")] = None
    why: Annotated[str | None, means("what tells the state, in words; null if the figures do")] = None
    is_prediction_wrong: Annotated[
        bool, means("FAILED because what it predicted did not come, although it was done as recommended")
    ] = False


class ActionRate(Struct, frozen=True, kw_only=True):
    """How often an action's predictions came, over all plans of the row."""

    action: Annotated[str, means("name of the action")]
    verified: Annotated[int, means("carried out, and all came as predicted")] = 0
    failed: Annotated[int, means("carried out, and something predicted did not come")] = 0
    otherwise: Annotated[int, means("something else was done instead; no prediction was tested")] = 0


class Ledger(Struct, frozen=True, kw_only=True):
    """What became of earlier recommendations."""

    before: Annotated[str, means("taken_at of the plan before")]
    entries: Annotated[
        tuple[LedgerEntry, ...],
        means("what is not recommended any more: FAILED first, then BEGUN, CARRIED_OUT, VERIFIED and GONE"),
    ] = ()
    left_out: Annotated[int, means("further entries, which are not listed")] = 0
    rates: Annotated[tuple[ActionRate, ...], means("by action")] = ()

    @property
    def came(self) -> tuple[int, int]:
        """How many predictions came, and of how many that could be judged."""
        verified = sum(one.verified for one in self.rates)
        return verified, verified + sum(one.failed for one in self.rates)
