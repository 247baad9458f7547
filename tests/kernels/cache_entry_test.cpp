// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/disk_cache.hpp"

#include <gtest/gtest.h>

namespace spanwise::kernels {
namespace {

const CacheEntry sample{
    "key-0123.bin", "digest", {{"scale<unsigned int>", "_Z5scale"}, {"odd\nname 3 ", ""}}};

TEST(CacheEntry, ReadReturnsWrittenEntry) { EXPECT_EQ(CacheEntry::read(sample.write()), sample); }

TEST(CacheEntry, RefusesEveryDamage) {
  const std::string text = sample.write();
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_FALSE(CacheEntry::read(damaged)) << "byte " << i;
    EXPECT_FALSE(CacheEntry::read(text.substr(0, i))) << "cut at " << i;
  }
  EXPECT_FALSE(CacheEntry::read(text + "\n"));
}

}  // namespace
}  // namespace spanwise::kernels
