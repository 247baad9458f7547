# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of other libraries for the tests of bridges: the real library, or a fake of it."""

import gc

import pytest
from support import foreign


@pytest.fixture(autouse=True, scope="module")
def quick_collections():
    """A library such as JAX leaves a million objects, which each gc.collect() would walk again."""
    gc.freeze()
    yield
    gc.unfreeze()


def library_or_skip(name):
    try:
        return foreign.library(name)
    except foreign.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def pycuda():
    return library_or_skip("pycuda")


@pytest.fixture(scope="session")
def cudamat():
    return library_or_skip("cudamat")


@pytest.fixture(scope="session")
def gnumpy():
    return library_or_skip("gnumpy")
