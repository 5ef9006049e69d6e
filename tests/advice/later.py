"""Faults of which plans do not say yet what they should, and healthy fleets that are not silent yet.

``python -m tests.advice`` tries them as well and prints them as open. The tests demand all others.
"""

from typing import Final

EXPECTED_LATER: Final[frozenset[str]] = frozenset({
    "a group that nobody runs",
    "remainders that go to the same clients",
})
LOUD_LATER: Final[frozenset[str]] = frozenset()
