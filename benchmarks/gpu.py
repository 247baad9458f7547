# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the lines for GPUs."""

from collections.abc import Callable

from harness import Unavailable

import spanwise as sw

#: Calls that one timing queues on the GPU before it waits for them.
QUEUED = 10


def first_gpu() -> str:
    """The name of the first GPU. Raises Unavailable if there is none."""
    gpu = str(sw.devices()[0])
    if gpu == "cpu":
        raise Unavailable("there is no GPU")
    return gpu


def queued(call: Callable[[], object], times: int = QUEUED) -> Callable[[], None]:
    """A function that queues `times` calls on the GPU and then waits for all queued work.

    Without the wait, the time would be that of the host until the queue is full.
    """

    def run() -> None:
        for _ in range(times):
            call()
        sw.synchronize()

    return run
