// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "embedded/device_headers.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::embedded {
namespace {

const std::filesystem::path device_folder = SW_SOURCE_DIR "/sdk/device";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(EmbeddedText, ContainsEachFileByteForByteAndATrailingZero) {
  for (const TextFile& file : device_headers) {
    EXPECT_EQ(file.text, text_of(device_folder / file.name)) << file.name;
    EXPECT_EQ(file.text.data()[file.text.size()], '\0') << file.name;
  }
}

TEST(EmbeddedText, IsFoundOnlyByTheNameOfItsFile) {
  for (const TextFile& file : device_headers)
    EXPECT_EQ(file_text(device_headers, file.name).data(), file.text.data()) << file.name;
  for (const char* name : {"", "iew.cuh", "spanwise/view.cuh"})
    EXPECT_THROW(file_text(device_headers, name), Error) << name;
}

TEST(EmbeddedText, ContainsAllFilesOfTheFolder) {
  const std::filesystem::directory_iterator entries(device_folder);
  const auto is_file = [](const auto& entry) { return entry.is_regular_file(); };
  EXPECT_EQ(std::count_if(begin(entries), end(entries), is_file), std::ssize(device_headers));
}

}  // namespace
}  // namespace spanwise::embedded
