// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "backends/cpu/cpu_settings.hpp"
#include "core/string_utils.hpp"
#include "runtime/files.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/interrupt.hpp"

extern char** environ;

namespace spanwise::cpu_backend {
namespace {

bool is_program(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

struct Pipe {
  runtime::FileDescriptor read_end, write_end;
  Pipe() {
    int ends[2];
    // Close-on-exec: a process that another thread starts at this moment must not keep it open.
    if (::pipe2(ends, O_CLOEXEC) != 0)
      fail<DeviceError>("cpu: no pipe to the compiler: ", std::strerror(errno));
    read_end = runtime::FileDescriptor(ends[0]);
    write_end = runtime::FileDescriptor(ends[1]);
    // Non-blocking, because a program that the compiler leaves running may keep the other end open.
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
};

// The output of a program, up to a limit.
class ProcessOutput {
 public:
  ProcessOutput(const Pipe& pipe, std::size_t limit) : pipe_(pipe), limit_(limit) {}

  bool at_end() const noexcept { return at_end_; }

  // Reads what is available; a limited amount per call, because a program may write without end.
  void read() {
    std::array<char, 16384> buffer;
    for (int i = 0; i < 4 && !at_end_; ++i) {
      const ssize_t count = ::read(pipe_.read_end.get(), buffer.data(), buffer.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      at_end_ = count <= 0;
      if (!at_end_) add({buffer.data(), static_cast<std::size_t>(count)});
    }
  }

  // Waits for output, for a signal, or until `time` has passed; returns true for a signal.
  bool wait(std::chrono::microseconds time) const {
    pollfd entry{at_end_ ? -1 : pipe_.read_end.get(), POLLIN, 0};
    const timespec limit{time.count() / 1'000'000, time.count() % 1'000'000 * 1000};
    return ::ppoll(&entry, 1, &limit, nullptr) < 0 && errno == EINTR;
  }

  std::string take() {
    if (dropped_ > 0)
      text_ += spanwise::text("\n... and ", dropped_, " bytes more (config compile_output_kb)\n");
    return std::move(text_);
  }

 private:
  void add(std::string_view bytes) {
    const std::string_view kept = bytes.substr(0, limit_ - text_.size());
    text_ += kept;
    dropped_ += bytes.size() - kept.size();
  }

  const Pipe& pipe_;
  std::size_t limit_, dropped_ = 0;
  std::string text_;
  bool at_end_ = false;
};

// A running program and its process group, which the destructor kills.
class Child {
 public:
  explicit Child(pid_t id) noexcept : id_(id) {}
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool has_ended() noexcept { return has_ended_ || wait(WNOHANG); }
  void kill() noexcept {
    if (has_ended_) return;
    ::kill(-id_, SIGKILL);
    wait(0);
  }
  // 0 if this process ignores SIGCHLD, because the system then keeps no status; callers also check
  // the output file.
  int status() const noexcept { return status_; }

 private:
  bool wait(int options) noexcept {
    pid_t ended = 0;
    do {
      ended = ::waitpid(id_, &status_, options);
    } while (ended < 0 && errno == EINTR);
    return has_ended_ = ended != 0;
  }

  pid_t id_;
  int status_ = 0;
  bool has_ended_ = false;
};

class SpawnSetup {
 public:
  explicit SpawnSetup(const Pipe& output) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), 2);
    // The compiler does not inherit the caller's signal mask and ignored signals.
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A new process group, so that the programs that a compiler starts are killed with it.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// The null-terminated array that posix_spawn() takes; refers to `strings`.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& string : strings) out.push_back(string.data());
  out.push_back(nullptr);
  return out;
}

// This process's environment, with LC_ALL=C and `folder` as TMPDIR.
std::vector<std::string> child_environment(const std::string& folder) {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (!variable.starts_with("LC_") && !variable.starts_with("LANG") &&
        !variable.starts_with("TMPDIR="))
      out.emplace_back(variable);
  }
  out.emplace_back("LC_ALL=C");
  out.push_back("TMPDIR=" + folder);
  return out;
}

pid_t start(const std::vector<std::string>& command, const std::string& folder,
            const Pipe& output) {
  const SpawnSetup setup(output);
  std::vector<std::string> words = command, variables = child_environment(folder);
  const std::vector<char*> arguments = pointers(words), environment = pointers(variables);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), &setup.actions, &setup.attributes,
                                  arguments.data(), environment.data());
  if (error != 0) fail<DeviceError>("cpu: cannot start ", words[0], ": ", std::strerror(error));
  return child;
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds max_wait = std::chrono::milliseconds(interrupt_check_ms);
// A program ends within microseconds of closing its output.
constexpr std::chrono::microseconds min_wait{20};

// Returns whether `child` has ended within `limit`; 0 means no limit. Throws what check_interrupt()
// throws.
bool has_ended_within(Child& child, ProcessOutput& output, std::chrono::seconds limit) {
  const Clock::time_point begin = Clock::now();
  Clock::time_point checked = begin;
  for (auto wait = min_wait; !child.has_ended();) {
    const bool had_signal = output.wait(output.at_end() ? wait : max_wait);
    if (output.at_end()) wait = std::min(2 * wait, max_wait);
    output.read();
    const Clock::time_point now = Clock::now();
    if (had_signal || now - checked >= max_wait) {
      check_interrupt();
      checked = now;
    }
    if (limit.count() > 0 && now - begin >= limit) return false;
  }
  return true;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view folder :
       split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    const std::string candidate = text(folder.empty() ? "." : folder, "/", name);
    if (is_program(candidate)) return candidate;
  }
  return "";
}

ProcessLimits process_limits() {
  return {std::chrono::seconds(compile_timeout_setting()), compile_output_setting()};
}

ProcessResult run_process(const std::vector<std::string>& command, const std::string& folder,
                          const ProcessLimits& limits) {
  check_interrupt();
  Pipe pipe;
  Child child(start(command, folder, pipe));
  pipe.write_end.close();
  ProcessOutput output(pipe, limits.output_bytes);
  ProcessResult result;
  result.timed_out = !has_ended_within(child, output, limits.time);
  child.kill();
  output.read();
  result.output = output.take();
  const int status = child.status();
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (WIFSIGNALED(status) && !result.timed_out)
    result.output += text("\n", command[0], " was ended by signal ", WTERMSIG(status), "\n");
  return result;
}

}  // namespace spanwise::cpu_backend
