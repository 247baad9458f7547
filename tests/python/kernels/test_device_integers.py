# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""SIMD, integer and bit intrinsics, compared with Python's integers."""

import numpy as np

import spanwise as sw

from .device_functions import integer_functions as functions
from .device_functions.table import check


def test_simd_intrinsics(device, compiler):
    """On a GPU __vabsss4 and others may be inline PTX; all are functions of unsigned."""
    check(functions.video_functions(), functions.words(), device)


def test_minima_and_maxima_of_sums_and_of_three(device):
    check(functions.extreme_functions(), functions.words(), device)


def test_integer_intrinsics(device, compiler):
    check(functions.INTEGER_FUNCTIONS, functions.words(), device)


def test_dot_products_take_vectors(device):
    source = """
__global__ void k(int* out) {
  out[0] = __dp4a(make_char4(1, -2, 3, -4), make_char4(5, 6, 7, 8), 100);
  out[1] = (int)__dp4a(make_uchar4(1, 2, 3, 255), make_uchar4(5, 6, 7, 8), 100u);
  out[2] = __dp2a_lo(make_short2(-300, 2), make_char4(5, 6, 7, 8), 1);
  out[3] = __dp2a_hi(make_short2(-300, 2), make_char4(5, 6, 7, 8), 1);
  out[4] = (int)__dp2a_hi(make_ushort2(65535, 2), make_uchar4(5, 6, 7, 8), 1u);
}
"""
    out = sw.array(np.full(5, -1, "int32"), device=device)
    sw.SourceModule(source, device=device).get_function("k")(out, block=1)
    expected = [
        5 - 12 + 21 - 32 + 100,
        5 + 12 + 21 + 2040 + 100,
        -1500 + 12 + 1,
        -2100 + 16 + 1,
        65535 * 7 + 16 + 1,
    ]
    assert out.tolist() == expected
