// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/fault_trap.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "backends/cpu/exec/access_check.hpp"
#include "backends/cpu/exec/fibers.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::cpu_backend {
namespace {

#if defined(SW_WATCH_ADDRESSES) || defined(SW_WATCH_THREADS)
constexpr bool has_sanitizer = true;
#else
constexpr bool has_sanitizer = false;
#endif

constexpr std::size_t signal_stack_bytes = 64 << 10;
constexpr std::array<int, 5> faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
// The actions that these handlers have replaced, by the signal's number.
std::array<struct sigaction, 32> replaced{};

// The thread that passes a signal on. The handler that it calls may itself have replaced these
// handlers, and pass the signal back.
std::atomic<unsigned long> passing{0};

// The traps of all threads. Signals of further threads that run kernels are not trapped.
constexpr std::size_t max_traps = 4096;
std::array<std::atomic<FaultTrap*>, max_traps> traps{};

thread_local FaultTrap* own_trap = nullptr;

template <class F>
void for_each_trap(F&& f) {
  for (auto& entry : traps)
    if (FaultTrap* trap = entry.load(std::memory_order_acquire)) f(*trap);
}

// A child of fork() has only the forking thread, and its new threads get the stacks, and with them
// the numbers, of the others.
struct EndedThreads final : ForkParticipant {
  void after_fork_in_child(bool) noexcept override {
    for (auto& entry : traps)
      if (FaultTrap* trap = entry.load(); trap != nullptr && !trap->is_of(pthread_self()))
        entry.store(nullptr);
  }
};

// Null if the calling thread has run no kernel. Does not read own_trap, as a thread's first access
// to its variables may allocate memory.
FaultTrap* trap_of_this_thread() noexcept {
  FaultTrap* own = nullptr;
  for_each_trap([&](FaultTrap& trap) {
    if (trap.is_of(pthread_self())) own = &trap;
  });
  return own;
}

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
  // abort() sends its signal, with no lock held.
  const bool is_abort =
      signal == SIGABRT && info->si_code == SI_TKILL && info->si_pid == ::getpid();
  if (trap != nullptr && (info->si_code > 0 || is_abort)) {
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
  const bool is_stop_request = trap != nullptr && trap->has_stop_request();
  if (!is_stop_request) pass_on(signal, info, context);
  if (trap == nullptr) return;
  const InterruptedFrame frame = interrupted_at(context);
  trap->interrupt(frame.instruction);
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

// Makes these handlers those of the process for the signals of kernels. They pass signals that do
// not come from a kernel to the handlers that they replace.
void install_handlers() {
  if (has_sanitizer) return;
  static NeverDestroyed<Mutex> mutex;
  const std::lock_guard lock(*mutex);
  for (const int signal : faults) install(signal, on_fault, SA_ONSTACK);
  install(SIGINT, on_interrupt, 0);
}

// Gives the calling thread a stack for signal handlers, and returns it; null if it has one.
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

// Frees the result of install_signal_stack(), before its thread ends. Does nothing where other code
// has replaced that stack, since it may use it again.
void free_signal_stack(void* memory) noexcept {
  stack_t installed{};
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  if (memory != nullptr && ::sigaltstack(nullptr, &installed) == 0 && installed.ss_sp == memory &&
      ::sigaltstack(&none, nullptr) == 0)
    ::munmap(memory, signal_stack_bytes);
}

// The code of this library.
const LoadedImage& own_code() {
  static const LoadedImage image = loaded_image(reinterpret_cast<const void*>(&own_code));
  return image;
}

// The functions of the mathematical library, which hold no locks.
const LoadedImage& math_code() {
  using Function = double (*)(double);
  static const LoadedImage image =
      loaded_image(reinterpret_cast<const void*>(static_cast<Function>(&std::exp)));
  return image;
}

bool is_in(const char* address, const char* begin, const char* end) {
  return address >= begin && address < end;
}

// Unregisters the trap when its thread ends; the trap itself stays, as a handler may still use it.
struct ThreadEnd {
  FaultTrap* trap = nullptr;
  void* signal_stack = install_signal_stack();
  ~ThreadEnd() {
    own_trap = nullptr;
    for (auto& entry : traps)
      if (trap != nullptr && entry.load(std::memory_order_relaxed) == trap) entry.store(nullptr);
    free_signal_stack(signal_stack);
  }
};

}  // namespace

FaultTrap::FaultTrap() : thread_(pthread_self()) {
  [[maybe_unused]] static NeverDestroyed<EndedThreads> fork_handler;
  own_code();
  math_code();
  for (auto& entry : traps) {
    FaultTrap* free = nullptr;
    if (entry.compare_exchange_strong(free, this, std::memory_order_acq_rel)) break;
  }
}

FaultTrap& FaultTrap::current() {
  if (own_trap != nullptr) return *own_trap;
  static thread_local ThreadEnd end;
  end.trap = own_trap = new FaultTrap;
  return *own_trap;
}

void FaultTrap::install() {
#if defined(__x86_64__)
  constexpr std::uint64_t interval = 1 << 21;  // cycles
  const std::uint64_t now = __builtin_ia32_rdtsc();
#else
  constexpr std::uint64_t interval = 1'000'000;  // nanoseconds
  const auto now =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  static std::atomic<std::uint64_t> checked{0};
  if (now - checked.load(std::memory_order_relaxed) < interval) return;
  checked.store(now, std::memory_order_relaxed);
  install_handlers();
}

void FaultTrap::arm(std::jmp_buf& escape, const CodeRange& code, FaultTrap* launcher) noexcept {
  code_ = code;
  fault_ = {};
  launcher_.store(launcher, std::memory_order_relaxed);
  must_stop_.store(false, std::memory_order_relaxed);
  escape_.store(&escape, std::memory_order_release);
}

void FaultTrap::disarm() noexcept {
  // A postponed Ctrl-C is Python's after the launch.
  if (launcher_.load(std::memory_order_relaxed) == this)
    is_postponed_.store(false, std::memory_order_relaxed);
  escape_.store(nullptr, std::memory_order_relaxed);
  launcher_.store(nullptr, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

KernelFault FaultTrap::take_fault() noexcept { return std::exchange(fault_, {}); }

void FaultTrap::rethrow_interrupt() {
  if (interrupt_) std::rethrow_exception(std::exchange(interrupt_, nullptr));
}

void FaultTrap::leave() {
  std::jmp_buf* escape = escape_.exchange(nullptr, std::memory_order_relaxed);
  std::longjmp(*escape, 2);  // NOLINT(cert-err52-cpp): from a signal handler
}

bool FaultTrap::try_leave(const KernelFault& fault, const char* instruction) {
  if (!is_armed() || holds_.load(std::memory_order_relaxed) > 0) return false;
  const void* probed = AccessCheck::probing();
  const bool may_lock = code_.may_lock && fault.signal != SIGABRT;
  if (may_lock && probed == nullptr && !is_in(instruction, code_.begin, code_.end)) return false;
  fault_ = fault;
  fault_.code = probed;
  if (probed == nullptr && is_in(instruction, code_.begin, code_.end))
    fault_.code = instruction + 1;  // lines are looked up for the instruction before an address
  leave();
}

bool FaultTrap::has_helpers() const noexcept {
  bool has_any = false;
  for_each_trap([&](FaultTrap& trap) {
    has_any |= &trap != this && trap.launcher_.load(std::memory_order_relaxed) == this;
  });
  return has_any;
}

void FaultTrap::stop_helpers() noexcept {
  for_each_trap([&](FaultTrap& trap) {
    if (&trap == this || trap.launcher_.load(std::memory_order_relaxed) != this) return;
    trap.must_stop_.store(true, std::memory_order_release);
    pthread_kill(trap.thread_, SIGINT);
  });
}

// Runs on the stack that has launched the kernel, because those of a kernel's threads are too small
// for Python, which also compares the stack pointer with the bounds of the thread's stack.
void FaultTrap::check_on_own_stack(void* trap) {
  auto& self = *static_cast<FaultTrap*>(trap);
  try {
    check_interrupt();
  } catch (...) {
    self.interrupt_ = std::current_exception();
  }
  StackPointer ended;
  switch_stack(&ended, self.interrupted_stack_);
  std::abort();  // not reached
}

void FaultTrap::interrupt(const char* instruction) {
  if (!is_armed()) return;
  const LoadedImage &library = own_code(), &math = math_code();
  const bool may_leave =
      holds_.load(std::memory_order_relaxed) == 0 &&
      (is_in(instruction, code_.begin, code_.end) || is_in(instruction, math.begin, math.end) ||
       (!code_.is_checked && is_in(instruction, library.begin, library.end)));
  if (!may_leave) return is_postponed_.store(true, std::memory_order_relaxed);  // see poll()
  interrupt_here();
}

void FaultTrap::run_postponed() {
  if (!is_armed()) return;
  const bool is_launcher = launcher_.load(std::memory_order_relaxed) == this;
  if (is_launcher) is_postponed_.store(false, std::memory_order_relaxed);
  interrupt_here();
}

void FaultTrap::interrupt_here() {
  if (must_stop_.exchange(false, std::memory_order_acq_rel)) {
    fault_.signal = SIGINT;
    leave();
  }
  if (launcher_.load(std::memory_order_relaxed) != this) return;
  const std::span<std::byte> own = KernelStack::current().unused_of_caller();
  switch_stack(&interrupted_stack_, make_stack(own.data(), own.size(), check_on_own_stack, this));
  if (!interrupt_) return;
  stop_helpers();
  fault_.signal = SIGINT;
  leave();
}

std::string KernelFault::text() const {
  const char* name = signal == SIGSEGV  ? "SIGSEGV"
                     : signal == SIGBUS ? "SIGBUS"
                     : signal == SIGFPE ? "SIGFPE"
                     : signal == SIGILL ? "SIGILL"
                                        : "SIGABRT, a call of abort()";
  if (is_overflow) return spanwise::text("overflow of a thread's stack (", name, ")");
  if (signal != SIGSEGV && signal != SIGBUS) return name;
  std::string message = spanwise::text(name, ", an access to memory that does not exist");
  if (address != ~std::uintptr_t{0})
    message += spanwise::text(", at address ", reinterpret_cast<const void*>(address));
  return message;
}

}  // namespace spanwise::cpu_backend
