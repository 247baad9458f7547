// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The choice of the host's compiler, and its fingerprint, which is read without starting it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backends/cpu/jit/jit_compiler.hpp"
#include "backends/cpu_kernels.hpp"
#include "runtime/files.hpp"
#include "support/message_of.hpp"

namespace spanwise::cpu_backend {
namespace {

using runtime::TemporaryFolder;
using test::CpuKernels;
using test::EnvironmentVariable;
using test::message_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void compile_empty() { CpuKernels("__global__ void k() {}"); }

TEST(CpuFingerprint, BeginsWithTheCompilerAndExistsWithoutOne) {
  const std::string before = jit_fingerprint();
  const std::string without_compiler = before.substr(before.find('\n'));
  EXPECT_THAT(before.substr(0, before.find('\n')), Not(testing::IsEmpty()));
  {
    const TemporaryFolder empty;
    const EnvironmentVariable path("PATH", empty.path()), cxx("CXX", "");
    EXPECT_EQ(jit_fingerprint(), without_compiler);
  }
  if (std::filesystem::exists("/usr/bin/clang++")) {
    const EnvironmentVariable cxx("CXX", "clang++");
    EXPECT_NE(jit_fingerprint(), before);
    EXPECT_EQ(jit_fingerprint().substr(jit_fingerprint().find('\n')), without_compiler);
  }
  const test::SettingGuard order("cpu_thread_order", "reverse");
  EXPECT_NE(jit_fingerprint(), before);
}

TEST(CpuFingerprint, ChangesWithTheCompilersFile) {
  const TemporaryFolder folder;
  const std::string program = folder.write("g++", "#!/bin/sh\nexit 1\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const EnvironmentVariable cxx("CXX", program);
  const std::string before = jit_fingerprint();
  EXPECT_THAT(before, HasSubstr(program));
  folder.write("g++", "#!/bin/sh\nexit 1 \n");
  EXPECT_NE(jit_fingerprint(), before);
}

TEST(CpuCompiler, ErrorWithoutACompilerNamesThePackage) {
  const TemporaryFolder empty;
  const EnvironmentVariable path("PATH", empty.path()), cxx("CXX", " ");
  const std::string message = message_of<DeviceError>([] { compile_empty(); });
  EXPECT_THAT(message, AllOf(HasSubstr("g++"), HasSubstr("apt-get install g++")));
}

TEST(CpuCompiler, MissingProgramInCxxIsNotReplacedByAnother) {
  const TemporaryFolder folder;
  const std::vector<std::string> missing{"no-such-compiler -O3", folder.path() + "/g++"};
  for (const std::string& program : missing) {
    const EnvironmentVariable cxx("CXX", program);
    const std::string message = message_of<DeviceError>([] { compile_empty(); });
    EXPECT_THAT(message, AllOf(HasSubstr("CXX=" + program), HasSubstr("unset CXX")));
    EXPECT_THAT(jit_fingerprint(), StartsWith("\n"))
        << "cached kernels of another compiler would be used";
  }
}

TEST(CpuCompiler, ErrorHasTheOutputOfTheProgramInTheCLocale) {
  const TemporaryFolder folder;
  const std::string program =
      folder.write("g++", "#!/bin/sh\necho \"$LC_ALL: no licence\" >&2\nexit 3\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const EnvironmentVariable cxx("CXX", program);
  try {
    CpuKernels kernels("__global__ void k() {}");
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.log(), "C: no licence\n");
    EXPECT_THAT(error.what(), HasSubstr(program));
  }
}

TEST(CpuCompiler, RemovesItsTemporaryFiles) {
  const TemporaryFolder folder;
  const EnvironmentVariable temporary("TMPDIR", folder.path());
  CpuKernels kernels("__global__ void k(int* out) { out[0] = 1; }");
  EXPECT_THROW(CpuKernels("__global__ void k() { nonsense }"), CompileError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace spanwise::cpu_backend
