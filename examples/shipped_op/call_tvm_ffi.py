# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the op as a function of tvm-ffi, which programs in C++, Rust and Python find by its name:
python call_tvm_ffi.py"""

import numpy as np
import tvm_ffi
from rms_norm import rms_norm

import spanwise as sw

tvm_ffi.register_global_func("example.rms_norm", sw.tvm_ffi_op(rms_norm))


def main():
    function = tvm_ffi.get_global_func("example.rms_norm")
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((4, 64)), np.linspace(-1, 1, 64)
    new = np.from_dlpack(function(x, weight))  # a new tensor
    y = np.full_like(x, np.nan)
    function(x, weight, y)  # written into y
    wanted = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * weight
    np.testing.assert_allclose(y, wanted, rtol=1e-12)
    print(f"{function}: {new.shape}, largest error {np.max(np.abs(new - y)):.1e}")


if __name__ == "__main__":
    main()
