// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

/// A libcuda.so.1 whose one device computes nothing: its memory is the host's, copies and fills are
/// done at once, launches are only counted. Each call can be made to fail with a chosen code, which
/// tests/faults/driver_calls.py does through sw_fake_*().

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "backends/cuda/driver.hpp"
#include "runtime/elf_image.hpp"

#define SW_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using spanwise::runtime::ElfImage;
using spanwise::runtime::value_at;

std::atomic<long> calls{0}, failing{0}, launches{0};
std::atomic<int> code{0};
std::atomic<const char*> failed{""};

// What was made and not destroyed, by kind.
std::mutex& mutex() {
  static auto& m = *new std::mutex;
  return m;
}
std::multiset<std::string>& resources() {
  static auto& all = *new std::multiset<std::string>;
  return all;
}

template <class Handle>
CUresult make(Handle* handle, const char* kind, void* data = std::malloc(1)) {
  const std::lock_guard lock(mutex());
  resources().insert(kind);
  *handle = reinterpret_cast<Handle>(data);
  return CUDA_SUCCESS;
}
template <class Handle>
CUresult destroy(Handle handle, const char* kind) {
  const std::lock_guard lock(mutex());
  const auto found = resources().find(kind);
  if (found == resources().end()) std::abort();  // destroyed twice
  resources().erase(found);
  std::free(reinterpret_cast<void*>(handle));
  return CUDA_SUCCESS;
}

struct Library {
  std::string image;
  std::map<std::string, struct Kernel*> kernels;
};
struct Kernel {
  std::string name;
  const Library* library;
  struct Parameter {
    std::size_t offset, size;
  };
  std::map<unsigned, Parameter> parameters;
};

// The parameters of a kernel, from the section .nv.info.<name> of a cubin: attribute 0x17 with
// ordinal, offset and size (in the upper 14 bits of the last word).
void read_parameters(Kernel& kernel, std::string_view image) {
  constexpr std::uint8_t sized_value = 0x04, parameter_info = 0x17;
  const ElfImage elf(image);
  for (unsigned i = 0; elf.section(i); ++i) {
    if (elf.section_name(i) != ".nv.info." + kernel.name) continue;
    const auto section = *elf.section(i);
    for (std::uint64_t at = 0; at + 4 <= section.sh_size;) {
      const std::uint64_t record = section.sh_offset + at;
      const auto format = value_at<std::uint8_t>(image, record).value_or(0);
      const auto attribute = value_at<std::uint8_t>(image, record + 1).value_or(0);
      const auto size = value_at<std::uint16_t>(image, record + 2).value_or(0);
      if (format == sized_value && attribute == parameter_info)
        kernel.parameters[*value_at<std::uint16_t>(image, record + 8)] = {
            *value_at<std::uint16_t>(image, record + 10),
            *value_at<std::uint32_t>(image, record + 12) >> 18};
      at += 4 + (format == sized_value ? size : 0u);
    }
  }
}

CUresult find_kernel(CUkernel* out, const char* name, Library& library) {
  const ElfImage elf(library.image);
  bool exists = false;
  for (unsigned i = 0; elf.section(i); ++i)
    exists |= elf.section_name(i) == ".text." + std::string(name);
  if (!exists) return CUDA_ERROR_NOT_FOUND;
  Kernel*& kernel = library.kernels[name];
  if (kernel == nullptr) {
    kernel = new Kernel{name, &library, {}};
    read_parameters(*kernel, library.image);
  }
  *out = reinterpret_cast<CUkernel>(kernel);
  return CUDA_SUCCESS;
}

// A cubin's size is not passed: the end of its section headers.
std::size_t size_of_image(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + std::size_t{header.e_shnum} * sizeof(Elf64_Shdr);
}

template <class T>
CUresult fill(CUdeviceptr to, T value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(reinterpret_cast<T*>(to) + i, &value, sizeof value);
  return CUDA_SUCCESS;
}
CUresult copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return CUDA_SUCCESS;
}
void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

int attribute_of(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return std::getenv("SW_FAKE_NO_POOLS") == nullptr;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 4;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 99 << 10;
    default:
      return 1 << 30;
  }
}

const char* name_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case CUDA_ERROR_NOT_FOUND:
      return "CUDA_ERROR_NOT_FOUND";
    case CUDA_ERROR_INVALID_VALUE:
      return "CUDA_ERROR_INVALID_VALUE";
    default:
      return "CUDA_ERROR_UNKNOWN";
  }
}

// The graphs of the streams that are captured.
std::map<CUstream, CUgraph>& captures() {
  static auto& all = *new std::map<CUstream, CUgraph>;
  return all;
}
bool is_captured(CUstream stream) { return captures().contains(stream); }

CUcontext const the_context = reinterpret_cast<CUcontext>(std::malloc(1));
constinit thread_local CUcontext current = nullptr;

