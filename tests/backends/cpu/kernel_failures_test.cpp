// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A kernel that fails while it runs ends its launch with an error; the next launch works.
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "backends/cpu/cpu_kernels.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::CpuKernels;
using testing::AllOf;
using testing::HasSubstr;

struct Failure {
  const char* name;
  const char* source;
  std::vector<const char*> message;
};
std::ostream& operator<<(std::ostream& out, const Failure& f) { return out << f.name; }

// Each kernel takes an int* and fails with 64 threads per block.
const Failure failures[] = {
    {"assertion",
     "__global__ void k(int* out) {\n  assert(threadIdx.x < 40);\n}",
     {"kernel 'k'", "assertion failed: threadIdx.x < 40", "kernel.cu:2", "thread (40, 0, 0)",
      "block (0, 0, 0)"}},
    {"assertion_beside_a_barrier",
     "__global__ void k(int* out) {\n  __syncthreads();\n  assert(threadIdx.x < 40);\n  "
     "__syncthreads();\n}",
     {"assertion failed", "kernel.cu:3"}},
    {"trap",
     "__global__ void k(int* out) {\n  if (threadIdx.x == 3) __trap();\n}",
     {"__trap()", "kernel.cu:2"}},
    {"two_barriers",
     "__global__ void k(int* out) {\n  if (threadIdx.x < 32)\n    __syncthreads();\n  else\n    "
     "__syncthreads();\n}",
     {"different barriers", "__syncthreads() in line 3", "__syncthreads() in line 5",
      "block (0, 0, 0)"}},
    {"two_kinds_of_barrier",
     "__global__ void k(int* out) {\n  if (threadIdx.x < 32) __syncthreads(); else out[0] = "
     "__syncthreads_or(1);\n}",
     {"different barriers", "__syncthreads_or() in line 2"}},
    {"barrier_and_shuffle",
     "__global__ void k(int* out) {\n  if (threadIdx.x % 2)\n    __syncthreads();\n  else\n    "
     "out[0] = __shfl_sync(~0u, 1, 0);\n}",
     {"wait for one another for ever", "__syncthreads() in line 3", "__shfl_sync in line 5",
      "0xffffffff"}},
    {"collectives_that_differ",
     "__global__ void k(int* out) {\n  if (threadIdx.x % 2)\n    __syncwarp();\n  else\n    out[0] "
     "= __ballot_sync(~0u, 1);\n}",
     {"__syncwarp", "__ballot_sync", "line 3", "line 5"}},
    {"mask_without_the_caller",
     "__global__ void k(int* out) {\n  __syncwarp(1u);\n}",
     {"__syncwarp in line 2", "0x00000001", "leaves out the calling lane"}},
    {"invalid_width",
     "__global__ void k(int* out) {\n  out[0] = __shfl_sync(~0u, 1, 0, 12);\n}",
     {"width", "line 2"}},
    {"hidden_barrier",
     "struct Base {\n  __device__ Base() { __syncthreads(); }\n};\nstruct Derived : Base {};\n"
     "__global__ void k(int* out) { Derived derived; }",
     {"line 2", "does not show"}},
};

class CpuFailures : public testing::TestWithParam<Failure> {};

