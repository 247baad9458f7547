// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "spanwise/error.hpp"

extern char** environ;

namespace spanwise::host {
namespace {

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    // Close-on-exec: a process that another thread starts at this moment must not keep it open.
    if (::pipe2(ends, O_CLOEXEC) != 0)
      fail<DeviceError>("cpu: no pipe to the compiler: ", std::strerror(errno));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_write();
    ::close(read_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
  std::string read_all() const {
    std::string all;
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t count = ::read(read_end, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return all;
      all.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
};

class SpawnSetup {
 public:
  explicit SpawnSetup(const Pipe& output) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.write_end, 1);
    posix_spawn_file_actions_adddup2(&actions, output.write_end, 2);
    // The caller's signal mask and ignored signals are not the compiler's business.
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
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

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& string : strings) out.push_back(string.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment(const std::string& folder) {
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

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const std::string& folder) {
  Pipe output;
  const SpawnSetup setup(output);
  std::vector<std::string> words = command, variables = environment(folder);
  const std::vector<char*> arguments = pointers(words), settings = pointers(variables);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), &setup.actions, &setup.attributes,
                                  arguments.data(), settings.data());
  if (error != 0) fail<DeviceError>("cpu: cannot start ", words[0], ": ", std::strerror(error));
  output.close_write();
  ProcessResult result;
  result.output = output.read_all();
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  // Where the program ignores SIGCHLD the system keeps no status; the output file tells instead.
  if (ended < 0) return result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (WIFSIGNALED(status))
    result.output += text("\n", words[0], " was ended by signal ", WTERMSIG(status), "\n");
  return result;
}

}  // namespace spanwise::host
