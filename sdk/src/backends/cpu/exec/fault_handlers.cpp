// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/fault_handlers.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

#include "backends/cpu/exec/fault_trap.hpp"
#include "backends/cpu/exec/fiber_watch.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cpu_backend {
namespace {

#if defined(SW_WATCH_ADDRESSES) || defined(SW_WATCH_THREADS)
constexpr bool has_sanitizer = true;
#else
constexpr bool has_sanitizer = false;
#endif

constexpr std::size_t signal_stack_bytes = 64 << 10;
constexpr std::array<int, 4> faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// The actions that these handlers have replaced, by the signal's number.
std::array<struct sigaction, 32> replaced{};

// The thread that passes a signal on. The handler that it calls may itself have replaced these
// handlers, and pass the signal back.
std::atomic<unsigned long> passing{0};

// The interrupted instruction and stack pointer; null on other architectures.
struct InterruptedFrame {
  const char *instruction = nullptr, *stack = nullptr;
};
InterruptedFrame interrupted_at([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  return {reinterpret_cast<const char*>(registers[REG_RIP]),
          reinterpret_cast<const char*>(registers[REG_RSP])};
#elif defined(__aarch64__)
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
  return {reinterpret_cast<const char*>(registers.pc), reinterpret_cast<const char*>(registers.sp)};
#else
  return {};
#endif
}

void use_default(int signal, const siginfo_t* info) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  // An instruction raises its signal again; one that a process sent must be sent again.
  if (info->si_code <= 0) ::raise(signal);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = replaced[static_cast<std::size_t>(signal)];
  if (passing.load() == pthread_self()) return use_default(signal, info);
  passing.store(pthread_self());
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, info, context);
  else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
    action.sa_handler(signal);
  else if (action.sa_handler == SIG_DFL || info->si_code > 0)
    use_default(signal, info);
  passing.store(0);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  FaultTrap* trap = trap_of_this_thread();
  if (trap != nullptr && info->si_code > 0) {
    const InterruptedFrame frame = interrupted_at(context);
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const auto stack = reinterpret_cast<std::uintptr_t>(frame.stack);
    // SI_KERNEL: the processor does not report the address.
    const bool has_address = info->si_code != SI_KERNEL;
    constexpr std::uintptr_t near_stack = 64 << 10;  // larger frames are rare
    const bool is_overflow = has_address && (signal == SIGSEGV || signal == SIGBUS) && stack != 0 &&
                             address + near_stack > stack && address < stack + near_stack;
    if (trap->try_leave({signal, has_address ? address : ~std::uintptr_t{0}, nullptr, is_overflow},
                        frame.instruction))
      return;
  }
  pass_on(signal, info, context);
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
  FaultTrap* trap = trap_of_this_thread();
  const bool is_stop_request = trap != nullptr && has_stop_request(*trap);
  if (!is_stop_request) pass_on(signal, info, context);
  if (trap == nullptr) return;
  const InterruptedFrame frame = interrupted_at(context);
  trap->interrupt(frame.instruction, frame.stack);
}

// Ctrl-C is without SA_ONSTACK, because Python's handlers, which need more stack than that, run
// within ours. SA_NODEFER: a handler may be left by longjmp, which does not restore the mask.
void install(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction installed{};
  if (::sigaction(signal, nullptr, &installed) != 0 || installed.sa_sigaction == handler) return;
  if (signal == SIGINT && (installed.sa_flags & SA_SIGINFO) == 0 &&
      (installed.sa_handler == SIG_DFL || installed.sa_handler == SIG_IGN))
    return;  // Ctrl-C ends the process, or is ignored
  replaced[static_cast<std::size_t>(signal)] = installed;
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void install_handlers() {
  if (has_sanitizer) return;
  static auto& mutex = *new Mutex;
  const std::lock_guard lock(mutex);
  for (const int signal : faults) install(signal, on_fault, SA_ONSTACK);
  install(SIGINT, on_interrupt, 0);
}

void* install_signal_stack() {
  stack_t installed{};
  if (::sigaltstack(nullptr, &installed) != 0 || (installed.ss_flags & SS_DISABLE) == 0)
    return nullptr;
  void* memory = ::mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const stack_t own{.ss_sp = memory, .ss_flags = 0, .ss_size = signal_stack_bytes};
  if (::sigaltstack(&own, nullptr) == 0) return memory;
  ::munmap(memory, signal_stack_bytes);
  return nullptr;
}

void free_signal_stack(void* memory) noexcept {
  stack_t installed{};
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  if (memory != nullptr && ::sigaltstack(nullptr, &installed) == 0 && installed.ss_sp == memory &&
      ::sigaltstack(&none, nullptr) == 0)
    ::munmap(memory, signal_stack_bytes);
}

}  // namespace spanwise::cpu_backend
