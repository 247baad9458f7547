// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "runtime/backend.hpp"
#include "runtime/library_search.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/interrupt.hpp"
#include "spanwise/runtime/tools.hpp"

namespace spanwise {
namespace {

using runtime::backend_for;
using runtime::find_backend;

thread_local std::optional<Device> guarded_device;  // of the innermost DeviceGuard

int cuda_count() noexcept {
  runtime::Backend* cuda = find_backend(DeviceKind::cuda);
  return cuda != nullptr ? cuda->device_count() : 0;
}

// Null where there is no GPU.
runtime::Backend* cuda_backend() noexcept {
  return cuda_count() > 0 ? find_backend(DeviceKind::cuda) : nullptr;
}

// The device that config "device" selects now.
Device configured_device() {
  const std::string name = config::get("device");
  if (name != runtime::automatic_device) return Device::parse(name);
  if (cuda_count() > 0) return Device(DeviceKind::cuda);
  static constinit std::atomic_flag is_logged;
  if (!is_logged.test_and_set())
    log_message(LogLevel::info, text("new arrays are on the CPU: ", why_no_cuda()));
  return cpu;
}

// Cached configured_device(), since each creation of an array needs it. One atomic word: a key of
// the settings and back ends that it was computed from, then the device's kind and ordinal.
constinit std::atomic<std::uint64_t> cached_default{0};

constexpr int ordinal_bits = 16, kind_bits = 8;

std::uint64_t pack(std::uint64_t key, Device device) {
  const auto kind = static_cast<std::uint64_t>(device.kind()),
             ordinal = static_cast<std::uint64_t>(device.ordinal());
  return key << (kind_bits + ordinal_bits) | kind << ordinal_bits | ordinal;
}

Device unpack(std::uint64_t packed) {
  const auto kind = static_cast<DeviceKind>(packed >> ordinal_bits & ((1u << kind_bits) - 1));
  return Device(kind, static_cast<int>(packed & ((1u << ordinal_bits) - 1)));
}

}  // namespace

std::vector<Device> devices() {
  std::vector<Device> all;
  for (int ordinal = 0, count = cuda_count(); ordinal < count; ++ordinal)
    all.emplace_back(DeviceKind::cuda, ordinal);
  all.push_back(cpu);
  return all;
}

std::string why_no_cuda() {
  runtime::Backend* backend = find_backend(DeviceKind::cuda);
  return backend != nullptr ? backend->unavailable_reason() : "this build has no CUDA back end";
}

DeviceProperties properties(Device device) {
  return backend_for(device).properties(working_device(device).ordinal());
}

const DeviceProperties& fixed_properties(Device device) {
  // Never destroyed: threads may use devices while static objects are destroyed.
  static NeverDestroyed<Mutex> mutex;
  static NeverDestroyed<std::map<std::pair<DeviceKind, int>, DeviceProperties>> cache;
  const std::pair key(device.kind(), device.ordinal());
  {
    const std::lock_guard lock(*mutex);
    if (const auto entry = cache->find(key); entry != cache->end()) return entry->second;
  }
  DeviceProperties fixed = properties(device);
  fixed.free_memory = 0;
  const std::lock_guard lock(*mutex);
  return cache->try_emplace(key, std::move(fixed)).first->second;
}

Device default_device() {
  if (guarded_device) return *guarded_device;
  // Both numbers only increase, so their sum changes whenever one of them does.
  const std::uint64_t key = config::version() + runtime::backend_generation();
  const std::uint64_t cached = cached_default.load(std::memory_order_acquire);
  if (cached >> (kind_bits + ordinal_bits) == key) return unpack(cached);
  const Device device = configured_device();
  if (device.ordinal() < 1 << ordinal_bits)
    cached_default.store(pack(key, device), std::memory_order_release);
  return device;
}

void synchronize(Device device) {
  backend_for(device).synchronize(working_device(device).ordinal());
  runtime::check_wait(device);
}

std::vector<Tool> tools() {
  std::vector<Tool> all;
  for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::cpu})
    if (runtime::Backend* backend = find_backend(kind))
      for (Tool& tool : backend->tools()) all.push_back(std::move(tool));
  return all;
}

