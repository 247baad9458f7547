// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// A native, thread-safe reference count. Independent of Python objects: the last reference may be
/// dropped on any thread, without the GIL, and after the interpreter has been finalized.
class SW_API RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void add_ref() const noexcept {
    if (!is_immortal()) count_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() const noexcept {
    // With a count of 1 no other thread can change it, so the atomic decrement, as expensive as
    // creating a small object, is skipped.
    const std::int64_t count = count_.load(std::memory_order_acquire);
    if (count >= immortal_count) return;
    if (count == 1 || count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<RefCounted*>(this)->dispose();
  }
  /// Makes the object immortal: references are no longer counted. For objects that live as long as
  /// the process and are passed around often, where counting dominates the cost.
  void make_immortal() const noexcept {
    count_.store(2 * immortal_count, std::memory_order_relaxed);
  }
  bool is_immortal() const noexcept {
    return count_.load(std::memory_order_relaxed) >= immortal_count;
  }
  /// Makes the object mortal again with `holders` references.
  void make_mortal(std::int64_t holders) const noexcept {
    count_.store(holders, std::memory_order_release);
  }
  std::int64_t use_count() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// To be called by an owner: true where the caller holds the only reference; the writes of
  /// previous owners are visible then.
  bool is_held_once() const noexcept { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  RefCounted() = default;
  /// Already referenced `count` times, for Ref::adopt().
  explicit RefCounted(std::int64_t count) noexcept : count_(count) {}
  virtual ~RefCounted();
  /// Called when the last reference is dropped. The default deletes the object; an override may
  /// keep it for reuse.
  virtual void dispose() noexcept;
  /// add_ref(), unless the last reference has been dropped: for a registry that finds objects by
  /// name and owns no reference. Such a class hides release() by release_findable(): release()
  /// would dispose of an object with one reference although the registry is adding another.
  bool try_add_ref() const noexcept {
    std::int64_t count = count_.load(std::memory_order_relaxed);
    while (count > 0 &&
           !count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
    }
    return count > 0;
  }
  void release_findable() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<RefCounted*>(this)->dispose();
  }
  /// Sets the count to 1, for Ref::adopt(), on an object that an override of dispose() has kept.
  void restart_count() noexcept { count_.store(1, std::memory_order_relaxed); }

 private:
  // Half the value that make_immortal() sets, so that a release() concurrent with make_immortal()
  // does not bring the count below the threshold.
  static constexpr std::int64_t immortal_count = std::int64_t{1} << 61;

  mutable std::atomic<std::int64_t> count_{0};
};

/// Shared owner of a T that offers add_ref() and release(). One pointer wide; copying is one atomic
/// increment.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_ != nullptr) object_->add_ref();
  }
  /// Takes ownership of a reference that is already counted.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& other) noexcept : Ref(static_cast<T*>(other.get())) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U>&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~Ref() {
    // The analyzer does not track the count and takes every release for the last.
    if (object_ != nullptr) object_->release();  // NOLINT(clang-analyzer-cplusplus.NewDelete)
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  /// Returns the pointer and leaves this empty without dropping the reference.
  T* detach() noexcept { return std::exchange(object_, nullptr); }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  template <class U>
  friend class Ref;

  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace spanwise

template <class T>
struct std::hash<spanwise::Ref<T>> {
  std::size_t operator()(const spanwise::Ref<T>& ref) const noexcept {
    return std::hash<T*>()(ref.get());
  }
};
