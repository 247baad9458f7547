# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What the lines of a GPU share."""

from collections.abc import Callable

from harness import Unavailable

import spanwise as sw

QUEUED = 10


def first_gpu() -> str:
    """The first GPU's name. Raises Unavailable where there is none."""
    gpu = str(sw.devices()[0])
    if gpu == "cpu":
        raise Unavailable("there is no GPU")
    return gpu


def queued(call: Callable[[], object], times: int = QUEUED) -> Callable[[], None]:
    """`times` calls in the GPU's queue, and then the wait for all of them, whoever made them.

    Timed without the wait it would be the host's time, until the queue is full.
    """

    def run() -> None:
        for _ in range(times):
            call()
        sw.synchronize()

    return run
