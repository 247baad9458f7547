# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Logistic regression with gradients of a graph, as in Theano's tutorial.

    python examples/06_logistic_regression.py [--steps 2000] [--device cpu] [--out learning_curve.png]

Prints the graph of the cost as it is written and the graph of the compiled step after rewriting, trains
in float32, compares the first 100 steps with NumPy in float64, and draws the learning curve.
"""

import argparse
import sys
import time
from typing import Any

import numpy as np

import spanwise as sw
from spanwise import tensor as T  # noqa: N812
from spanwise.printing import debugprint, rewrites

EXAMPLES, FEATURES = 400, 784
RATE, DECAY = 0.01, 0.01


def training_data(rng: np.random.Generator) -> tuple[Any, Any]:
    inputs = rng.standard_normal((EXAMPLES, FEATURES)).astype("float32")
    labels = rng.integers(0, 2, EXAMPLES).astype("float32")
    return inputs, labels


def build(initial_weights: Any, device: str | None) -> tuple[Any, ...]:
    """The variables of the model, and the functions that train it and predict with it."""
    x, y = T.fmatrix("x"), T.fvector("y")
    w = sw.shared(initial_weights, "w", target=device)
    b = sw.shared(np.float32(0), "b", target=device)
    p = 1 / (1 + T.exp(-T.dot(x, w) - b))
    xent = -y * T.log(p) - (1 - y) * T.log(1 - p)
    cost = xent.mean() + DECAY * (w**2).sum()
    gw, gb = T.grad(cost, [w, b])
    train = sw.function(
        [x, y],
        [xent, cost],
        updates={w: w - RATE * gw, b: b - RATE * gb},
        name="train",
        device=device,
    )
    predict = sw.function([x], p > 0.5, name="predict", device=device)
    return w, cost, train, predict


def trained_by_numpy(initial_weights: Any, inputs: Any, labels: Any, steps: int) -> Any:
    """The weights after `steps` steps in float64."""
    w, b = initial_weights.astype("float64"), 0.0
    for _ in range(steps):
        error = 1 / (1 + np.exp(-(inputs @ w) - b)) - labels
        w, b = w - RATE * (inputs.T @ error / EXAMPLES + 2 * DECAY * w), b - RATE * error.mean()
    return w


def draw(costs: list[float], path: str) -> None:
    try:
        import matplotlib
    except ImportError:
        print("no learning curve: it needs matplotlib (python3 -m pip install matplotlib)")
        return
    matplotlib.use("agg")
    from matplotlib import pyplot

    pyplot.plot(costs)
    pyplot.xlabel("step")
    pyplot.ylabel("cost")
    pyplot.savefig(path)
    print("drew", path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--device", default=None)
    parser.add_argument("--out", default="learning_curve.png")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    inputs, labels = training_data(rng)
    initial_weights = rng.standard_normal(FEATURES).astype("float32")
    w, cost, train, predict = build(initial_weights, options.device)

    print("the cost as written:")
    debugprint(cost)
    print("\nthe compiled training step:")
    debugprint(train)
    rewrites(train)

    costs = []
    begin = time.perf_counter()
    for step in range(options.steps):
        xent, value = train(inputs, labels)
        costs.append(float(value))
        if not np.isfinite(xent.numpy()).all():
            sys.exit(f"step {step}: the cross-entropy is not finite")
        if step == 99:
            expected = trained_by_numpy(initial_weights, inputs, labels, 100)
            error = np.abs(w.get_value().numpy() - expected).max() / np.abs(expected).max()
            print(
                f"\nafter 100 steps: largest relative difference from NumPy in float64 {error:.1e}"
            )
            if error > 1e-4:
                sys.exit("expected a difference below 1e-4")
    seconds = time.perf_counter() - begin
    accuracy = float((predict(inputs).numpy() == labels).mean())
    print(
        f"{options.steps} steps in {seconds:.2f} s; cost {costs[0]:.4f} to {costs[-1]:.4f}; {accuracy:.0%} right"
    )
    draw(costs, options.out)


if __name__ == "__main__":
    main()
