# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A small kernel: compiled without a cache entry, and loaded from the disk cache.

On a GPU compared with NVRTC alone, with the options of a SourceModule.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time

from harness import Contender, Result

import spanwise as sw

ROUNDS = 15
SOURCE = """
// NUMBER
__global__ void scale(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
"""
# Sources are compiled by another process, so that they are in the disk cache only.
FILL = f"""
import sys
import spanwise as sw
for number in range(int(sys.argv[2])):
    sw.SourceModule({SOURCE!r}.replace("NUMBER", f"warm {{number}}"), device=sys.argv[1])
"""


def measure():
    for device in map(str, sw.devices()):
        yield _cold(device)
        yield _warm(device)


def _module(device, number):
    module = sw.SourceModule(SOURCE.replace("NUMBER", str(number)), device=device)
    module.get_function("scale")
    return module


def _seconds(work, *arguments):
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def _cold(device):
    ours, nvrtc_alone = Contender([]), Contender([])
    with tempfile.TemporaryDirectory() as cache, sw.config.change(cache_dir=cache):
        _module(device, "warm up")  # loads the compiler
        nvrtc = None if device == "cpu" else _Nvrtc(device)
        for number in range(ROUNDS):
            seconds, module = _seconds(_module, device, number)
            assert not module.from_cache
            ours.seconds.append(seconds)
            if nvrtc:
                nvrtc_alone.seconds.append(
                    _seconds(nvrtc.compile, SOURCE + f"// alone {number}")[0]
                )
    contenders = {"SourceModule, get_function": ours}
    if nvrtc:
        contenders["NVRTC alone"] = nvrtc_alone
    return Result(
        f"compiling a small kernel on {device}, nothing cached",
        "SourceModule, get_function",
        contenders,
        goal=("over", "NVRTC alone", 0.005) if nvrtc else ("at most", None, 0.150),
    )


def _warm(device):
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", FILL, device, str(ROUNDS)]
        subprocess.run(command, check=True, env={**os.environ, "SPANWISE_CACHE_DIR": cache})
        figures = Contender([])
        with sw.config.change(cache_dir=cache):
            for number in range(ROUNDS):
                seconds, module = _seconds(_module, device, f"warm {number}")
                assert module.from_cache
                figures.seconds.append(seconds)
    return Result(
        f"loading a small kernel on {device} from the disk cache",
        "SourceModule, get_function",
        {"SourceModule, get_function": figures},
        goal=("at most", None, 0.002),
    )


class _Nvrtc:
    """The NVRTC that the process has loaded."""

    def __init__(self, device):
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "libnvrtc.so" in line}
        self.api = ctypes.CDLL(paths.pop())
        architecture = sw.device(device).properties.architecture
        options = [f"--gpu-architecture={architecture}", "-default-device", "-std=c++17"]
        self.options = (ctypes.c_char_p * len(options))(*map(str.encode, options))

    def compile(self, source):
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        error = self.api.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
        )
        error |= self.api.nvrtcCompileProgram(program, len(self.options), self.options)
        error |= self.api.nvrtcGetCUBINSize(program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        error |= self.api.nvrtcGetCUBIN(program, image)
        error |= self.api.nvrtcDestroyProgram(ctypes.byref(program))
        assert error == 0
        return image
