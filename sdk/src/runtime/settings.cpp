// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <string_view>

#include "core/string_utils.hpp"
#include "runtime/settings.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::runtime {
namespace {

void check_device(std::string_view value) {
  if (value != automatic_device) Device::parse(value);
}

config::Setting launch_blocking_setting() {
  config::Setting setting{
      .name = "launch_blocking",
      .description =
          "wait for each kernel and copy, so that the call that causes an error raises it",
      .default_value = "0"};
  // NVIDIA's variable of the same meaning (CUDA C++ Programming Guide, "CUDA Environment
  // Variables").
  const std::string cuda = environment("CUDA_LAUNCH_BLOCKING");
  if (!cuda.empty() && cuda != "0") {
    setting.value = "1";
    setting.source = "environment";
  }
  return setting;
}

bool declare_all() {
  config::declare(
      {.name = "device",
       .description =
           "the device of arrays made without device=; auto is the first GPU, else the CPU",
       .default_value = automatic_device,
       .check = check_device});
  config::declare({.name = "floatX",
                   .description = "the floating dtype of symbolic variables made without one",
                   .default_value = "float64",
                   .choices = {"float16", "float32", "float64"}});
  config::declare(
      {.name = "kernel_check",
       .description =
           "run each kernel on guarded copies of its arrays: bounds finds accesses outside "
           "of them, order results that depend on the order of threads",
       .default_value = "none",
       .choices = {"none", "bounds", "order", "all"}});
  return config::declare(launch_blocking_setting());
}

[[maybe_unused]] const bool declared = declare_all();

constinit const config::Flag blocking{"launch_blocking"};
constinit const config::Choice check{"kernel_check"};

}  // namespace

bool launch_blocking() { return blocking.get(); }

KernelCheck kernel_check() {
  const unsigned choice = check.get();  // of the choices: bit 0 is bounds, bit 1 is order
  return {(choice & 1u) != 0, (choice & 2u) != 0};
}

}  // namespace spanwise::runtime
