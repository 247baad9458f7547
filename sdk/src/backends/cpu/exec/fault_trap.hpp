// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <exception>
#include <string>

namespace spanwise::cpu_backend {

/// A signal that the system raised for an instruction of a kernel.
struct KernelFault {
  int signal = 0;              ///< 0: none
  std::uintptr_t address = 0;  ///< that the instruction accessed; all bits set: unknown
  const void* code = nullptr;  ///< for CpuModule::line_before(); null: unknown
  bool is_overflow = false;    ///< of the stack: the address is near the stack pointer
  std::string text() const;    ///< "SIGSEGV at address 0x10"
};

/// Lets a thread leave a kernel at a signal: SIGSEGV, SIGBUS, SIGFPE and SIGILL of the kernel's own
/// instructions, and Ctrl-C.
///
/// The handlers act only on armed threads, and only if the signal interrupts code that holds no
/// locks: the kernel's, or any code without a Hold for a kernel that calls no library functions
/// with locks. They pass all other signals to the handlers that they have replaced. A SIGABRT that
/// abort() raises is such a signal, too. On Ctrl-C in the main thread Python's handlers run within
/// the signal handler, which is safe as the interrupted code is a kernel's; if they raise an
/// exception, the thread and all that help it leave the kernel. Without effect in builds with a
/// sanitizer, which installs its own handlers.
class FaultTrap {
 public:
  /// The kernel's code, [begin, end).
  struct CodeRange {
    const char *begin = nullptr, *end = nullptr;
    bool may_lock = true;     ///< calls functions of libraries that hold locks
    bool is_checked = false;  ///< calls the library for each access, whose code may not be left
  };

  /// The calling thread's; created by the first call.
  static FaultTrap& current();
  /// Call before each launch: installs the handlers, also again if other code has replaced them,
  /// which it checks once in about a millisecond.
  static void install();

  /// Until disarm(), signals jump to `escape`. `launcher` is the trap of the thread that has
  /// launched the kernel, which handles Ctrl-C.
  void arm(std::jmp_buf& escape, const CodeRange& code, FaultTrap* launcher) noexcept;
  void disarm() noexcept;
  /// The fault that caused the jump to `escape`; its signal is 0 if BlockRunner::fail() did.
  KernelFault take_fault() noexcept;
  /// Throws the exception that a signal handler of Python raised on Ctrl-C, if any.
  void rethrow_interrupt();
  bool is_of(unsigned long thread) const noexcept { return thread_ == thread; }
  /// Whether a kernel runs on this thread.
  bool is_armed() const noexcept { return escape_.load(std::memory_order_relaxed) != nullptr; }
  /// Makes the threads that run kernels for this launcher leave them.
  void stop_helpers() noexcept;
  /// Whether other threads run kernels for this launcher.
  bool has_helpers() const noexcept;

  /// While a thread has one, signals do not leave its kernel: it holds locks.
  class Hold {
   public:
    Hold() noexcept : trap_(current()) { trap_.holds_.fetch_add(1, std::memory_order_relaxed); }
    ~Hold() { trap_.holds_.fetch_sub(1, std::memory_order_relaxed); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    FaultTrap& trap_;
  };
  /// Handles a Ctrl-C that interrupt() had to postpone. Called by a thread of a kernel where it
  /// holds no locks and may leave the kernel.
  static void poll() {
    if (is_postponed_.load(std::memory_order_relaxed)) [[unlikely]]
      current().run_postponed();
  }

  // Called by the signal handlers on the interrupted thread, with its instruction.
  /// Whether stop_helpers() has sent the current SIGINT.
  bool has_stop_request() const noexcept { return must_stop_.load(std::memory_order_acquire); }
  /// Leaves the kernel; returns false if the instruction is not one that may be left.
  bool try_leave(const KernelFault& fault, const char* instruction);
  /// Handles Ctrl-C, or postpones it to poll() if the instruction may not be left.
  void interrupt(const char* instruction);

 private:
  FaultTrap();
  ~FaultTrap() = default;
  [[noreturn]] void leave();
  void interrupt_here();
  void run_postponed();
  static void check_on_own_stack(void* trap);

  static inline std::atomic<bool> is_postponed_{false};

  std::atomic<std::jmp_buf*> escape_{nullptr};
  CodeRange code_{};
  std::atomic<FaultTrap*> launcher_{nullptr};
  std::atomic<bool> must_stop_{false};  // set by stop_helpers()
  std::atomic<int> holds_{0};
  KernelFault fault_{};
  std::exception_ptr interrupt_;
  unsigned long thread_ = 0;  // pthread_t
  void* interrupted_stack_ = nullptr;
};

}  // namespace spanwise::cpu_backend
