# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The program of each rank in tests of all operations, dtypes and layouts, compared with NumPy.
Arguments: folder, engine, device ("cpu" or "gpu")."""

import sys

import numpy as np
from addons.collectives.expected import (
    DTYPES,
    LAYOUTS,
    MOVING,
    REDUCING,
    REDUCTIONS,
    array,
    as_numpy,
    difference,
    expected,
    is_defined,
)
from addons.collectives.launch import write_result

import spanwise as sw
from spanwise import collectives as C  # noqa: N812
from spanwise.compat.pygpu_collectives import GpuComm, GpuCommCliqueId


def cases(engine):
    """(op, reduction, dtype, layout, target). The target is "new", an array out= that is "strided" or
    "contiguous", or "in place", the operand."""
    for op in REDUCING + MOVING:
        for reduction in REDUCTIONS if op in REDUCING else ("sum",):
            for dtype in DTYPES:
                if is_defined(op, reduction, dtype) and not refuses(engine, op, reduction, dtype):
                    yield op, reduction, dtype, "contiguous", "new"
        for layout in LAYOUTS:
            if layout == "number" and op in ("reduce_scatter", "all_to_all"):
                continue  # one row cannot be divided
            for target in ("new", "strided", "contiguous"):
                for dtype in ("float32", "bool", "bfloat16"):
                    yield op, "sum", dtype, layout, target
    for op in ("all_reduce", "broadcast", "reduce"):
        for dtype in ("float64", "float16"):
            for layout in ("contiguous", "steps"):
                yield op, "sum", dtype, layout, "in place"


def refuses(engine, op, reduction, dtype):
    """Whether the engine raises DTypeError for the operation; run_refusals() checks that for one of them."""
    if engine == "torch" and dtype == "uint64" and reduction in ("min", "max"):
        return True
    return engine != "mpi" and reduction == "prod" and dtype.startswith("complex")


def poisoned(shape, dtype, device, *, is_strided):
    """An array out= whose elements, 77 or True, no test expects to remain."""
    rows = tuple(2 * n for n in shape) if is_strided else shape
    memory = sw.full(rows, 1 if dtype == "bool" else 77, dtype=dtype, device=device)
    return memory[tuple(slice(None, None, 2) for _ in shape)] if is_strided else memory


def run_case(comm, case, number, device):
    """How the result differs from NumPy's; "" if it does not. `number` selects values and root."""
    op, reduction, dtype, layout, target = case
    root, key = number % comm.size, f"{number}"
    x = array(key, dtype, comm.rank, layout, device)
    inputs = [as_numpy(array(key, dtype, r, layout, "cpu")) for r in range(comm.size)]
    oracle = expected(op, inputs, reduction, comm.rank, root)
    kwargs = {"op": reduction} if op in REDUCING else {}
    if op in ("broadcast", "reduce"):
        kwargs["root"] = root
    if target == "in place":
        kwargs["out"] = x
    elif target != "new":
        shape = np.shape(inputs[0]) if oracle is None else oracle.shape
        kwargs["out"] = poisoned(shape, dtype, device, is_strided=target == "strided")
    before = as_numpy(x).copy()
    result = getattr(C, op)(x, comm, **kwargs)
    if oracle is None:
        oracle = before if target == "in place" else None
        if result is None:
            return ""
        return difference(result, oracle, dtype, "broadcast") if oracle is not None else ""
    problem = difference(result, oracle, dtype, op)
    if target != "in place" and not np.array_equal(as_numpy(x), before, equal_nan=True):
        problem += " the operand has changed"
    return problem


def run_messages(comm, device):
    """A ring of messages in one group, then messages from each rank to the next, one after the other."""
    problems = []
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for dtype in DTYPES:
        for layout in LAYOUTS:
            if comm.size == 1:
                continue
            x = array(dtype + layout, dtype, comm.rank, layout, device)
            oracle = as_numpy(array(dtype + layout, dtype, left, layout, "cpu"))
            with C.group(comm):
                C.send(x, right, comm)
                result = C.recv(x, left, comm)
            if problem := difference(result, oracle, dtype, "broadcast"):
                problems.append(f"ring {dtype} {layout}: {problem}")
    for sender in range(comm.size - 1):
        value = sw.full((3, 2), float(sender), device=device)
        if comm.rank == sender:
            C.send(value, sender + 1, comm)
        if comm.rank == sender + 1:
            out = poisoned((3, 2), value.dtype.name, device, is_strided=True)
            if problem := difference(
                C.recv(value, sender, comm, out=out), as_numpy(value), "", "send"
            ):
                problems.append(f"message of rank {sender}: {problem}")
    return problems


