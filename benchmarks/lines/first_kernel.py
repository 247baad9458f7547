# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Time from process start to the first result of a user's kernel, with a warm and a cold disk
cache.

"from NumPy" has NumPy arrays as input, so that its time includes the import of NumPy. "python,
nothing" is the start of the interpreter alone.
"""

import shutil
import tempfile

from harness import Result, installed, interleave_processes, python

import spanwise as sw

SOURCE = """
__global__ void multiply_them(float *dest, const float *a, const float *b) {
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
"""

OURS = f'''
import spanwise as sw
a = sw.array([float(i) for i in range(128)], dtype="float32", device="DEVICE")
dest = sw.zeros(128, dtype="float32", device="DEVICE")
f = sw.SourceModule("""{SOURCE}""", device="DEVICE").get_function("multiply_them")
f(dest, a, a, block=(128, 1, 1), grid=(1, 1))
assert dest[5].item() == 25
'''

OURS_WITH_NUMPY = (
    OURS.replace("import ", "import numpy as np, ", 1)
    .replace("[float(i) for i in range(128)]", "np.arange(128)")
    .replace("dest[5].item()", "dest.numpy()[5]")
)

CUPY = f'''
import cupy
a = cupy.arange(128, dtype="float32"); dest = cupy.zeros(128, dtype="float32")
f = cupy.RawKernel("""extern "C" {SOURCE}""", "multiply_them")
f((1,), (128,), (dest, a, a))
assert dest.get()[5] == 25
'''

PYCUDA = f'''
import numpy as np, pycuda.autoprimaryctx, pycuda.gpuarray as ga
from pycuda.compiler import SourceModule
a = ga.to_gpu(np.arange(128, dtype="float32")); dest = ga.zeros(128, "float32")
f = SourceModule("""{SOURCE}""").get_function("multiply_them")
f(dest, a, a, block=(128, 1, 1), grid=(1, 1))
assert dest.get()[5] == 25
'''


def measure():
    for device in map(str, sw.devices()):
        ours = python(OURS.replace("DEVICE", device))
        with_numpy = python(OURS_WITH_NUMPY.replace("DEVICE", device))
        gpu = device != "cpu"
        peers = {}
        if gpu and installed("cupy"):
            peers["cupy"] = python(CUPY)
        if gpu and installed("pycuda") and shutil.which("nvcc"):
            peers["pycuda"] = python(PYCUDA)
        with tempfile.TemporaryDirectory() as cache:
            # The warm-up of interleave_processes() fills the cache.
            env = {"SPANWISE_CACHE_DIR": cache, "CUPY_CACHE_DIR": cache + "/cupy"}
            yield Result(
                f"start to first kernel result on {device}, warm cache",
                "spanwise",
                interleave_processes(
                    {
                        "spanwise": ours,
                        "spanwise, from NumPy": with_numpy,
                        **peers,
                        "python, nothing": python("pass"),
                        "import numpy": python("import numpy"),
                    },
                    env=env,
                ),
                goal=("at most", None, 0.25) if gpu else None,
            )
            yield Result(
                f"start to first kernel result on {device}, cold cache",
                "spanwise",
                interleave_processes(
                    {"spanwise": ours, "python, nothing": python("pass")},
                    env=env,
                    before={"spanwise": lambda: shutil.rmtree(cache, ignore_errors=True)},
                ),
            )
