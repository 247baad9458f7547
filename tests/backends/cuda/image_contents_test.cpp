// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/device_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cuda/cuda_compiler.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DeviceProperties device_of_capability(const std::string& architecture) {
  DeviceProperties device;
  device.name = "the GPU";
  device.architecture = architecture;
  return device;
}

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// An image in the format of nvcc -fatbin. For each part it has an entry: a header and a payload of
// zeros. `other_kind` replaces the kind of all entries if it is not 0.
std::string fat_binary(const std::vector<ImagePart>& parts, int other_kind = 0) {
  constexpr std::uint64_t payload_bytes = 24;
  constexpr std::uint32_t header_bytes = 64;
  std::string entries;
  for (const ImagePart& part : parts) {
    std::string entry;
    append(entry, static_cast<std::uint16_t>(other_kind != 0 ? other_kind : part.is_ptx ? 1 : 2));
    append(entry, std::uint16_t{0x101});
    append(entry, header_bytes);
    append(entry, payload_bytes);
    append(entry, std::uint64_t{0});
    append(entry, std::uint32_t{0});
    append(entry, static_cast<std::uint32_t>(part.architecture));
    entry.resize(header_bytes + payload_bytes);
    entries += entry;
  }
  std::string image;
  append(image, std::uint32_t{0xba55ed50});  // the magic number of fat binaries
  append(image, std::uint16_t{1});
  append(image, std::uint16_t{16});
  append(image, std::uint64_t{entries.size()});
  return image + entries;
}

std::string refusal(const std::string& image, const std::string& architecture) {
  try {
    require_runnable(image, device_of_capability(architecture));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ImageContents, OfAFatBinaryListAllItsImages) {
  const auto parts = image_parts(fat_binary({{70, false}, {80, false}, {80, true}}));
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].architecture, 70);
  EXPECT_FALSE(parts[1].is_ptx);
  EXPECT_TRUE(parts[2].is_ptx);
}

TEST(ImageContents, UnsupportedArchitectureErrorNamesTheNeededOne) {
  const std::string image = fat_binary({{70, false}, {100, true}});
  EXPECT_THAT(refusal(image, "sm_90"),
              AllOf(HasSubstr("sm_70"), HasSubstr("PTX for compute_100"), HasSubstr("sm_90"),
                    HasSubstr("-gencode arch=compute_90,code=sm_90")));
  EXPECT_EQ(refusal(image, "sm_70"), "");
  EXPECT_EQ(refusal(image, "sm_75"), "");  // a newer one of the same major version
  EXPECT_EQ(refusal(image, "sm_120"), "");
  EXPECT_EQ(refusal(fat_binary({{86, false}}), "sm_80").empty(), false);
}

TEST(ImageContents, OfLtoIrOnlyMustBeLinked) {
  constexpr int lto_ir = 8;  // nvcc -gencode arch=compute_90,code=lto_90 -fatbin
  EXPECT_TRUE(is_lto_ir(fat_binary({{90, false}}, lto_ir)));
  EXPECT_FALSE(is_lto_ir(fat_binary({{90, false}, {90, true}})));
  EXPECT_TRUE(is_lto_ir(std::string("\xed\x43\x4e\x7f\0", 5)));
  EXPECT_FALSE(is_lto_ir(".version 8.0\n.target sm_80\n"));
  EXPECT_FALSE(is_lto_ir(""));
}

TEST(ImageContents, OfPtxAreItsTarget) {
  const std::string ptx = "//\n.version 8.0\n.target sm_80\n.address_size 64\n";
  ASSERT_EQ(image_parts(ptx).size(), 1u);
  EXPECT_TRUE(image_parts(ptx)[0].is_ptx);
  EXPECT_EQ(refusal(ptx, "sm_90"), "");
  EXPECT_THAT(refusal(ptx, "sm_75"), HasSubstr("PTX for compute_80"));
}

class NvrtcImages : public CompilerTest {};

TEST_F(NvrtcImages, CubinsContainTheirArchitecture) {
  const std::string image = build("__global__ void k(int* x) { *x = 1; }").image;
  ASSERT_EQ(image_parts(image).size(), 1u);
  EXPECT_EQ(image_parts(image)[0].architecture, 90);
  EXPECT_EQ(refusal(image, "sm_90"), "");
  EXPECT_THAT(refusal(image, "sm_80"), HasSubstr("got sm_90"));
}

TEST(ImageContents, OfInvalidBytesAreRefusedOrLeftToTheDriver) {
  EXPECT_THAT(refusal("__global__ void k() {}", "sm_90"), HasSubstr("SourceModule"));
  EXPECT_THAT(refusal("", "sm_90"), HasSubstr("0 bytes"));
  // Reading a truncated image must not fail: the driver reports it.
  const std::string image = fat_binary({{90, false}, {80, true}});
  for (std::size_t size = 4; size < image.size(); ++size) image_parts(image.substr(0, size));
  EXPECT_EQ(refusal(std::string("\x7f"
                                "ELF\0\0\0\0",
                                8),
                    "sm_90"),
            "");
}

TEST_F(NvrtcImages, CheckedKernelsCompile) {
  runtime::CompileRequest request;
  request.options = {runtime::check_option, "-DSW_CHECK_BOUNDS", "-lineinfo"};
  request.include_dirs = {SW_SOURCE_DIR "/sdk/device"};
  const char* source =
      "#include \"view.cuh\"\n"
      "__global__ void k(spanwise::View<float, 2> x, int i) { x(i, 1) = 1; }";
  EXPECT_EQ(build(source, request).symbols.count("k"), 1u);
}

}  // namespace
}  // namespace spanwise::cuda
