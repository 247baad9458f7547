// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/naive_loops.hpp"

#include <cstring>

namespace spanwise::test {
namespace {

void write(std::byte* target, const Scalar& value) {
  std::memcpy(target, value.data(), static_cast<std::size_t>(value.dtype().itemsize()));
}

}  // namespace

void naive_copy(const UnownedArray& source, const UnownedArray& target) {
  const auto bytes = static_cast<std::size_t>(source.dtype.itemsize());
  for_each_index(target.layout.shape, [&](const Index& index) {
    if (source.dtype == target.dtype)
      std::memcpy(target.at(index), source.at(index), bytes);
    else
      write(target.at(index), Scalar(source.dtype, source.at(index)).cast(target.dtype));
  });
}

void naive_fill(const UnownedArray& target, const Scalar& value) {
  for_each_index(target.layout.shape, [&](const Index& index) { write(target.at(index), value); });
}

std::vector<std::complex<double>> values(const Array& array) {
  std::vector<std::complex<double>> all;
  const UnownedArray unowned(array);
  for_each_index(array.shape(), [&](const Index& index) {
    const Scalar element = Scalar(array.dtype(), unowned.at(index)).cast(complex128);
    std::complex<double> value;
    std::memcpy(&value, element.data(), sizeof value);
    all.push_back(value);
  });
  return all;
}

void set_values(const Array& array, const std::vector<std::complex<double>>& values) {
  const UnownedArray unowned(array);
  auto value = values.begin();
  for_each_index(array.shape(), [&](const Index& index) {
    write(unowned.at(index), Scalar(*value++).cast(array.dtype()));
  });
}

}  // namespace spanwise::test
