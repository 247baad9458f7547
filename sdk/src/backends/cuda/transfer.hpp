// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/cuda/stream.hpp"

/// Copies of contiguous bytes between the host and a device, and between devices, and fills;
/// contracts as Backend's members of the same names.
namespace spanwise::cuda {

void upload(const void* host, void* device, std::size_t bytes, const CudaStream& stream);
void upload_pinned(const void* host, void* device, std::size_t bytes, const CudaStream& stream);
void download(const void* device, void* host, std::size_t bytes, const CudaStream& stream);
/// To memory of the stream's device.
void copy_peer(DeviceContext& source_context, const void* source, void* target, std::size_t bytes,
               const CudaStream& stream);
bool fill_bytes(void* data, const void* value, int period, std::size_t bytes,
                const CudaStream& stream);

}  // namespace spanwise::cuda
