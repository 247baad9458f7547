// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/storage.hpp"

#include <new>

#include "core/storage_free_list.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {

Storage::ControlBlock::~ControlBlock() = default;

void Storage::ControlBlock::dispose() noexcept { core::StorageFreeList::cache_or_release(*this); }

Storage Storage::adopt(void* data, std::size_t bytes, Device device, ReleaseFn release,
                       void* context, bool readonly) {
  ControlBlock* block = nullptr;
  if (data != nullptr || bytes == 0) block = core::StorageFreeList::new_block();
  if (block == nullptr) [[unlikely]] {
    StreamUses no_uses;
    if (release != nullptr) release(context, data, bytes, no_uses);
    if (data == nullptr && bytes != 0)
      fail<ArgumentError>("storage: null address for ", bytes, " bytes on ", device,
                          "; expected the address of the memory, or 0 bytes");
    throw std::bad_alloc();
  }
  block->data = data;
  block->bytes = bytes;
  block->device = device;
  block->release_fn = release;
  block->context = context;
  Storage storage;
  storage.block_ = Ref<ControlBlock>::adopt(block);
  storage.readonly_ = readonly;
  return storage;
}

Storage Storage::as_readonly() const noexcept {
  Storage storage = *this;
  storage.readonly_ = true;
  return storage;
}

Storage Storage::from_byte(std::int32_t start) const noexcept {
  Storage storage = *this;
  storage.start_ = start;
  return storage;
}

}  // namespace spanwise
