# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""`import spanwise.pycuda.install` gives the module `pycuda` where PyCUDA cannot be imported."""

import os
import subprocess
import sys
from pathlib import Path

import spanwise as sw


def run(program, *folders):
    """What `program` prints with `folders` before Spanwise's on PYTHONPATH."""
    path = os.pathsep.join([*map(str, folders), str(Path(sw.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed_pycuda(folder, driver):
    """`folder` with a package pycuda, whose module driver has the source `driver`."""
    (folder / "pycuda").mkdir()
    (folder / "pycuda" / "__init__.py").write_text("origin = 'installed'\n")
    (folder / "pycuda" / "driver.py").write_text(driver)
    return folder


def without_pycuda(folder):
    """`folder` with a PyCUDA that cannot be imported, which hides one that can."""
    return installed_pycuda(
        folder, "raise ImportError('libcuda.so.1: cannot open shared object file')"
    )


def test_script_that_imports_pycuda_runs():
    out = run("""
import spanwise.pycuda.install
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
import numpy

a = gpuarray.to_gpu(numpy.arange(4, dtype=numpy.float32))
twice = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }").get_function("twice")
twice(a, block=(4, 1, 1))
print(a, pycuda.autoinit.device == drv.Context.get_device())
""")
    assert out == "[0. 2. 4. 6.] True\n"


def test_module_spanwise_pycuda_runs_an_unchanged_script(tmp_path):
    (tmp_path / "numbers_of_script.py").write_text("count = 3\n")
    script = tmp_path / "script.py"
    script.write_text("""
import sys
import pycuda.autoinit
from pycuda import gpuarray
from numbers_of_script import count
if __name__ == "__main__":
    print(gpuarray.arange(count, dtype="i4"), sys.argv[1:])
""")
    command = [sys.executable, "-m", "spanwise.pycuda", str(script), "-x", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[0 1 2] ['-x', '1']\n"), done.stderr
    done = subprocess.run(command[:3], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "usage: python -m spanwise.pycuda (script.py" in done.stderr


def test_program_runs_over_spanwise_where_pycuda_is_installed(tmp_path):
    folder = installed_pycuda(tmp_path, "")
    (tmp_path / "program.py").write_text(
        "import sys, pycuda.driver\nprint(pycuda.driver.__name__, sys.argv[1:])\n"
    )
    path = os.pathsep.join([str(folder), str(Path(sw.__file__).parents[1])])
    for program in (["-m", "program"], [str(tmp_path / "program.py")]):
        out = subprocess.check_output(
            [sys.executable, "-m", "spanwise.pycuda", *program, "-x"],
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        )
        assert out == "spanwise.pycuda.driver ['-x']\n"


def test_both_names_import_the_same_module(tmp_path):
    program = """
import spanwise.pycuda.install, spanwise.pycuda.driver, sys
import pycuda, pycuda.driver
assert pycuda is spanwise.pycuda and pycuda.driver is spanwise.pycuda.driver
assert sys.modules["pycuda.driver"].__spec__.name == "spanwise.pycuda.driver"
assert pycuda.VERSION >= (2026, 1)
import warnings; warnings.simplefilter("error")
import pycuda.tools, pycuda.cumath
"""
    run(program, without_pycuda(tmp_path))


def test_installed_pycuda_has_precedence(tmp_path):
    folder = installed_pycuda(tmp_path, "")
    assert (
        run("import spanwise.pycuda.install, pycuda; print(pycuda.origin)", folder) == "installed\n"
    )


def test_pycuda_that_cannot_be_imported_is_replaced(tmp_path):
    program = "import spanwise.pycuda.install, pycuda.driver as d; print(d.Device.count() > 0)"
    assert run(program, without_pycuda(tmp_path)) == "True\n"


def test_opengl_raises_with_a_reason(tmp_path):
    program = """
import spanwise.pycuda.install
for name in ("pycuda.gl", "pycuda.gl.autoinit"):
    try:
        __import__(name)
    except ImportError as error:
        assert "OpenGL" in str(error), error
    else:
        raise AssertionError(name)
try:
    import pycuda.abacus
except ModuleNotFoundError as error:
    print(error)
"""
    assert run(program, without_pycuda(tmp_path)) == "No module named 'pycuda.abacus'\n"


def test_runner_translates_scripts_in_python_2(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import pycuda.tools\nprint pycuda.tools.bitlog2(9), 7 / 2, xrange(2)[1]\n")
    command = [sys.executable, "-m", "spanwise.pycuda", str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3 3 1\n"
