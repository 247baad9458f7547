// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Fatal errors, exit, fork and settings that are read once. A test of CudaProcess runs the test of
// InChild above it in a new process; other runs of this program skip those, which are DISABLED_.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "cuda_device.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/message_of.hpp"

namespace spanwise::cuda {
namespace {

using testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::string output;
};

// Runs one test of this program in a new process, with `environment` ("A=1 B=2") added.
Outcome run_alone(const std::string& test, const std::string& environment = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  // Without sharding, which might leave out the test.
  const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX " + environment +
                              " '" + program +
                              "' --gtest_also_run_disabled_tests --gtest_filter=" + test + " 2>&1";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
    outcome.output.append(part.data(), n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

void expect_passes_alone(const std::string& test, const std::string& environment = "") {
  const Outcome outcome = run_alone(test, environment);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("1 test from")) << "there is no test " << test;
}

class CudaProcess : public CudaTest {};
class CudaFullMemoryProcess : public CudaTest {};
class InChild : public CudaTest {};

// ---- Errors after which the context cannot be used.

Ref<runtime::LoadedKernel> write_to(const char* name) {
  return load_kernel(text("__global__ void ", name, "(int* p) { *p = 1; }\n"), name);
}

TEST_F(InChild, DISABLED_IllegalAddress) {
  runtime::StreamState& stream = *default_stream();
  const Ref<runtime::LoadedKernel> kernel = write_to("stray");
  const Storage alive = allocate(1 << 20, gpu);
  launch(*kernel, 1, stream, reinterpret_cast<int*>(std::uintptr_t{0x10}));
  for (int again = 0; again < 2; ++again) {
    try {
      stream.synchronize();
      ADD_FAILURE() << "no error";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.code(), 700);
      EXPECT_EQ(error.name(), "CUDA_ERROR_ILLEGAL_ADDRESS");
      EXPECT_THAT(error.what(), HasSubstr("must be restarted"));
      EXPECT_THAT(error.what(), HasSubstr("compute-sanitizer"));
    }
  }
  EXPECT_THROW(backend().allocate(0, 16, stream), DeviceError);
  // The destructors of kernel and storage, and the end of the process, must neither hang nor crash.
}
TEST_F(CudaProcess, AnIllegalAddressIsExplainedAndTheProcessEndsInOrder) {
  expect_passes_alone("InChild.DISABLED_IllegalAddress");
}

// The texts of the errors of calls in a lost context, each of which must name the reason.
TEST_F(InChild, DISABLED_CallsInALostContext) {
  const Ref<runtime::StreamState> own = backend().create_stream(0);
  const Ref<runtime::LoadedKernel> kernel = write_to("stray");
  const DeviceBytes memory(64);
  std::array<char, 64> host{};
  launch(*kernel, 1, *default_stream(), reinterpret_cast<int*>(std::uintptr_t{0x10}));
  EXPECT_THROW(backend().synchronize(0), DeviceError);
  const auto expect_named = [](const char* call, const auto& make) {
    try {
      make();
      ADD_FAILURE() << call << " did not throw";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.code(), 700) << call << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr("must be restarted")) << call;
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("captured"))) << call;
    }
  };
  for (runtime::StreamState* stream : {&*default_stream(), &*own}) {
    EXPECT_FALSE(stream->is_captured());
    EXPECT_EQ(stream->capture_id(), 0U);
    expect_named("upload", [&] { backend().upload(host.data(), memory.data(), 64, *stream); });
    expect_named("download", [&] { backend().download(memory.data(), host.data(), 64, *stream); });
    expect_named("copy_peer",
                 [&] { backend().copy_peer(memory.data(), 0, memory.data(), 0, 8, *stream); });
    expect_named("fill", [&] { backend().fill_bytes(memory.data(), "a", 1, 64, *stream); });
    expect_named("record", [&] { stream->record(false); });
    expect_named("query", [&] { stream->query(); });
    expect_named("allocate", [&] { backend().allocate(0, std::size_t{64} << 20, *stream); });
    expect_named("launch", [&] {
      launch(*kernel, 1, *stream, static_cast<int*>(memory.data()));
      stream->synchronize();
    });
  }
  // The driver may know the address still; that it does not must not be the answer.
  try {
    EXPECT_TRUE(backend().device_of(memory.data()).has_value());
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.code(), 700) << error.what();
  }
}
TEST_F(CudaProcess, CallsInALostContextNameItAndNotACapture) {
  expect_passes_alone("InChild.DISABLED_CallsInALostContext");
  expect_passes_alone("InChild.DISABLED_CallsInALostContext", "SPANWISE_KERNEL_LAUNCH=graph");
}

