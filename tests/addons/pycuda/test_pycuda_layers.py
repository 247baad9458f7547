# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What imports spanwise.pycuda."""

import subprocess
import sys


def test_importing_spanwise_and_its_driver_does_not_import_spanwise_pycuda():
    program = (
        "import sys, spanwise as sw; sw.driver.mem_alloc(8); "
        "assert not [m for m in sys.modules if m.startswith('spanwise.pycuda')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
