# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of sw.load_ops: libraries of ops, built by several compilers."""

import functools

import pytest
from python.graph.plugins.compile_plugin import SOURCES, compile_plugin

import spanwise as sw

# Compilers by the namespace that their ops get. With the old ABI of libstdc++ std::string has another
# layout; that library is linked in.
COMPILERS = {
    "gnu": "g++ -std=c++20",
    "gnu_old_abi": "g++ -std=c++20 -D_GLIBCXX_USE_CXX11_ABI=0 -static-libstdc++ -static-libgcc",
    "clang": "clang++ -std=c++20",
    "libcxx": "clang++ -std=c++20 -stdlib=libc++",
}


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    """plugin(name): the ops of many_ops.cpp, compiled by COMPILERS[name] and loaded once."""

    @functools.cache
    def load(name):
        library = tmp_path_factory.mktemp(name) / f"lib{name}.so"
        command = f"{COMPILERS[name]} -DNAMESPACE={name}"
        return sw.load_ops(compile_plugin(command, SOURCES / "many_ops.cpp", library))

    return load


@pytest.fixture(params=COMPILERS)
def ops(request, plugin):
    """The ops of many_ops.cpp, in turn by each compiler."""
    return plugin(request.param)


@pytest.fixture
def gnu(plugin):
    """The ops of many_ops.cpp by g++, for tests whose result does not depend on the compiler."""
    return plugin("gnu")
