# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Where new nodes get no test value: while a function is compiled, and while a test value is
computed."""

import threading

_state = threading.local()


class without_test_values:  # noqa: N801  (a context manager; contextlib's are slower)
    """Context manager: nodes that this thread makes get no test values."""

    def __enter__(self) -> None:
        _state.depth = getattr(_state, "depth", 0) + 1

    def __exit__(self, *error: object) -> None:
        _state.depth -= 1


def skips_test_values() -> bool:
    """Whether this thread is inside without_test_values."""
    return getattr(_state, "depth", 0) > 0
