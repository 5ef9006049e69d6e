"""The types of numpy's arrays."""

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
