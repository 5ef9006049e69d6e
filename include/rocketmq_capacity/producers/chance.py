"""The chi-square test: how likely it is that differences are only chance."""

from math import erfc, exp, fsum, lgamma, log, sqrt


def chi_square_tail(statistic: float, degrees: int) -> float:
    """The probability that a chi-square variable with these degrees of freedom is at least ``statistic``.

    Shape: a statistic from 0 on, degrees from 1 on -> a probability.
    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.4.4 and 26.4.5.
    """
    if statistic <= 0:
        return 1.0
    half = statistic / 2
    first = (degrees % 2) / 2
    terms = (exp((first + k) * log(half) - half - lgamma(first + k + 1)) for k in range(degrees // 2))
    return min(fsum([erfc(sqrt(half)) if degrees % 2 else 0.0, *terms]), 1.0)
