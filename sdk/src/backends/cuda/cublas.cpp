// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <complex>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/cuda/cublas.hpp"
#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_stream.hpp"
#include "backends/cuda/device_context.hpp"
#include "backends/cuda/optional_library.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::cuda::cublas {
namespace {

// The first major version with the _64 functions.
constexpr int oldest_major = 12;

std::vector<FoundLibrary> cublas_candidates() {
  std::vector<FoundLibrary> libraries = libraries_for_driver("cublas");
  std::erase_if(libraries, [](const FoundLibrary& library) {
    return library.major != 0 && library.major < oldest_major;
  });
  return libraries;
}

// Loads cuBLASLt, which cuBLAS depends on, by its full path: the folder of a wheel need not be in
// the loader's search path.
void load_companion(const FoundLibrary& library) {
  for (const FoundLibrary& companion : find_libraries("cublasLt", {library.path.parent_path()}))
    if (companion.major == library.major && open_library(companion.path) != nullptr) return;
}

std::unique_ptr<Api> open_cublas(const FoundLibrary& library) {
  const std::lock_guard loading(loader_mutex());
  load_companion(library);
  void* handle = open_library(library.path);
  Api api;
  const bool is_usable = handle != nullptr SW_CUBLAS_FUNCTIONS(SW_FIND_FUNCTION);
  return is_usable ? std::make_unique<Api>(api) : nullptr;
}

}  // namespace

const Api* library() {
  static NeverDestroyed<LoadedOnce<Api>> cublas;
  return cublas->get(cublas_candidates, open_cublas);
}

std::filesystem::path library_path() { return first_path(cublas_candidates()); }

}  // namespace spanwise::cuda::cublas

namespace spanwise::cuda {
namespace {

[[maybe_unused]] const bool tf32_declared = config::declare({
    .name = "allow_tf32",
    .description = "let products of float32 on a GPU round their factors to 10 bits of mantissa "
                   "(TF32), which is faster",
    .default_value = "0",
});

constinit const config::Flag tf32_is_allowed{"allow_tf32"};

template <class... Action>
void check_cublas(const cublas::Api& api, cublas::Status status, const Action&... action) {
  if (status == cublas::success) [[likely]]
    return;
  // In a context that a kernel has ended cuBLAS says that it failed, and the driver says why.
  CUstreamCaptureStatus capture{};
  const CUresult code = driver().stream_is_capturing(CU_STREAM_LEGACY, &capture);
  if (!is_capture_error(code)) check(driver(), code, action...);
  const char* name = api.get_status_name(status);
  throw DeviceError(text("cuda: ", action..., " failed: cuBLAS says ", name, " (", status,
                         "). Free memory of the device or set cuda_library_path to another cuBLAS"),
                    status, name);
}

/// The cuBLAS handle of a device. Callers hold the mutex until the call is queued.
struct CublasHandle {
  Mutex mutex;
  cublas::Handle handle = nullptr;
};
CublasHandle& handle_of(int ordinal) {
  // Never destroyed: the driver may shut down before static objects are destroyed.
  static NeverDestroyed<Mutex> mutex;
  static NeverDestroyed<std::map<int, CublasHandle>> handles;
  const std::lock_guard lock(*mutex);
  return (*handles)[ordinal];
}

void create_once(const cublas::Api& api, const DeviceContext& context, cublas::Handle& handle) {
  if (handle != nullptr) return;
  const RelaxedCaptureMode relaxed(context.api);  // cublasCreate allocates device memory
  cublas::Handle created = nullptr;
  check_cublas(api, api.create(&created), "starting cuBLAS on ", context.device);
  check_cublas(api, api.set_math_mode(created, cublas::no_reduced_precision),
               "setting the precision of cuBLAS");
  handle = created;
}

/// The workspace of one call, so that calls on several streams share no memory. A recorded call
/// uses that of the recording's stream, one in a capture of another library cuBLAS's own workspace,
/// because this one is freed before the graph runs.
class CublasWorkspace {
 public:
  explicit CublasWorkspace(CudaStream& stream) : stream_(stream) {
    DeviceContext& context = stream.context();
    bytes_ = workspace_bytes(context);
    if (stream_recording.stream == &stream) {
      data_ = stream_recording.workspace;
    } else if (!is_capturing(context.api, stream.raw())) {
      data_ = context.memory().allocate(bytes_, stream);
      is_owned_ = true;
    }
  }
  ~CublasWorkspace() {
    if (is_owned_) stream_.context().memory().deallocate(data_, bytes_, stream_);
  }
  CublasWorkspace(const CublasWorkspace&) = delete;
  CublasWorkspace& operator=(const CublasWorkspace&) = delete;

