"""Regular expressions of a policy, by RE2: a search takes time in proportion to the name, whatever the pattern.

Python's own engine tries one way after another: ``(a+)+$`` can take years over a short name, and no other thread runs
meanwhile. Names and client ids come from any user of the cluster, and patterns from whoever may trigger a run.
Source: https://github.com/google/re2/wiki/Syntax
"""

from functools import lru_cache
from typing import Annotated, Any, Final

import re2
from pydantic import AfterValidator, Field, ValidationInfo

from rocketmq_capacity.errors import cut, shown

LONGEST: Final = 1_000
"""Characters of a pattern."""
LARGEST_BYTES: Final = 1 << 20
"""Memory of a compiled pattern with what its searches keep; a usual one takes a few KiB. A larger one is refused after
at most some ten milliseconds."""
MOST: Final = 200_000
"""Instructions of all patterns of a policy; a usual one has 50. They compile in a tenth of a second."""
LEAST_OF_ONE: Final = 100
"""Instructions that a pattern counts at least: so that all patterns of a policy stay in memory."""
REFUSED: Final = 16_000
"""Instructions that a refused pattern counts: as many as fit into its memory."""


class Compiling:
    """Compiles the patterns of one policy, which together have a largest size."""

    def __init__(self) -> None:
        self._left = MOST

    @classmethod
    def of(cls, context: object) -> "Compiling":
        """The one that all parts of a policy share while it is validated; a new one for a part by itself."""
        return context if isinstance(context, cls) else cls()

    def compile(self, pattern: str) -> Any:
        """Compile a pattern, to an object with the members of Python's ``re.Pattern``.

        Errors: ValueError for a text that is not a pattern of RE2, or too long, and if all are too large together.
        """
        if len(pattern) > LONGEST:
            raise ValueError(f"pattern is too long; expected at most {LONGEST:,} characters")
        if self._left <= 0:
            raise ValueError(f"patterns are too large together ({MOST:,} instructions); expected fewer or simpler ones")
        try:
            compiled = _compiled(pattern)
        except re2.error as error:
            self._left -= REFUSED
            reason = error.args[0]
            said = cut(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason), 200)
            problem = f"is not a regular expression of RE2 ({said}); expected RE2's syntax"
            raise ValueError(f"pattern {shown(pattern)} {problem}, without look-around and back references") from None
        self._left -= max(LEAST_OF_ONE, compiled.programsize)
        return compiled


def _compiles(pattern: str, info: ValidationInfo) -> str:
    Compiling.of(info.context).compile(pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
"""A pattern of a policy; it compiles."""
NamePattern = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
"""A pattern that is searched in names; an empty one would match all of them."""


def is_found(pattern: str, name: str) -> bool:
    """Whether the pattern, one of a checked policy, matches anywhere in the name."""
    return _search(pattern, name) is not None


def found_group(pattern: str, name: str, group: str) -> str | None:
    """What a named group of the pattern has where it first matches in the name; None if it has nothing."""
    match = _search(pattern, name)
    matched: bytes | None = match[group] if match else None
    return matched.decode(errors="replace") if matched else None


def _search(pattern: str, name: str) -> Any:
    # As bytes: RE2 would count the characters before each group otherwise, and refuse halves of characters.
    return _compiled(pattern).search(name.encode(errors="surrogatepass"))


@lru_cache(maxsize=MOST // LEAST_OF_ONE)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False  # they are raised
    options.max_mem = LARGEST_BYTES
    return re2.compile(pattern, options)
