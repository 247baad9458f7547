# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""all_reduce by NCCL on one GPU: the host's time over that of NCCL's own function, and a strided
array beside a copy and a contiguous one."""

import ctypes

from gpu import first_gpu
from harness import Floor, Result, Unavailable, installed, interleave
from native import build

import spanwise as sw
from spanwise import collectives
from spanwise.collectives import _native

SMALL = 256
LARGE = 1 << 26  # 256 MB of float32
TIMES = 200


def loaded_nccl():
    """The path of the libnccl.so that this process has loaded."""
    with open("/proc/self/maps") as maps:
        return next(line.split()[-1] for line in maps if "libnccl.so" in line)


def torch_all_reduce(x):
    """A call of torch.distributed on the same memory, with a group of one rank; None without it."""
    if not installed("torch"):
        return None
    import torch
    import torch.distributed as dist

    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29533", rank=0, world_size=1)
    tensor = torch.from_dlpack(x)
    return lambda: dist.all_reduce(tensor)


def host_line(comm, gpu):
    x, y = (sw.ones(SMALL, dtype="float32", device=gpu) for _ in range(2))
    stream = sw.current_stream(gpu)
    nccl = build("nccl_calls")
    nccl.all_reduce_seconds.restype = ctypes.c_double
    if nccl.init_communicator(loaded_nccl().encode()) != 0:
        raise Unavailable("NCCL refuses a second communicator")
    arguments = (
        ctypes.c_void_p(x.ptr), ctypes.c_void_p(y.ptr), ctypes.c_size_t(SMALL),
        ctypes.c_void_p(stream.handle), ctypes.c_int(TIMES),
    )  # fmt: skip

    def repeated(call):
        def run():
            for _ in range(TIMES):
                call()

        return run

    contenders = {
        "all_reduce": repeated(lambda: collectives.all_reduce(x, comm, out=y)),
        "ncclAllReduce in C": Floor(lambda: nccl.all_reduce_seconds(*arguments) * TIMES),
    }
    if (theirs := torch_all_reduce(x)) is not None:
        contenders["torch.distributed"] = repeated(theirs)
    figures = interleave(
        contenders, rounds=31, seconds=0, after=dict.fromkeys(contenders, sw.synchronize)
    )
    for figure in figures.values():
        figure.seconds[:] = [seconds / TIMES for seconds in figure.seconds]
    yield Result(
        f"host time of all_reduce of {SMALL} float32, one rank",
        "all_reduce",
        figures,
        goal=("over", "ncclAllReduce in C", 3e-6),
    )


def strided_line(comm, gpu):
    wide = sw.ones((LARGE // 1024, 2048), dtype="float32", device=gpu)
    half, packed = wide[:, ::2], sw.empty((LARGE // 1024, 1024), dtype="float32", device=gpu)
    out = sw.empty(packed.shape, dtype="float32", device=gpu)

    def copy_and_reduce():
        sw.copyto(packed, half)
        collectives.all_reduce(packed, comm, out=out)

    contenders = {
        "all_reduce of [:, ::2]": lambda: collectives.all_reduce(half, comm, out=out),
        "copy, then all_reduce": copy_and_reduce,
    }
    figures = interleave(
        {name: finished(call) for name, call in contenders.items()}, rounds=15, seconds=0.01
    )
    yield Result(
        f"all_reduce of a strided array of {LARGE} float32, one rank",
        "all_reduce of [:, ::2]",
        figures,
        goal=("ratio", "copy, then all_reduce", 1.05),
    )


def finished(call):
    """`call` with the wait for its result."""

    def run():
        call()
        sw.synchronize()

    return run


def measure():
    gpu = first_gpu()
    if reason := _native.why_no_engine("nccl"):
        raise Unavailable(reason)
    with collectives.init("nccl", device=gpu) as comm:
        yield from host_line(comm, gpu)
        yield from strided_line(comm, gpu)
