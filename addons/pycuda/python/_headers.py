# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's headers in CUDA C texts."""

import re

_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*[<"]pycuda-(complex|helpers)\.hpp[>"][^\n]*$', re.MULTILINE
)


def with_spanwise_headers(source):
    """`source` with <spanwise/complex.cuh>, which defines pycuda::complex, in the lines that include
    PyCUDA's headers."""
    return _INCLUDE.sub("#include <spanwise/complex.cuh>", source)
