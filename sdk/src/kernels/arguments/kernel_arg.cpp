// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/kernels/kernel.hpp"

namespace spanwise {

KernelArg KernelArg::memory(const Array& array) noexcept {
  KernelArg argument(array);
  argument.kind_ = Kind::memory;
  return argument;
}

KernelArg KernelArg::integer(std::int64_t value) noexcept { return {Kind::integer, Scalar(value)}; }

KernelArg KernelArg::real(double value) noexcept { return {Kind::real, Scalar(value)}; }

KernelArg KernelArg::bytes(std::span<const std::byte> bytes) noexcept {
  KernelArg argument(Kind::bytes, Scalar(std::int64_t{0}));
  argument.bytes_ = bytes;
  return argument;
}

KernelArg KernelArg::address(std::uintptr_t address) noexcept {
  return {Kind::address, Scalar(std::uint64_t{address})};
}

}  // namespace spanwise
