// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <bit>
#include <chrono>
#include <optional>

#include "backends/cuda/compile/cuda_linker.hpp"
#include "backends/cuda/compile/device_image.hpp"
#include "backends/cuda/cuda_module.hpp"
#include "backends/cuda/cuda_stream.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "core/string_utils.hpp"
#include "runtime/backend.hpp"
#include "runtime/settings.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {

CudaModule::CudaModule(DeviceContext& context, const std::string& image) : context_(context) {
  std::string linked;
  if (is_lto_ir(image))
    linked = link({context.info.properties.architecture, {{"LTO-IR", image}}, {}}, {});
  const std::string& loadable = linked.empty() ? image : linked;
  const ContextGuard guard(context);
  const RelaxedCaptureMode relaxed(context.api);  // another thread may be capturing a stream
  const BinarySymbols symbols = read_symbols(loadable);
  kernels_ = names_of(symbols.kernels);
  variables_ = names_of(symbols.variables);
  load(loadable);
  try {
    if (kernels_.empty()) enumerate_kernels();
  } catch (...) {
    context.api.library_unload(library_);
    throw;
  }
}

// Gets the kernels from the driver if read_symbols() cannot read the image, as for fat binaries.
void CudaModule::enumerate_kernels() {
  const DriverApi& api = context_.api;
  unsigned count = 0;
  if (api.library_get_kernel_count(&count, library_) != CUDA_SUCCESS || count == 0) return;
  std::vector<CUkernel> kernels(count);
  if (api.library_enumerate_kernels(kernels.data(), count, library_) != CUDA_SUCCESS) return;
  std::vector<std::string> symbols;
  for (const CUkernel kernel : kernels) {
    const char* name = nullptr;
    if (api.kernel_get_name(&name, kernel) == CUDA_SUCCESS && name != nullptr)
      symbols.emplace_back(name);
  }
  kernels_ = names_of(symbols);
}

void CudaModule::load(const std::string& image) {
  require_runnable(image, context_.info.properties);
  constexpr std::size_t log_bytes = 4096;
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{};
  unsigned option_count = 0;
  if (!image.starts_with("\x7f"
                         "ELF")) {  // an ELF image needs no compilation, hence no log
    log_.resize(log_bytes);
    values = {log_.data(), std::bit_cast<void*>(log_bytes)};
    option_count = static_cast<unsigned>(options.size());
  }
  const DriverApi& api = context_.api;
  check(api,
        api.library_load_data(&library_, image.c_str(), options.data(), values.data(), option_count,
                              nullptr, nullptr, 0),
        "loading a kernel binary of ", image.size(), " bytes on ", context_.device, " (",
        context_.info.properties.architecture, ')', driver_log());
}

std::string CudaModule::driver_log() const {
  return log_.empty() || log_[0] == '\0' ? "" : text("; the driver says: ", log_.data());
}

CudaModule::~CudaModule() {
  const ContextGuard guard(context_, std::nothrow);
  if (!guard.ok()) return;
  // The driver waits for kernels that still run.
  const RelaxedCaptureMode relaxed(context_.api);
  context_.api.library_unload(library_);
}

CUresult CudaModule::find_kernel(CUkernel& kernel, const std::string& symbol) const {
  return context_.api.library_get_kernel(&kernel, library_, symbol.c_str());
}

Ref<runtime::LoadedKernel> CudaModule::kernel(const std::string& name) {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  CUkernel kernel = nullptr;
  std::string symbol = name;
  CUresult code = find_kernel(kernel, symbol);
  const auto mangled = kernels_.find(name);
  if (code == CUDA_ERROR_NOT_FOUND && mangled != kernels_.end()) {
    symbol = mangled->second;
    code = find_kernel(kernel, symbol);
  }
  if (code == CUDA_ERROR_NOT_FOUND)
    fail<ArgumentError>(
        "Module.kernel: there is no kernel \"", name, "\"; the binary has: ",
        kernels_.empty() ? "none" : joined(kernels_, ", ", [](const auto& k) { return k.first; }));
  check(context_.api, code, "looking for kernel ", name, " on ", context_.device, driver_log());
  return make_ref<CudaKernel>(Ref<CudaModule>(this), context_, kernel, symbol);
}

runtime::LoadedModule::Global CudaModule::find_global(const std::string& symbol) const {
  const DriverApi& api = context_.api;
  CUdeviceptr data = 0;
  std::size_t bytes = 0;
  CUresult code = api.library_get_global(&data, &bytes, library_, symbol.c_str());
  if (code == CUDA_ERROR_NOT_FOUND) {
    code = api.library_get_managed(&data, &bytes, library_, symbol.c_str());
  }
  if (code == CUDA_ERROR_NOT_FOUND) return {};
  check(api, code, "looking for variable ", symbol, " on ", context_.device);
  return {std::bit_cast<void*>(data), bytes};
}

runtime::LoadedModule::Global CudaModule::global(const std::string& name) {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  const Global variable = find_global(name);
  const auto mangled = variables_.find(name);
  return variable.data != nullptr || mangled == variables_.end() ? variable
                                                                 : find_global(mangled->second);
}

