// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/checked_launch.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/arguments/bound_arguments.hpp"
#include "kernels/arguments/guarded_arrays.hpp"
#include "kernels/module_cache.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::kernels {
namespace {

using ExecutionOrder = runtime::LaunchCheck::ExecutionOrder;

// The kernel compiled with checks, and its module; null without source. On a GPU, where only views
// are checked, also null for a source with variables, whose values the other module would lack.
Ref<runtime::LoadedKernel> checked_kernel(const KernelState& function, Ref<ModuleState>& module) {
  const runtime::CompileRequest& request = function.module()->request();
  if (request.source->text.empty()) return nullptr;
  if (!function.device().is_cpu() && function.module()->declares_variables()) return nullptr;
  ModuleOptions options{.options = request.options,
                        .names = request.names,
                        .include_dirs = request.include_dirs,
                        .device = function.device()};
  for (const char* option : {runtime::check_option, "-DSW_CHECK_BOUNDS", "-lineinfo"})
    options.options.emplace_back(option);
  for (const parse::KernelSource& linked : request.linked) options.link.push_back(linked.text);
  module = function.module()->checked();
  if (!module)
    module = function.module()->set_checked(
        find_or_build(request.source->text, options)->with_own_variables());
  const KernelState checked(module, function.name());
  return Ref<runtime::LoadedKernel>(&checked.kernel());
}

// Whether no argument seems to hold an address, besides those of the arrays themselves.
bool is_free_of_addresses(std::span<const KernelArg> arguments) {
  return std::ranges::none_of(arguments, [](const KernelArg& argument) {
    if (argument.is_array()) {
      const DType dtype = argument.array().dtype();
      return dtype == int64 || dtype == uint64;
    }
    if (argument.kind() == KernelArg::Kind::bytes)
      return runtime::may_hold_address(argument.raw().data(), argument.raw().size());
    const Scalar& value = argument.scalar();
    return !value.dtype().is_floating() &&
           runtime::may_hold_address(value.data(),
                                     static_cast<std::size_t>(value.dtype().itemsize()));
  });
}

/// One checked launch, on the current stream. The members throw KernelFaultError.
class CheckedRun {
 public:
  CheckedRun(const KernelState& function, const LaunchConfig& config,
             std::span<const KernelArg> arguments)
      : function_(function),
        config_(config),
        original_(arguments),
        checked_(checked_kernel(function, checked_module_)),
        kernel_(checked_ ? *checked_ : function.kernel()),
        arrays_(function, arguments) {}

  void run(runtime::KernelCheck check) {
    races_ = check.order;
    const std::vector<std::string> first = run_in(ExecutionOrder::forward, 0);
    if (!kernel_.checks()) return arrays_.copy_out(first);
    if (check.order) {
      compare(first, ExecutionOrder::reverse, 0);
      for (const std::uint64_t seed : {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u})
        compare(first, ExecutionOrder::random, seed);
    }
    // The checked runs have changed nothing: neither arrays, nor variables, nor other memory.
    queue_launch(function_, function_.kernel(), config_, original_, nullptr);
  }

 private:
  std::vector<std::string> run_in(ExecutionOrder order, std::uint64_t seed) {
    arrays_.copy_in();
    if (checked_module_) checked_module_->loaded().copy_variables(function_.module()->loaded());
    const runtime::LaunchCheck check{
        order, seed, arrays_.red_zones(), races_, is_free_of_addresses(original_), &findings_};
    queue_launch(function_, kernel_, config_, arrays_.arguments(), &check);
    Stream::current(function_.device()).synchronize();
    if (const std::string damage = arrays_.damage(); !damage.empty())
      fail<KernelFaultError>(
          "kernel '", function_.name(), "' on ", function_.device(), " ", damage,
          ". Remedy: compare the index with the extent before the access; ",
          function_.device().is_cpu()
              ? "check that the array is as large as the kernel assumes"
              : "compute-sanitizer --tool memcheck python ... names the line, and so "
                "does this check on the CPU, which sees reads too");
    return arrays_.snapshot();
  }

  // A result that differs from `first`, that of the forward order, is a fault, unless only the
  // order of atomic operations explains it.
  void compare(const std::vector<std::string>& first, ExecutionOrder order, std::uint64_t seed) {
    const std::string difference = arrays_.difference(first, run_in(order, seed));
    if (difference.empty() || (findings_.suspect_access.empty() && findings_.has_atomics)) return;
    fail<KernelFaultError>(
        "kernel '", function_.name(), "' on ", function_.device(),
        findings_.suspect_access.empty() ? " has a race" : " has an undefined result",
        ": with threads in order and ",
        order == ExecutionOrder::reverse ? "in reverse " : "in another order ", difference,
        findings_.suspect_access.empty()
            ? std::string(". Remedy: put __syncthreads() between what one thread writes and "
                          "another reads, or use atomics where several write one element")
            : ". The cause may be: " + findings_.suspect_access);
  }

  const KernelState& function_;
  const LaunchConfig& config_;
  std::span<const KernelArg> original_;
  Ref<ModuleState> checked_module_;
  Ref<runtime::LoadedKernel> checked_;
  runtime::LoadedKernel& kernel_;
  GuardedArrays arrays_;
  bool races_ = false;
  runtime::LaunchFindings findings_;
};

}  // namespace

void checked_launch(const KernelState& function, const LaunchConfig& config,
                    std::span<const KernelArg> arguments, runtime::KernelCheck check) {
  const BoundArguments bound(function, arguments);  // throws before the arrays are copied
  const StreamGuard guard(config.stream ? *config.stream : Stream::current(function.device()));
  CheckedRun(function, config, arguments).run(check);
}

}  // namespace spanwise::kernels
