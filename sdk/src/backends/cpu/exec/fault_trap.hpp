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
  std::uintptr_t address = 0;  ///< all bits set: unknown
  const void* code = nullptr;  ///< the instruction, or the one behind a checked access
  bool is_overflow = false;    ///< the address is beside the stack pointer
  std::string text() const;    ///< "SIGSEGV at address 0x10"
};

/// Lets a thread leave a kernel at a signal: SIGSEGV, SIGBUS, SIGFPE and SIGILL of the kernel's own
/// instructions, and Ctrl-C.
///
/// The handlers act only on armed threads, and only if the signal interrupts code that holds no
/// locks: the kernel's, or any code for a kernel that does not print or allocate. They pass all
/// other signals to the handlers that they found. On Ctrl-C in the main thread Python's handlers
/// run within the signal handler, which is safe as the interrupted code is a kernel's; if they
/// raise an exception, the thread and all that help it leave the kernel. Without effect in builds
/// with a sanitizer, which has handlers of its own.
class FaultTrap {
 public:
  /// The kernel's code, [begin, end).
  struct CodeRange {
    const char *begin = nullptr, *end = nullptr;
    bool may_lock = true;     ///< calls printf or malloc
    bool is_checked = false;  ///< the library's own code may not be left
  };

  /// The calling thread's.
  static FaultTrap& current();
  /// Call before each launch: installs the handlers, and again where others have replaced them,
  /// which it checks once in about a millisecond.
  static void install();

  /// Until disarm(), signals jump to `escape`. `launcher` is the trap of the thread that has
  /// launched the kernel, and gets Ctrl-C.
  void arm(std::jmp_buf& escape, const CodeRange& code, FaultTrap* launcher) noexcept;
  void disarm() noexcept;
  /// The signal that led to the escape; 0 if none did, which then was a failure without a signal.
  KernelFault take_fault() noexcept;
  /// Throws the exception of the signal handler that Ctrl-C has run, if any.
  void rethrow_interrupt();
  bool is_of(unsigned long thread) const noexcept { return thread_ == thread; }
  /// Whether a kernel runs on this thread.
  bool is_armed() const noexcept { return escape_.load(std::memory_order_relaxed) != nullptr; }
  /// Makes the threads that run kernels for this launcher leave them; false if there are none.
  bool stop_helpers() noexcept;
  bool has_helpers() const noexcept;

  /// Runs what interrupt() had to postpone; called by a kernel's thread that may be left here.
  static void poll() {
    if (is_postponed_.load(std::memory_order_relaxed)) [[unlikely]]
      current().run_postponed();
  }

  // Called by the signal handlers on their thread.
  bool leave_at(const KernelFault& fault, const char* instruction);
  void interrupt(const char* instruction, const char* stack);

 private:
  FaultTrap();
  ~FaultTrap() = default;
  [[noreturn]] void leave();
  void interrupt_here(const char* stack);
  void run_postponed();
  static void check_on_own_stack(void* trap);

  static inline std::atomic<bool> is_postponed_{false};

  std::atomic<std::jmp_buf*> escape_{nullptr};
  CodeRange code_{};
  std::atomic<FaultTrap*> launcher_{nullptr};
  std::atomic<bool> must_stop_{false};  // set by stop_helpers()
  KernelFault fault_{};
  std::exception_ptr interrupt_;
  unsigned long thread_ = 0;  // pthread_t
  void* interrupted_stack_ = nullptr;

  friend bool take_stop_request(FaultTrap& trap) noexcept;
};

}  // namespace spanwise::cpu_backend
