"""Many pictures as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def tiled(pictures: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return pictures (height, width, ...) side by side in a grid that is about square.

    They go row by row; what is left over at the end is zero.
    """
    columns = math.ceil(math.sqrt(len(pictures)))
    rows = math.ceil(len(pictures) / columns)
    height, width, *rest = pictures[0].shape
    grid = np.zeros((rows * height, columns * width, *rest), pictures[0].dtype)
    for k, picture in enumerate(pictures):
        top, left = k // columns * height, k % columns * width
        grid[top : top + height, left : left + width] = picture
    return grid