void write_coverage() {
  if (runtime::Backend* backend = find_backend(DeviceKind::cpu)) backend->write_coverage();
}

// The CPU back end does not track addresses, so only the CUDA back end knows any.
std::optional<Device> device_of(const void* address) {
  runtime::Backend* cuda = address != nullptr ? cuda_backend() : nullptr;
  return cuda != nullptr ? cuda->device_of(address) : std::nullopt;
}

std::optional<GpuContext> gpu_context_of(const void* address) {
  runtime::Backend* cuda = address != nullptr ? cuda_backend() : nullptr;
  return cuda != nullptr ? cuda->context_of(address) : std::nullopt;
}

std::optional<GpuContext> current_gpu_context() {
  runtime::Backend* cuda = cuda_backend();
  return cuda != nullptr ? cuda->current_context() : std::nullopt;
}

GpuContextGuard::GpuContextGuard(Device device, bool relaxed_capture)
    : device_(device),
      entered_(backend_for(device).enter_context(device.ordinal(), relaxed_capture)) {}

GpuContextGuard::~GpuContextGuard() { backend_for(device_).leave_context(entered_); }

std::vector<std::string> find_cuda_library(std::string_view name) {
  std::vector<std::string> files;
  for (const auto& library : runtime::find_libraries(name, runtime::library_folders()))
    files.push_back(library.path.string());
  return files;
}

DeviceGuard::DeviceGuard(Device device) : previous_(guarded_device) {
  backend_for(device);
  guarded_device = device;
}

DeviceGuard::~DeviceGuard() { guarded_device = previous_; }

namespace {

// Named devices: a program groups its parts by name, and the user maps names to devices (Theano's
// `contexts` flag).
using Contexts = std::vector<std::pair<std::string, Device>>;

bool is_device_name(std::string_view word) {
  try {
    Device::parse(word);
    return true;
  } catch (const ArgumentError&) {
    return false;
  }
}

std::pair<std::string, Device> parse_context(std::string_view pair) {
  const std::size_t arrow = pair.find("->");
  if (arrow == std::string_view::npos)
    fail<ArgumentError>("contexts: \"", pair,
                        "\" has no \"->\"; expected \"name->device\", such as dev0->cuda:0");
  const std::string_view name = trimmed(pair.substr(0, arrow));
  if (name.empty() || is_device_name(name))
    fail<ArgumentError>("contexts: \"", name,
                        "\" cannot name a context; expected a word that is not a device's name");
  return {std::string(name), Device::parse(trimmed(pair.substr(arrow + 2)))};
}

// In the order of the list; the last entry of a name counts.
Contexts parse_contexts(std::string_view list) {
  Contexts all;
  for (const std::string_view pair : split(list, ';'))
    if (!trimmed(pair).empty()) all.push_back(parse_context(trimmed(pair)));
  return all;
}

[[maybe_unused]] const bool contexts_declared =
    config::declare({.name = "contexts",
                     .description = "names for devices: \"dev0->cuda:0;dev1->cuda:1\"",
                     .default_value = {},
                     .check = [](std::string_view value) { parse_contexts(value); }});

}  // namespace

std::optional<Device> find_context(std::string_view name) {
  std::optional<Device> mapped;
  for (const auto& [context, device] : parse_contexts(config::get("contexts")))
    if (context == name) mapped = device;
  return mapped;
}

Device named_device(std::string_view name) {
  if (const auto device = find_context(name)) return *device;
  try {
    return Device::parse(name);
  } catch (const ArgumentError& error) {
    const std::string known =
        joined(parse_contexts(config::get("contexts")), ", ", &Contexts::value_type::first);
    fail<ArgumentError>(
        error.what(),
        known.empty() ? ", or a context that sw.using() names" : ", or one of the contexts ",
        known);
  }
}

}  // namespace spanwise
