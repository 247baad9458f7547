// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Functions that the headers of a newer C library and the static C++ library refer to, for shared
// objects that are linked against an older one (SPANWISE_GLIBC): glibc has them since 2.30
// (gettid, pthread_cond_clockwait), 2.32 (__libc_single_threaded) and 2.36 (arc4random). They are
// hidden: other libraries of the process use those of the C library.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

#define SW_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

// Reference counts are atomic even while the process has one thread.
SW_HIDDEN extern char __libc_single_threaded;
char __libc_single_threaded = 0;

SW_HIDDEN pid_t gettid() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

SW_HIDDEN std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) std::abort();
  return value;
}

// Waits on the clock itself where the C library can. Else on the realtime clock for the time that
// is left: a change of the date then changes the wait, whose callers check their condition again.
SW_HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                     clockid_t clock, const timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  const auto wait = reinterpret_cast<Wait>(::dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
  if (wait != nullptr) return wait(condition, mutex, clock, until);
  timespec now{};
  timespec deadline{};
  ::clock_gettime(clock, &now);
  ::clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += until->tv_sec - now.tv_sec;
  deadline.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (deadline.tv_nsec < 0) {
    deadline.tv_nsec += 1000000000;
    --deadline.tv_sec;
  } else if (deadline.tv_nsec >= 1000000000) {
    deadline.tv_nsec -= 1000000000;
    ++deadline.tv_sec;
  }
  return ::pthread_cond_timedwait(condition, mutex, &deadline);
}

}  // extern "C"
