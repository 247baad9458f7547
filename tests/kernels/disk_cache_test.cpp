// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/disk_cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "kernels/fake_device.hpp"
#include "kernels/sha256.hpp"

namespace spanwise::kernels {
namespace {

namespace fs = std::filesystem;

runtime::KernelBinary binary_of(std::string image) {
  return {.image = std::move(image), .symbols = {{"k<int>", "_Z1kIiE"}}};
}

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCache cache(std::int64_t limit = 1 << 20) const { return DiskCache(path_.string(), limit); }
  std::vector<fs::path> files(const std::string& extension) const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(path_))
      if (entry.path().extension() == extension) out.push_back(entry.path());
    return out;
  }
  // Sets the time of the last use of `path` to `seconds` ago.
  static void age(const fs::path& path, int seconds) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  test::TestFolder folder_;
  fs::path path_ = folder_.path() / "home" / "kernels";
  const std::string key_ = sha256("a key"), other_key_ = sha256("another");
};

TEST_F(DiskCacheTest, FindsStoredEntry) {
  const runtime::KernelBinary stored = binary_of("image bytes");
  EXPECT_TRUE(cache().store(key_, stored));
  const auto binary = cache().find(key_);
  ASSERT_TRUE(binary);
  EXPECT_EQ(binary->image, "image bytes");
  EXPECT_EQ(binary->symbols, stored.symbols);
  EXPECT_FALSE(cache().find(other_key_));
  EXPECT_EQ(cache().usage().entries, 1);
}

TEST_F(DiskCacheTest, CreatesAPrivateFolder) {
  runtime::KernelBinary stored = binary_of("x");
  cache().store(key_, stored);
  for (const fs::path& path : {path_, path_.parent_path()})
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all) << path;
  for (const auto& entry : fs::directory_iterator(path_))
    EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all),
              fs::perms::none);
}

TEST_F(DiskCacheTest, DoesNotUseAFolderThatOthersMayWrite) {
  runtime::KernelBinary stored = binary_of("x");
  cache().store(key_, stored);
  fs::permissions(path_, fs::perms::all);
  EXPECT_FALSE(cache().find(key_));
  EXPECT_NE(cache().problem().find("may be written by other users"), std::string::npos)
      << cache().problem();
  fs::permissions(path_, fs::perms::owner_all);
  EXPECT_TRUE(cache().find(key_));
  EXPECT_EQ(cache().problem(), "");
}

TEST_F(DiskCacheTest, DoesNotUseAFileThatOthersMayWrite) {
  const runtime::KernelBinary stored = binary_of("x");
  cache().store(key_, stored);
  for (const std::string extension : {".bin", ".entry"}) {
    fs::permissions(files(extension).at(0), fs::perms::group_write, fs::perm_options::add);
    EXPECT_FALSE(cache().find(key_)) << extension;
    cache().store(key_, stored);
    EXPECT_TRUE(cache().find(key_));
  }
}

TEST_F(DiskCacheTest, DoesNotFollowASymbolicLink) {
  fs::create_directories(path_.parent_path());
  fs::create_directory(folder_.path() / "elsewhere");
  fs::create_directory_symlink(folder_.path() / "elsewhere", path_);
  runtime::KernelBinary stored = binary_of("x");
  EXPECT_FALSE(cache().store(key_, stored));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
  EXPECT_NE(cache().problem().find("symbolic link"), std::string::npos) << cache().problem();
}

TEST_F(DiskCacheTest, IgnoresDamagedEntriesAndReplacesThem) {
  for (const std::string extension : {".bin", ".entry"}) {
    for (const std::string damage : {"", "image bytez", "much longer than what was there before"}) {
      runtime::KernelBinary stored = binary_of("image bytes");
      cache().store(key_, stored);
      ASSERT_EQ(files(extension).size(), 1u);
      std::ofstream(files(extension)[0], std::ios::binary) << damage;
      EXPECT_FALSE(cache().find(key_)) << extension << " holding '" << damage << "'";
      cache().store(key_, stored);
      EXPECT_TRUE(cache().find(key_));
    }
    fs::remove(files(extension)[0]);
    EXPECT_FALSE(cache().find(key_)) << "without " << extension;
  }
}

TEST_F(DiskCacheTest, DoesNotFollowASymbolicLinkToAnImage) {
  runtime::KernelBinary stored = binary_of("image bytes");
  cache().store(key_, stored);
  const fs::path image = files(".bin").at(0);
  const fs::path outside = folder_.write("outside", "image bytes");
  fs::remove(image);
  fs::create_symlink(outside, image);
  EXPECT_FALSE(cache().find(key_));
}

