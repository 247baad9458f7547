// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/recording_backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <new>

#include "spanwise/core/error.hpp"
#include "support/naive_loops.hpp"
#include "support/recording_stream.hpp"

namespace spanwise::test {

namespace {

constexpr std::align_val_t alignment{256};

LazyStream& lazy(StreamState& stream) { return static_cast<LazyStream&>(stream); }

// The address and size of the bytes that the elements span.
std::pair<const std::byte*, std::size_t> bytes_of(const UnownedArray& array) {
  const auto [lowest, highest] = array.layout.offset_range();
  const int size = array.dtype.itemsize();
  return {array.data + lowest * size, static_cast<std::size_t>((highest - lowest + 1) * size)};
}

[[noreturn]] void fail_without_compiler() {
  fail<DeviceError>("recording backend: has no compiler");
}

}  // namespace

RecordingBackend::RecordingBackend(int devices) : devices_(devices) {
  for (int ordinal = 0; ordinal < devices; ++ordinal)
    default_streams_.push_back(
        make_stream(text("d", ordinal), ordinal, 0x1000 + static_cast<std::uintptr_t>(ordinal)));
}

RecordingBackend::~RecordingBackend() {
  default_streams_.clear();
  EXPECT_TRUE(streams_.empty()) << "streams outlive the back end";
  EXPECT_EQ(live_blocks_, 0) << "blocks outlive the back end";
  for (const auto& [data, block] : blocks_)
    ::operator delete(const_cast<std::byte*>(data), alignment);
}

std::vector<std::string> RecordingBackend::take_log() {
  const Guard guard(mutex_);
  return std::exchange(log_, {});
}

int RecordingBackend::faults() const {
  const Guard guard(mutex_);
  return faults_;
}

int RecordingBackend::live_blocks() const {
  const Guard guard(mutex_);
  return live_blocks_;
}

void RecordingBackend::begin_capture(StreamState& stream, std::uint64_t graph) {
  lazy(stream).set_capture(true, graph);
}

void RecordingBackend::end_capture(StreamState& stream) { lazy(stream).set_capture(false, 0); }

void RecordingBackend::destroy_graph(std::uint64_t graph) {
  const Guard guard(mutex_);
  attached_.erase(graph);
}

int RecordingBackend::flushes() const {
  const Guard guard(mutex_);
  return flushes_;
}

std::vector<std::string> RecordingBackend::detached() const {
  const Guard guard(mutex_);
  return detached_;
}

void RecordingBackend::note(std::string entry) { log_.push_back(std::move(entry)); }

void RecordingBackend::check_access(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  auto block = blocks_.upper_bound(begin);
  if (block == blocks_.begin()) return;  // not allocated by this back end
  --block;
  if (begin >= block->first + block->second.bytes) return;
  if (!block->second.alive || begin + bytes > block->first + block->second.bytes) ++faults_;
}

DeviceProperties RecordingBackend::properties(int ordinal) {
  DeviceProperties properties;
  properties.name = text("recording device ", ordinal);
  return properties;
}

void* RecordingBackend::allocate(int, std::size_t bytes, StreamState& stream) {
  const Guard guard(mutex_);
  if (memory_exhausted_)
    fail<OutOfMemoryError>("recording backend: ", bytes, " bytes asked, 0 free");
  auto* data = static_cast<std::byte*>(::operator new(bytes, alignment));
  note(text("allocate ", lazy(stream).name(), ' ', bytes));
  ++live_blocks_;
  blocks_[data] = Block{bytes, false};
  std::memset(data, 0xcd, bytes);
  if (lazy(stream).is_recorded())
    blocks_[data].alive = true;  // memory is not allocated by the graph
  else
    lazy(stream).queue([this, data] { blocks_[data].alive = true; });
  return data;
}

void RecordingBackend::deallocate(int, void* data, std::size_t, StreamState& stream) noexcept {
  const Guard guard(mutex_);
  note("deallocate " + lazy(stream).name());
  --live_blocks_;
  lazy(stream).queue([this, begin = static_cast<std::byte*>(data)] {
    Block& block = blocks_[begin];
    if (!block.alive) ++faults_;
    block.alive = false;
    std::memset(begin, 0xdd, block.bytes);
  });
}

runtime::MemoryInfo RecordingBackend::memory(int) { return {}; }

Ref<StreamState> RecordingBackend::make_stream(std::string name, int ordinal,
                                               std::uintptr_t handle) {
  const Guard guard(mutex_);
  return make_ref<LazyStream>(*this, std::move(name), ordinal, handle);
}

Ref<StreamState> RecordingBackend::create_stream(int ordinal) {
  const Guard guard(mutex_);
  const int number = ++created_streams_;
  return make_stream(text("s", number), ordinal, 0x2000 + static_cast<std::uintptr_t>(number));
}

Ref<StreamState> RecordingBackend::foreign_stream(int ordinal, std::uintptr_t handle) {
  return make_stream(text("f", handle), ordinal, handle);
}

Ref<StreamState> RecordingBackend::default_stream(int ordinal) {
  return default_streams_.at(static_cast<std::size_t>(ordinal));
}

void RecordingBackend::synchronize(int ordinal) {
  const Guard guard(mutex_);
  note(text("synchronize device ", ordinal));
  for (LazyStream* stream : std::vector(streams_))
    if (stream->device().ordinal() == ordinal) stream->run();
}

class RecordedBatch final : public runtime::LaunchBatch {
 public:
  explicit RecordedBatch(RecordingBackend& backend) : backend_(backend) {}
  bool open(StreamState& stream) override {
    const Guard guard(backend_.mutex_);
    name_ = lazy(stream).name();
    backend_.note("open " + name_);
    return true;
  }
  void close() override {
    const Guard guard(backend_.mutex_);
    backend_.note("close " + name_);
  }

