// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/checked_launch.hpp"

#include <array>
#include <string>
#include <vector>

#include "kernels/arguments/bound_arguments.hpp"
#include "kernels/arguments/guarded_arrays.hpp"
#include "kernels/module_cache.hpp"
#include "spanwise/error.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::kernels {
namespace {

using Order = runtime::LaunchCheck::Order;

// The same kernel compiled with checks; null without source.
Ref<runtime::LoadedKernel> checked_kernel(const KernelState& function) {
  const runtime::CompileRequest& request = function.module()->request();
  if (request.source->text.empty()) return nullptr;
  ModuleOptions options{.options = request.options,
                        .names = request.names,
                        .include_dirs = request.include_dirs,
                        .device = function.device()};
  for (const char* option : {runtime::check_option, "-DSW_CHECK_BOUNDS", "-lineinfo"})
    options.options.emplace_back(option);
  for (const source::KernelSource& linked : request.linked) options.link.push_back(linked.text);
  const KernelState checked(find_or_build(request.source->text, options), function.name());
  return Ref<runtime::LoadedKernel>(&checked.kernel());
}

const char* name_of(Order order) {
  switch (order) {
    case Order::forward:
      return "in order";
    case Order::reverse:
      return "in reverse";
    case Order::random:
      break;
  }
  return "in another order";
}

/// One checked launch; its members throw DeviceError for the errors found.
class CheckedRun {
 public:
  CheckedRun(const KernelState& function, const LaunchConfig& config,
             std::span<const KernelArg> arguments)
      : function_(function),
        config_(config),
        checked_(checked_kernel(function)),
        kernel_(checked_ ? *checked_ : function.kernel()),
        arrays_(function, arguments) {}

  void run(runtime::KernelCheck check) {
    const std::vector<std::string> first = run_in(Order::forward, 0);
    if (check.order && kernel_.checks()) {
      compare(first, Order::reverse, 0);
      for (const std::uint64_t seed : {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u})
        compare(first, Order::random, seed);
    }
    arrays_.copy_out(first);
  }

 private:
  std::vector<std::string> run_in(Order order, std::uint64_t seed) {
    arrays_.fill_in();
    const runtime::LaunchCheck check{order, seed, arrays_.red_zones()};
    queue_launch(function_, kernel_, config_, arrays_.arguments(), &check);
    stream().synchronize();
    if (const std::string found = arrays_.damage(); !found.empty())
      fail<DeviceError>("kernel '", function_.name(), "' on ", function_.device(), " ", found,
                        ". Remedy: compare the index with the extent before the access; ",
                        function_.device().is_cpu()
                            ? "is the array as large as the kernel thinks?"
                            : "compute-sanitizer --tool memcheck python ... names the line, and so "
                              "does this check on the CPU, which sees reads too");
    return arrays_.snapshot();
  }

  void compare(const std::vector<std::string>& first, Order order, std::uint64_t seed) {
    const std::string found = arrays_.difference(first, run_in(order, seed));
    if (found.empty()) return;
    fail<DeviceError>("kernel '", function_.name(), "' on ", function_.device(),
                      " has a race: with threads ", name_of(Order::forward), " and ",
                      name_of(order), " ", found,
                      ". Remedy: put __syncthreads() between what one thread writes and another "
                      "reads, or use atomics where several write one element");
  }

  Stream stream() const {
    return config_.stream ? *config_.stream : Stream::current(function_.device());
  }

  const KernelState& function_;
  const LaunchConfig& config_;
  Ref<runtime::LoadedKernel> checked_;
  runtime::LoadedKernel& kernel_;
  GuardedArrays arrays_;
};

}  // namespace

void checked_launch(const KernelState& function, const LaunchConfig& config,
                    std::span<const KernelArg> arguments, runtime::KernelCheck check) {
  const BoundArguments refuses_what_every_launch_does(function, arguments);
  const StreamGuard guard(config.stream ? *config.stream : Stream::current(function.device()));
  CheckedRun(function, config, arguments).run(check);
}

}  // namespace spanwise::kernels
