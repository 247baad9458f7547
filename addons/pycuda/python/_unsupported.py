# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What to use in place of the names of PyCUDA that these modules leave out."""

import importlib

_SURFACES = (
    "CUDA 12 removed surface references; declare a kernel parameter cudaSurfaceObject_t and pass a "
    "spanwise.Surface"
)
_ARRAYS = "formats and descriptors are not needed: np_to_array(x, order) copies any array"
_MANAGED = "managed memory is left out; copy with memcpy_htod and memcpy_dtoh"
_IPC = "memory handles for other processes are left out; send g.get() to the other process"
_SOURCES = "kernels are compiled in the process: use compiler.SourceModule"
_BUILTIN = "the kernels of array operations are built in: use the operators of GPUArray"

_TOOLS = "pycuda.tools has the pools; their blocks come from the device's pool"
_CURANDOM = "it is in pycuda.curandom"
_OPENGL = "interoperation with OpenGL is left out"
_PAGELOCKED = "pagelocked_empty returns an array that owns its memory"
_ARCHITECTURE = "kernels are compiled for the architecture of the device"
_CHECK = "run the kernels under spanwise.config.kernel_check"

_DRIVER = {
    "SurfaceReference": _SURFACES,
    **dict.fromkeys(("ArrayDescriptor", "ArrayDescriptor3D", "array3d_flags"), _ARRAYS),
    **dict.fromkeys(("memcpy_htoa", "memcpy_atoh", "memcpy_atod", "memcpy_dtoa"), _ARRAYS),
    **dict.fromkeys(("memcpy_atoa", "dtype_to_array_format"), _ARRAYS),
    **dict.fromkeys(("TRSA_OVERRIDE_FORMAT", "TR_DEFAULT"), _ARRAYS),
    **dict.fromkeys(("managed_empty", "managed_zeros", "ManagedAllocation"), _MANAGED),
    "ManagedAllocationOrStub": _MANAGED,
    **dict.fromkeys(("managed_empty_like", "managed_zeros_like", "mem_attach_flags"), _MANAGED),
    **dict.fromkeys(("IPCMemoryHandle", "mem_get_ipc_handle", "ipc_mem_flags"), _IPC),
    "Memcpy3DPeer": "Memcpy3D copies between any two devices",
    "Linker": "use compiler.DynamicModule, or spanwise.SourceModule(source, link=[...])",
    "initialize_profiler": "CUDA 12 removed it; see start_profiler()",
    "profiler_output_mode": "CUDA 12 removed it; see start_profiler()",
    "jit_option": "pass options to compiler.SourceModule(options=)",
    **dict.fromkeys(("jit_target", "jit_fallback"), _ARCHITECTURE),
    "jit_input_type": "DynamicModule.add_data determines the type from the data",
    "shared_config": "banks of shared memory are fixed since compute capability 5.0",
    **dict.fromkeys(("HostAllocation", "HostPointer", "PagelockedHostAllocation"), _PAGELOCKED),
    "AlignedHostAllocation": "aligned_empty returns an array that owns its memory",
    "RegisteredHostMemory": "register_host_memory returns an array that owns the registration",
    **dict.fromkeys(("DeviceMemoryPool", "PageLockedMemoryPool", "PooledDeviceAllocation"), _TOOLS),
    **dict.fromkeys(("PooledHostAllocation", "PageLockedAllocator", "bitlog2"), _TOOLS),
    **dict.fromkeys(("direction_vector_set", "get_curand_version"), _CURANDOM),
    **dict.fromkeys(("have_gl_ext", "graphics_register_flags"), _OPENGL),
    **dict.fromkeys(("set_debugging", "CUDA_DEBUGGING"), _CHECK),
    **dict.fromkeys(("pointer_attribute", "memory_type"), "x.array.device is where an array is"),
    "array_cubemap_face": "cubemaps are left out",
}

#: Module of PyCUDA -> names that it has and these modules lack -> what to use.
INSTEAD = {
    "pycuda": {
        "gl": _OPENGL,
        "debug": _CHECK,
        "_driver": "the names of pycuda._driver are in pycuda.driver",
        "compyte": "dtypes and C types are in pycuda.tools",
        "blas": "use the operators of GPUArray, or @ on spanwise arrays",
    },
    "pycuda.driver": _DRIVER,
    "pycuda.compiler": {
        **dict.fromkeys(("compile", "compile_plain", "preprocess_source"), _SOURCES),
        **dict.fromkeys(("get_nvcc_version", "CudaModule"), _SOURCES),
    },
    "pycuda.elementwise": {
        **dict.fromkeys(
            (
                "get_take_kernel", "get_take_put_kernel", "get_put_kernel", "get_copy_kernel",
                "get_axpbyz_kernel", "get_axpbz_kernel", "get_binary_op_kernel",
                "get_rdivide_elwise_kernel", "get_binary_func_kernel", "get_fill_kernel",
                "get_binary_func_scalar_kernel", "get_binary_minmax_kernel", "get_reverse_kernel",
                "get_real_kernel", "get_imag_kernel", "get_conj_kernel", "get_arange_kernel",
                "get_pow_array_kernel", "get_fmod_kernel", "get_modf_kernel", "get_frexp_kernel",
                "get_ldexp_kernel", "get_unary_func_kernel", "get_if_positive_kernel",
                "get_where_kernel", "get_scalar_op_kernel", "get_logical_not_kernel",
            ),
            _BUILTIN,
        ),
    },
    "pycuda.reduction": {
        **dict.fromkeys(
            (
                "get_reduction_module", "get_reduction_kernel_and_types", "get_minmax_neutral",
                "get_any_kernel", "get_all_kernel",
            ),
            "use ReductionKernel, or the functions of pycuda.gpuarray",
        ),
    },
    "pycuda.tools": {
        "DebugMemoryPool": "spanwise.memory.stats() has the counts of the device's pool",
        "PageLockedAllocator": "use driver.pagelocked_empty",
        "OccupancyRecord": "f.max_active_blocks(block) asks the driver",
        "get_default_device": "use make_default_context().get_device()",
    },
    "pycuda.curandom": {
        "random_source": "the generators are those of spanwise.random",
    },
}  # fmt: skip


def module_getattr(module, own_name):
    """``__getattr__`` of the module `own_name`: imports submodules of the package, and raises an
    AttributeError, which says what to use in place of a name of PyCUDA's `module`."""
    instead = INSTEAD.get(module, {})

    def missing_attribute(name):
        if name in instead:
            raise AttributeError(f"{module}.{name} is not available: {instead[name]}")
        if module == "pycuda" and not name.startswith("_"):
            try:
                return importlib.import_module(f"{own_name}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{own_name}.{name}":
                    raise
        raise AttributeError(f"module {own_name!r} has no attribute {name!r}")

    return missing_attribute
