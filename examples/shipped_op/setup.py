# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the ops into the bundle rms_norm/ops.swb of the wheel. RMS_NORM_ARCHS lists other GPU
architectures than the default ones; with RMS_NORM_ARCHS= the wheel is for CPUs alone."""

import os
import runpy
from pathlib import Path

import setuptools
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ARCHS = os.environ.get("RMS_NORM_ARCHS", "sm_80 sm_90 sm_120 ptx").split()


class BuildBundle(build_py):
    def run(self):
        super().run()
        import spanwise as sw

        op = runpy.run_path(str(Path(__file__).with_name("ops.py")))["rms_norm"]
        bundle = sw.compile(op, archs=ARCHS, dtypes={"T": ["float32", "float64"]})
        bundle.save(Path(self.build_lib, "rms_norm", "ops.swb"))


class Distribution(setuptools.Distribution):
    def has_ext_modules(self):
        return True  # the wheel depends on the platform ...


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]  # ... and not on the version of Python


setuptools.setup(
    distclass=Distribution, cmdclass={"build_py": BuildBundle, "bdist_wheel": AnyPython}
)
