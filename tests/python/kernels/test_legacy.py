# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Legacy kernels: files, binaries without source, and host launchers of shared libraries."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

LEGACY = ROOT / "examples" / "legacy"


def test_the_example_runs(device):
    command = [sys.executable, str(ROOT / "examples/04_legacy_kernels.py"), "--device", str(device)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"legacy kernels on {device}" in done.stdout


class TestFiles:
    def test_kernels_and_host_code_of_a_file_are_listed(self):
        wrapped = sw.wrap_cu(LEGACY / "histogram.cu")
        assert [(k.name, k.has_barrier, k.is_template) for k in wrapped.kernels] == [
            ("histogram256", True, False),
            ("normalize", False, False),
        ]
        assert wrapped.kernels[0].line == 9
        assert wrapped.kernels[0].declarations == (
            "contiguous uint32*",
            "contiguous const uint8*",
            "int32",
        )
        text = str(wrapped)
        assert "histogram256(unsigned int * bins" in text or "histogram256(unsigned int *" in text
        assert "host code from line 36 on" in text
        assert "sobel" in str(sw.wrap_cu(LEGACY / "sobel.cu"))

    def test_declaration_runs_as_pasted(self, device, monkeypatch):
        namespace: dict = {}
        with sw.device(device):
            exec(sw.wrap_cu(LEGACY / "histogram.cu").declaration, namespace)
        bins = sw.zeros(256, dtype="uint32", device=device)
        data = np.random.default_rng().integers(0, 256, 10_000, dtype="uint8")
        namespace["histogram256"](
            bins, sw.array(data, device=device)[::-1], 10_000, block=128, grid=4
        )
        np.testing.assert_array_equal(bins.numpy(), np.bincount(data, minlength=256))
        shares = sw.zeros(256, dtype="float32", device=device)
        namespace["normalize"](shares, bins, 10_000.0, block=256)
        np.testing.assert_allclose(shares.numpy(), bins.numpy() / 10_000, rtol=1e-6)

    def test_templates_structs_namespaces_and_views_are_declared(self, device, tmp_path):
        file = tmp_path / "mixed.cu"
        file.write_text(
            """
            #include <spanwise/view.cuh>
            struct Pair { int a; float b; };
            namespace n {
            template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
            __global__ void pair(spanwise::View<float, 1> out, Pair p, void *nothing) { out(0) = p.b; }
            }
            """
        )
        wrapped = sw.wrap_cu(file)
        assert [k.declarations for k in wrapped.kernels] == [
            ("contiguous", "T"),
            ("strided", "Pair", "contiguous"),
        ]
        assert "names=['n::scale<float>']" in wrapped.declaration
        kernel = wrapped.module(names=["n::scale<float>"], device=device).get_function("n::pair")
        out = sw.zeros(2, dtype="float32", device=device)
        kernel(out[::-1], np.array([(1, 2.5)], "i4,f4")[0], None, block=1)
        assert out.tolist() == [0, 2.5]

    def test_file_without_kernels_raises(self, tmp_path):
        (tmp_path / "none.cu").write_text("int main() {}\n")
        with pytest.raises(sw.ArgumentError, match=r"none\.cu.*no __global__"):
            sw.wrap_cu(tmp_path / "none.cu")
        with pytest.raises(FileNotFoundError):
            sw.wrap_cu(tmp_path / "absent.cu")


class TestBinaries:
    def test_loading_on_the_cpu_raises(self, device):
        if device.kind != "cpu":
            pytest.skip("tests the error on the CPU")
        for source in (LEGACY / "saxpy.ptx", b"\x7fELF"):
            with pytest.raises(sw.ArgumentError, match="CUDA device.*SourceModule"):
                sw.Module.load(source, device=device)

    def test_absent_file_is_named_on_every_device(self, device, tmp_path):
        with pytest.raises(sw.ArgumentError, match=r"absent\.cubin.*cannot be read: No such file"):
            sw.Module.load(tmp_path / "absent.cubin", device=device)

    def test_ptx_of_a_file_or_bytes_runs(self, device):
        if device.kind != "cuda":
            pytest.skip("needs a GPU")
        x, y = np.random.default_rng().standard_normal((2, 100)).astype("float32")
        for source in (LEGACY / "saxpy.ptx", (LEGACY / "saxpy.ptx").read_bytes()):
            module = sw.Module.load(source, device=device)
            assert module.function_names == ["saxpy"] and module.device == device
            kernel = module.get_function("saxpy")
            assert [p.size for p in kernel.parameters] == [8, 8, 4, 4]
            out = sw.array(y, device=device)
            kernel(out, sw.array(x, device=device), np.float32(2), np.int32(100), block=128)
            np.testing.assert_allclose(out.numpy(), 2 * x + y, rtol=1e-6)
            with pytest.raises(sw.KernelArgumentError, match="expected 4 arguments"):
                kernel(out, block=1)
            with pytest.raises(sw.ArgumentError, match="saxpy"):
                module.get_function("other")

    def test_fat_binary_error_lists_its_contents(self, device, tmp_path):
        if device.kind != "cuda" or shutil.which("nvcc") is None:
            pytest.skip("needs a GPU and nvcc")
        source = tmp_path / "k.cu"
        source.write_text('extern "C" __global__ void one(int *x) { x[0] = 1; }\n')
        image = tmp_path / "k.fatbin"
        number = device.properties.architecture.removeprefix("sm_")
        build = ["nvcc", "-fatbin", str(source), "-o", str(image)]
        other = "100" if number != "100" else "90"
        code = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (number, other)]
        subprocess.run([*build, *code], check=True)
        x = sw.zeros(1, dtype="int32", device=device)
        sw.Module.load(image, device=device).get_function("one")(x, block=1)
        assert x.tolist() == [1]
        subprocess.run([*build, code[1]], check=True)
        with pytest.raises(sw.DeviceError, match=f"sm_{number}.*got sm_{other}.*gencode"):
            sw.Module.load(image, device=device)

    def test_invalid_binary_raises(self, device):
        if device.kind != "cuda":
            pytest.skip("needs a GPU")
        with pytest.raises(sw.ArgumentError, match="SourceModule"):
            sw.Module.load(b"__global__ void k() {}", device=device)
