# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""HostLibrary: launchers of CUDA files compiled by nvcc or for the CPU."""

import shutil
import subprocess

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

LEGACY = ROOT / "examples" / "legacy"

SMOOTH = "const float *in, float *out, int width, int height"


@pytest.fixture(scope="module")
def library(device, tmp_path_factory):
    """examples/legacy/smooth.cu, built for the device."""
    file = tmp_path_factory.mktemp("smooth") / "libsmooth.so"
    compiler = (
        ["nvcc", "-Xcompiler", "-fPIC"] if device.kind == "cuda" else ["c++", "-x", "c++", "-fPIC"]
    )
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    command = [*compiler, "-shared", str(LEGACY / "smooth.cu"), "-o", str(file)]
    subprocess.run(command, check=True)
    return sw.HostLibrary(file)


class TestLaunchers:
    @pytest.fixture
    def smooth(self, library):
        return library.launcher("smooth_rows", SMOOTH + ", cudaStream_t", returns="cudaError_t")

    @pytest.fixture
    def image(self, device):
        host = np.random.default_rng().standard_normal((37, 53)).astype("float32")
        padded = np.pad(host, ((0, 0), (1, 1)), mode="edge")
        expected = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
        return sw.array(host, device=device), expected

    @pytest.mark.parametrize("name", ["smooth_rows", "smooth_rows_default"])
    def test_launcher_with_and_without_a_stream_parameter_runs(self, library, device, image, name):
        stream = ", cudaStream_t" if name == "smooth_rows" else ""
        launcher = library.launcher(name, SMOOTH + stream, returns="int")
        array, expected = image
        out = sw.full((37, 53), np.nan, "float32", device=device)
        launcher(array, out, 53, np.int32(37))
        np.testing.assert_allclose(out.numpy(), expected, atol=1e-6)

    def test_launcher_on_the_default_stream_is_ordered_with_the_current_stream(
        self, library, device, image
    ):
        array, expected = image
        stream = sw.Stream(device)
        launcher = library.launcher("smooth_rows_default", SMOOTH, returns="int")
        with stream:
            for _ in range(20):
                source = array * 1.0
                out = sw.full((37, 53), np.nan, "float32", device=device)
                launcher(source, out, 53, 37)
                total = out + 0.0
        np.testing.assert_allclose(total.numpy(), expected, atol=1e-6)

    def test_launch_uses_the_given_stream(self, smooth, device, image):
        array, expected = image
        out = sw.full((37, 53), np.nan, "float32", device=device)
        smooth(array, out, 53, 37, stream=sw.Stream(device))
        np.testing.assert_allclose(out.numpy(), expected, atol=1e-6)

    def test_addresses_and_numpy_arrays_are_accepted(self, smooth, device, image):
        array, expected = image
        out = sw.full((37, 53), np.nan, "float32", device=device)
        smooth(array.ptr, out, 53, 37)
        np.testing.assert_allclose(out.numpy(), expected, atol=1e-6)
        if device.kind == "cpu":
            host = np.full((37, 53), np.nan, "float32")
            smooth(array.numpy(), host, 53, 37)
            np.testing.assert_allclose(host, expected, atol=1e-6)

    def test_error_code_of_a_launcher_raises(self, smooth, device, image):
        with pytest.raises(
            sw.DeviceError, match=f"'smooth_rows' on {device}: it returned the error 1"
        ):
            smooth(image[0], image[0], 0, 37)

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({3: 2**31}, sw.KernelArgumentError, "argument 4.*int32 holds.*2147483648"),
            ({2: 1.5}, sw.KernelArgumentError, "argument 3.*1.5"),
            ({2: "53"}, sw.KernelArgumentError, "argument 3.*str"),
            ({0: "array"}, sw.KernelArgumentError, "argument 1.*expected an array"),
            (
                {0: np.zeros(3, "float64")},
                sw.KernelArgumentError,
                "argument 1.*float32, got float64",
            ),
        ],
    )
    def test_unsuitable_argument_raises_before_the_launch(
        self, smooth, device, image, change, error, text
    ):
        out = sw.full((37, 53), 7, "float32", device=device)
        args = [image[0], out, 53, 37]
        for position, value in change.items():
            args[position] = value
        with pytest.raises(error, match=text):
            smooth(*args)
        assert (out.numpy() == 7).all()

    def test_unsuitable_layout_count_access_or_stream_raises(self, smooth, library, image):
        array = image[0]
        with pytest.raises(sw.KernelArgumentError, match="C-contiguous.*strides"):
            smooth(array.T, array, 53, 37)
        with pytest.raises(sw.KernelArgumentError, match="expected 4 arguments.*got 2"):
            smooth(array, array)
        with pytest.raises(sw.ReadOnlyError, match="argument 2"):
            smooth(array, sw.broadcast_to(array[0], (53,)), 53, 1)
        without_stream = library.launcher("smooth_rows_default", SMOOTH)
        if array.device.kind != "cpu":
            with pytest.raises(sw.KernelArgumentError, match="no stream="):
                without_stream(array, array, 53, 37, stream=sw.Stream(array.device))

    def test_repr_shows_name_and_parameters(self, smooth):
        text = repr(smooth).replace("* in", "*in")
        assert "smooth_rows" in text and "const float *in" in text

    def test_misspelt_type_raises_and_pointers_to_structs_are_accepted(self, library):
        with pytest.raises(sw.KernelArgumentError, match=r"parameter 2.*flaot.*'float'"):
            library.launcher("smooth_rows", "const float*, flaot *out, int, int")
        for declaration in (
            "struct Config *c",
            "const struct Config *c",
            "void *",
            "const float4 *",
        ):
            library.launcher("smooth_rows", declaration)

    def test_invalid_declaration_or_file_raises(self, library, tmp_path):
        with pytest.raises(sw.ArgumentError, match="'smoth'.*extern"):
            library.launcher("smoth", SMOOTH)
        with pytest.raises(sw.KernelArgumentError, match="parameter 1.*'Config'"):
            library.launcher("smooth_rows", "Config c, int n")
        with pytest.raises(sw.KernelArgumentError, match="returns.*'float'"):
            library.launcher("smooth_rows", SMOOTH, returns="float")
        (tmp_path / "text.so").write_text("no library")
        for path in (tmp_path / "text.so", tmp_path / "absent.so"):
            with pytest.raises(sw.DeviceError, match=path.name):
                sw.HostLibrary(path)