  void set_on(const cublas::Api& api, cublas::Handle handle) const {
    if (data_ == nullptr) return;
    check_cublas(api, api.set_workspace(handle, data_, bytes_), "setting the workspace of cuBLAS");
  }

 private:
  CudaStream& stream_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool is_owned_ = false;
};

/// A factor in the scale types of cuBLAS.
class Scale {
 public:
  explicit Scale(double factor) : wide_(factor), narrow_(static_cast<float>(factor)) {}
  // The real part comes first in memory, so the address is also that of a real number.
  const void* of(int compute) const {
    return compute == cublas::compute_64 ? static_cast<const void*>(&wide_) : &narrow_;
  }

 private:
  std::complex<double> wide_;
  std::complex<float> narrow_;
};

}  // namespace

std::size_t workspace_bytes(const DeviceContext& context) noexcept {
  return (context.info.major >= 9 ? std::size_t{32} : std::size_t{4}) << 20;
}

std::optional<CublasCall> cublas_call(const GemmCall& call, bool allow_tf32) {
  const int single = allow_tf32 ? cublas::compute_tf32 : cublas::compute_32;
  CublasCall out;
  if (call.dtype == float32)
    out.dtype = cublas::real_32, out.compute = single;
  else if (call.dtype == float64)
    out.dtype = cublas::real_64, out.compute = cublas::compute_64;
  else if (call.dtype == float16)
    out.dtype = cublas::real_16, out.compute = cublas::compute_32;
  else if (call.dtype == bfloat16)
    out.dtype = cublas::bfloat_16, out.compute = cublas::compute_32;
  else if (call.dtype == complex64)
    out.dtype = cublas::complex_32, out.compute = single;
  else if (call.dtype == complex128)
    out.dtype = cublas::complex_64, out.compute = cublas::compute_64;
  else
    return std::nullopt;
  out.first_operation = call.right.is_transposed ? cublas::transpose : cublas::no_transpose;
  out.first_leading = call.right.leading;
  out.second_operation = call.left.is_transposed ? cublas::transpose : cublas::no_transpose;
  out.second_leading = call.left.leading;
  if (call.conjugate_left && call.dtype.is_complex()) {
    // `left` is a single row: passed as a column-major matrix of one row, whose leading dimension
    // is the step between elements, and conjugate-transposed.
    out.second_operation = cublas::conjugate_transpose;
    out.second_leading = call.left.is_transposed ? call.left.leading : 1;
  }
  return out;
}

bool gemm(const GemmCall& call, CudaStream& stream) {
  const std::optional<CublasCall> arguments = cublas_call(call, tf32_is_allowed.get());
  if (!arguments) return false;
  const DeviceContext& context = stream.context();
  const ContextGuard guard(context);
  const cublas::Api* api = cublas::library();
  if (api == nullptr) {
    static constinit std::atomic_flag is_logged;
    if (!is_logged.test_and_set())
      log_message(
          LogLevel::info,
          "cuBLAS was not found: products on a GPU run in Spanwise's own kernels, which are "
          "slower; spanwise doctor names what to install");
    return false;
  }
  const Scale alpha(call.alpha), beta(call.beta);
  const CublasWorkspace workspace(stream);
  CublasHandle& entry = handle_of(context.device.ordinal());
  const std::lock_guard lock(entry.mutex);
  create_once(*api, context, entry.handle);
  // cublasSetStream also resets the handle to cuBLAS's own workspace.
  check_cublas(*api, api->set_stream(entry.handle, stream.raw()), "setting the stream of cuBLAS");
  workspace.set_on(*api, entry.handle);
  const cublas::Status status = api->gemm(
      entry.handle, arguments->first_operation, arguments->second_operation, call.columns,
      call.rows, call.depth, alpha.of(arguments->compute), call.right.data, arguments->dtype,
      arguments->first_leading, call.right.batch_stride, call.left.data, arguments->dtype,
      arguments->second_leading, call.left.batch_stride, beta.of(arguments->compute), call.result,
      arguments->dtype, call.result_leading, call.result_batch_stride, call.batch,
      arguments->compute, cublas::default_algorithm);
  if (status == cublas::not_supported) return false;
  check_cublas(*api, status, "a product of ", call.rows, " x ", call.depth, " and ", call.depth,
               " x ", call.columns, " matrices of ", call.dtype, " on ", context.device);
  return true;
}

}  // namespace spanwise::cuda
