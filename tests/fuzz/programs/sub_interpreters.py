# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Sub-interpreters import the package, which refuses, before and while the main interpreter uses it."""

import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        sys.exit(0)  # not an interpreter that has sub-interpreters

IMPORT = """
try:
    import spanwise
except ImportError as error:
    assert "main interpreter" in str(error), error
else:
    raise AssertionError("imported")
"""


def refuses():
    made = interpreters.create()
    failure = interpreters.run_string(made, IMPORT)  # returned from Python 3.13 on, raised before
    assert failure is None, failure
    interpreters.destroy(made)


def main():
    refuses()
    import spanwise as sw

    refuses()
    a = sw.ones((300, 300), "float32", device="cpu")
    goes_on = threading.Event()
    threads = [threading.Thread(target=add, args=(a, goes_on)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        refuses()
    goes_on.set()
    for thread in threads:
        thread.join()
    assert float((a + a).sum()) == 2 * 300 * 300


def add(a, ends):
    while not ends.is_set():
        a + a


main()
