// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Folders that no other user can change, and temporary ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "runtime/files.hpp"
#include "spanwise/core/error.hpp"
#include "support/environment_variable.hpp"

namespace spanwise::runtime {
namespace {

namespace fs = std::filesystem;
using test::EnvironmentVariable;
using testing::HasSubstr;
using testing::StartsWith;

class SystemFolders : public ::testing::Test {
 protected:
  SystemFolders() { fs::create_directory(root_ / "a"); }
  std::string problem(const fs::path& path) const {
    return open_trusted_folder(path.string(), MissingFolders::leave).problem;
  }
  static void set_mode(const fs::path& path, int mode) {
    ASSERT_EQ(::chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
  }

  TemporaryFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(SystemFolders, AreCreatedPrivate) {
  const fs::path path = root_ / "a" / "b" / "c";
  EXPECT_TRUE(open_trusted_folder(path.string(), MissingFolders::leave).is_missing);
  EXPECT_FALSE(fs::exists(root_ / "a" / "b"));
  const TrustedFolder opened = open_trusted_folder(path.string(), MissingFolders::create);
  EXPECT_EQ(opened.problem, "");
  ASSERT_TRUE(opened.folder);
  EXPECT_TRUE(fs::equivalent(path, "/proc/self/fd/" + std::to_string(opened.folder.get())));
  for (const fs::path& each : {path, path.parent_path()})
    EXPECT_EQ(fs::status(each).permissions(), fs::perms::owner_all);
}

TEST_F(SystemFolders, WritableByOthersAreRefused) {
  const fs::path path = root_ / "a" / "b";
  fs::create_directory(path);
  EXPECT_EQ(problem(path), "");
  for (const fs::path& each : {path, root_ / "a"})
    for (const int mode : {0770, 0707, 0720}) {
      set_mode(each, mode);
      EXPECT_EQ(problem(path), each.string() + " may be written by other users (chmod go-w it)");
      set_mode(each, 0755);
    }
  set_mode(root_ / "a", 01777);  // as /tmp
  EXPECT_EQ(problem(path), "");
  EXPECT_EQ(parent_problem((root_ / "a").string()), "");
  EXPECT_NE(problem(root_ / "a"), "") << "others may put files into it";
  set_mode(root_ / "a", 0770);
  EXPECT_NE(parent_problem((root_ / "a").string()), "");
}

TEST_F(SystemFolders, OfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a folder";
  const fs::path path = root_ / "a" / "b";
  fs::create_directory(path);
  for (const fs::path& each : {path, root_ / "a"}) {
    ASSERT_EQ(::chown(each.c_str(), 12345, 12345), 0);
    EXPECT_EQ(problem(path), each.string() + " belongs to another user");
    ASSERT_EQ(::chown(each.c_str(), 0, 0), 0);
  }
  fs::create_directory_symlink(path, root_ / "link");
  EXPECT_EQ(problem(root_ / "link" / "."), problem(root_ / "link"));
  fs::create_directory(path / "c");
  EXPECT_EQ(problem(root_ / "link" / "c"), "");
  ASSERT_EQ(::lchown((root_ / "link").c_str(), 12345, 12345), 0);
  EXPECT_THAT(problem(root_ / "link" / "c"), HasSubstr("link belongs to another user"));
}

TEST_F(SystemFolders, MayBeReachedThroughSymbolicLinksButNotBeOne) {
  fs::create_directories(root_ / "a" / "b" / "c");
  fs::create_symlink("a/../a/b", root_ / "relative");
  fs::create_symlink(root_ / "relative", root_ / "absolute");
  fs::create_symlink("loop", root_ / "loop");
  EXPECT_EQ(problem(root_ / "absolute" / "c"), "");
  EXPECT_THAT(problem(root_ / "absolute"), HasSubstr("is a symbolic link"));
  EXPECT_EQ(parent_problem((root_ / "absolute").string()), "");
  EXPECT_THAT(problem(root_ / "loop" / "c"), HasSubstr("symbolic links"));
  set_mode(root_ / "a" / "b", 0770);
  EXPECT_THAT(problem(root_ / "absolute" / "c"), HasSubstr("may be written by other users"));
  folder_.write("file", "");
  EXPECT_THAT(problem(root_ / "file" / "c"), HasSubstr("file is no folder"));
}

// Creates two folders, one of them persistent, in a process that is killed.
void leave_folders() {
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFolder scoped, kept(TemporaryFolder::Lifetime::kept);
    scoped.write("a/file", "x");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}

int count(const fs::path& path) {
  return static_cast<int>(std::distance(fs::directory_iterator(path), {}));
}

TEST_F(SystemFolders, OnlyFoldersOfDeadProcessesAreRemoved) {
  const EnvironmentVariable temporary("TMPDIR", root_ / "a");
  const TemporaryFolder living;
  leave_folders();
  ASSERT_EQ(count(root_ / "a"), 3);
  const pid_t child = ::fork();
  if (child == 0) {
    // Under another name, since a process checks each parent once.
    const EnvironmentVariable other_name("TMPDIR", root_ / "a" / ".");
    const TemporaryFolder next;
    ::_exit(count(root_ / "a"));  // of `living`, the persistent one and `next`
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_TRUE(fs::exists(living.path()));
  EXPECT_EQ(count(root_ / "a"), 3)
      << "_exit() runs no destructors, so the folder of the child is left";
}

TEST_F(SystemFolders, TemporaryOnesAreCreatedInAProtectedParent) {
  set_mode(root_ / "a", 0770);
  const EnvironmentVariable temporary("TMPDIR", root_ / "a");
  const TemporaryFolder elsewhere;
  EXPECT_THAT(elsewhere.path(), Not(StartsWith((root_ / "a").string())));
}

}  // namespace
}  // namespace spanwise::runtime
