# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Always raises ImportError: interoperation with OpenGL is left out."""

raise ImportError(
    "pycuda.gl: interoperation with OpenGL is not available in spanwise.pycuda; copy results with "
    "GPUArray.get() and upload them by OpenGL's own functions",
    name=__name__,
)
