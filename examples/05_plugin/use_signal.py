# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Loads the library of ops in this folder and uses its ops in graphs.

python examples/05_plugin/use_signal.py build/libsignal_ops.so [--device cuda:0]
"""

import argparse
from typing import Any

import numpy as np

import spanwise as sw

T = sw.tensor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--device", default=str(sw.default_device()))
    arguments = parser.parse_args()
    with sw.device(arguments.device):
        run(sw.load_ops(arguments.library))


def run(signal: Any) -> None:
    values = np.random.default_rng(5).standard_normal(1000)

    x = T.fvector("x")
    smooth = sw.function([x], signal.moving_mean(x, width=4) * 2)
    expected = np.convolve(values, np.ones(4) / 4, "valid") * 2
    assert np.allclose(smooth(values.astype("float32")), expected, atol=1e-5)
    every_third = values.astype("float32")[::-3]
    assert np.allclose(
        smooth(every_third), np.convolve(every_third, np.ones(4) / 2, "valid"), atol=1e-5
    )
    print(f"{sw.default_device()}: {smooth.maker.fgraph.toposort()}")

    slope = sw.function([x], T.grad((signal.moving_mean(x, width=4) ** 2).sum(), x))
    mean = np.convolve(values, np.ones(4) / 4, "valid")
    expected = np.convolve(2 * mean, np.ones(4) / 4, "full")
    assert np.allclose(slope(values.astype("float32")), expected, atol=1e-5)

    y = T.dvector("y")
    highest = sw.function([y], sw.ops.signal.running_maximum(y * y))
    assert np.array_equal(highest(values), np.maximum.accumulate(values * values))
    print(f"{sw.default_device()}: {highest.maker.fgraph.toposort()}")

    try:
        smooth(np.ones(3, dtype="float32"))
    except sw.LayoutError as error:
        print(str(error).splitlines()[0])


if __name__ == "__main__":
    main()
