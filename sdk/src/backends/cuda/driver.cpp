// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <mutex>

#include "backends/cuda/driver.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {
namespace {

// The second is the location under WSL, which is missing from the loader's search path in some
// images.
constexpr std::array driver_files{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};

// Never closed: code of the driver may be on other threads' stacks until the process ends.
void* open_first(std::span<const char* const> file_names, std::string& reason) {
  const std::lock_guard loading(loader_mutex());
  for (const char* name : file_names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    const char* error = dlerror();
    if (reason.empty() && error != nullptr) reason = error;
  }
  return nullptr;
}

// Fills the table; returns the first function that the driver lacks, or null.
const char* fill(DriverApi& api, PFN_cuGetProcAddress_v12000 load) {
  const auto get = [load](const char* name, int version, auto& entry) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result =
        load(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
    if (result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS)
      entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(address);
    return entry != nullptr;
  };
#define SW_FILL(name, function, version) \
  if (!get(#function, version, api.name)) return #function;
  SW_CUDA_DRIVER_FUNCTIONS(SW_FILL)
#undef SW_FILL
  return nullptr;
}

int version_of(void* library) {
  int version = 0;
  const auto get =
      reinterpret_cast<PFN_cuDriverGetVersion_v2020>(dlsym(library, "cuDriverGetVersion"));
  return get != nullptr && get(&version) == CUDA_SUCCESS ? version : 0;
}

std::string too_old(int version) {
  return text(
      "the CUDA driver ",
      version > 0 ? "is version " + version_text(version) + "," : "is too old:", " Spanwise needs ",
      version_text(oldest_driver), " or newer (NVIDIA driver 550 or newer); update the driver");
}

std::string hint(CUresult code) {
  switch (code) {
    case CUDA_ERROR_NO_DEVICE: {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      return visible == nullptr ? "; in a container, start it with access to the GPUs"
                                : text("; CUDA_VISIBLE_DEVICES is \"", visible, '"');
    }
    case CUDA_ERROR_STUB_LIBRARY:
      return "; the toolkit's stub libcuda.so was loaded instead of the driver's: take the stubs "
             "folder out of LD_LIBRARY_PATH";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "; the user-space driver and the kernel module differ: restart the machine after an "
             "update";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "; start the fabric manager and the persistence daemon of the machine";
    default:
      return "; see whether nvidia-smi works for this user";
  }
}

std::string failure(const DriverApi& api, CUresult code, const char* what) {
  const char *name = nullptr, *description = nullptr;
  api.get_error_name(code, &name);
  api.get_error_string(code, &description);
  return text(what, ": ", description != nullptr ? description : "unknown error", " (",
              name != nullptr ? name : "unknown", ", ", static_cast<int>(code), ')', hint(code));
}

std::string start(const DriverApi& api, int& device_count) {
  if (const CUresult code = api.init(0); code != CUDA_SUCCESS)
    return failure(api, code, "the CUDA driver does not start");
  const CUresult code = api.device_get_count(&device_count);
  if (code != CUDA_SUCCESS) {
    device_count = 0;
    return failure(api, code, "the CUDA driver does not count its devices");
  }
  return device_count > 0 ? ""
                          : text("the CUDA driver shows no device", hint(CUDA_ERROR_NO_DEVICE));
}

}  // namespace

std::string version_text(int version) { return text(version / 1000, '.', version % 1000 / 10); }

std::string fork_error() {
  return "this process was forked after CUDA had been used, and CUDA does not work in such a "
         "child: "
         "start workers with the 'spawn' or 'forkserver' method, or fork before the first use";
}

DriverStatus load_driver(std::span<const char* const> file_names) {
  DriverStatus status;
  std::string reason;
  void* library = open_first(file_names, reason);
  if (library == nullptr) {
    status.unavailable_reason =
        text("no CUDA driver was found (", reason,
             "); install the NVIDIA driver, or start the container with its GPUs");
    return status;
  }
  status.version = version_of(library);
  // Drivers from 12.0 on export this version of cuGetProcAddress under the name with the suffix.
  const auto load =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (load == nullptr || (status.version > 0 && status.version < oldest_driver)) {
    status.unavailable_reason = too_old(status.version);
    return status;
  }
  if (const char* missing = fill(status.api, load)) {
    status.unavailable_reason = text(too_old(status.version), " (it lacks ", missing, ')');
    return status;
  }
  status.unavailable_reason = start(status.api, status.device_count);
  status.usable = status.unavailable_reason.empty();
  return status;
}

const DriverStatus& driver_status() {
  struct ForkMarker final : ForkParticipant {
    void after_fork_in_child(bool) noexcept override { forked_after_start.store(true); }
  };
  // Never destroyed: destructors of other static objects may still need the table.
  static const auto& status = *new DriverStatus([] {
    DriverStatus loaded = load_driver(driver_files);
    if (loaded.usable) new ForkMarker;
    return loaded;
  }());
  return status;
}

const DriverApi& driver() {
  const DriverStatus& status = driver_status();
  if (!status.usable) fail<DeviceError>("cuda: ", status.unavailable_reason);
  if (!usable_after_fork()) [[unlikely]]
    fail<DeviceError>("cuda: ", fork_error());
  return status.api;
}

namespace {

const char* advice(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
      return "a kernel caused this, possibly an earlier one; the device's context is lost and the "
             "process must be restarted. Run it under compute-sanitizer, or with "
             "SPANWISE_LAUNCH_BLOCKING=1, to find the kernel";
    case CUDA_ERROR_ASSERT:
      return "an assert() in a kernel failed, its text is on the standard output; the device's "
             "context is lost and the process must be restarted";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "a kernel ran longer than the display's watchdog allows; the device's context is lost "
             "and the process must be restarted";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      return "the GPU's memory failed; the process must be restarted and the GPU checked";
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return "the device was reset (cudaDeviceReset, cuDevicePrimaryCtxReset); everything on "
             "it is lost and the process must be restarted";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "the binary was made for another architecture; compile it for this device, or to PTX";
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "the binary is damaged, or was made by a toolkit newer than the driver: update the "
             "driver, or put an older NVRTC first (config cuda_library_path)";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "the kernel needs more registers or shared memory than a block can have; use a "
             "smaller block";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
      return "a stream is being captured, and this call is not allowed then; move it before the "
             "capture, or make the captured stream current";
    case CUDA_ERROR_DEINITIALIZED:
      return "the CUDA driver is shutting down with the process";
    default:
      return nullptr;
  }
}

}  // namespace

void fail_driver(const DriverApi& api, CUresult code, const std::string& action) {
  const char *name = nullptr, *description = nullptr;
  api.get_error_name(code, &name);
  api.get_error_string(code, &description);
  if (name == nullptr) name = "unknown error";
  std::string message =
      text("cuda: ", action, " failed: ", description != nullptr ? description : name, " (", name,
           ", ", static_cast<int>(code), ')');
  if (const char* more = advice(code)) message += text("; ", more);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) {
    throw OutOfMemoryError(message, static_cast<int>(code), name);
  }
  throw DeviceError(message, static_cast<int>(code), name);
}

}  // namespace spanwise::cuda