 private:
  RecordingBackend& backend_;
  std::string name_;
};

Ref<runtime::LaunchBatch> RecordingBackend::launch_batch(int) {
  return make_ref<RecordedBatch>(*this);
}

class LazyRecordedCall final : public runtime::RecordedCall {
 public:
  explicit LazyRecordedCall(RecordingBackend& backend) : backend_(backend) {}
  ~LazyRecordedCall() override {
    abort();
    if (graph_ != 0) backend_.destroy_graph(graph_);
  }
  bool begin(StreamState& stream) override {
    const Guard guard(backend_.mutex_);
    stream_ = Ref<LazyStream>(&lazy(stream));
    graph_ = first_graph + ++backend_.recorded_graphs_;
    stream_->set_recorded(&work_, graph_);
    backend_.note("record " + stream_->name());
    return true;
  }
  bool end(std::span<const Copy>, std::span<const Copy>) override {
    abort();
    return !work_.empty();
  }
  void abort() noexcept override {
    if (stream_ && stream_->is_recorded()) stream_->set_recorded(nullptr, 0);
  }
  bool launch(std::span<const Copy> before, std::span<const Copy> after) override {
    const Guard guard(backend_.mutex_);
    backend_.note("replay " + stream_->name());
    queue_copies(before);
    for (const std::function<void()>& work : work_) stream_->queue(work);
    queue_copies(after);
    return true;
  }

 private:
  static constexpr std::uint64_t first_graph = 1000;  // tests number their captures from 1

  void queue_copies(std::span<const Copy> copies) {
    for (const Copy& copy : copies)
      stream_->queue([&backend = backend_, copy] {
        backend.check_access(copy.source, copy.bytes);
        backend.check_access(copy.target, copy.bytes);
        std::memcpy(copy.target, copy.source, copy.bytes);
      });
  }

