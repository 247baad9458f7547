// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Types and functions of CUDA's host API (CUDA Runtime API 13.0), so that classes and functions
// that device code shares with the host can be parsed. The functions do nothing: a kernel that
// calls one fails, other code gets cudaErrorNotSupported.

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorNoDevice = 100,
  cudaErrorNotReady = 600,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
typedef cudaError cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaMemAttachGlobal = 1,
  cudaArrayDefault = 0,
  cudaArrayLayered = 1,
  cudaArraySurfaceLoadStore = 2,
  cudaArrayCubemap = 4
};

typedef struct CUstream_st *cudaStream_t, *CUstream;
typedef struct CUevent_st *cudaEvent_t, *CUevent;
typedef struct CUgraph_st *cudaGraph_t, *CUgraph;
typedef struct CUgraphExec_st *cudaGraphExec_t, *CUgraphExec;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st *CUfunction, *cudaFunction_t;
typedef struct CUarray_st* CUarray;
typedef struct cudaArray* cudaArray_t;
typedef const struct cudaArray* cudaArray_const_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;
typedef struct cudaGraphicsResource* cudaGraphicsResource_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef unsigned long long CUdeviceptr, CUtexObject, CUsurfObject, cudaGraphConditionalHandle;
// Copies by them exist on a GPU only.
struct alignas(64) CUtensorMap {
  unsigned long long opaque[16];
};
typedef int CUdevice;
typedef cudaError CUresult;

struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, memPitch;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, concurrentKernels;
};

inline cudaError_t sw_host_call(const char* problem) {
  if (sw_worker != nullptr) sw_fail(problem, nullptr, 0);  // a kernel runs in this thread
  return cudaErrorNotSupported;
}
#define SW_HOST(name)                                                                     \
  template <class... SwT>                                                                 \
  inline cudaError_t name(SwT&&...) {                                                     \
    return sw_host_call(#name "() is a function of the host, which kernels cannot call"); \
  }
SW_HOST(cudaMalloc)
SW_HOST(cudaMallocHost)
SW_HOST(cudaMallocManaged)
SW_HOST(cudaMallocPitch)
SW_HOST(cudaMallocArray)
SW_HOST(cudaMallocAsync)
SW_HOST(cudaHostAlloc)
SW_HOST(cudaFree)
SW_HOST(cudaFreeHost)
SW_HOST(cudaFreeArray)
SW_HOST(cudaFreeAsync)
SW_HOST(cudaMemcpy)
SW_HOST(cudaMemcpyAsync)
SW_HOST(cudaMemcpy2D)
SW_HOST(cudaMemcpyToSymbol)
SW_HOST(cudaMemcpyFromSymbol)
SW_HOST(cudaMemcpyToArray)
SW_HOST(cudaMemset)
SW_HOST(cudaMemsetAsync)
SW_HOST(cudaMemPrefetchAsync)
SW_HOST(cudaMemGetInfo)
SW_HOST(cudaGetDevice)
SW_HOST(cudaSetDevice)
SW_HOST(cudaGetDeviceCount)
SW_HOST(cudaGraphSetConditional)
SW_HOST(cudaGetDeviceProperties)
SW_HOST(cudaDeviceGetAttribute)
SW_HOST(cudaDeviceSynchronize)
SW_HOST(cudaDeviceReset)
SW_HOST(cudaThreadSynchronize)
SW_HOST(cudaGetLastError)
SW_HOST(cudaPeekAtLastError)
SW_HOST(cudaStreamCreate)
SW_HOST(cudaStreamCreateWithFlags)
SW_HOST(cudaStreamDestroy)
SW_HOST(cudaStreamSynchronize)
SW_HOST(cudaStreamWaitEvent)
SW_HOST(cudaEventCreate)
SW_HOST(cudaEventCreateWithFlags)
SW_HOST(cudaEventDestroy)
SW_HOST(cudaEventRecord)
SW_HOST(cudaEventSynchronize)
SW_HOST(cudaEventElapsedTime)
SW_HOST(cudaFuncSetAttribute)
SW_HOST(cudaFuncSetCacheConfig)
SW_HOST(cudaBindTexture)
SW_HOST(cudaBindTextureToArray)
SW_HOST(cudaUnbindTexture)
SW_HOST(cudaCreateTextureObject)
SW_HOST(cudaDestroyTextureObject)
SW_HOST(cudaLaunchKernel)
SW_HOST(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
#undef SW_HOST
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an error of CUDA's host API";
}
inline const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
template <class SwT>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return {8 * (int)sizeof(SwT), 0, 0, 0, cudaChannelFormatKindNone};
}
