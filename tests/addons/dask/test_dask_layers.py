# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What imports spanwise.dask and Dask."""

import subprocess
import sys


def test_importing_spanwise_does_not_import_dask():
    program = (
        "import sys, spanwise as sw; sw.ones(3).sum(); "
        "assert not {'dask', 'distributed', 'spanwise.dask'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_import_without_dask_raises_with_a_remedy():
    program = (
        "import sys; sys.modules['dask'] = None\n"
        "try:\n    import spanwise.dask\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'spanwise[dask]'" in done.stdout, done.stderr
