// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

/// A shared object for LD_PRELOAD in which malloc() and the wrappers of system calls can be made to
/// fail. Only calls from watched libraries fail: those of Spanwise, and the C++ library, which
/// allocates and opens files for them. Python's own calls, and those of NumPy, are never touched,
/// so that a finding is one of Spanwise's.
///
/// tests/faults/injector.py calls the functions sw_faults_*() through ctypes.

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define SW_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

enum Kind : int { none = 0, allocations = 1, system_calls = 2 };

struct Range {
  std::uintptr_t begin = 0, end = 0;
};
// Executable segments of the watched libraries; written while nothing is armed.
std::array<Range, 256> ranges;
std::atomic<int> range_count{0};

std::atomic<int> armed{none};
std::atomic<long> calls{0}, first_failure{0}, last_failure{0};
std::atomic<int> error_code{ENOMEM};
std::atomic<const char*> failed_name{""};
std::array<void*, 48> failed_stack;
std::atomic<int> failed_depth{0};

bool is_watched(const void* caller) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const auto end = ranges.begin() + range_count.load(std::memory_order_relaxed);
  return std::any_of(ranges.begin(), end, [address](const Range& range) {
    return address >= range.begin && address < range.end;
  });
}

// Those that a signal may interrupt, signal(7).
bool is_interruptible(const char* name) noexcept {
  constexpr std::array names{"open",  "open64", "openat", "openat64", "read",
                             "write", "close",  "flock",  "waitpid",  "ppoll"};
  return std::any_of(names.begin(), names.end(),
                     [name](const char* each) { return std::strcmp(name, each) == 0; });
}

// Whether the allocation is one that the C++ library does not recover from: path::operator/= of
// libstdc++ 12 frees the type of a path, which it keeps in a pointer's lowest bits, where there is
// no memory for the path's components.
bool is_in_path_append(int depth) noexcept {
  return std::any_of(failed_stack.begin(), failed_stack.begin() + depth, [](const void* frame) {
    Dl_info symbol{};
    return ::dladdr(frame, &symbol) != 0 && symbol.dli_sname != nullptr &&
           std::strcmp(symbol.dli_sname, "_ZNSt10filesystem7__cxx114pathdVERKS1_") == 0;
  });
}

// Whether this call is to fail. backtrace() allocates in its first call only, which
// sw_faults_watch() makes.
bool fails(Kind kind, const char* name, const void* caller) noexcept {
  if (armed.load(std::memory_order_relaxed) != kind || !is_watched(caller)) return false;
  if (kind == system_calls && error_code == EINTR && !is_interruptible(name)) return false;
  const long number = calls.fetch_add(1) + 1;
  if (number < first_failure || number > last_failure) return false;
  if (number == first_failure) {
    failed_depth = ::backtrace(failed_stack.data(), static_cast<int>(failed_stack.size()));
    if (kind == allocations && is_in_path_append(failed_depth)) {
      calls.fetch_sub(1);  // the next call fails instead
      return false;
    }
  }
  failed_name = name;
  return true;
}

struct Watched {
  const char* const* names;
  int count;
};

int add_ranges(dl_phdr_info* info, std::size_t, void* data) {
  const auto& watched = *static_cast<const Watched*>(data);
  const char* path = info->dlpi_name;
  if (path == nullptr ||
      std::none_of(watched.names, watched.names + watched.count,
                   [path](const char* name) { return std::strstr(path, name) != nullptr; }))
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const int next = range_count;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || next == int{ranges.size()})
      continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    ranges[static_cast<std::size_t>(next)] = {begin, begin + segment.p_memsz};
    range_count = next + 1;
  }
  return 0;
}

}  // namespace

/// Watches the loaded libraries whose paths contain one of the names, and no others.
SW_EXPORT void sw_faults_watch(const char* const* names, int count) {
  std::array<void*, 4> stack;
  ::backtrace(stack.data(), static_cast<int>(stack.size()));
  armed = none;
  range_count = 0;
  Watched watched{names, count};
  ::dl_iterate_phdr(&add_ranges, &watched);
}

/// From now on calls number `first` to `last` (from 1) of `kind` fail, those of system calls with
/// `code`.
SW_EXPORT void sw_faults_arm(int kind, long first, long last, int code) {
  calls = 0;
  first_failure = first;
  last_failure = last;
  error_code = code;
  failed_name = "";
  failed_depth = 0;
  armed = kind;
}

/// No more calls fail. Returns the calls since sw_faults_arm().
SW_EXPORT long sw_faults_disarm() {
  armed = none;
  return calls;
}

