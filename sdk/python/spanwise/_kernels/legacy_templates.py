# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a package that ``python -m spanwise legacy --package`` writes, for str.format()."""

INIT = '''"""The kernels of {file}, for arrays of any library that Spanwise imports.

A function runs its kernel on the device of its first Spanwise array, else on the default device.
Arrays of any layout are accepted: those that are not C-contiguous are copied, and copied back if the
kernel writes them.
"""

from functools import cache
from pathlib import Path

import spanwise as sw

SOURCE = Path(__file__).with_name("{file}")


@cache
def module(device=None):
    """The compiled file; `device` is a Spanwise device, by default the default device."""
    return sw.SourceModule(path=SOURCE{names}, device=device)


@cache
def _kernel(name, declarations, device):
    return module(device).get_function(name).bind(args=declarations)


def _launch(name, declarations, arguments, launch):
    arrays = (x for x in arguments if isinstance(x, sw.Array))
    device = next((x.device for x in arrays), sw.default_device())
    _kernel(name, declarations, device)(*arguments, **launch)
'''

FUNCTION = '''

def {function}({parameters}*, block, grid=1, shared=0, stream=None):
    """{signature}

    Line {line} of {file}. `block`, `grid`, `shared` and `stream` as for a sw.SourceModule's function.
    """
    declarations = (
{declarations}    )
    launch = {{"block": block, "grid": grid, "shared": shared, "stream": stream}}
    _launch("{name}", declarations, ({arguments}), launch)
'''

TESTS = '''"""Each kernel runs without and with checks (`config.kernel_check`), on the CPU, on the same arguments.

The arguments and the launch were derived from the declarations: correct them where a kernel expects
others. A KernelFaultError names the access, the thread and the line.
"""

import numpy as np
import pytest
import spanwise as sw

import {package}

SIZE = 4096  # elements of an array


def array(dtype, *shape):
    """Random numbers from 0 to the square root of SIZE, which are valid as indices as well."""
    values = np.random.default_rng(0).uniform(0, SIZE**0.5, shape or SIZE)
    return sw.array(values.astype(dtype), device="cpu")


CASES = [
{cases}]


@pytest.mark.parametrize(("kernel", "arguments", "launch"), CASES)
def test_checked_run_agrees(kernel, arguments, launch):
    plain, checked = arguments(), arguments()
    with sw.config.change(kernel_check="none"):
        kernel(*plain, **launch)
    with sw.config.change(kernel_check="all"):
        kernel(*checked, **launch)
    for a, b in zip(plain, checked):
        if isinstance(a, sw.Array):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
'''

README = """# {package}

The kernels of `{file}` as Python functions, made by `python -m spanwise legacy`. They run on a GPU,
and without one on the CPU.

```python
import {package}

{package}.{function}({arguments}, block=256, grid=16)
```

- `{package}/{file}` is the file itself; edit it there. `{package}.module()` is the compiled file.
- `tests/test_kernels.py` compares runs with and without checks for out-of-bounds accesses, races
  and undefined values: `python -m pytest`. Its arguments are guesses from the declarations.

## What the file contains

```text
{listing}
```
"""

PROJECT = """[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "{package}"
version = "0.1"
dependencies = ["spanwise"]

[tool.setuptools]
packages = ["{package}"]

[tool.setuptools.package-data]
"{package}" = ["**/*"]

[tool.pytest.ini_options]
pythonpath = ["."]
testpaths = ["tests"]
"""