// The functions that have an effect; all others only succeed.
struct Driver {
  static CUresult cuGetErrorName(CUresult result, const char** name) {
    return *name = name_of(result), CUDA_SUCCESS;
  }
  static CUresult cuGetErrorString(CUresult, const char** text) {
    return *text = "injected by the fake driver", CUDA_SUCCESS;
  }
  static CUresult cuDeviceGetCount(int* count) { return *count = 1, CUDA_SUCCESS; }
  static CUresult cuDeviceGet(CUdevice* device, int) { return *device = 0, CUDA_SUCCESS; }
  static CUresult cuDeviceGetName(char* name, int size, CUdevice) {
    std::strncpy(name, "fake", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
  }
  static CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
    return *bytes = std::size_t{1} << 30, CUDA_SUCCESS;
  }
  static CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    return *value = attribute_of(attribute), CUDA_SUCCESS;
  }
  static CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
    return *can = 0, CUDA_SUCCESS;
  }
  static CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    return *context = the_context, CUDA_SUCCESS;
  }
  static CUresult cuCtxGetCurrent(CUcontext* context) { return *context = current, CUDA_SUCCESS; }
  static CUresult cuCtxSetCurrent(CUcontext context) { return current = context, CUDA_SUCCESS; }
  static CUresult cuCtxPushCurrent(CUcontext context) { return current = context, CUDA_SUCCESS; }
  static CUresult cuCtxPopCurrent(CUcontext* context) {
    *context = current;
    return current = nullptr, CUDA_SUCCESS;
  }
  static CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
  static CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
    return *free = *total = std::size_t{1} << 30, CUDA_SUCCESS;
  }
  static CUresult cuMemAlloc(CUdeviceptr* data, std::size_t bytes) {
    return make(data, "memory", std::malloc(bytes));
  }
  static CUresult cuMemFree(CUdeviceptr data) { return destroy(data, "memory"); }
  static CUresult cuMemHostAlloc(void** data, std::size_t bytes, unsigned) {
    return make(data, "host memory", std::malloc(bytes));
  }
  static CUresult cuMemFreeHost(void* data) { return destroy(data, "host memory"); }
  static CUresult cuMemAllocFromPoolAsync(CUdeviceptr* data, std::size_t bytes, CUmemoryPool,
                                          CUstream) {
    return make(data, "memory", std::malloc(bytes));
  }
  static CUresult cuMemFreeAsync(CUdeviceptr data, CUstream) { return destroy(data, "memory"); }
  static CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps*) {
    return make(pool, "pool");
  }
  static CUresult cuMemPoolDestroy(CUmemoryPool pool) { return destroy(pool, "pool"); }
  static CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute, void* value) {
    return copy(value, "\0\0\0\0\0\0\0", 8);
  }
  static CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute*, void** values,
                                         CUdeviceptr) {
    for (unsigned i = 0; i < count; ++i) std::memset(values[i], 0, 4);
    return CUDA_SUCCESS;
  }
  static CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
    return copy(at(to), from, bytes);
  }
  static CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
    return copy(to, at(from), bytes);
  }
  static CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
    return copy(at(to), at(from), bytes);
  }
  static CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                  CUstream) {
    return fill(to, value, count);
  }
  static CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                                   CUstream) {
    return fill(to, value, count);
  }
  static CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream) {
    return fill(to, value, count);
  }
  static CUresult cuStreamCreate(CUstream* stream, unsigned) { return make(stream, "stream"); }
  static CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
    return make(stream, "stream");
  }
  static CUresult cuStreamDestroy(CUstream stream) { return destroy(stream, "stream"); }
  static CUresult cuStreamGetCtx(CUstream, CUcontext* context) {
    return *context = the_context, CUDA_SUCCESS;
  }
  static CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    *status = is_captured(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  }
  static CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
    CUgraph graph = nullptr;
    make(&graph, "graph");
    const std::lock_guard lock(mutex());
    captures()[stream] = graph;
    return CUDA_SUCCESS;
  }
  static CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    const std::lock_guard lock(mutex());
    *graph = captures()[stream];
    captures().erase(stream);
    return CUDA_SUCCESS;
  }
  static CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                         cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                                         std::size_t* count) {
    static const CUgraphNode node = nullptr;
    cuStreamIsCapturing(stream, status);
    const std::lock_guard lock(mutex());
    *graph = is_captured(stream) ? captures()[stream] : nullptr;
    *id = reinterpret_cast<std::uintptr_t>(*graph);
    if (nodes != nullptr) *nodes = &node, *count = 1;
    return CUDA_SUCCESS;
  }
  static CUresult cuGraphGetRootNodes(CUgraph, CUgraphNode* nodes, std::size_t* count) {
    if (nodes != nullptr) *nodes = nullptr;
    return *count = 1, CUDA_SUCCESS;
  }
  static CUresult cuEventCreate(CUevent* event, unsigned) { return make(event, "event"); }
  static CUresult cuEventDestroy(CUevent event) { return destroy(event, "event"); }
  static CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
    return *milliseconds = 1, CUDA_SUCCESS;
  }
  static CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**,
                                    unsigned, CUlibraryOption*, void**, unsigned) {
    return make(library, "library",
                new Library{{static_cast<const char*>(image), size_of_image(image)}, {}});
  }
  static CUresult cuLibraryUnload(CUlibrary library) {
    auto* unloaded = reinterpret_cast<Library*>(library);
    for (const auto& [name, kernel] : unloaded->kernels) delete kernel;
    delete unloaded;
    return destroy<void*>(nullptr, "library");
  }
  static CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
    return find_kernel(kernel, name, *reinterpret_cast<Library*>(library));
  }
  static CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
    return *module = reinterpret_cast<CUmodule>(library), CUDA_SUCCESS;
  }
  static CUresult cuLibraryGetGlobal(CUdeviceptr*, std::size_t*, CUlibrary, const char*) {
    return CUDA_ERROR_NOT_FOUND;
  }
  static CUresult cuLibraryGetManaged(CUdeviceptr*, std::size_t*, CUlibrary, const char*) {
    return CUDA_ERROR_NOT_FOUND;
  }
  static CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    return *function = reinterpret_cast<CUfunction>(kernel), CUDA_SUCCESS;
  }
  static CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                                       std::size_t* size) {
    const auto& parameters = reinterpret_cast<Kernel*>(kernel)->parameters;
    const auto found = parameters.find(static_cast<unsigned>(index));
    if (found == parameters.end()) return CUDA_ERROR_INVALID_VALUE;
    *offset = found->second.offset;
    *size = found->second.size;
    return CUDA_SUCCESS;
  }
  static CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
    return CUDA_SUCCESS;
  }
  static CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, CUstream, void**, void**) {
    return ++launches, CUDA_SUCCESS;
  }
  static CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**) {
    return ++launches, CUDA_SUCCESS;
  }
  static CUresult cuGraphCreate(CUgraph* graph, unsigned) { return make(graph, "graph"); }
  static CUresult cuGraphDestroy(CUgraph graph) { return destroy(graph, "graph"); }
  static CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph, unsigned long long) {
    return make(exec, "executable graph");
  }
  static CUresult cuGraphExecDestroy(CUgraphExec exec) { return destroy(exec, "executable graph"); }
  static CUresult cuGraphLaunch(CUgraphExec, CUstream) { return ++launches, CUDA_SUCCESS; }
  static CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int,
                                                              std::size_t) {
    return *blocks = 2, CUDA_SUCCESS;
  }
};

