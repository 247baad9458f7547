# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the CUDA toolkit that tests need and some installations lack."""

import contextlib

import pytest

import spanwise as sw


@contextlib.contextmanager
def toolkit_headers():
    """Skips the test if the code in the block does not compile because CCCL's headers are missing.

    CUDA toolkits contain them; NVIDIA's wheel of the CUDA headers does not.
    """
    try:
        yield
    except sw.CompileError as error:
        signs = ("nv/target", "cuda/std/", 'namespace "std" has no member')
        if not any(sign in error.log for sign in signs):
            raise
        pytest.skip("needs CCCL's headers: pip install nvidia-cuda-cccl")