TEST_F(InChild, DISABLED_LaunchBlocking) {
  const Ref<runtime::LoadedKernel> kernel = write_to("culprit");
  try {
    launch(*kernel, 1, *default_stream(), reinterpret_cast<int*>(std::uintptr_t{0x10}));
    ADD_FAILURE() << "no error at the launch";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("culprit"));
    EXPECT_EQ(error.code(), 700);
  }
}
TEST_F(CudaProcess, LaunchBlockingNamesTheKernelThatFailed) {
  expect_passes_alone("InChild.DISABLED_LaunchBlocking", "SPANWISE_LAUNCH_BLOCKING=1");
  expect_passes_alone("InChild.DISABLED_LaunchBlocking", "CUDA_LAUNCH_BLOCKING=1");
}

TEST_F(InChild, DISABLED_Assert) {
  const Ref<runtime::LoadedKernel> kernel = load_kernel(
      "#include <assert.h>\n__global__ void strict(int n) { assert(n > 3); }\n", "strict");
  launch(*kernel, 1, *default_stream(), 2);
  try {
    backend().synchronize(0);
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.code(), 710);
    EXPECT_THAT(error.what(), HasSubstr("assert()"));
  }
}
TEST_F(CudaProcess, AFailedAssertIsExplained) { expect_passes_alone("InChild.DISABLED_Assert"); }

// ---- The end of a process, and children of it.

TEST_F(InChild, DISABLED_LiveObjectsAtExit) {
  static const Storage storage = allocate(1 << 20, gpu);
  static const Ref<runtime::StreamState> stream = backend().create_stream(0);
  static const Ref<runtime::EventState> event = stream->record(true);
  static const Ref<runtime::LoadedKernel> kernel = write_to("late");
  EXPECT_TRUE(kernel);
}
TEST_F(CudaProcess, ObjectsThatOutliveMainDoNotCrash) {
  expect_passes_alone("InChild.DISABLED_LiveObjectsAtExit");
}

TEST_F(InChild, DISABLED_Fork) {
  const Storage storage = allocate(1 << 20, gpu);  // the driver has started
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int failures = 0;
    failures += runtime::find_backend(DeviceKind::cuda)->device_count() != 0;
    failures += why_no_cuda().find("forked") == std::string::npos;
    try {
      allocate(16, gpu);
      failures += 1;
    } catch (const DeviceError& error) {
      failures += std::string(error.what()).find("spawn") == std::string::npos;
    }
    {
      const Storage dropped = storage;
    }
    _exit(failures);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NO_THROW(allocate(16, gpu)) << "the parent must not be affected";
}
TEST_F(CudaProcess, ForkedChildIsRefusedAndTheParentContinues) {
  expect_passes_alone("InChild.DISABLED_Fork");
}

TEST_F(InChild, DISABLED_NoContext) {
  // CudaTest::SetUp has asked for devices, which starts the driver, but no context.
  unsigned flags = 0;
  int active = -1;
  auto* state = driver_function<CUresult(CUdevice, unsigned*, int*)>("cuDevicePrimaryCtxGetState");
  ASSERT_EQ(state(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  const parse::KernelSource source = parse::scan_kernels("__global__ void k() {}\n");
  runtime::CompileRequest request;
  request.source = &source;
  backend().compiler_fingerprint(0, request);
  state(0, &flags, &active);
  EXPECT_EQ(active, 0) << "the key of a cached kernel must not need a context";
}
TEST_F(CudaProcess, ListingDevicesAndFingerprintsCreateNoContext) {
  expect_passes_alone("InChild.DISABLED_NoContext");
}

TEST_F(InChild, DISABLED_Preallocate) {
  const runtime::MemoryInfo info = backend().memory(0);
  EXPECT_GE(info.held, 96 << 20);
  EXPECT_LT(info.used, info.held);
  const DeviceBytes block(64 << 20);
  EXPECT_EQ(backend().memory(0).held, info.held);
}
TEST_F(CudaProcess, PreallocatedMemoryIsAllocatedAtTheFirstUse) {
  expect_passes_alone("InChild.DISABLED_Preallocate", "SPANWISE_PREALLOCATE=96MiB");
}

TEST_F(InChild, DISABLED_PreallocateTooMuch) {
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(test::message_of<OutOfMemoryError>([&] { backend().memory(0); }),
                HasSubstr("preallocate"));
  }
}
TEST_F(CudaFullMemoryProcess, ErrorOfPreallocatingTooMuchNamesTheSetting) {
  expect_passes_alone("InChild.DISABLED_PreallocateTooMuch", "SPANWISE_PREALLOCATE=2000GiB");
}

TEST(InChildWithoutDevices, DISABLED_Hidden) {
  EXPECT_FALSE(why_no_cuda().empty());
  EXPECT_THAT(why_no_cuda(), HasSubstr("CUDA_VISIBLE_DEVICES"));
}
TEST_F(CudaProcess, HiddenDevicesAreAbsentAndTheReasonNamesTheVariable) {
  expect_passes_alone("InChildWithoutDevices.DISABLED_Hidden", "CUDA_VISIBLE_DEVICES=-1");
}

}  // namespace
}  // namespace spanwise::cuda