  RecordingBackend& backend_;
  Ref<LazyStream> stream_;
  std::uint64_t graph_ = 0;
  std::deque<std::function<void()>> work_;
};

Ref<runtime::RecordedCall> RecordingBackend::recorded_call(int) {
  return make_ref<LazyRecordedCall>(*this);
}

const runtime::ElementLoops RecordingBackend::loops{
    [](const Array& source, const Array& target, StreamState& stream) {
      RecordingBackend& backend = lazy(stream).backend();
      const Guard guard(backend.mutex_);
      EXPECT_EQ(source.shape(), target.shape());
      EXPECT_FALSE(may_share_memory(source, target));
      EXPECT_FALSE(target.layout().may_overlap_itself());
      EXPECT_TRUE(source.dtype().is_computable() && target.dtype().is_computable());
      backend.note("copy " + lazy(stream).name());
      // Not of type Array: queued work must not keep memory alive.
      lazy(stream).queue([&backend, from = UnownedArray(source), to = UnownedArray(target)] {
        for (const UnownedArray& array : {from, to})
          std::apply([&](auto... range) { backend.check_access(range...); }, bytes_of(array));
        naive_copy(from, to);
      });
    },
    [](const Array& target, const Scalar& value, StreamState& stream) {
      RecordingBackend& backend = lazy(stream).backend();
      const Guard guard(backend.mutex_);
      EXPECT_EQ(value.dtype(), target.dtype());
      EXPECT_FALSE(target.layout().may_overlap_itself());
      backend.note("fill " + lazy(stream).name());
      lazy(stream).queue([&backend, to = UnownedArray(target), value] {
        std::apply([&](auto... range) { backend.check_access(range...); }, bytes_of(to));
        naive_fill(to, value);
      });
    }};

void RecordingBackend::upload(const void* host, void* device, std::size_t bytes,
                              StreamState& stream) {
  const Guard guard(mutex_);
  if (lazy(stream).is_recorded()) fail<DeviceError>("recording backend: an upload is recorded");
  note(text("upload ", lazy(stream).name(), ' ', bytes));
  const auto* first = static_cast<const std::byte*>(host);
  lazy(stream).queue([this, device, staged = std::vector<std::byte>(first, first + bytes)] {
    check_access(device, staged.size());
    std::memcpy(device, staged.data(), staged.size());
  });
}

void RecordingBackend::upload_pinned(const void* host, void* device, std::size_t bytes,
                                     StreamState& stream) {
  const Guard guard(mutex_);
  note(text("upload_pinned ", lazy(stream).name(), ' ', bytes));
  lazy(stream).queue([this, host, device, bytes] {
    check_access(host, bytes);
    check_access(device, bytes);
    std::memcpy(device, host, bytes);
  });
}

void RecordingBackend::download(const void* device, void* host, std::size_t bytes,
                                StreamState& stream) {
  const Guard guard(mutex_);
  note(text("download ", lazy(stream).name(), ' ', bytes));
  lazy(stream).queue([this, host, device, bytes] {
    check_access(device, bytes);
    std::memcpy(host, device, bytes);
  });
  lazy(stream).run();
}

void RecordingBackend::copy_peer(const void* source, int source_ordinal, void* target,
                                 int target_ordinal, std::size_t bytes, StreamState& stream) {
  const Guard guard(mutex_);
  note(text("copy_peer ", lazy(stream).name(), ' ', source_ordinal, "->", target_ordinal, ' ',
            bytes));
  lazy(stream).queue([this, source, target, bytes] {
    check_access(source, bytes);
    check_access(target, bytes);
    std::memcpy(target, source, bytes);
  });
}

std::string RecordingBackend::compiler_fingerprint(int, const runtime::CompileRequest&) {
  fail_without_compiler();
}
runtime::KernelBinary RecordingBackend::compile(int, const runtime::CompileRequest&) {
  fail_without_compiler();
}
Ref<runtime::LoadedModule> RecordingBackend::load(int, const runtime::KernelBinary&) {
  fail_without_compiler();
}

}  // namespace spanwise::test
