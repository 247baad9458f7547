# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing the package in a sub-interpreter raises ImportError, before and while the main
interpreter uses it."""

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
    # From Python 3.12 on, Python itself refuses the extension.
    assert "main interpreter" in str(error) or "subinterpreters" in str(error), error
else:
    raise AssertionError("imported")
"""


def check_import_raises():
    interpreter = interpreters.create()
    # A failure is returned from Python 3.13 on, and raised before.
    failure = interpreters.run_string(interpreter, IMPORT)
    assert failure is None, failure
    interpreters.destroy(interpreter)


def main():
    check_import_raises()
    import spanwise as sw

    check_import_raises()
    a = sw.ones((300, 300), "float32", device="cpu")
    stop = threading.Event()
    threads = [threading.Thread(target=add, args=(a, stop)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        check_import_raises()
    stop.set()
    for thread in threads:
        thread.join()
    assert float((a + a).sum()) == 2 * 300 * 300


def add(a, stop):
    while not stop.is_set():
        a + a


main()
