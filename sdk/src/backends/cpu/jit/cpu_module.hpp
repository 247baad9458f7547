// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/exec/access_check.hpp"
#include "backends/cpu/exec/fault_trap.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cpu_backend {

/// The memory of a loaded shared object.
struct LoadedImage {
  const char *begin = nullptr, *end = nullptr;
  const char* base = nullptr;  ///< address of offset 0 of the file's symbol table
  /// The calling thread's copy of the thread-local variables; null before the thread's first use.
  char* thread_data = nullptr;
  std::size_t thread_bytes = 0;  ///< size of the thread-local variables
};

/// The image that contains `address`, such as that of a variable.
LoadedImage loaded_image(const void* address);

/// A variable of a compiled module.
struct ImageVariable {
  std::string symbol;
  /// From LoadedImage::base; of `shared` and `builtin`, from LoadedImage::thread_data.
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// The variables of a module, from the image's symbol table; none for an image without one.
struct ImageVariables {
  std::vector<ImageVariable> globals;  ///< __device__ and __constant__, in the order of the table
  std::vector<ImageVariable> shared;   ///< __shared__
  std::vector<ImageVariable> builtin;  ///< thread-local variables of the shim, such as threadIdx
  bool allocates = false;              ///< calls malloc
  bool may_lock = false;               ///< calls functions of libraries that may hold locks
};
ImageVariables read_variables(std::string_view image);

/// "total" for the symbol of a variable at namespace scope or in a function; "" if unknown.
std::string variable_name(std::string_view symbol);

/// A compiled module, loaded into this process.
class CpuModule final : public runtime::LoadedModule {
 public:
  /// Loads the image with its own copy of the variables. Throws DeviceError if it is not a module
  /// for this version of the library.
  explicit CpuModule(const runtime::KernelBinary& binary);
  ~CpuModule() override;

  /// Finds a kernel by its name in KernelBinary::symbols. Throws ArgumentError if there is none.
  Ref<runtime::LoadedKernel> kernel(const std::string& symbol) override;
  Global global(const std::string& symbol) override;
  void copy_variables(runtime::LoadedModule& from) override;

  /// The static shared memory of all kernels together (the loader does not distinguish them),
  /// including up to 64 bytes of built-in variables such as threadIdx.
  std::int64_t static_shared_bytes() const;
  /// "kernel.cu:7" for the instruction before `code` in a checked module, if its debug information
  /// and a tool that reads it (addr2line, llvm-addr2line) are available; else "".
  std::string line_before(const void* code) const;
  /// Adds to `check` the memory of the module and of the calling thread's copy of its __shared__
  /// variables, without those of other kernels than `kernel`, whose access is a fault.
  void describe_memory(AccessCheck& check, std::string_view kernel) const;
  const FaultTrap::CodeRange& code() const noexcept { return code_; }
  /// Whether a kernel may get addresses from the module: from malloc, or from a variable's value.
  bool has_addresses() const;
  /// spanwise::write_coverage().
  static void write_coverage();

 private:
  std::string innermost_line(const std::string& frames) const;
  /// Whether the __shared__ variable is one of a kernel that is not `kernel`; not of one in a
  /// namespace or of a template's instance.
  bool is_of_other_kernel(std::string_view symbol, std::string_view kernel) const;

  void* library_ = nullptr;
  const sw_module* info_ = nullptr;
  std::vector<const sw_module*> units_;  // one per linked source; info_ first
  std::string image_;                    // of a checked module, for line_before()
  ImageVariables variables_;
  FaultTrap::CodeRange code_;
};

/// One kernel of a module; holds a reference to the module.
class CpuKernel final : public runtime::LoadedKernel {
 public:
  /// `unit` and `kernel` are in the module.
  CpuKernel(Ref<CpuModule> module, const sw_module& unit, const sw_kernel* kernel);
  std::vector<ParameterInfo> parameter_info() const override;
  KernelAttributes attributes() const override;
  std::string parameter_types() const override;
  /// Synchronous. Throws KernelArgumentError if a limit is exceeded, DeviceError if a thread of the
  /// kernel fails.
  void launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
              runtime::StreamState& stream, void* const* arguments) override;
  /// A cooperative launch is an ordinary launch. Throws KernelArgumentError for clusters.
  void launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid, const Dim3& block,
                   std::int64_t shared_bytes, runtime::StreamState& stream,
                   void* const* arguments) override;
  bool checks() const noexcept override { return unit_.checked != 0; }
  int max_active_blocks(int threads, std::int64_t shared_bytes) override;

 private:
  /// The finding's text with the source lines of its accesses, and its remedy.
  std::string finding_message(const Finding& finding) const;
  void launch_checked(const runtime::LaunchCheck& check, const Dim3& grid, const Dim3& block,
                      std::int64_t shared_bytes, void* const* arguments);

  Ref<CpuModule> module_;
  const sw_module& unit_;
  const sw_kernel* kernel_;
};

}  // namespace spanwise::cpu_backend
