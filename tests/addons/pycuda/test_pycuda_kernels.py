# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels through spanwise.pycuda: arguments, prepared calls, variables, compiling."""

import numpy as np
import pytest

import spanwise as sw
import spanwise.pycuda.driver as drv
from spanwise.pycuda import compiler, gpuarray, tools
from spanwise.pycuda.elementwise import ElementwiseKernel

SOURCE = """
__constant__ float factors[4];
__device__ int counter;
__global__ void add(float *z, const float *x, float y, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y;
}
__global__ void scale(float *x) { x[threadIdx.x] *= factors[threadIdx.x]; ++counter; }
__global__ void fill(float3 *out, float3 value) { out[threadIdx.x] = value; }
__global__ void bits(unsigned *out, unsigned value) { *out = value; }
"""


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


@pytest.fixture
def module():
    return compiler.SourceModule(SOURCE)


def test_host_arrays_are_copied_in_and_out(module):
    x, z = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    add = module.get_function("add")
    seconds = add(
        drv.Out(z), drv.In(x), np.float32(2), np.int32(8), block=(8, 1, 1), time_kernel=True
    )
    assert seconds >= 0
    np.testing.assert_array_equal(z, x + 2)
    assert add(drv.InOut(z), drv.In(z), 1.0, 8, block=(4, 1, 1), grid=(2,)) is None
    np.testing.assert_array_equal(z, x + 3)


def test_pointer_accepts_arrays_allocations_and_addresses(module):
    x = np.arange(8, dtype="float32")
    memory, out = drv.to_device(x), gpuarray.zeros(8, np.float32)
    add = module.get_function("add")
    add(out, memory, 1.0, 8, block=(8, 1, 1))
    np.testing.assert_array_equal(out.get(), x + 1)
    add(out.gpudata, np.intp(int(memory)) + 8, np.float64(0.5), 6, block=(8, 1, 1))
    np.testing.assert_array_equal(out.get(), [*(x[2:] + 0.5), 7, 8])
    add(out[4:], int(memory), 0.0, 4, block=(8, 1, 1))
    np.testing.assert_array_equal(out.get()[4:], x[:4])
    as_bytes = gpuarray.GPUArray((32,), np.uint8, gpudata=out.gpudata)
    add(as_bytes, sw.asarray(x, device=sw.device()), 5.0, 8, block=(8, 1, 1))
    np.testing.assert_array_equal(out.get(), x + 5)


def test_vector_types_are_passed_by_value(module):
    value, out = gpuarray.vec.make_float3(1, 2, 3), np.empty(5, gpuarray.vec.float3)
    module.get_function("fill")(drv.Out(out), value, block=(5, 1, 1))
    assert (out == value).all()
    kernel = module.get_function("fill").prepare(["P", gpuarray.vec.float3])
    filled = gpuarray.empty(5, gpuarray.vec.float3)
    kernel.prepared_call((1, 1), (5, 1, 1), filled.gpudata, gpuarray.vec.make_float3(4, 5, 6))
    assert filled.get().tolist() == [(4.0, 5.0, 6.0)] * 5


def test_prepared_calls_run_on_streams_and_are_timed(module):
    x, z = gpuarray.to_gpu(np.arange(4, dtype="float32")), gpuarray.zeros(4, np.float32)
    stream = drv.Stream()
    add = module.get_function("add").prepare("PPfi")
    add.prepared_call((1, 1), (4, 1, 1), z.gpudata, x.gpudata, 1, 4, shared_size=16)
    np.testing.assert_array_equal(z.get(), [1, 2, 3, 4])
    add.prepared_async_call((1, 1), (4, 1, 1), stream, z.gpudata, z.gpudata, 1, 4)
    stream.synchronize()
    seconds = add.prepared_timed_call((1, 1), (4, 1, 1), z.gpudata, z.gpudata, 1, 4)()
    assert seconds >= 0
    np.testing.assert_array_equal(z.get(), [3, 4, 5, 6])


def test_variables_have_an_address_and_a_size(module):
    address, size = module.get_global("factors")
    assert isinstance(address, int) and size == 16
    drv.memcpy_htod(address, np.array([1, 2, 3, 4], "float32"))
    x = gpuarray.ones(4, np.float32)
    module.get_function("scale")(x, block=(4, 1, 1))
    np.testing.assert_array_equal(x.get(), [1, 2, 3, 4])
    assert module.get_global("factors") == (address, size)
    counter, size = module.get_global("counter")
    assert size == 4 and drv.from_device(counter, (), "int32") >= 1


def test_signed_number_for_an_unsigned_parameter_keeps_its_bits(module):
    out = np.zeros(1, "uint32")
    module.get_function("bits")(drv.Out(out), np.int32(-2), block=(1, 1, 1))
    assert out[0] == 2**32 - 2


def test_subclass_of_argument_handler_copies_its_array(module):
    class Twice(drv.ArgumentHandler):
        def pre_call(self, stream):
            drv.memcpy_htod_async(self.get_device_alloc(), 2 * self.array, stream)

    x, z = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    module.get_function("add")(drv.Out(z), Twice(x), 0.0, 4, block=(4, 1, 1))
    np.testing.assert_array_equal(z, 2 * x)


