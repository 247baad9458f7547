# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during a long product of matrices on the CPU, and a function with many steps."""

import subprocess
import sys

import pytest

#: interrupt(call) calls without end until a signal, and checks that the call then ends soon.
INTERRUPT = """
import os, signal, sys, threading, time

def interrupt(call):
    sent = []

    def send():
        time.sleep(0.7)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    try:
        while True:
            call()
    except KeyboardInterrupt:
        seconds = time.process_time() - sent[0]
    assert seconds < 6, seconds
"""

#: Multiplies without end; a signal comes while a product, which takes many seconds, is computed. The
#: seconds are those of the processors, which other programs may keep busy.
PROGRAM = """
import spanwise as sw

dtype, n = sys.argv[1], int(sys.argv[2])
sw.config.cpu_threads = 2
a = sw.ones((n, n), dtype, device="cpu")
b = a.T if sys.argv[3] == "own transpose" else a + a
small = a[:40, :40] @ a[:40, :40]
interrupt(lambda: a @ b)
assert (a[:40, :40] @ a[:40, :40]).tolist() == small.tolist() == [[40] * 40] * 40
print("interrupted")
"""


#: A function of 4,000 products, in order or on demand.
FUNCTION = """
import numpy as np
import spanwise as sw

sw.config.cpu_threads = 2
T = sw.tensor
x, c = T.dmatrix("x"), T.lscalar("c")
y = x
for _ in range(4000):
    y = T.dot(y, x)
if sys.argv[1] == "on demand":
    y = T.ifelse(c, y, x)
f = sw.function([x, c], y, device="cpu", on_unused_input="ignore")
interrupt(lambda: f(np.eye(400), 1))
assert (f(np.eye(3), 1).numpy() == np.eye(3)).all()
print("interrupted")
"""


@pytest.mark.parametrize("order", ["in order", "on demand"])
def test_ctrl_c_ends_a_function_with_many_steps(order):
    command = [sys.executable, "-c", INTERRUPT + FUNCTION, order]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.stdout == "interrupted\n", result.stderr


@pytest.mark.parametrize(
    ("dtype", "n", "right"),
    [
        ("int64", 5000, "other"),
        ("complex64", 7000, "other"),
        ("float64", 9000, "other"),
        ("float64", 12000, "own transpose"),
    ],
)
def test_ctrl_c_ends_a_long_product(dtype, n, right):
    command = [sys.executable, "-c", INTERRUPT + PROGRAM, dtype, str(n), right]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.stdout == "interrupted\n", result.stderr