def run_splits(comm, device):
    problems = []
    part = comm.split(comm.rank % 2, key=-comm.rank)
    ranks = [rank for rank in range(comm.size) if rank % 2 == comm.rank % 2][::-1]
    result = as_numpy(C.all_gather(sw.array([comm.rank], device=device), part)).tolist()
    if result != ranks or part.rank != ranks.index(comm.rank) or part.size != len(ranks):
        problems.append(f"split: got {result}, expected {ranks}")
    alone = comm.split(0 if comm.rank == 0 else None)
    if (alone is None) != (comm.rank != 0):
        problems.append(f"split without a color: got {alone!r}")
    for each in (part, alone):
        if each is not None:
            each.barrier()
            each.close()
    return problems


def run_pygpu(comm, device):
    """The names of pygpu.collectives."""
    problems = []
    clique_id = GpuCommCliqueId().comm_id if comm.rank == 0 else bytes(128)
    received_id = C.broadcast(np.frombuffer(clique_id, "uint8"), comm).numpy().tobytes()
    gpus = GpuComm(GpuCommCliqueId(bytearr=received_id), comm.size, comm.rank)
    host = np.arange(6.0 * comm.size).reshape(comm.size, 6)
    x, n = sw.array(host, device=device), comm.size
    gathered = np.broadcast_to(host, (n, *host.shape))
    broadcast_target = sw.full(x.shape, float(comm.rank), device=device)
    gpus.broadcast(broadcast_target, 0)
    checks = {
        "all_reduce": (gpus.all_reduce(x, "+"), n * host),
        "reduce": (gpus.reduce(x, "maximum", root=0), host if comm.rank == 0 else None),
        "reduce_scatter": (gpus.reduce_scatter(x, "sum"), n * host[comm.rank]),
        "all_gather": (gpus.all_gather(x, nd_up=2), gathered[:, None]),
        "all_gather of columns": (gpus.all_gather(x.T, nd_up=0), np.concatenate(gathered).T),
        "broadcast": (broadcast_target, np.zeros_like(host)),
    }
    for name, (result, oracle) in checks.items():
        if (result is None) != (oracle is None):
            problems.append(f"pygpu {name}: got {result!r}")
        elif result is not None and (
            problem := difference(result, oracle, "float64", "all_reduce")
        ):
            problems.append(f"pygpu {name}: {problem}")
    if (gpus.count, gpus.rank) != (comm.size, comm.rank):
        problems.append("pygpu: count or rank")
    gpus.close()
    return problems


def run_refusals(comm, device):
    """Errors that every rank finds by itself; the communicator stays usable."""
    problems = []
    ones, rows = sw.ones(3, device=device), sw.ones((comm.size + 1, 2), device=device)
    wrong = [
        (lambda: C.all_reduce(sw.ones(3, dtype="int32", device=device), comm, "mean"), TypeError),
        (lambda: C.all_reduce(ones.astype("complex64"), comm, "max"), TypeError),
        (lambda: C.all_reduce(ones, comm, "median"), ValueError),
        (lambda: C.broadcast(ones, comm, root=comm.size), ValueError),
        (lambda: C.send(ones, comm.rank, comm), ValueError),
        (lambda: C.all_reduce(ones, comm, out=sw.ones(4, device=device)), ValueError),
        (lambda: C.all_reduce(ones, comm, out=sw.broadcast_to(ones, (3,))), ValueError),
    ]
    if comm.size > 1:
        wrong.append((lambda: C.all_to_all(rows, comm), ValueError))
    if comm.engine in ("nccl", "torch"):
        wrong.append((lambda: C.all_reduce(ones.astype("complex64"), comm, "prod"), TypeError))
    for number, (call, kind) in enumerate(wrong):
        try:
            call()
        except kind:
            continue
        problems.append(f"refusal {number}: no {kind.__name__}")
    return problems


def main():
    folder, engine, device = sys.argv[1:]
    comm = C.init(engine, timeout=60)
    if device == "gpu":
        device = str(comm.device)
    problems, count = [], 0
    for number, case in enumerate(cases(engine)):
        count += 1
        if problem := run_case(comm, case, number, device):
            problems.append(f"{case}: {problem}")
    for part in (run_messages, run_splits, run_pygpu, run_refusals):
        problems += part(comm, device)
    comm.barrier()
    overlapped = C.all_reduce(sw.ones(1000, device=device), comm, overlap=True) + 1
    if problem := difference(overlapped, np.full(1000, comm.size + 1.0), "float64", "all_reduce"):
        problems.append(f"overlap: {problem}")
    write_result(folder, comm.rank, {"count": count, "problems": problems, "engine": comm.engine})
    comm.close()


if __name__ == "__main__":
    main()