/// The function whose call failed last; "" where none has failed.
SW_EXPORT const char* sw_faults_failed() { return failed_name; }

/// Writes the call stack of the first failure, which needs no memory.
SW_EXPORT void sw_faults_write_stack(int file) {
  ::backtrace_symbols_fd(failed_stack.data(), failed_depth, file);
}

namespace {

int crash_file = -1;

void write_stacks(int signal) {
  armed = none;
  std::array<void*, 48> stack;
  const int depth = ::backtrace(stack.data(), static_cast<int>(stack.size()));
  sw_faults_write_stack(crash_file);
  (void)!::write(crash_file, "killed in\n", 10);
  ::backtrace_symbols_fd(stack.data(), depth, crash_file);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

/// From now on a crash of this process writes the call stacks of the failure and of the crash.
SW_EXPORT void sw_faults_write_crashes(int file) {
  crash_file = file;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) ::signal(signal, &write_stacks);
}

// Allocations. operator new calls malloc() in the C++ library, which is watched.

namespace {

std::atomic<long> live{0};

void* counted(void* block) noexcept {
  if (block != nullptr)
    live.fetch_add(static_cast<long>(::malloc_usable_size(block)), std::memory_order_relaxed);
  return block;
}
void uncount(void* block) noexcept {
  if (block != nullptr)
    live.fetch_sub(static_cast<long>(::malloc_usable_size(block)), std::memory_order_relaxed);
}
void* no_memory() noexcept {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

/// The bytes that malloc() and its kin have given out, to all libraries, and that are not freed.
SW_EXPORT long sw_faults_live_bytes() { return live; }

SW_EXPORT void* malloc(std::size_t size) {
  if (fails(allocations, "malloc", __builtin_return_address(0))) return no_memory();
  return counted(__libc_malloc(size));
}
SW_EXPORT void* calloc(std::size_t count, std::size_t size) {
  if (fails(allocations, "calloc", __builtin_return_address(0))) return no_memory();
  return counted(__libc_calloc(count, size));
}
SW_EXPORT void* realloc(void* block, std::size_t size) {
  if (fails(allocations, "realloc", __builtin_return_address(0))) return no_memory();
  uncount(block);
  return counted(__libc_realloc(block, size));
}
SW_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (fails(allocations, "aligned_alloc", __builtin_return_address(0))) return no_memory();
  return counted(__libc_memalign(alignment, size));
}
SW_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
  if (fails(allocations, "memalign", __builtin_return_address(0))) return no_memory();
  return counted(__libc_memalign(alignment, size));
}
SW_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (fails(allocations, "posix_memalign", __builtin_return_address(0))) return ENOMEM;
  void* memory = counted(__libc_memalign(alignment, size));
  if (memory == nullptr) return ENOMEM;
  *block = memory;
  return 0;
}
SW_EXPORT void free(void* block) {
  uncount(block);
  __libc_free(block);
}

// System calls. Each wrapper fails as its call does: with -1 or null and errno, or with the code.