// A call that destroys something does so also where it fails, as CUDA's report errors of earlier
// work then. Those of error texts and of the thread's current context do not fail.
template <class Call>
CUresult counted(std::string_view name, const Call& call) {
  if (name.starts_with("cuGetError") || name == "cuCtxGetCurrent" || name == "cuCtxPopCurrent")
    return call();
  if (++calls != failing) return call();
  failed = name.data();
  if (name.find("Free") != name.npos || name.find("Destroy") != name.npos ||
      name.find("Unload") != name.npos || name.find("Pop") != name.npos)
    call();
  return static_cast<CUresult>(code.load());
}

const std::map<std::string_view, void*>& functions() {
  static const auto& all = *new std::map<std::string_view, void*>{
#define SW_ENTRY(member, function, version)                                     \
  {#function, reinterpret_cast<void*>(static_cast<PFN_##function##_v##version>( \
                  []<class D = Driver>(auto... arguments) -> CUresult {         \
                    return counted(#function, [&]() -> CUresult {               \
                      if constexpr (requires { D::function(arguments...); })    \
                        return D::function(arguments...);                       \
                      else                                                      \
                        return CUDA_SUCCESS;                                    \
                    });                                                         \
                  }))},
      SW_CUDA_DRIVER_FUNCTIONS(SW_ENTRY)
#undef SW_ENTRY
  };
  return all;
}

}  // namespace

SW_EXPORT CUresult CUDAAPI cuDriverGetVersion(int* version) {
  return *version = spanwise::cuda::oldest_driver, CUDA_SUCCESS;
}

SW_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                                               CUdriverProcAddressQueryResult* status) {
  const auto found = functions().find(name);
  *function = found == functions().end() ? nullptr : found->second;
  *status =
      *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

/// From now on call number `number`, from 1, fails with `error`; 0: none.
SW_EXPORT void sw_fake_arm(long number, int error) {
  calls = 0;
  failed = "";
  code = error;
  failing = number;
}
/// No more calls fail. Returns the calls since sw_fake_arm().
SW_EXPORT long sw_fake_disarm() {
  failing = 0;
  return calls;
}
/// The function that failed; "" where none did.
SW_EXPORT const char* sw_fake_failed() { return failed; }
SW_EXPORT long sw_fake_launches() { return launches; }
/// What exists, "2 event, 1 stream", without those that are kept for later use.
SW_EXPORT long sw_fake_resources(const char* kind) {
  const std::lock_guard lock(mutex());
  return static_cast<long>(resources().count(kind));
}
