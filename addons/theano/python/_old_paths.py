# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of Theano whose names are in other modules here."""

from __future__ import annotations

import re

from spanwise.compat import alias_modules

_GPU_OPS = (
    "GpuAlloc GpuContiguous GpuDimShuffle GpuElemwise GpuFromHost GpuIncSubtensor GpuJoin GpuReshape "
    "GpuSubtensor GpuToGpu HostFromGpu"
)
_TRANSFERS = "as_gpuarray_variable gpu_contiguous gpu_from_host host_from_gpu"
_GPUARRAY = {
    "_gpuarray": f"GpuArrayType pygpu_activated {_TRANSFERS}",
    "_device_array": "GpuArray",
}
_GPUARRAY_OPS = {"_gpuarray": f"{_GPU_OPS} GpuCAReduceCuda {_TRANSFERS}"}
_NNET = {"tensor.nnet": "*"}

_INPLACE = (
    "lt gt le ge eq neq and_ or_ xor invert abs_ exp exp2 expm1 neg inv log log1p log2 log10 sgn ceil "
    "floor trunc sqr sqrt deg2rad rad2deg cos arccos sin arcsin tan arctan arctan2 cosh arccosh sinh "
    "arcsinh tanh arctanh erf erfc gamma gammaln psi second maximum minimum add sub mul true_div "
    "int_div mod pow conj transpose"
)