class TestLibrariesOfNvcc:
    """Tests with a library that g++ builds with nvcc's section of device code; nvcc and a GPU are not
    needed."""

    @pytest.fixture
    def nvcc_library(self, tmp_path):
        source = tmp_path / "fake.cpp"
        source.write_text(
            """
asm(".section .nv_fatbin,\\"a\\"\\n.byte 1\\n.text");
extern "C" int returns(int code) { return code; }
extern "C" int touches(float *x) { x[0] = 1; return 0; }
"""
        )
        file = tmp_path / "libfake.so"
        subprocess.run(["c++", "-shared", "-fPIC", str(source), "-o", str(file)], check=True)
        return sw.HostLibrary(file)

    def test_arrays_of_the_host_are_refused_before_the_call(self, nvcc_library):
        x = np.zeros(3, "float32")
        with pytest.raises(sw.KernelArgumentError, match="on a GPU.*got arrays on cpu.*Remedy"):
            nvcc_library.launcher("touches", "float*", returns="cudaError_t")(x)
        assert (x == 0).all()

    def test_errors_of_cuda_are_named(self, nvcc_library):
        launcher = nvcc_library.launcher("returns", "int", returns="cudaError_t")
        launcher(0)
        with pytest.raises(sw.DeviceError, match="35, cudaErrorInsufficientDriver. Remedy.*newer"):
            launcher(35)
        with pytest.raises(sw.DeviceError, match="the error 12345$"):
            launcher(12345)
        with pytest.raises(sw.DeviceError, match="the error 35$"):
            nvcc_library.launcher("returns", "int", returns="int")(35)
