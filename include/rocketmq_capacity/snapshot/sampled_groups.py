"""What samples tell of groups in each hour: how much they had not read, and how many clients they had."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.snapshot.inventory import HourlyGroup, parse_utc
from rocketmq_capacity.snapshot.seconds import HOUR_S

UNKNOWN: Final = -1
_Codes = npt.NDArray[np.integer[Any]]


class SampledGroups:
    """The most that groups had not read, and the most clients, in each hour; table after table is added.

    Args:
        first_s: when the first hour begins, in seconds since 1970.
        until_s: when the last hour ends.
    """

    def __init__(self, first_s: int, until_s: int) -> None:
        self._first_s, self._until_s = first_s, until_s
        self._hours = (until_s - first_s) // HOUR_S
        self._lags: dict[str, Integers] = {}
        self._clients: dict[str, Integers] = {}

    def add_lags(self, table: pa.Table) -> None:
        """Add rows of ``group_sample``; a sample in which a lag is unknown says nothing of it."""
        known = table.filter(table["lag"].is_valid())
        if not known.num_rows:
            return
        at_s, hour = self._moments(known["at"])
        is_used = (hour >= 0) & (at_s < self._until_s)
        names, group = encoded(known["consumer_group"])
        self._add(self._lags, names, group[is_used], hour[is_used], known["lag"].to_numpy()[is_used])

    def add_members(self, table: pa.Table) -> None:
        """Add rows of ``member_sample``. A stretch counts in each hour that it touches."""
        if not table.num_rows:
            return
        first_s, begin = self._moments(table["first_at"])
        _, end = self._moments(table["last_at"])
        begin, end = np.maximum(begin, 0), np.minimum(end, self._hours - 1)
        lasts = np.where(first_s < self._until_s, np.maximum(end - begin + 1, 0), 0)
        row = np.repeat(np.arange(table.num_rows), lasts)
        hour = begin[row] + np.arange(len(row)) - np.repeat(np.cumsum(lasts) - lasts, lasts)
        names, group = encoded(table["consumer_group"])
        self._add(self._clients, names, group[row], hour, _different(table["client_ids"])[row])

    def by_group(self) -> Iterator[tuple[str, HourlyGroup]]:
        """What is known of each group, from the first hour on of which anything is."""
        nothing = np.full(self._hours, UNKNOWN)
        for name in sorted(self._lags.keys() | self._clients.keys()):
            lags, clients = self._lags.get(name, nothing), self._clients.get(name, nothing)
            known = np.flatnonzero((lags != UNKNOWN) | (clients != UNKNOWN))
            if len(known):
                first, end = int(known[0]), int(known[-1]) + 1
                begin = datetime.fromtimestamp(self._first_s + first * HOUR_S, UTC)
                yield (
                    name,
                    HourlyGroup(
                        first_at=begin.strftime("%Y-%m-%dT%H:%M:%SZ"),
                        most_lag=_known(lags[first:end]),
                        clients=_known(clients[first:end]),
                    ),
                )

    def _moments(self, texts: pa.ChunkedArray) -> tuple[Numbers, Integers]:
        """Each moment in seconds since 1970, and its hour, counted from the first."""
        names, code = encoded(texts)
        at_s = np.array([parse_utc(at).timestamp() for at in names])[code]
        return at_s, ((at_s - self._first_s) // HOUR_S).astype(np.int64)

    def _add(
        self, held: dict[str, Integers], names: Sequence[str], group: _Codes, hour: Integers, values: Integers
    ) -> None:
        most = np.full(len(names) * self._hours, UNKNOWN)
        np.maximum.at(most, group * self._hours + hour, values)
        for name, lags in zip(names, most.reshape(len(names), self._hours), strict=True):
            np.maximum(held.setdefault(name, lags), lags, out=held[name])


def encoded(texts: pa.ChunkedArray) -> tuple[list[str], _Codes]:
    """The different texts, and of each row the place of its text among them."""
    whole = texts.combine_chunks()
    whole = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    return whole.dictionary.to_pylist(), whole.indices.to_numpy()


def _different(lists: pa.ChunkedArray) -> Integers:
    """How many different texts each list has."""
    whole = lists.combine_chunks()
    row = np.repeat(np.arange(len(whole)), whole.value_lengths().to_numpy())
    text = whole.flatten().dictionary_encode().indices.to_numpy().astype(np.int64)
    different = np.unique(row * (int(text.max(initial=0)) + 1) + text)
    return np.bincount(different // (int(text.max(initial=0)) + 1), minlength=len(whole)).astype(np.int64)


def _known(values: Integers) -> tuple[int | None, ...]:
    return tuple(None if value == UNKNOWN else value for value in values.tolist())