def test_functions_have_attributes_and_refuse_texrefs_and_missing_block(module):
    add = module.get_function("add")
    assert add.max_threads_per_block > 0 and add.num_regs >= 0 and add.name == "add"
    attribute = drv.function_attribute.MAX_THREADS_PER_BLOCK
    assert add.get_attribute(attribute) == add.max_threads_per_block
    with pytest.raises(ValueError, match="expected block="):
        add(None)
    with pytest.raises(sw.NotSupportedError, match="cudaTextureObject_t"):
        module.get_texref("t")


def test_source_module_accepts_options_of_nvcc():
    module = compiler.SourceModule(
        "extern \"C\" __global__ void f(int *x) { *x = VALUE; }",
        nvcc="nvcc", options=["-DVALUE=3", "-Xcompiler", "-fPIC", "-O2", "-lcudart"],
        no_extern_c=True, cache_dir=False, code="sm_70", include_dirs=[], keep=False,
    )  # fmt: skip
    out = np.zeros(1, "int32")
    module.get_function("f")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == 3


def test_compile_error_has_message_and_stderr():
    with pytest.raises(drv.CompileError) as failure:
        compiler.SourceModule("__global__ void f() { undeclared = 1; }")
    error = failure.value
    assert "undeclared" in error.stderr and error.msg in str(error) and error.stdout is None
    assert isinstance(error, sw.CompileError) and isinstance(error, drv.Error)
    assert compiler.CompileError is drv.CompileError


def test_dynamic_module_links_several_sources():
    module = compiler.DynamicModule()
    module.add_source("extern __device__ int f(); __global__ void k(int *x) { *x = f(); }")
    module.add_source("__device__ int f() { return 5; }", nvcc_options=["-rdc=true"])
    module.add_stdlib("cudadevrt")
    module.link()
    out = np.zeros(1, "int32")
    module.get_function("k")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == 5


def test_complex_numbers_of_pycudas_header_match_numpy():
    x = np.array([1 + 2j, -3 + 0.5j, -2j], "complex64")
    source = """
    #include <pycuda-complex.hpp>
    typedef pycuda::complex<float> number;
    __global__ void f(number *out, number *x)
    {
      number z = x[threadIdx.x];
      out[0 + threadIdx.x] = z * z / (z + 1.0f) - conj(z);
      out[3 + threadIdx.x] = exp(z) + sqrt(z) * log(z);
      out[6 + threadIdx.x] = pow(z, 3) + pow(z, -1) + number(abs(z), arg(z));
      out[9 + threadIdx.x] = pow(z, 2.5f) + tan(z) / 2.0;
    }"""
    out = np.zeros(12, "complex64")
    kernel = compiler.SourceModule(source, no_extern_c=True).get_function("f")
    kernel(drv.Out(out), drv.In(x), block=(3, 1, 1))
    z = x.astype("complex128")
    expected = [
        z * z / (z + 1) - z.conj(),
        np.exp(z) + np.sqrt(z) * np.log(z),
        z**3 + 1 / z + np.abs(z) + 1j * np.angle(z),
        z**2.5 + np.tan(z) / 2,
    ]
    np.testing.assert_allclose(out, np.concatenate(expected), rtol=2e-5)


