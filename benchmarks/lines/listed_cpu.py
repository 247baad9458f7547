# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Lines that may not be slower than NumPy on the CPU: operation x size x layout, listed in numpy_lines_*.

Operations of all families as programs use them, from 16 elements to 16M. Lines are chosen by use, not by
speed; slower ones are kept and counted in the summary.
"""

import numpy as np
import numpy_lines_arrays
import numpy_lines_elements
from harness import Result, interleave
from numpy_line import Line

import spanwise as sw

TABLE = "not slower than NumPy on the CPU"
REPETITIONS = 8  # further measurements of lines that are slower than NumPy

FAMILIES = (*numpy_lines_elements.FAMILIES, *numpy_lines_arrays.FAMILIES)
LISTED = [line for family in FAMILIES for line in family()]


def measure():
    with sw.config.change(device="cpu"):
        slower = []
        for line in LISTED:
            result = _measured(line)
            if result.reached:
                yield result
            else:
                slower.append((line, result))
        # Slower lines get additional rounds for both contenders: a measurement takes 80 ms, of which a
        # preemption of the process is a large part, and some lines are nearly equal, since both
        # contenders call the same library.
        for _ in range(REPETITIONS):
            for line, result in slower:
                if not result.reached:
                    for name, more in _measured(line).contenders.items():
                        result.contenders[name].seconds.extend(more.seconds)
        for _, result in slower:
            yield result


def _measured(line: Line) -> Result:
    # The same memory for both, since its address and cached parts affect some lines.
    arrays = [sw.array(operand.make(seed)) for seed, operand in enumerate(line.operands)]
    shared = [sw.to_numpy(x) for x in arrays]
    ours = line.prepare(sw, *(o.view(x) for o, x in zip(line.operands, arrays, strict=True)))
    theirs = line.prepare(np, *(o.view(x) for o, x in zip(line.operands, shared, strict=True)))
    _agree(line, ours(), theirs())
    contenders = {"spanwise": ours, "NumPy": theirs}
    return Result(
        f"{line.family}: {line.operation} of {line.layout}",
        "spanwise",
        interleave(contenders, rounds=40, seconds=0.001),
        goal=("ratio", "NumPy", 1.0),
        table=TABLE,
    )


def _agree(line: Line, ours, theirs):
    if isinstance(theirs, tuple):
        for our_result, their_result in zip(ours, theirs, strict=True):
            _agree(line, our_result, their_result)
    elif line.is_random:
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    elif theirs is not None:
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-4)