TEST_F(DiskCacheTest, RemovesTheLeastRecentlyUsedFirst) {
  const std::string image(40'000, 'x');
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i) {
    keys.push_back(sha256(std::to_string(i)));
    runtime::KernelBinary stored = binary_of(image + std::to_string(i));
    cache().store(keys.back(), stored);
    for (const std::string extension : {".entry", ".bin"})
      for (const fs::path& file : files(extension))
        if (file.filename().string().starts_with(keys.back())) age(file, 1000 - 100 * i);
  }
  ASSERT_TRUE(cache().find(keys[0]));  // the oldest becomes the newest
  runtime::KernelBinary one_more = binary_of(image);
  cache(150'000).store(key_, one_more);
  EXPECT_FALSE(cache().find(keys[1])) << "the least recently used is still there";
  EXPECT_FALSE(cache().find(keys[2]));
  EXPECT_TRUE(cache().find(keys[0]));
  EXPECT_TRUE(cache().find(keys[3]));
  EXPECT_TRUE(cache().find(key_));
  EXPECT_LE(cache().usage().bytes, 150'000);
}

TEST_F(DiskCacheTest, DoesNotStoreAnEntryAboveTheLimit) {
  runtime::KernelBinary stored = binary_of(std::string(2000, 'x'));
  EXPECT_FALSE(cache(1000).store(key_, stored));
  EXPECT_FALSE(cache(1000).find(key_));
  cache(0).store(key_, stored);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_NE(cache(0).problem(), "");
}

TEST_F(DiskCacheTest, RemovesOldFilesOfInterruptedWriters) {
  runtime::KernelBinary stored = binary_of("x");
  cache().store(key_, stored);
  const fs::path old_image = path_ / (other_key_ + "-0123456789abcdef.bin");
  const fs::path old_temporary = path_ / ("." + other_key_ + ".entry.1.2.3.4.tmp");
  const fs::path new_temporary = path_ / ("." + other_key_ + ".entry.1.2.3.5.tmp");
  const fs::path foreign = path_ / "notes.txt";
  for (const fs::path& path : {old_image, old_temporary, new_temporary, foreign})
    std::ofstream(path) << "contents";
  constexpr int two_hours = 7200;  // incomplete entries older than one hour count as abandoned
  for (const fs::path& path : {old_image, old_temporary, foreign}) age(path, two_hours);
  cache().clear();  // also discards the known size of the folder, so that the next store lists it
  EXPECT_TRUE(fs::exists(foreign)) << "clear() touches only its own files";
  EXPECT_FALSE(fs::exists(new_temporary));

  for (const fs::path& path : {old_image, old_temporary, new_temporary})
    std::ofstream(path) << "contents";
  for (const fs::path& path : {old_image, old_temporary}) age(path, two_hours);
  cache().store(key_, stored);
  EXPECT_FALSE(fs::exists(old_image));
  EXPECT_FALSE(fs::exists(old_temporary));
  EXPECT_TRUE(fs::exists(new_temporary)) << "its writer may be at work";
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(cache().find(key_));
}

// A limit on the size of files fails writes as a full disk does.
TEST_F(DiskCacheTest, FailedWriteIsNoErrorAndLeavesNoFile) {
  runtime::KernelBinary small = binary_of("x"), large = binary_of(std::string(100'000, 'x'));
  cache().store(key_, small);
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tiny{1000 /* bytes */, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  EXPECT_FALSE(cache().store(other_key_, large));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(cache().find(other_key_));
  EXPECT_TRUE(cache().find(key_));
  EXPECT_TRUE(files(".tmp").empty()) << "a part of a file was left";
  EXPECT_NE(cache().problem().find("cannot write to " + path_.string() + ": File too large"),
            std::string::npos)
      << cache().problem();
  EXPECT_TRUE(cache().store(other_key_, small));
  EXPECT_EQ(cache().problem(), "") << "after a successful store";
}

TEST_F(DiskCacheTest, FolderThatCannotBeCreatedIsNoError) {
  folder_.write("file", "");
  const DiskCache below_a_file((folder_.path() / "file" / "kernels").string(), 1 << 20);
  runtime::KernelBinary stored = binary_of("x");
  EXPECT_FALSE(below_a_file.store(key_, stored));
  EXPECT_FALSE(below_a_file.find(key_));
  EXPECT_EQ(DiskCache("", 1 << 20).find(key_), std::nullopt);
  EXPECT_NE(DiskCache("", 1 << 20).problem().find("SPANWISE_CACHE_DIR"), std::string::npos);
}

TEST_F(DiskCacheTest, FollowsAnAliasToTheLastKey) {
  cache().set_alias(other_key_, key_);
  EXPECT_EQ(cache().follow_alias(other_key_), key_);
  cache().set_alias(other_key_, sha256("newer"));
  EXPECT_EQ(cache().follow_alias(other_key_), sha256("newer"));
  std::ofstream(path_ / (other_key_ + ".alias")) << "../../etc/passwd";
  EXPECT_FALSE(cache().follow_alias(other_key_));
}

// Each process stores another image under the same key; every reader must get a complete one.
TEST_F(DiskCacheTest, ProcessesMayWriteTheSameEntryAtOnce) {
  constexpr int processes = 4, rounds = 60;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      int failures = 0;
      for (int i = 0; i < rounds; ++i) {
        const std::string image(static_cast<std::size_t>(1000 + 500 * p),
                                static_cast<char>('a' + p));
        runtime::KernelBinary stored = binary_of(image);
        failures += !cache().store(key_, stored);
        const auto binary = cache().find(key_);
        failures +=
            !binary || binary->image.size() != 1000 + 500 * std::size_t(binary->image[0] - 'a');
      }
      ::_exit(failures == 0 ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_TRUE(cache().find(key_));
}

}  // namespace
}  // namespace spanwise::kernels