class TestRefusals:
    """Arguments that do not fit the parameter, of the kernel `add(float *z, const float *x, float, int)`."""

    def test_host_array_names_in_out_and_to_gpu(self, module):
        x = gpuarray.zeros(4, np.float32)
        for launch in (module.get_function("add"), module.get_function("add").prepare("PPfi")):
            with pytest.raises(
                sw.KernelArgumentError,
                match=r"'const float \* ?x'.*NumPy array, float32 \(4,\).*drv.InOut\(x\).*to_gpu",
            ):
                launch(x, np.zeros(4, "f4"), 1.0, 4, block=(4, 1, 1))

    @pytest.mark.parametrize("dtype", ["float64", "int32", "float16", "complex128"])
    def test_array_of_another_dtype(self, module, dtype):
        z, x = gpuarray.zeros(4, np.float32), gpuarray.zeros(4, np.dtype(dtype))
        with pytest.raises(sw.KernelArgumentError, match=rf"array of {dtype}; expected float32"):
            module.get_function("add")(z, x, 1.0, 4, block=(4, 1, 1))
        module.get_function("add")(z, x.gpudata, 1.0, 2, block=(4, 1, 1))  # no dtype: unchecked
        assert z.get()[:2].tolist() == [1, 1]

    @pytest.mark.parametrize("handler", [drv.In, drv.Out, drv.InOut])
    @pytest.mark.parametrize("dtype", ["float64", "int32", "float16", ">f4"])
    def test_host_array_of_another_dtype(self, module, handler, dtype):
        x = np.full(4, 7, dtype)
        for arguments in (
            (handler(x), drv.In(np.ones(4, "f4"))),
            (drv.Out(np.ones(4, "f4")), handler(x)),
        ):
            with pytest.raises(
                sw.KernelArgumentError, match=rf"array of {x.dtype}; expected float32: convert"
            ):
                module.get_function("add")(*arguments, 1.0, 4, block=(4, 1, 1))
        assert (x == 7).all()

    def test_integers_of_the_other_byte_order(self, module):
        with pytest.raises(sw.KernelArgumentError, match=r"array of >i4; expected uint32"):
            module.get_function("bits")(drv.Out(np.zeros(1, ">i4")), 5, block=(1, 1, 1))

    def test_strided_array(self, module):
        z, x = gpuarray.zeros((4, 4), np.float32), gpuarray.zeros(4, np.float32)
        with pytest.raises(sw.KernelArgumentError, match=r"strides \(16,\).*pass x.copy\(\)"):
            module.get_function("add")(z[:, 1], x, 1.0, 4, block=(4, 1, 1))
        module.get_function("add")(z.T, x, 1.0, 4, block=(4, 1, 1))  # dense, in Fortran order
        assert z.get()[0].tolist() == [1] * 4 and not z.get()[1:].any()

    def test_integers_of_either_sign_and_bytes_fit(self, module):
        for dtype in (np.int32, np.uint32, np.uint8):
            out = gpuarray.zeros(4, dtype)
            module.get_function("bits")(out, 5, block=(1, 1, 1))
            assert out.get().view("uint8")[0] == 5

    def test_two_outputs_that_share_memory(self, module):
        z = np.zeros(4, "f4")
        with pytest.raises(sw.KernelArgumentError, match="share memory"):
            module.get_function("add")(drv.Out(z), drv.InOut(z), 1.0, 4, block=(4, 1, 1))


def test_one_record_in_any_shape_is_a_struct(module):
    for shape in ((), (1,), (1, 1)):
        value = np.array((1, 2, 3), gpuarray.vec.float3).reshape(shape)
        out = np.empty(1, gpuarray.vec.float3)
        module.get_function("fill")(drv.Out(out), value, block=(1, 1, 1))
        assert out[0].tolist() == (1, 2, 3)


RECORDS = """
struct Particle { float mass; int charge; };
__global__ void charge(Particle *__restrict__ p, const struct Particle *q)
{
  p[threadIdx.x].mass = 2 * q[threadIdx.x].mass;
  p[threadIdx.x].charge = q[threadIdx.x].charge + 1;
}
"""


@pytest.mark.parametrize("how", ["host", "GPUArray", "prepared", "elementwise"])
def test_pointers_to_records_have_the_fields_of_the_struct(how):
    right = np.dtype([("mass", "f4"), ("charge", "i4")])
    swapped = np.dtype([("charge", "i4"), ("mass", "f4")])

    def charged(p, q):
        kernel = compiler.SourceModule(RECORDS).get_function("charge")
        if how == "host":
            kernel(drv.InOut(p), drv.In(q), block=(2, 1, 1))
            return
        out, x = gpuarray.to_gpu(p), gpuarray.to_gpu(q)
        if how == "GPUArray":
            kernel(out, x, block=(2, 1, 1))
        elif how == "prepared":
            kernel.prepare("PP").prepared_call((1, 1), (2, 1, 1), out, x)
        else:
            operation = "p[i].mass = 2 * q[i].mass; p[i].charge = q[i].charge + 1"
            preamble = RECORDS.split("__global__")[0]
            ElementwiseKernel("Particle *p, Particle *q", operation, preamble=preamble)(out, x)
        out.get(p)

    tools.get_or_register_dtype("Particle", right)
    p, q = np.full(2, 7, right), np.full(2, 3, right)
    charged(p, q)
    assert p.tolist() == [(6, 4)] * 2
    for one, two in ((p, q.astype(swapped)), (p.astype(swapped), q)):
        with pytest.raises(
            sw.KernelArgumentError, match=r"Particle ?\*.*'mass' is at byte 4, expected byte 0"
        ):
            charged(one, two)


@pytest.mark.parametrize(
    "how", ["ptr", "int of gpudata", "numpy.intp", "int of an allocation", "inside"]
)
def test_checked_launches_know_the_allocation_of_an_address(how):
    add = compiler.SourceModule(SOURCE).get_function("add")
    x, y, allocation = gpuarray.zeros(10, "f4"), gpuarray.zeros(64, "f4"), drv.mem_alloc(40)
    address = {
        "ptr": x.ptr,
        "int of gpudata": int(x.gpudata),
        "numpy.intp": np.intp(x.gpudata),
        "int of an allocation": int(allocation),
        "inside": x.ptr + 8,
    }[how]
    room = 8 if how == "inside" else 10
    with sw.config.change(kernel_check="bounds"):
        add(address, y, np.float32(1), np.int32(room), block=(32, 1, 1))
        with pytest.raises(sw.KernelFaultError, match="argument 1"):
            add(address, y, np.float32(1), np.int32(room + 1), block=(32, 1, 1))
