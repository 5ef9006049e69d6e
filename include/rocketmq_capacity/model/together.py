"""A property that is computed for many objects in one go; for a single object they are a batch of one."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")
V = TypeVar("V")


class Together(Generic[T, V]):
    """A property whose values are computed once, for all objects that are asked for together.

    Args:
        values_of: the values of some objects, in order.
    """

    def __init__(self, values_of: Callable[[Sequence[T]], Sequence[V]]) -> None:
        self.values_of = values_of
        self.__doc__ = values_of.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, _: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: T, _: type | None = None) -> V: ...

    def __get__(self, instance: Any, _: type | None = None) -> Any:
        if instance is None:
            return self
        self.compute([instance])
        return instance.__dict__[self.name]

    def compute(self, objects: Iterable[T]) -> None:
        """Compute the values of these objects, as far as they are not computed yet."""
        new = [one for one in objects if self.name not in one.__dict__]
        if new:
            for instance, value in zip(new, self.values_of(new), strict=True):
                instance.__dict__[self.name] = value