#: Module -> module here -> names; "new=old" is another name there, "*" are those in __all__.
_MODULES = {
    "compile": {
        "_function": "Function Mode Out function get_default_mode get_mode=as_mode shared",
        "_namespace": "In OpFromGraph Param SharedVariable as_op",
        "_old_names": "DebugMode FAST_COMPILE FAST_RUN deep_copy_op optdb predefined_modes view_op",
        "_errors": "UnusedInputError",
    },
    "compile.builders": {"_namespace": "OpFromGraph"},
    "compile.debugmode": {"_old_names": "DebugMode"},
    "compile.function_module": {"_function": "Function", "_errors": "UnusedInputError"},
    "compile.io": {"_namespace": "In", "_function": "Out"},
    "compile.mode": {
        "_function": "Mode get_default_mode get_mode=as_mode",
        "_old_names": "FAST_COMPILE FAST_RUN optdb predefined_modes",
    },
    "compile.nanguardmode": {"_function": "NanGuardMode"},
    "compile.ops": {"_namespace": "as_op", "_old_names": "deep_copy_op view_op"},
    "compile.pfunc": {"_namespace": "Param", "_function": "pfunc=function"},
    "compile.sharedvalue": {"_namespace": "SharedVariable shared"},
    "gof": {
        "_old_names": "Apply COp Constant Feature FunctionGraph LocalOptimizer Op Optimizer Type Variable clone "
        "in2out local_optimizer out2in",
        "_errors": "MissingInputError",
    },
    "gof.fg": {"_old_names": "FunctionGraph", "_errors": "MissingInputError"},
    "gof.graph": {
        "_namespace": "inputs=inputs_of",
        "_old_names": "Apply Constant Variable ancestors clone io_toposort is_same_graph list_of_nodes",
    },
    "gof.op": {"_ops": "Op", "_old_names": "COp"},
    "gof.opt": {"_old_names": "LocalOptimizer Optimizer in2out local_optimizer out2in"},
    "gof.toolbox": {"_old_names": "Feature"},
    "gof.type": {"_old_names": "Type"},
    "gpuarray": _GPUARRAY,
    "gpuarray.basic_ops": _GPUARRAY_OPS,
    "gpuarray.dnn": {"_old_names": "dnn_available dnn_present"},
    "gpuarray.elemwise": {"_gpuarray": "GpuCAReduceCuda GpuDimShuffle GpuElemwise"},
    "ifelse": {"tensor": "ifelse"},
    "misc": {},
    "misc.cudamat_utils": {
        "_libraries": "cudamat_available cudamat_to_cudandarray cudandarray_to_cudamat"
    },
    "misc.gnumpy_utils": {
        "_libraries": "cudandarray_to_garray garray_to_cudandarray gnumpy_available"
    },
    "misc.pycuda_init": {"_libraries": "pycuda_available set_gpu_from_theano"},
    "misc.pycuda_utils": {"_libraries": "to_cudandarray to_gpuarray"},
    "misc.safe_asarray": {"_namespace": "_asarray"},
    "sandbox": {},
    "sandbox.cuda": {
        "_cuda": "CudaNdarraySharedVariable CudaNdarrayType as_cuda_ndarray_variable cuda_available "
        "cuda_enabled gpu_contiguous gpu_from_host host_from_gpu use "
        "shared_constructor=float32_shared_constructor",
        "_device_array": "CudaNdarray dimshuffle dot from_gpu_pointer",
    },
    "sandbox.cuda.basic_ops": {
        "_cuda": f"{_GPU_OPS} GpuCAReduce as_cuda_ndarray_variable gpu_contiguous gpu_from_host "
        "host_from_gpu"
    },
    "sandbox.cuda.blas": {"_cuda": "GpuBatchedDot GpuDot22 GpuGemm GpuGemv"},
    "sandbox.cuda.dnn": {"_old_names": "dnn_available dnn_present"},
    "sandbox.cuda.cuda_ndarray": {"_device_array": "CudaNdarray dimshuffle dot from_gpu_pointer"},
    # Scripts write cuda_ndarray.cuda_ndarray.CudaNdarray.
    "sandbox.cuda.cuda_ndarray.cuda_ndarray": {
        "_device_array": "CudaNdarray dimshuffle dot from_gpu_pointer"
    },
    "sandbox.cuda.type": {"_cuda": "CudaNdarrayType"},
    "sandbox.cuda.var": {
        "_cuda": "CudaNdarrayConstant CudaNdarraySharedVariable CudaNdarrayVariable "
        "float32_shared_constructor"
    },
    "sandbox.gpuarray": _GPUARRAY,  # the name before Theano 0.9
    "sandbox.gpuarray.basic_ops": _GPUARRAY_OPS,
    "sandbox.gpuarray.dnn": {"_old_names": "dnn_available dnn_present"},
    "sandbox.linalg": {"tensor.slinalg": "*", "tensor.nlinalg": "*"},
    "sandbox.neighbours": {"tensor.nnet": "images2neibs"},
    "sandbox.softsign": {"tensor.nnet": "softsign"},
    "sandbox.rng_mrg": {"_streams": "MRG_RandomStreams"},
    "scalar.basic": {"scalar": "*"},
    "scan_module": {"_namespace": "foldl foldr map reduce scan until"},
    "scan_module.scan": {"_namespace": "scan"},
    "scan_module.scan_utils": {"_namespace": "until clone", "_old_names": "equal_computations"},
    "scan_module.scan_views": {"_namespace": "foldl foldr map reduce"},
    "tensor.blas": {"_ops": "BatchedDot Dot22 Gemm"},
    "tensor.blas_c": {"_ops": "CGemv"},
    "tensor.elemwise": {"_ops": "All Any=Any_ CAReduce DimShuffle Elemwise Prod Sum"},
    "tensor.nnet.abstract_conv": _NNET,
    "tensor.nnet.bn": _NNET,
    "tensor.nnet.conv": _NNET,
    "tensor.nnet.conv3d2d": {"tensor._convolutions": "conv3d=conv3d_of_signals"},
    "tensor.nnet.neighbours": _NNET,
    "tensor.nnet.nnet": _NNET,
    "tensor.inplace": {"tensor": re.sub(r"(\w+)", r"\1_inplace=\1", _INPLACE)},
    "tensor.opt": {
        "tensor.basic": "NotScalarConstantError get_scalar_constant_value",
        "_ops": "Assert assert_ assert_op",
        "_old_names": "in2out local_optimizer out2in register_canonicalize register_specialize "
        "register_stabilize register_uncanonicalize register_useless",
    },
    "tensor.raw_random": {
        "_streams": "RandomFunction binomial choice multinomial normal permutation poisson "
        "random_integers uniform"
    },
    "tensor.shared_randomstreams": {"_streams": "RandomStreams"},
    "tensor.sharedvar": {"_namespace": "TensorSharedVariable=SharedVariable"},
    "tensor.signal": {},
    "tensor.signal.conv": {"tensor._windows": "conv2d"},
    "tensor.signal.downsample": {"tensor._windows": "max_pool_2d=pool_2d pool_2d"},
    "tensor.signal.pool": {"tensor._windows": "pool_2d pool_3d"},
    "tensor.subtensor": {
        "_ops": "AdvancedIncSubtensor AdvancedIncSubtensor1 AdvancedSubtensor AdvancedSubtensor1 "
        "IncSubtensor Subtensor"
    },
    "tensor.type": {"tensor": "TensorType"},
    "tensor.var": {
        "_namespace": "TensorConstant=Constant TensorVariable=Variable _tensor_py_operators=Variable"
    },
    "tensor.xlogx": {"tensor.extra_ops": "xlogx xlogy0"},
    "tests": {},
    "tests.unittest_tools": {
        "_old_names": "InferShapeTester assert_allclose fetch_seed seed_rng verify_grad"
    },
    "updates": {"_old_names": "OrderedUpdates"},
}

#: Path of a module -> its __getattr__, which imports the modules above on first use.
submodules = alias_modules(__package__, _MODULES)
TOP = tuple(path for path in _MODULES if "." not in path)