TEST_P(CpuFailures, EndTheLaunchWithAMessage) {
  CpuKernels kernels(
      std::string(GetParam().source) +
      "\n__global__ void valid(int* out) { __shared__ int s; if (threadIdx.x == 5) s = 7; "
      "__syncthreads(); if (threadIdx.x == 0) out[blockIdx.x] = s; }");
  std::vector<int> out(100, 0);
  for (const char* threads : {"1", "2"}) {
    const test::SettingGuard workers("cpu_threads", threads);
    for (const std::int64_t blocks : {1, 100}) {
      try {
        kernels.run("k", {{blocks}, {64}}, out.data());
        FAIL() << "expected a DeviceError";
      } catch (const DeviceError& error) {
        if (blocks > 1) continue;  // the order of blocks is unspecified
        for (const char* part : GetParam().message) EXPECT_THAT(error.what(), HasSubstr(part));
      }
      std::fill(out.begin(), out.end(), 0);
      kernels.run("valid", {{100}, {64}}, out.data());
      EXPECT_EQ(out, std::vector<int>(100, 7));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, CpuFailures, testing::ValuesIn(failures),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CpuLaunchLimits, AreThoseOfAGpu) {
  CpuKernels kernels("__global__ void k(int* out) { }");
  const auto message = [&](const CpuKernels::Launch& launch) -> std::string {
    int out = 0;
    try {
      kernels.run("k", launch, &out);
    } catch (const KernelArgumentError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({{1}, {2048}}),
              AllOf(HasSubstr("kernel 'k'"), HasSubstr("too large"), HasSubstr("1 to 1024")));
  EXPECT_THAT(message({{1}, {32, 32, 2}}), AllOf(HasSubstr("threads 2048"), HasSubstr("1024")));
  EXPECT_THAT(message({{1}, {1, 1, 65}}), AllOf(HasSubstr("z 65"), HasSubstr("64")));
  EXPECT_THAT(message({{1}, {0}}), HasSubstr("too small"));
  EXPECT_THAT(message({{2147483648}, {1}}), HasSubstr("2147483647"));
  EXPECT_THAT(message({{1, 65536}, {1}}), HasSubstr("65535"));
  EXPECT_THAT(message({{1, 1, 0}, {1}}), HasSubstr("too small"));
  EXPECT_THAT(message({{1}, {1}, 300000}), AllOf(HasSubstr("shared memory"), HasSubstr("232448")));
  EXPECT_THAT(message({{1}, {1}, -1}), HasSubstr("shared memory"));
  EXPECT_EQ(message({{1}, {1024}, 232448}), "");
}

TEST(CpuStacks, HoldLargeArraysOfEachThread) {
  CpuKernels kernels(
      "__global__ void k(int* out) {\n  volatile int big[20000];\n  for (int i = 0; i < 20000; "
      "++i) big[i] = threadIdx.x + i;\n"
      "  __syncthreads();\n  int sum = 0;\n  for (int i = 0; i < 20000; i += 100) sum += big[i] - "
      "i;\n  out[threadIdx.x] = sum;\n}");
  std::vector<int> out(64, -1);
  kernels.run("k", {{1}, {64}}, out.data());
  for (int t = 0; t < 64; ++t) EXPECT_EQ(out[static_cast<std::size_t>(t)], 200 * t);
}

TEST(CpuStacks, HoldARecursion) {
  CpuKernels kernels(
      "__device__ __noinline__ int depth(int n) { volatile int pad[16]; pad[n % 16] = n; "
      "__syncwarp(); return n == 0 ? 0 : 1 + depth(n - 1) + pad[n % 16] - n; }\n"
      "__global__ void k(int* out) { out[threadIdx.x] = depth(200); }");
  std::vector<int> out(64, -1);
  kernels.run("k", {{1}, {64}}, out.data());
  EXPECT_EQ(out, std::vector<int>(64, 200));
}

TEST(CpuStacks, SmallOverflowIsReportedAtTheNextBarrier) {
  // The depth is read from memory, so no compiler can compute it. Each frame is a little over 1000
  // bytes.
  const test::SettingGuard fibers("cpu_barriers", "fibers");
  CpuKernels kernels(
      "__device__ __noinline__ int depth(int left) {\n"
      "  volatile char pad[1000];\n  pad[left % 1000] = 1;\n"
      "  if (left > 0) return depth(left - 1) + pad[left % 1000];\n  return 0;\n}\n"
      "__global__ void k(int* out, int left) {\n"
      "  __syncthreads();\n  out[threadIdx.x] = depth(left);\n  __syncthreads();\n}");
  std::vector<int> out(4, 0);
  EXPECT_THAT(
      test::message_of<KernelFaultError>([&] { kernels.run("k", {{1}, {4}}, out.data(), 230); }),
      AllOf(HasSubstr("bytes of stack"), HasSubstr("cpu_stack_kb")));
  kernels.run("k", {{1}, {4}}, out.data(), 100);
  EXPECT_EQ(out, std::vector<int>(4, 100));
  const test::SettingGuard larger("cpu_stack_kb", "1000");
  kernels.run("k", {{1}, {4}}, out.data(), 700);
  EXPECT_EQ(out, std::vector<int>(4, 700));
}

// The pattern at the end of a stack is only compared when stacks are switched, at barriers. Here
// the check on entry of each function has to find the overflow.
TEST(CpuStacks, LargeOverflowIsReported) {
  const char* source =
      "__device__ __noinline__ int depth(int left) {\n"
      "  volatile char pad[1000];\n  pad[left & 511] = 1;\n"
      "  if (left > 0) return depth(left - 1) + pad[left & 511];\n  return 0;\n}\n"
      "__global__ void waits(int* out, int left) {\n"
      "  __syncthreads();\n  out[threadIdx.x] = depth(left);\n  __syncthreads();\n}\n"
      "__global__ void runs(int* out, int left) { out[threadIdx.x] = depth(left); }";
  for (const char* option : {"-O3", "-O0", runtime::check_option}) {
    CpuKernels kernels(source, {}, {option});
    std::vector<int> out(64, 0);
    for (const char* name : {"waits", "runs"}) {
      for (const char* threads : {"1", "2"}) {
        const test::SettingGuard workers("cpu_threads", threads);
        EXPECT_THAT(test::message_of<KernelFaultError>(
                        [&] { kernels.run(name, {{4}, {16}}, out.data(), 100'000'000); }),
                    AllOf(HasSubstr(name), HasSubstr("bytes of"), HasSubstr("stack"),
                          HasSubstr("in thread (")));
        kernels.run(name, {{1}, {16}}, out.data(), 50);
        EXPECT_EQ(out[15], 50);
      }
    }
  }
}

// In a new process, whose main thread has not read the limit of its stack yet.
TEST(CpuStacksDeathTest, RecursionIsReportedWhereTheStackIsUnlimited) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto recurse = [] {
    const rlimit no_limit{RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_STACK, &no_limit) != 0) std::_Exit(4);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers reserve terabytes
    const rlimit memory{8ul << 30, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &memory) != 0) std::_Exit(4);
#endif
    CpuKernels kernels(
        "__device__ __noinline__ int depth(int left) {\n"
        "  volatile char pad[1000];\n  pad[left & 511] = 1;\n"
        "  if (left > 0) return depth(left - 1) + pad[left & 511];\n  return 0;\n}\n"
        "__global__ void runs(int* out, int left) { out[threadIdx.x] = depth(left); }");
    const test::SettingGuard workers("cpu_threads", "1");
    int out = 0;
    try {
      kernels.run("runs", {{1}, {1}}, &out, 100'000'000);
    } catch (const DeviceError& error) {
      std::_Exit(std::string(error.what()).find("stack") != std::string::npos ? 0 : 1);
    }
    std::_Exit(2);
  };
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  if (limit.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "the stack has a hard limit";
  EXPECT_EXIT(recurse(), ::testing::ExitedWithCode(0), "");
}

// The memory mappings of this process.
std::int64_t count_mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

// Linux permits 65,530 mappings per process, and a machine may have hundreds of workers.
TEST(CpuStacks, TakeFewMappings) {
  const test::SettingGuard threads("cpu_threads", "4");
  CpuKernels kernels(
      "__device__ __noinline__ int depth(int left) { return left == 0 ? 0 : 1 + depth(left - 1); "
      "}\n"
      "__global__ void k(int* out, int left) {\n"
      "  __syncthreads();\n  atomicAdd(out, depth(left));\n  __syncthreads();\n}");
  int sum = 0;
  [[maybe_unused]] const std::int64_t before = count_mappings();
  kernels.run("k", {{200}, {1024}}, &sum, 3);
  EXPECT_EQ(sum, 200 * 1024 * 3);
#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer maps memory, too
  EXPECT_LT(count_mappings() - before, 100);
#endif
}

TEST(CpuLaunches, FromSeveralThreadsAtOnceAreIndependent) {
  CpuKernels kernels(
      "__global__ void k(int* out, int base) { __shared__ int s[64]; int t = threadIdx.x; s[t] = "
      "base + t; "
      "__syncthreads(); out[blockIdx.x * 64 + t] = s[63 - t]; }\n"
      "__global__ void bad(int* out, int base) { __syncthreads(); assert(blockIdx.x < 50); }");
  std::atomic<int> wrong_values{0}, errors{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 6; ++n) {
    threads.emplace_back([&, n] {
      for (int round = 0; round < 20; ++round) {
        std::vector<int> out(64 * 100, -1);
        kernels.run("k", {{100}, {64}}, out.data(), n * 1000);
        for (int i = 0; i < 6400; ++i)
          wrong_values += out[static_cast<std::size_t>(i)] != n * 1000 + 63 - i % 64;
        try {
          kernels.run("bad", {{100}, {64}}, out.data(), n);
        } catch (const DeviceError&) {
          ++errors;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_values, 0);
  EXPECT_EQ(errors, 120);  // 6 threads, 20 rounds
}

TEST(CpuThreadOrder, ReverseShowsAMissingBarrier) {
  // Without a barrier, correct only if each thread runs after its lower neighbour.
  const char* racy_source =
      "__global__ void k(int* out) { __shared__ int s[65]; int t = threadIdx.x; s[0] = 1; s[t + 1] "
      "= t + 2; out[t] = s[t]; }";
  const auto is_correct = [&](const char* order) {
    const test::SettingGuard setting("cpu_thread_order", order);
    CpuKernels kernels(racy_source);
    std::vector<int> out(64, 0);
    kernels.run("k", {{1}, {64}}, out.data());
    for (int t = 0; t < 64; ++t)
      if (out[static_cast<std::size_t>(t)] != t + 1) return false;
    return true;
  };
  EXPECT_TRUE(is_correct("forward"));
  EXPECT_FALSE(is_correct("reverse"));
}

}  // namespace
}  // namespace spanwise
