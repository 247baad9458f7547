# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The program of each rank of NCCL: an all_reduce captured by PyTorch is replayed with other values.
Arguments: folder."""

import sys
import time

import torch
from addons.collectives.launch import write_result

import spanwise as sw
from spanwise import collectives as C  # noqa: N812

REPLAYS = 3


def main():
    (folder,) = sys.argv[1:]
    comm = C.init("nccl", timeout=60)
    device = f"cuda:{comm.device.ordinal}"
    torch.cuda.set_device(device)
    x, out = torch.zeros(1000, device=device), torch.zeros(500, device=device)
    C.all_reduce(sw.asarray(x), comm)
    torch.cuda.synchronize()
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=side), sw.Stream.foreign(side):
        C.all_reduce(sw.asarray(x)[::2], comm, out=sw.asarray(out))
    values = []
    for replay in range(REPLAYS):
        x.fill_(10 * replay + comm.rank)
        graph.replay()
        torch.cuda.synchronize()
        values.append(sorted(set(out.tolist())))
    start = time.monotonic()
    comm.close()
    closed_in = time.monotonic() - start
    write_result(folder, comm.rank, {"size": comm.size, "values": values, "closed in": closed_in})


if __name__ == "__main__":
    main()