std::uintptr_t CudaModule::handle() {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  CUmodule module = nullptr;
  check(context_.api, context_.api.library_get_module(&module, library_),
        "getting the CUmodule of a kernel binary on ", context_.device);
  return reinterpret_cast<std::uintptr_t>(module);
}

namespace {

using runtime::extents_text;

void check_extents(const std::string& caller, const char* name, const Dim3& dim,
                   const std::array<std::int64_t, 3>& limits, const char* remedy) {
  const std::array extents{dim.x, dim.y, dim.z};
  for (std::size_t i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (extents[i] < 1)
      fail<KernelArgumentError>(caller, name, ' ', extents_text(dim), " has ", axis, " = ",
                                extents[i], "; each extent is at least 1");
    if (extents[i] > limits[i])
      fail<KernelArgumentError>(caller, name, ' ', extents_text(dim), " has ", axis, " = ",
                                extents[i], ", at most ", limits[i], " is possible; ", remedy);
  }
}

}  // namespace

void LaunchLimits::refuse(const std::string& kernel, const Dim3& grid, const Dim3& block,
                          std::int64_t shared_bytes) const {
  const std::string caller = text("kernel ", kernel, " on ", device->name, ": ");
  check_extents(caller, "block", block, device->max_block, "use a smaller block and a larger grid");
  const std::int64_t threads = block.x * block.y * block.z;
  if (threads > max_threads)
    fail<KernelArgumentError>(caller, "block ", extents_text(block), " has ", threads,
                              " threads, at most ", max_threads,
                              max_threads < device->max_threads_per_block
                                  ? " are possible for this kernel, whose registers do not "
                                    "suffice for more; use a smaller block, or "
                                    "compile with -maxrregcount or __launch_bounds__"
                                  : " are possible; use a smaller block and a larger grid");
  check_extents(caller, "grid", grid, device->max_grid,
                "let each block do more, or spread the grid over x");
  if (shared_bytes < 0)
    fail<KernelArgumentError>(caller, "shared = ", shared_bytes,
                              " bytes a block is negative; pass 0 or more");
  fail<KernelArgumentError>(caller, "shared = ", shared_bytes, " bytes a block and ", static_shared,
                            " that the kernel declares are more than the ",
                            device->max_shared_bytes_optin,
                            " that a block can have; use less shared memory");
}

CudaKernel::CudaKernel(Ref<CudaModule> module, DeviceContext& context, CUkernel kernel,
                       const std::string& symbol)
    : module_(std::move(module)),
      context_(context),
      name_(readable_name(symbol)),
      types_(types_of(symbol)),
      graphs_(context) {
  // Loads the code onto the device now: lazy loading at the first launch would be illegal during a
  // capture.
  check(context.api, context.api.kernel_get_function(&function_, kernel), "loading kernel ", name_,
        " on ", context.device);
  read_slots(kernel);
  limits_.device = &context.info.properties;
  limits_.max_threads = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits_.static_shared = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  dynamic_shared_ = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
}

int CudaKernel::attribute(CUfunction_attribute id) const {
  int value = 0;
  check(context_.api, context_.api.func_get_attribute(&value, id, function_), "reading attribute ",
        static_cast<int>(id), " of kernel ", name_);
  return value;
}

void CudaKernel::read_slots(CUkernel kernel) {
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0;; ++i) {
    const CUresult code = context_.api.kernel_get_param_info(kernel, i, &offset, &size);
    if (code == CUDA_ERROR_INVALID_VALUE) return;  // one past the last
    check(context_.api, code, "reading parameter ", i, " of kernel ", name_);
    parameter_info_.push_back({static_cast<std::int64_t>(offset), static_cast<std::int64_t>(size)});
  }
}

KernelAttributes CudaKernel::attributes() const {
  const ContextGuard guard(context_);
  KernelAttributes result;
  result.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
  result.static_shared_bytes = limits_.static_shared;
  result.local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  result.const_bytes = attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  result.max_threads_per_block = limits_.max_threads;
  result.architecture = text("sm_", attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION));
  return result;
}

// Raises the limit to the device's maximum, so that this happens once per kernel; the limit does
// not affect the cost of a launch.
void CudaKernel::allow_dynamic_shared() {
  const ContextGuard guard(context_);
  const std::int64_t max_bytes =
      context_.info.properties.max_shared_bytes_optin - limits_.static_shared;
  check(context_.api,
        context_.api.func_set_attribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(max_bytes)),
        "allowing kernel ", name_, ' ', max_bytes, " bytes of shared memory");
  dynamic_shared_.store(max_bytes, std::memory_order_relaxed);
}

// Checks a launch against the limits and raises the dynamic shared memory limit if necessary.
void CudaKernel::prepare(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes) {
  if (!limits_.allows(grid, block, shared_bytes)) [[unlikely]]
    limits_.refuse(name_, grid, block, shared_bytes);
  if (shared_bytes > dynamic_shared_.load(std::memory_order_relaxed)) [[unlikely]]
    allow_dynamic_shared();
}

