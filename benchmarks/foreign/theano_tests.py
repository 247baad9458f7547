# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs Theano's own tests of CudaNdarray and of the conversions through spanwise.theano.

THEANO_FLAGS=device=gpu,floatX=float32 python -m spanwise.theano \
    benchmarks/foreign/theano_tests.py FILE ...

The files are those of Theano 0.8; nothing of Theano is imported. Without CUDAMat and a GPU the
replacements of the test suite, in host memory, take the place of CUDAMat and Gnumpy.
"""

import importlib.util
import os
import runpy
import sys
import traceback
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def has(name):
    return importlib.util.find_spec(name) is not None


def add_module(name, **names):
    """A module with `names`, where scripts import one that is absent."""
    module = types.ModuleType(name)
    module.__path__ = []
    vars(module).update(names)
    sys.modules[name] = module


def add_absent_modules():
    """What the files import besides theano: nose, six, and helpers of Theano's tests."""
    if not has("nose"):
        add_module("nose")
        add_module("nose.plugins")
        add_module("nose.plugins.skip", SkipTest=unittest.SkipTest)
    if not has("six"):
        add_module("six")
        add_module("six.moves", xrange=range)
    add_module("theano.tests")
    tools = types.SimpleNamespace(seed_rng=lambda: 1, fetch_seed=lambda: 1)
    sys.modules["theano.tests"].unittest_tools = tools
    sys.path.append(str(ROOT / "tests"))
    if not has("cudamat"):
        from support.peers import fake_cudamat

        sys.modules["cudamat"] = fake_cudamat
    if not has("gnumpy"):
        from support.peers import gnumpy_source

        os.environ["GNUMPY_USE_GPU"] = "no"
        sys.path.append(str(gnumpy_source.folder(ROOT / "build")))


def tests_of(namespace):
    """{name: function} of a file's test functions and of the methods of its test classes."""
    tests = {}
    for name, value in namespace.items():
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            for method in unittest.TestLoader().getTestCaseNames(value):
                tests[f"{name}.{method}"] = getattr(value(method), method)
        elif name.startswith("test") and callable(value):
            tests[name] = value
    return tests


def outcome(test):
    """("pass" | "fail" | "skip", reason) of one test."""
    try:
        test()
    except unittest.SkipTest as reason:
        return "skip", str(reason)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if "test_" in frame.filename]
        return "fail", f"line {lines[-1] if lines else '?'}: {type(error).__name__}: {error}"[:160]
    return "pass", ""


def main(files):
    add_absent_modules()
    for file in files:
        try:
            tests = tests_of(runpy.run_path(file))
        except Exception as error:
            print(f"{Path(file).name}: not imported: {type(error).__name__}: {error}")
            continue
        results = {name: outcome(test) for name, test in tests.items()}
        passed = sum(result == "pass" for result, _ in results.values())
        print(f"{Path(file).name}: {passed} of {len(results)} pass")
        for name, (result, reason) in results.items():
            if result != "pass":
                print(f"    {result} {name}: {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
