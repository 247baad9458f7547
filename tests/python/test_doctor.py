# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor works everywhere, reports what is missing and imports no large module."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support.tree import ROOT

import spanwise as sw
from spanwise import doctor


def run_doctor(**environment):
    return subprocess.run(
        [sys.executable, "-m", "spanwise", "doctor"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def report():
    completed = run_doctor()
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def section(report, title):
    match = re.search(rf"^{title}\n((?:  .*\n)+)", report, re.MULTILINE)
    assert match, f"no section {title!r} in:\n{report}"
    return match.group(1)


def test_report_has_every_section(report):
    for title, _ in doctor.SECTIONS:
        assert section(report, title)
    assert "cannot be determined" not in report


def test_report_names_version_and_devices(report):
    assert f"spanwise {sw.__version__}" in section(report, "Program")
    devices = section(report, "Devices")
    for device in sw.devices():
        assert f"{device.name}: {device.properties.name}" in devices
    if len(sw.devices()) == 1:
        assert "no GPU: " in devices


def test_missing_driver_report_names_a_remedy(report):
    if "no GPU" not in report:
        pytest.skip("has a GPU")
    assert "install" in section(report, "Devices")


def test_report_lists_compilers_with_version_and_path(report):
    lines = section(report, "Compilers of kernels").splitlines()
    for line in lines:
        assert re.match(r"  .+ \S*\d+\.\d+.*, /|  .+: missing\. .+", line), line
    assert any("NVRTC" in line for line in lines)
    assert any("host compiler" in line for line in lines)


def test_missing_compiler_report_names_the_package(tmp_path):
    completed = run_doctor(PATH=str(tmp_path), CXX="")
    assert completed.returncode == 0, completed.stderr
    compilers = section(completed.stdout, "Compilers of kernels")
    assert re.search(r"host compiler: missing\. .*install", compilers), compilers


def test_report_explains_a_disabled_cache(tmp_path):
    # A cache folder that others may write to is not used.
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(0o770)
    completed = run_doctor(SPANWISE_CACHE_DIR=str(tmp_path))
    cache = section(completed.stdout, "Kernel cache")
    assert "nothing is kept: " in cache and "may be written by other users" in cache


def test_report_lists_cache_and_bridges(report):
    assert sw.kernel_cache.info().path in section(report, "Kernel cache")
    bridges = section(report, "Bridges")
    assert re.search(r"numpy \d+\.\d+", bridges)
    assert "dlpack" in bridges


def test_report_lists_settings_from_the_environment():
    completed = run_doctor(SPANWISE_FLOATX="float16")
    assert "floatX = float16 (environment)" in section(completed.stdout, "Settings")


def test_report_is_complete_with_an_invalid_setting():
    completed = run_doctor(SPANWISE_DEVICE="abacus", SPANWISE_CACHE_DIR="/proc/no/such/place")
    assert completed.returncode == 0, completed.stderr
    assert "abacus" in completed.stdout
    assert "Bridges\n" in completed.stdout


def test_exception_of_a_section_is_a_line_of_the_report(monkeypatch):
    def broken():
        yield "first"
        raise RuntimeError("out of order")

    monkeypatch.setattr(doctor, "SECTIONS", (("Section", broken), ("Next", lambda: iter(["fine"]))))
    assert list(doctor.report()) == [
        "Section",
        "  first",
        "  cannot be determined: RuntimeError: out of order",
        "Next",
        "  fine",
    ]


def test_report_imports_no_array_library():
    program = """
import contextlib, io, sys
from spanwise import doctor
with contextlib.redirect_stdout(io.StringIO()):
    assert doctor.main([]) == 0
heavy = {"numpy", "torch", "cupy", "jax", "numba", "pycuda", "tensorflow"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_report_names_the_blas_or_a_package(report):
    lines = section(report, "BLAS")
    assert re.search(r"^  cuBLAS(: missing\. .*pip install| \S+, /)", lines, re.MULTILINE)
    assert re.search(r"^  BLAS(: missing\. .*pip install| OpenBLAS \S+, /)", lines, re.MULTILINE)
    disabled = section(run_doctor(SPANWISE_BLAS="none").stdout, "BLAS")
    assert "BLAS: missing" in disabled and "config blas is none" in disabled
    not_found = section(run_doctor(SPANWISE_BLAS="/nowhere/libblas.so").stdout, "BLAS")
    assert "/nowhere/libblas.so" in not_found and "pip install" in not_found


def test_missing_nvrtc_names_the_extra_that_has_it(monkeypatch):
    missing = SimpleNamespace(name="NVRTC", version="", path="", missing="not found")
    monkeypatch.setattr(doctor._core, "_tools", lambda: [missing])
    (line,) = doctor._tools(are_blas=False)
    assert line.startswith("NVRTC: missing. not found; or: pip install 'spanwise[cuda13]'")
    extras = (ROOT / "pyproject.toml").read_text()
    assert re.search(r'^cuda12 = \["nvidia-cuda-nvrtc-cu12', extras, re.MULTILINE)
    assert re.search(r'^cuda13 = \["nvidia-cuda-nvrtc>=13', extras, re.MULTILINE)
