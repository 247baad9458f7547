# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The program of each rank in tests of collective nodes in graphs. Arguments: folder, engine, device."""

import pickle
import sys

import numpy as np
from addons.collectives.launch import write_result

import spanwise as sw
from spanwise import collectives as C, tensor as T  # noqa: N812


def data(rank):
    return np.random.default_rng(rank).uniform(0.5, 1.5, (6, 4)).astype("float32")


def check(problems, name, result, expected):
    result = sw.asarray(result).numpy()
    if result.shape != np.shape(expected) or not np.allclose(result, expected, rtol=1e-5):
        problems.append(f"{name}: got {result!r}, expected {expected!r}")


def run_values(comm, device, problems):
    """Each kind of node, with the outputs listed in another order on rank 0."""
    size, rank = comm.size, comm.rank
    inputs = [data(r)[: size * (6 // size)] for r in range(size)]
    x = T.fmatrix("x")
    nodes = {
        "sum": C.all_reduce(x, comm),
        "max": C.all_reduce(x * 2, comm, "max"),
        "reduce": C.reduce(x, comm, root=size - 1),
        "broadcast": C.broadcast(x, comm),
        "gather": C.all_gather(x, comm),
        "scatter": C.reduce_scatter(x, comm, "mean"),
        "exchange": C.all_to_all(x, comm),
    }
    total = sum(inputs)
    expected = {
        "sum": total,
        "max": 2 * np.max(inputs, axis=0),
        "reduce": total if rank == size - 1 else np.zeros_like(total),
        "broadcast": inputs[0],
        "gather": np.concatenate(inputs),
        "scatter": np.split(total / size, size)[rank],
        "exchange": np.concatenate([np.split(each, size)[rank] for each in inputs]),
    }
    names = sorted(nodes, reverse=rank == 0)
    f = sw.function([x], [nodes[name] for name in names], device=device)
    for function in (f, pickle.loads(pickle.dumps(f))):
        for name, result in zip(names, function(inputs[rank]), strict=True):
            check(problems, name, result, expected[name])
    if "Collective" not in str([node.op for node in f.maker.fgraph.toposort()]):
        problems.append("the function has no collective nodes")


def run_gradients(comm, device, problems):
    """Gradients of the sum of the costs of all ranks."""
    size = comm.size
    rows = 6 // size * size
    weights = [np.random.default_rng(9 + r).uniform(1, 2, (rows, 4)) for r in range(size)]
    x = T.dmatrix("x")
    cases = {
        "all_reduce": (C.all_reduce, sum(weights)),
        "mean": (lambda v, c: C.all_reduce(v, c, "mean"), sum(weights) / size),
        "broadcast": (C.broadcast, sum(weights) if comm.rank == 0 else 0 * weights[0]),
        "reduce": (C.reduce, weights[0]),
    }
    for name, (op, expected) in cases.items():
        cost = (op(x, comm) * weights[comm.rank]).sum()
        result = sw.function([x], T.grad(cost, x), device=device)(np.ones((rows, 4)))
        check(problems, f"gradient of {name}", result, expected)
    big = np.concatenate(weights)
    pieces = [big * (r + 1) for r in range(size)]
    cost = (C.all_gather(x, comm) * pieces[comm.rank]).sum()
    result = sw.function([x], T.grad(cost, x), device=device)(np.ones((rows, 4)))
    check(problems, "gradient of all_gather", result, np.split(sum(pieces), size)[comm.rank])


def run_logistic(comm, device, problems):
    """Data-parallel steps in one function equal the steps of one process over all rows."""
    random = np.random.default_rng(3)
    rows, targets = random.normal(size=(60, 5)), random.integers(0, 2, 60).astype(float)
    w, x, t = sw.shared(np.zeros(5), "w", target=device), T.dmatrix("x"), T.dvector("t")
    g = C.all_reduce(x.T @ (T.sigmoid(x @ w) - t), comm) / len(rows)
    step = sw.function([x, t], [], updates={w: w - 0.5 * g}, device=device)
    expected = np.zeros(5)
    for _ in range(5):
        step(rows[comm.rank :: comm.size], targets[comm.rank :: comm.size])
        error = 1 / (1 + np.exp(-rows @ expected)) - targets
        expected -= 0.5 * rows.T @ error / len(rows)
    check(problems, "logistic regression", w.get_value(), expected)


def run_order(comm, device, problems):
    """Nodes run in the order in which they were made, also where a later one is listed first, and
    equal nodes are merged."""
    x = T.dvector("x")
    first, second = C.all_reduce(x, comm), C.all_reduce(x + 1, comm)
    f = sw.function([x], [second, first, first * 1], device=device)
    kinds = [str(n.op) for n in f.maker.fgraph.toposort() if "Collective" in str(n.op)]
    if len(kinds) != 2 or kinds != sorted(kinds):
        problems.append(f"order of the nodes: {kinds}")
    for result, added in zip(f(np.arange(3.0)), (1, 0, 0), strict=True):
        check(problems, "order", result, comm.size * (np.arange(3.0) + added))
    # Fusing x * x with 2 * x * g would make the first node depend on that of the gradient.
    square = C.all_reduce(x * x, comm)
    f = sw.function([x], [square, T.grad(square.sum(), x)], device=device)
    result, slope = f(np.arange(3.0))
    check(problems, "fusion", result, comm.size * np.arange(3.0) ** 2)
    check(problems, "fusion's gradient", slope, 2 * comm.size * np.arange(3.0))


def main():
    folder, engine, device = sys.argv[1:]
    comm = C.init(engine, timeout=60)
    device = str(comm.device) if device == "gpu" else device
    problems = []
    for part in (run_values, run_gradients, run_logistic, run_order):
        part(comm, device, problems)
    write_result(folder, comm.rank, {"problems": problems, "engine": comm.engine})
    comm.close()


if __name__ == "__main__":
    main()