// Queues a launch immediately, outside of batches; `call(stream)` makes the driver call.
template <class Call>
void CudaKernel::queue(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
                       runtime::StreamState& stream, Call&& call) {
  prepare(grid, block, shared_bytes);
  const CUstream raw = cuda_stream(context_, stream).raw();
  const ContextGuard guard(context_);
  check(context_.api, call(raw), "launching kernel ", name_, " on ", context_.device);
  if (runtime::launch_blocking()) [[unlikely]]
    wait_for_errors(raw);
}

void CudaKernel::launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
                        runtime::StreamState& stream, void* const* arguments) {
  const LaunchShape shape(grid, block, shared_bytes);
  if (CudaLaunchBatch* batch = CudaLaunchBatch::open_on(cuda_stream(context_, stream))) {
    prepare(grid, block, shared_bytes);
    return batch->add(*this, shape, arguments);
  }
  queue(grid, block, shared_bytes, stream,
        [&](CUstream raw) { return start(shape, raw, arguments); });
}

CUresult CudaKernel::start(const LaunchShape& shape, CUstream stream, void* const* arguments) {
  using Clock = std::chrono::steady_clock;
  if (stream_recording.stream != nullptr) [[unlikely]]
    return launch_directly(shape, stream, arguments);
  const auto [path, is_timed] = tuner_.plan();
  const Clock::time_point begin = is_timed ? Clock::now() : Clock::time_point{};
  if (path == LaunchPath::graph) {
    if (const std::optional<CUresult> code = graphs_.launch(*this, shape, stream, arguments)) {
      if (is_timed) tuner_.record(path, Clock::now() - begin);
      return *code;
    }
    if (is_timed) tuner_.record_refusal();
  }
  const CUresult code = launch_directly(shape, stream, arguments);
  if (is_timed && path == LaunchPath::direct) tuner_.record(path, Clock::now() - begin);
  return code;
}

CUresult CudaKernel::launch_directly(const LaunchShape& shape, CUstream stream,
                                     void* const* arguments) const {
  const auto &grid = shape.grid, &block = shape.block;
  return context_.api.launch_kernel(function_, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                    shape.shared_bytes, stream, const_cast<void**>(arguments),
                                    nullptr);
}

void CudaKernel::check_attributes(const runtime::LaunchAttributes& attributes, const Dim3& grid,
                                  const Dim3& block, std::int64_t shared_bytes) {
  const Dim3& cluster = attributes.cluster;
  if (cluster.x < 1 || cluster.y < 1 || cluster.z < 1 || grid.x % cluster.x != 0 ||
      grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    fail<KernelArgumentError>("kernel ", name_, ": cluster ", runtime::extents_text(cluster),
                              " does not divide the grid ", runtime::extents_text(grid),
                              " in each direction; choose a grid of whole clusters");
  if (!attributes.cooperative) return;
  const std::int64_t threads = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
  const std::int64_t max_blocks =
      std::int64_t{max_active_blocks(static_cast<int>(threads), shared_bytes)} *
      context_.info.properties.multiprocessors;
  if (blocks > max_blocks)
    fail<KernelArgumentError>("kernel ", name_, " on ", context_.device,
                              ": a cooperative launch of ", blocks,
                              " blocks, all of which have to run at once; at most ", max_blocks,
                              " can; use a smaller grid, and let each block do more");
}

void CudaKernel::launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid,
                             const Dim3& block, std::int64_t shared_bytes,
                             runtime::StreamState& stream, void* const* arguments) {
  std::array<CUlaunchAttribute, 2> driver_attributes{};
  unsigned count = 0;
  if (attributes.cooperative) {
    driver_attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    driver_attributes[count++].value.cooperative = 1;
  }
  if (const Dim3& cluster = attributes.cluster; cluster.x * cluster.y * cluster.z > 1) {
    driver_attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    const auto [x, y, z] = LaunchShape::extents(cluster);
    driver_attributes[count++].value.clusterDim = {x, y, z};
  }
  CUlaunchConfig config{};
  LaunchShape(grid, block, shared_bytes).put_into(config);
  config.attrs = driver_attributes.data();
  config.numAttrs = count;
  queue(grid, block, shared_bytes, stream, [&](CUstream raw) {
    check_attributes(attributes, grid, block, shared_bytes);
    config.hStream = raw;
    return context_.api.launch_kernel_ex(&config, function_, const_cast<void**>(arguments),
                                         nullptr);
  });
}

int CudaKernel::max_active_blocks(int threads, std::int64_t shared_bytes) {
  const ContextGuard guard(context_);
  if (shared_bytes > dynamic_shared_.load(std::memory_order_relaxed)) allow_dynamic_shared();
  int blocks = 0;
  check(context_.api,
        context_.api.occupancy_max_active_blocks(&blocks, function_, threads,
                                                 static_cast<std::size_t>(shared_bytes)),
        "calculating the occupancy of kernel ", name_, " on ", context_.device);
  return blocks;
}

void CudaKernel::wait_for_errors(CUstream stream) const {
  if (is_capturing(context_.api, stream)) return;  // captured kernels do not run now
  check(context_.api, context_.api.stream_synchronize(stream), "running kernel ", name_, " on ",
        context_.device);
}

}  // namespace spanwise::cuda