namespace {

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define SW_WRAP(type, name, parameters, arguments, failure)        \
  SW_EXPORT type name parameters {                                 \
    static auto* const call = next<type parameters>(#name);        \
    if (fails(system_calls, #name, __builtin_return_address(0))) { \
      errno = error_code;                                          \
      return failure;                                              \
    }                                                              \
    return call arguments;                                         \
  }

#define SW_WRAP_OPEN(name, parameters, arguments)                  \
  SW_EXPORT int name parameters {                                  \
    static auto* const call = next<int parameters>(#name);         \
    mode_t mode = 0;                                               \
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {                    \
      va_list rest;                                                \
      va_start(rest, flags);                                       \
      mode = va_arg(rest, mode_t);                                 \
      va_end(rest);                                                \
    }                                                              \
    if (fails(system_calls, #name, __builtin_return_address(0))) { \
      errno = error_code;                                          \
      return -1;                                                   \
    }                                                              \
    return call arguments;                                         \
  }

SW_WRAP_OPEN(open, (const char* path, int flags, ...), (path, flags, mode))
SW_WRAP_OPEN(open64, (const char* path, int flags, ...), (path, flags, mode))
SW_WRAP_OPEN(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
SW_WRAP_OPEN(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
SW_WRAP(FILE*, fopen, (const char* path, const char* mode), (path, mode), nullptr)
SW_WRAP(FILE*, fopen64, (const char* path, const char* mode), (path, mode), nullptr)
SW_WRAP(ssize_t, read, (int file, void* to, std::size_t size), (file, to, size), -1)
SW_WRAP(ssize_t, write, (int file, const void* from, std::size_t size), (file, from, size), -1)
SW_WRAP(int, rename, (const char* from, const char* to), (from, to), -1)
SW_WRAP(int, renameat, (int from_folder, const char* from, int to_folder, const char* to),
        (from_folder, from, to_folder, to), -1)
SW_WRAP(int, mkdir, (const char* path, mode_t mode), (path, mode), -1)
SW_WRAP(int, mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode), -1)
SW_WRAP(char*, mkdtemp, (char* path), (path), nullptr)
SW_WRAP(int, unlink, (const char* path), (path), -1)
SW_WRAP(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags), -1)
SW_WRAP(int, rmdir, (const char* path), (path), -1)
SW_WRAP(int, remove, (const char* path), (path), -1)
SW_WRAP(int, fsync, (int file), (file), -1)
SW_WRAP(int, ftruncate, (int file, off_t size), (file, size), -1)
SW_WRAP(int, flock, (int file, int operation), (file, operation), -1)
SW_WRAP(int, stat, (const char* path, struct stat* status), (path, status), -1)
SW_WRAP(int, lstat, (const char* path, struct stat* status), (path, status), -1)
SW_WRAP(int, fstat, (int file, struct stat* status), (file, status), -1)
SW_WRAP(int, fstatat, (int folder, const char* path, struct stat* status, int flags),
        (folder, path, status, flags), -1)
SW_WRAP(int, access, (const char* path, int mode), (path, mode), -1)
SW_WRAP(int, faccessat, (int folder, const char* path, int mode, int flags),
        (folder, path, mode, flags), -1)
SW_WRAP(ssize_t, readlink, (const char* path, char* to, std::size_t size), (path, to, size), -1)
SW_WRAP(ssize_t, readlinkat, (int folder, const char* path, char* to, std::size_t size),
        (folder, path, to, size), -1)
SW_WRAP(int, utimensat, (int folder, const char* path, const timespec* times, int flags),
        (folder, path, times, flags), -1)
SW_WRAP(DIR*, opendir, (const char* path), (path), nullptr)
SW_WRAP(DIR*, fdopendir, (int file), (file), nullptr)
SW_WRAP(dirent*, readdir, (DIR * folder), (folder), nullptr)
SW_WRAP(char*, getcwd, (char* to, std::size_t size), (to, size), nullptr)
SW_WRAP(char*, realpath, (const char* path, char* to), (path, to), nullptr)
SW_WRAP(void*, mmap,
        (void* at, std::size_t size, int protection, int flags, int file, off_t offset),
        (at, size, protection, flags, file, offset), MAP_FAILED)
SW_WRAP(int, mprotect, (void* at, std::size_t size, int protection), (at, size, protection), -1)
SW_WRAP(int, memfd_create, (const char* name, unsigned flags), (name, flags), -1)
SW_WRAP(int, pipe, (int* ends), (ends), -1)
SW_WRAP(int, pipe2, (int* ends, int flags), (ends, flags), -1)
SW_WRAP(int, dup, (int file), (file), -1)
SW_WRAP(int, dup2, (int from, int to), (from, to), -1)
SW_WRAP(int, dup3, (int from, int to, int flags), (from, to, flags), -1)
SW_WRAP(pid_t, fork, (), (), -1)
SW_WRAP(int, ppoll, (pollfd * files, nfds_t count, const timespec* limit, const sigset_t* mask),
        (files, count, limit, mask), -1)
SW_WRAP(int, posix_spawn,
        (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions,
         const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
        (child, path, actions, attributes, arguments, environment), error_code)
SW_WRAP(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t* attributes, void* (*run)(void*), void* data),
        (thread, attributes, run, data), EAGAIN)

// waitpid() has one error that a caller cannot exclude.
SW_EXPORT pid_t waitpid(pid_t child, int* status, int options) {
  static auto* const call = next<pid_t(pid_t, int*, int)>("waitpid");
  if (error_code != EINTR || !fails(system_calls, "waitpid", __builtin_return_address(0)))
    return call(child, status, options);
  errno = error_code;
  return -1;
}

// As close(2) says, the descriptor is closed even where the call fails.
SW_EXPORT int close(int file) {
  static auto* const call = next<int(int)>("close");
  const bool failed = fails(system_calls, "close", __builtin_return_address(0));
  const int result = call(file);
  if (!failed) return result;
  errno = error_code;
  return -1;
}
