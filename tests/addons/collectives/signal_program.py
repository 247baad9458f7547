# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The program of each rank of signal_rounds.py: calls of all kinds for two seconds. Arguments: folder, time
limit in seconds, check. Writes its process number, when it calls init() ("begin"), that it has come to
"step" and "closed", and its outcome: "" or the kind and the text of the error."""

import os
import sys
import time
from pathlib import Path

RANK = os.environ.get("PMI_RANK") or os.environ["OMPI_COMM_WORLD_RANK"]
FOLDER = Path(sys.argv[1])


def write(name, text):
    path = FOLDER / f"{name}{RANK}"
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").rename(path)


def work(timeout, check):
    import numpy as np

    import spanwise as sw
    from spanwise import collectives as C  # noqa: N812

    write("begin", str(time.time()))
    comm = C.init("mpi", timeout=timeout, check=check)
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for step in range(200):
        total = C.all_reduce(sw.full(1000, float(comm.rank + step)), comm)
        np.testing.assert_array_equal(total.numpy(), comm.size * step + 3.0)
        with C.group(comm):
            C.send(sw.full(3, comm.rank), right, comm)
            received = C.recv(sw.zeros(3, dtype=int), left, comm)
        assert received.tolist() == [left] * 3
        if step == 50:
            write("step", "here")
        if step == 100:
            comm.split(comm.rank % 2).close()
        time.sleep(0.01)
    comm.close()
    write("closed", "here")
    time.sleep(0.2)


def main():
    write("process", str(os.getpid()))
    try:
        work(float(sys.argv[2]), int(sys.argv[3]))
    except ImportError as error:  # what NumPy's extension modules make of an interrupt
        raise KeyboardInterrupt from error
    except Exception as error:
        write("outcome", f"{type(error).__name__}: {error}")
        raise
    write("outcome", "")


if __name__ == "__main__":
    main()
