// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library_search.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "spanwise/runtime/config.hpp"
#include "support/environment_variable.hpp"

namespace spanwise::runtime {
namespace {

namespace fs = std::filesystem;
using test::EnvironmentVariable;

// Creates a folder for each test and removes it afterwards.
class LibrarySearch : public testing::Test {
 protected:
  LibrarySearch() {
    std::string pattern = (fs::temp_directory_path() / "spanwise-search-XXXXXX").string();
    root_ = fs::canonical(mkdtemp(pattern.data()));
  }
  ~LibrarySearch() override {
    config::set("cuda_library_path", "");
    std::error_code error;
    fs::remove_all(root_, error);
  }
  fs::path make_file(const fs::path& relative) {
    const fs::path file = root_ / relative;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "x";
    return file;
  }
  static bool has(const std::vector<fs::path>& folders, const fs::path& folder) {
    return std::find(folders.begin(), folders.end(), folder) != folders.end();
  }

  fs::path root_;
};

TEST_F(LibrarySearch, TheConfiguredFoldersComeFirstInTheirOrder) {
  make_file("b/x");
  make_file("a/x");
  config::set("cuda_library_path", (root_ / "b").string() + ":" + (root_ / "missing").string() +
                                       "::" + (root_ / "a").string());
  const auto folders = library_folders();
  ASSERT_GE(folders.size(), 2u);
  EXPECT_EQ(folders[0], root_ / "b");
  EXPECT_EQ(folders[1], root_ / "a");
}

TEST_F(LibrarySearch, AllLibraryFoldersOfToolkitsInTheEnvironmentAreSearched) {
  make_file("cuda/lib64/x");
  make_file("cuda/targets/sbsa-linux/lib/x");
  const EnvironmentVariable cuda_home("CUDA_HOME", (root_ / "cuda").string());
  const auto folders = library_folders();
  EXPECT_TRUE(has(folders, root_ / "cuda/lib64"));
  EXPECT_TRUE(has(folders, root_ / "cuda/targets/sbsa-linux/lib"));
}

TEST_F(LibrarySearch, LoaderPathIsSearched) {
  make_file("elsewhere/x");
  const EnvironmentVariable path("LD_LIBRARY_PATH",
                                 "/nonexistent:" + (root_ / "elsewhere").string());
  EXPECT_TRUE(has(library_folders(), root_ / "elsewhere"));
}

TEST_F(LibrarySearch, NewestOfAFolderIsFirstAndALinkAndItsTargetAreListedOnce) {
  make_file("lib/libnvrtc.so.12.4.127");
  make_file("lib/libnvrtc.so.13.0.48");
  make_file("lib/libnvrtc.so.9.2");
  make_file("lib/libnvrtc-builtins.so.13.0");
  make_file("lib/libnvrtc.alt.so.13");
  fs::create_symlink("libnvrtc.so.13.0.48", root_ / "lib/libnvrtc.so");
  const auto libraries = find_libraries("nvrtc", {root_ / "lib"});
  ASSERT_EQ(libraries.size(), 3u);
  EXPECT_EQ(libraries[0].path, root_ / "lib/libnvrtc.so.13.0.48");
  EXPECT_EQ(libraries[0].major, 13);
  EXPECT_EQ(libraries[1].path, root_ / "lib/libnvrtc.so.12.4.127");
  EXPECT_EQ(libraries[2].major, 9);
}

TEST_F(LibrarySearch, AnEarlierFolderWinsOverANewerVersion) {
  make_file("first/libnvrtc.so.12");
  make_file("second/libnvrtc.so.13");
  const auto libraries = find_libraries("nvrtc", {root_ / "first", root_ / "second"});
  ASSERT_EQ(libraries.size(), 2u);
  EXPECT_EQ(libraries[0].major, 12);
}

TEST_F(LibrarySearch, MissingFoldersHaveNoLibraries) {
  EXPECT_TRUE(find_libraries("nvrtc", {root_ / "missing"}).empty());
}

TEST_F(LibrarySearch, HeadersOfAToolkitAreBesideItsLibraries) {
  make_file("cuda/include/cuda_fp16.h");
  make_file("cuda/include/cccl/cuda/std/cstdint");
  const fs::path library = make_file("cuda/lib64/libnvrtc.so.13");
  EXPECT_EQ(header_folders(library),
            (std::vector<fs::path>{root_ / "cuda/include", root_ / "cuda/include/cccl"}));
}

TEST_F(LibrarySearch, HeadersOfATargetFolderAreBesideItsLibraries) {
  make_file("cuda/targets/x86_64-linux/include/cuda_fp16.h");
  const fs::path library = make_file("cuda/targets/x86_64-linux/lib/libnvrtc.so.13");
  EXPECT_EQ(header_folders(library),
            (std::vector<fs::path>{root_ / "cuda/targets/x86_64-linux/include"}));
}

TEST_F(LibrarySearch, HeadersOfTheWheelsOfCuda12AreInAnotherWheel) {
  make_file("nvidia/cuda_nvrtc/include/nvrtc.h");
  make_file("nvidia/cuda_runtime/include/cuda_fp16.h");
  make_file("nvidia/cuda_cccl/include/cuda/std/cstdint");
  const fs::path library = make_file("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(header_folders(library), (std::vector<fs::path>{root_ / "nvidia/cuda_runtime/include",
                                                            root_ / "nvidia/cuda_cccl/include"}));
}

TEST_F(LibrarySearch, HeadersOfTheWheelsOfCuda13AreBesideItsLibraries) {
  make_file("nvidia/cu13/include/cuda_fp16.h");
  const fs::path library = make_file("nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(header_folders(library), (std::vector<fs::path>{root_ / "nvidia/cu13/include"}));
}

TEST_F(LibrarySearch, HeadersOfCcclAreInAToolkitOrInAWheel) {
  make_file("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  make_file("nvidia/cu13/lib/libnvrtc.so.13");
  const std::vector<fs::path> wheels{root_ / "nvidia/cuda_nvrtc/lib", root_ / "nvidia/cu13/lib"};
  EXPECT_EQ(cccl_headers(wheels), fs::path{});
  const auto make_cccl = [&](const std::string& folder) {
    make_file(folder + "/nv/target");
    EXPECT_FALSE(has_cccl(root_ / folder))
        << "nv/target alone is not CCCL: other wheels of CUDA 13 have it, too";
    make_file(folder + "/cuda/std/type_traits");
  };
  make_cccl("cuda/include/cccl");
  make_file("cuda/lib64/libnvrtc.so.13");
  EXPECT_EQ(cccl_headers({wheels[0], root_ / "cuda/lib64"}), root_ / "cuda/include/cccl");
  make_cccl("nvidia/cu13/include/cccl");
  EXPECT_EQ(cccl_headers({wheels[1]}), root_ / "nvidia/cu13/include/cccl");
  make_cccl("nvidia/cuda_cccl/include");
  EXPECT_EQ(cccl_headers({wheels[0]}),
            root_ / "nvidia/cu13/include/cccl");  // of several folders of wheels, the first by name
}

TEST_F(LibrarySearch, WithoutHeadersTheListIsEmpty) {
  EXPECT_TRUE(header_folders(make_file("lib/libnvrtc.so.13")).empty());
}

TEST(MajorVersion, IsTheFirstNumberAfterSo) {
  EXPECT_EQ(major_version("/usr/lib/libnvrtc.so.12.4.127"), 12);
  EXPECT_EQ(major_version("libnvrtc.so.11.2"), 11);
  EXPECT_EQ(major_version("libnvrtc.so"), 0);
}

}  // namespace
}  // namespace spanwise::runtime
