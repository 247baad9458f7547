# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The program of each rank, which connects by each store that needs no package. Arguments: folder, and
a free port; the next port is used too."""

import os
import sys
from pathlib import Path

from addons.collectives.launch import write_result

from spanwise import CollectiveError
from spanwise.collectives._monitor import Monitor
from spanwise.collectives._stores import connect


def use(store, rank_and_size):
    """Connects the ranks by `store`, makes them exchange values, agree and disagree. Returns the values
    and the lines of the error."""
    link = connect(store, timeout=30, **rank_and_size)
    ranks = list(range(link.size))
    monitor = Monitor(link, "tested", ranks, 30)
    values = monitor.exchange("init", "square", (link.rank + 2) ** 2)
    monitor.agree([("same", [], "text")], 0, "same")
    try:
        monitor.agree([("different", [], f"text {link.rank}")], 1, "different")
    except CollectiveError as error:
        values.append(str(error).splitlines()[1:])
    monitor.disconnect()
    link.close("it has closed its communicators")
    return values


def main():
    folder, port = sys.argv[1:]
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    path = Path(folder, "address")
    if rank == 0:  # a file that an earlier run left
        path.write_text('["127.0.0.1", 9, "old"]')
    stores = {
        "env": {},
        f"tcp://127.0.0.1:{port}/secret": {},
        f"tcp://localhost:{int(port) + 1}": {"rank": rank, "size": size},
        f"file://{path}": {},
    }
    results = {}
    for store, numbers in stores.items():
        rank_and_size = {"rank": None, "size": None} | numbers
        for _ in range(2):  # the second time beside what the first use left
            results.setdefault(store.partition(":")[0], []).append(use(store, rank_and_size))
    write_result(folder, rank, results)


if __name__ == "__main__":
    main()
