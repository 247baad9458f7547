// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <cstring>

#include "core/storage_free_list.hpp"
#include "runtime/backend.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/core/device_table.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/linear_algebra.hpp"

namespace spanwise::runtime {
namespace {

struct BackendSlot {
  std::atomic<Backend*> backend{nullptr};
  std::array<std::atomic<StreamState*>, 16> default_streams{};
};

// By DLPack device type. Constant-initialised, since static initialisers register back ends.
constinit std::array<BackendSlot, 32> slots{};
constinit DeviceTable<ElementLoops> all_element_loops{"copy"};
constinit std::atomic<std::uint64_t> generation{1};

BackendSlot* slot_of(DeviceKind kind) noexcept {
  const auto index = static_cast<std::size_t>(working_device(Device(kind)).kind());
  return index < slots.size() ? &slots[index] : nullptr;
}

[[noreturn]] void fail_absent(Device device, Backend* backend) {
  if (backend == nullptr)
    fail<DeviceError>("device ", device, ": this build has no back end for it; expected cpu",
                      find_backend(DeviceKind::cuda) != nullptr ? " or cuda:<ordinal>" : "");
  const int count = backend->device_count();
  if (count <= 0)
    fail<DeviceError>("device ", device, " does not exist: ", backend->unavailable_reason(),
                      ". Use device \"cpu\", or set SPANWISE_DEVICE=cpu");
  fail<DeviceError>("device ", device, " does not exist; expected an ordinal from 0 to ",
                    count - 1);
}

}  // namespace

bool register_backend(std::unique_ptr<Backend> backend) {
  BackendSlot* slot = slot_of(backend->kind());
  Backend* none = nullptr;
  if (slot == nullptr || !slot->backend.compare_exchange_strong(none, backend.get())) return false;
  backend.release();  // NOLINT(bugprone-unused-return-value): the slot has it now
  generation.fetch_add(1);
  return true;
}

std::unique_ptr<Backend> exchange_backend(DeviceKind kind, std::unique_ptr<Backend> backend) {
  BackendSlot* slot = slot_of(kind);
  if (slot == nullptr)
    fail<ArgumentError>("exchange_backend: ", static_cast<int>(kind),
                        " is no kind of device; expected a DLPack device type");
  core::StorageFreeList::drop();  // cached memory belongs to the previous back end
  for (auto& stream : slot->default_streams) stream.store(nullptr);
  clear_persistent_streams();
  std::unique_ptr<Backend> previous(slot->backend.exchange(backend.release()));
  generation.fetch_add(1);
  return previous;
}

const ElementLoops* register_element_loops(DeviceKind kind, const ElementLoops* loops) {
  return all_element_loops.set(kind, loops);
}

const ElementLoops& element_loops(Device device) { return all_element_loops[device]; }

std::uint64_t backend_generation() noexcept { return generation.load(std::memory_order_acquire); }

Backend* find_backend(DeviceKind kind) noexcept {
  BackendSlot* slot = slot_of(kind);
  return slot != nullptr ? slot->backend.load(std::memory_order_acquire) : nullptr;
}

Backend& backend_for(Device device) {
  const Device actual = working_device(device);
  Backend* backend = find_backend(actual.kind());
  if (backend == nullptr || actual.ordinal() < 0 || actual.ordinal() >= backend->device_count())
      [[unlikely]]
    fail_absent(device, backend);
  return *backend;
}

StreamState& default_stream(Device device) {
  const Device actual = working_device(device);
  BackendSlot* slot = slot_of(actual.kind());
  const auto ordinal = static_cast<std::size_t>(actual.ordinal());
  std::atomic<StreamState*>* cached = slot != nullptr && ordinal < slot->default_streams.size()
                                          ? &slot->default_streams[ordinal]
                                          : nullptr;
  if (cached != nullptr)
    if (StreamState* stream = cached->load(std::memory_order_acquire)) return *stream;
  // The back end holds a reference to the stream, so it outlives the temporary.
  StreamState& stream = *backend_for(actual).default_stream(actual.ordinal());
  if (cached != nullptr) cached->store(&stream, std::memory_order_release);
  return stream;
}

bool may_hold_address(const void* data, std::size_t bytes) noexcept {
  const auto* next = static_cast<const char*>(data);
  for (std::uint64_t word = 0; bytes >= sizeof word; bytes -= sizeof word, next += sizeof word) {
    std::memcpy(&word, next, sizeof word);
    if (word >> 40 != 0 && word >> 48 == 0) return true;
  }
  return false;
}

}  // namespace spanwise::runtime

namespace spanwise {

bool library_gemm(const Stream& stream, const GemmCall& call) {
  runtime::StreamState& state = stream.state();
  if (!runtime::backend_for(state.device()).gemm(call, state)) return false;
  runtime::after_queueing(state);
  return true;
}

}  // namespace spanwise
