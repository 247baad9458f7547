// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace spanwise::kernels {

// FIPS 180-4's examples, as NIST publishes them.
TEST(Sha256, MatchesPublishedDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePartsOfTheInput) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += static_cast<char>(i * 31);
  for (const std::size_t step : {1u, 7u, 63u, 64u, 65u, 200u}) {
    Sha256 hash;
    for (std::size_t i = 0; i < text.size(); i += step)
      hash.update(std::string_view(text).substr(i, step));
    EXPECT_EQ(hash.hex(), sha256(text)) << "in parts of " << step;
  }
}

TEST(Sha256, IsTheSameWithShaInstructions) {
  if (sha256_instructions() == nullptr) GTEST_SKIP() << "this processor has no SHA instructions";
  std::array<std::uint32_t, 8> portable{}, accelerated{};
  std::array<unsigned char, 64> bytes{};
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<unsigned char>(bytes[i] * 7 + portable[i % 8] + i);
    sha256_plain(portable, bytes.data());
    sha256_instructions()(accelerated, bytes.data());
    ASSERT_EQ(portable, accelerated);
  }
}

TEST(Sha256, SeparatesFields) {
  const auto digest = [](std::string_view a, std::string_view b) {
    Sha256 hash;
    hash.field(a);
    hash.field(b);
    return hash.hex();
  };
  EXPECT_NE(digest("ab", "c"), digest("a", "bc"));
  EXPECT_NE(digest("", "abc"), digest("abc", ""));
}

}  // namespace spanwise::kernels
