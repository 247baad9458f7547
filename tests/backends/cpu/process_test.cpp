// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that hang, write without end, or leave child processes. A test that hangs has failed.
#include "backends/cpu/jit/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "backends/cpu/cpu_kernels.hpp"
#include "parse/device_code.hpp"
#include "runtime/files.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::cpu_backend {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;

class CpuProcess : public ::testing::Test {
 protected:
  ProcessResult run(const std::string& script, ProcessLimits limits = {600s, 1 << 20}) const {
    return run_process({"/bin/sh", "-c", script, folder_.path()}, folder_.path(), limits);
  }
  // The contents of a file that the script wrote.
  std::string contents_of(const std::string& name) const {
    return parse::read_whole_file(folder_.path() + "/" + name);
  }
  // Whether a process has ended; its parent, init, may take a while to collect it.
  static bool is_gone(pid_t process) {
    const std::string status = "/proc/" + std::to_string(process) + "/stat";
    for (int i = 0; i < 10'000; ++i) {
      std::string line;
      try {
        line = parse::read_whole_file(status);
      } catch (const Error&) {
        return true;
      }
      if (line.empty() || line[line.rfind(')') + 2] == 'Z') return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  runtime::TemporaryFolder folder_;
};

TEST_F(CpuProcess, ReturnsOutputAndStatus) {
  const ProcessResult result = run("echo out; echo \"$TMPDIR\" >&2; exit 7");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "out\n" + folder_.path() + "\n");
  EXPECT_FALSE(result.timed_out);
  EXPECT_THAT(run("kill -11 $$").output, EndsWith("was ended by signal 11\n"));
  EXPECT_THROW(run_process({"/no/such/program"}, folder_.path()), DeviceError);
}

TEST_F(CpuProcess, IsKilledAtTheTimeLimitWithItsChildren) {
  for (const char* output : {"", "exec >&- 2>&-;"}) {
    const ProcessResult result =
        run(std::string(output) + "sleep 10000 & echo $! > $0/child; wait", {1s, 1000});
    EXPECT_TRUE(result.timed_out);
    EXPECT_TRUE(is_gone(std::stoi(contents_of("child"))));
  }
}

TEST_F(CpuProcess, EndsWithItsProcessEvenIfAnotherHoldsItsOutput) {
  const ProcessResult result = run("sleep 10000 & echo $! > $0/child; echo done");
  EXPECT_EQ(result.output, "done\n");
  EXPECT_EQ(result.exit_code, 0);
  ::kill(std::stoi(contents_of("child")), SIGKILL);
}

TEST_F(CpuProcess, KeepsTheBeginningOfItsOutput) {
  const ProcessResult result = run("head -c 3000000 /dev/zero | tr '\\0' x", {600s, 1000});
  EXPECT_EQ(result.output.substr(0, 1000), std::string(1000, 'x'));
  EXPECT_THAT(result.output, EndsWith("... and 2999000 bytes more (config compile_output_kb)\n"));
  const ProcessResult endless = run("exec yes", {1s, 1000});
  EXPECT_TRUE(endless.timed_out);
  EXPECT_LT(endless.output.size(), 1100u);
}

// The kernel discards exit statuses if SIGCHLD is ignored.
TEST_F(CpuProcess, WithoutAnExitStatusReturnsItsOutput) {
  auto* const before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run("echo done; exit 3").output, "done\n");
  std::signal(SIGCHLD, before);
}

// What the interrupt check of the test throws, as Python's throws KeyboardInterrupt after Ctrl-C.
struct Interrupted : std::runtime_error {
  using runtime_error::runtime_error;
};
std::atomic<int> signals_received{0};  // 0 or 1, set by the handler on any thread

TEST_F(CpuProcess, IsKilledWhenThisProcessIsInterrupted) {
  const InterruptCheck before = set_interrupt_check([] {
    if (signals_received != 0) throw Interrupted("by the test");
  });
  auto* const handler = std::signal(SIGUSR1, [](int) { signals_received = 1; });
  for (const bool to_this_thread : {true, false}) {
    signals_received = 0;
    const pthread_t waiting = ::pthread_self();
    std::jthread sender([&] {
      // A child process means that the program has started.
      while (::access((folder_.path() + "/child").c_str(), F_OK) != 0)
        std::this_thread::sleep_for(1ms);
      to_this_thread ? ::pthread_kill(waiting, SIGUSR1) : ::pthread_kill(::pthread_self(), SIGUSR1);
    });
    EXPECT_THROW(run("sleep 10000 & echo $! > $0/new; mv $0/new $0/child; wait"), Interrupted);
    sender.join();
    EXPECT_TRUE(is_gone(std::stoi(contents_of("child"))));
    std::filesystem::remove(folder_.path() + "/child");
  }
  std::signal(SIGUSR1, handler);
  set_interrupt_check(before);
}

TEST_F(CpuProcess, CompilerTimeLimitIsASetting) {
  const std::string program = folder_.write("g++", "#!/bin/sh\necho waiting\nsleep 10000\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const test::EnvironmentVariable cxx("CXX", program);
  const test::SettingGuard timeout("compile_timeout_s", "1");
  try {
    test::CpuKernels kernels("__global__ void k() {}");
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr(program + " was killed after 1 s"));
    EXPECT_THAT(error.what(), HasSubstr("config compile_timeout_s"));
    EXPECT_EQ(error.log(), "waiting\n");
  }
  for (const char* value : {"-1", "1.5", "soon"})
    EXPECT_THROW(config::set("compile_timeout_s", value), ArgumentError);
  EXPECT_THROW(config::set("compile_output_kb", "0"), ArgumentError);
}

}  // namespace
}  // namespace spanwise::cpu_backend
