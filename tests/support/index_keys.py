# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random keys of index arrays and masks, in the forms that programs use."""

import numpy as np
from hypothesis import strategies as st

import spanwise as sw

SEEDS = st.integers(0, 2**32)
INDEX_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@st.composite
def keys(draw, shape):
    """A key for `shape` with index arrays and masks among integers, slices, None and Ellipsis."""
    rng = np.random.default_rng(draw(SEEDS))
    common = draw(st.lists(st.integers(0, 3), max_size=2))
    parts, axis, has_ellipsis = [], 0, False
    while axis < len(shape) and draw(st.integers(0, 9)) > 0:
        kind = draw(st.sampled_from(("array", "array", "mask", "slice", "int", "none", "ellipsis")))
        extent = shape[axis]
        if kind == "array":
            index_shape = tuple(n if draw(st.booleans()) else 1 for n in common)
            index_shape = index_shape[draw(st.integers(0, len(common))) :]
            index_shape = (*index_shape, 0) if extent == 0 else index_shape
            values = rng.integers(-extent, max(extent, 1), index_shape)
            dtype = draw(st.sampled_from(INDEX_DTYPES))
            parts.append(np.asarray(values % max(extent, 1) if dtype[0] == "u" else values, dtype))
            axis += 1
        elif kind == "mask":
            rank = draw(st.integers(0, min(2, len(shape) - axis)))
            parts.append(np.asarray(rng.random(shape[axis : axis + rank]) < 0.5))
            axis += rank
        elif kind == "slice":
            bounds = st.none() | st.integers(-6, 6)
            step = draw(st.sampled_from((None, 1, -1, 2, -3)))
            parts.append(slice(draw(bounds), draw(bounds), step))
            axis += 1
        elif kind == "int" and extent > 0:
            parts.append(draw(st.integers(-extent, extent - 1)))
            axis += 1
        elif kind == "none" and len(parts) < 6:
            parts.append(None)
        elif kind == "ellipsis" and not has_ellipsis:
            parts.append(Ellipsis)
            has_ellipsis = True
    return tuple(parts)


def ours_of(key, device, where):
    """The key with array i in the form where[i], repeated: "numpy", "device", "cpu" or "list"."""

    def part_of(i, part):
        if not isinstance(part, np.ndarray):
            return part
        kind = where[i % len(where)]
        if kind == "list" and part.ndim > 0 and part.size > 0:
            return part.tolist()
        return (
            sw.array(part, device=device if kind == "device" else "cpu")
            if kind != "numpy"
            else part
        )

    return tuple(part_of(i, part) for i, part in enumerate(key))


WHERE = st.lists(st.sampled_from(("numpy", "device", "cpu", "list")), min_size=1, max_size=3)
