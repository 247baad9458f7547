// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/runtime/stream.hpp"

/// Collective operations between processes (ranks). A Communicator packs arrays, numbers and orders
/// the calls; an engine, such as NCCL or MPI, moves the bytes; a monitor carries what the ranks
/// exchange besides data.
namespace spanwise {

enum class Collective : std::uint8_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  send,
  recv,
  barrier,
};
enum class Reduction : std::uint8_t { sum, prod, min, max, mean };

/// "all_reduce", "sum": as in Python.
SW_API std::string_view name_of(Collective op) noexcept;
SW_API std::string_view name_of(Reduction reduction) noexcept;
/// Throws ArgumentError that lists the names.
SW_API Collective collective_named(std::string_view name);
SW_API Reduction reduction_named(std::string_view name);

/// What an engine executes. The arrays are C-contiguous, on the engine's device and do not overlap
/// unless they are the same memory (in place, for all_reduce, reduce and broadcast); an array that
/// the operation does not use on this rank is empty. all_gather, reduce_scatter and all_to_all
/// treat an array as `size` equal blocks in the order of the ranks.
struct CollectiveCall {
  Collective op = Collective::barrier;
  Reduction reduction = Reduction::sum;
  int peer = 0;  ///< the root, the receiver of send, the sender of recv
  Array source;
  Array target;

  /// Of send and recv: a hash of dtype and shape, less than 2^15. An engine that passes it with the
  /// message, as a tag, does not receive a message of another dtype or shape.
  SW_API int tag() const noexcept;
};

/// Moves data between the ranks of one communicator. Calls come from one thread at a time, except
/// abort(), poll() and close().
class SW_API CommunicatorEngine : public RefCounted {
 public:
  virtual std::string_view name() const noexcept = 0;
  /// The device of the arrays of calls.
  virtual Device device() const noexcept = 0;
  /// Runs the calls as one group, in which sends and receives do not wait for each other: queued on
  /// `stream`, or complete at return for an engine of the CPU, which bounds its waits. Throws
  /// CollectiveError, DTypeError for a dtype that the engine cannot reduce, DeviceError.
  virtual void run(std::span<const CollectiveCall> calls, const Stream& stream) = 0;
  /// The error of queued work; "" where there is none. Never blocks.
  virtual std::string poll() { return {}; }
  /// Ends queued and current calls as soon as possible; the engine is not used afterwards. Called
  /// on any thread, once.
  virtual void abort() noexcept = 0;
  /// Releases the connections after all ranks have finished their calls.
  virtual void close() = 0;
};

/// Carries what the ranks of a communicator exchange besides data.
class SW_API CommunicatorMonitor : public RefCounted {
 public:
  /// A text on which some ranks have to agree.
  struct Item {
    std::string key;
    std::vector<int> ranks;  ///< empty: all ranks
    std::string text;
  };
  /// Returns when the ranks of every item have passed the same text for its key. Throws
  /// CollectiveError on each of them where the texts differ, or where a rank does not call within
  /// the time limit, has ended or has failed. `number` and `op` describe the call in the error.
  virtual void agree(std::span<const Item> items, std::int64_t number, const std::string& op) = 0;
  /// Makes an error known to the other ranks.
  virtual void report(const std::string& error) noexcept = 0;
  /// The last calls of the ranks, as far as known.
  virtual std::vector<std::string> last_calls() noexcept = 0;
};

/// How one call is made.
struct CollectiveOptions {
  Reduction reduction = Reduction::sum;
  int peer = 0;          ///< as CollectiveCall::peer
  bool overlap = false;  ///< on the communicator's own stream, beside the current stream's work
  const Array* out = nullptr;
  /// What else the ranks must agree on, such as the number of a graph's node.
  std::string_view label{};
};

/// A group of ranks that call the same operations in the same order. Ranks number the calls; the
/// first `checked_calls` of them are compared before they start, so that different operations,
/// dtypes or shapes are an error on every rank. Whether a call is compared depends on its number
/// alone. Of later calls but send and recv there is a digest(), which ranks compare afterwards.
///
/// On a GPU the work is queued on the current stream of the engine's device (or on the
/// communicator's own, with `overlap`) and ordered after earlier work on the arrays; on the CPU it
/// is complete at return. Calls of several threads run one after the other; a group belongs to the
/// thread that has begun it.
class SW_API Communicator final : public RefCounted {
 public:
  struct Options {
    std::string name;  ///< unique in the process, equal on all ranks
    int rank = 0;
    int size = 1;
    Device device{};
    std::chrono::milliseconds timeout{300000};
    std::int64_t checked_calls = 64;  ///< -1: all
  };
  /// Registers the name. Throws ArgumentError for a name that is taken and for a rank out of range.
  static Ref<Communicator> make(Options options, Ref<CommunicatorEngine> engine,
                                Ref<CommunicatorMonitor> monitor);
  /// The open communicator of that name; null without one.
  static Ref<Communicator> find(std::string_view name);
  void release() const noexcept { release_findable(); }
  ~Communicator() override;

  const Options& options() const noexcept { return options_; }
  const std::string& name() const noexcept { return options_.name; }
  int rank() const noexcept { return options_.rank; }
  int size() const noexcept { return options_.size; }
  Device device() const noexcept { return options_.device; }
  CommunicatorEngine& engine() const noexcept { return *engine_; }

  /// One operation. `source` is any array of any layout and device; the result is on its device:
  /// options.out, else a new array in C order.
  ///
  /// all_reduce: the reduction, on every rank. reduce: the same on rank `peer`, on the others the
  /// result is left as it was. broadcast: the array of rank `peer`. all_gather: the arrays of all
  /// ranks, joined along axis 0 (an array without axes counts as one of shape (1,)).
  /// reduce_scatter: block `rank` of the reduction, of `size` blocks along axis 0. all_to_all:
  /// block `rank` of each rank, joined along axis 0. send: returns `source`. recv: `source` gives
  /// shape and dtype; received into options.out, else a new array. Inside a group the result is
  /// filled when the group ends.
  ///
  /// Throws CollectiveError, ArgumentError, LayoutError, DTypeError, ReadOnlyError, DeviceError.
  Array run(Collective op, const Array& source, const CollectiveOptions& options = {});
  /// Returns when all ranks have called it.
  void barrier();

  /// Between begin_group() and end_group(), calls are only recorded; end_group() runs them
  /// together. Outside of a group, a send to a rank that sends too, instead of receiving, may block
  /// both.
  void begin_group();
  void end_group();
  /// Ends an open group without running its calls.
  void cancel_group() noexcept;

  /// Ends all calls of this rank; later ones throw CollectiveError with `reason`, and so does the
  /// next wait of the host for a GPU on which work of this communicator was unfinished. A second
  /// call does not replace the reason.
  void abort(std::string_view reason) noexcept;
  /// abort() where the engine reports an error or queued work is older than the time limit, with
  /// the reason reported to the other ranks. For a thread that calls it several times a second.
  void poll() noexcept;
  /// Waits for the queued work, then releases the connections. Later calls throw. Never throws.
  void close() noexcept;
  /// Why calls throw; "" where they do not.
  std::string failure() const;
  /// "call 7: all_reduce(sum) of float32 (3, 4)".
  std::string last_call() const;
  /// The number of collectives that were not compared before they started, and a hash of them.
  struct Digest {
    std::int64_t count = 0;
    std::uint64_t hash = 0;
  };
  Digest digest() const;
  /// Whether this rank's first `other.count` such calls were those of `other`. True also where that
  /// is not known: for calls to come, and but for the latest 1024 calls.
  bool agrees_with(const Digest& other) const;

  /// The shape of a rank's result for an array of `shape`. Throws LayoutError where the blocks of
  /// `size` ranks are not equal.
  static Shape result_shape(Collective op, const Shape& shape, int size);
  /// Throws DTypeError for a dtype that `reduction` does not accept: complex for min and max,
  /// integers and bool for mean, and dtypes without arithmetic.
  static void check_reduction(Collective op, Reduction reduction, DType dtype);

  /// A new number for a collective node of a graph that uses the communicator of that name. The
  /// nodes of a communicator run in the order of these numbers in every function.
  static std::int64_t next_node(std::string_view name);
  /// Records that a node which was loaded from a file has the number `used`, so that next_node()
  /// does not return it.
  static void note_node(std::string_view name, std::int64_t used);

 private:
  struct Pending;
  struct Queued;
  struct CallDescription {
    Collective op = Collective::barrier;
    Reduction reduction = Reduction::sum;
    int peer = 0;
    std::int64_t number = -1;
    DType dtype{};
    Shape shape{};
    std::string label{};
  };
  Communicator(Options options, Ref<CommunicatorEngine> engine, Ref<CommunicatorMonitor> monitor);
  void check_usable() const;
  CallDescription describe(Collective op, const Array& source,
                           const CollectiveOptions& options) const;
  std::string text_of(const CallDescription& call) const;
  bool is_checked(const CallDescription& call) const noexcept;
  bool is_in_group() const noexcept;
  Pending prepare(Collective op, const Array& source, const CollectiveOptions& options);
  void start(std::span<Pending> calls);
  void agree(std::span<const Pending> calls);
  void run_on_engine(std::span<const Pending> calls, const Stream& stream);
  void note_start(Pending& call);
  void note_queued(const Stream& stream);
  std::string watch();
  bool is_busy() const;
  bool may_be_busy() const noexcept;
  [[noreturn]] void fail_current(std::string reason);

  Options options_;
  Ref<CommunicatorEngine> engine_;
  Ref<CommunicatorMonitor> monitor_;
  std::uint32_t process_ = process_generation();
  mutable Mutex mutex_;  // protects the members up to the blank line
  std::string failure_;
  std::optional<CallDescription> last_;
  // Queued work on a GPU. With one rank: the stream of the last call; no other rank can be late.
  Ref<StreamIdentity> queued_on_;
  // With several ranks: what poll() checks.
  std::vector<Queued> watching_;
  Digest digest_;
  std::array<std::uint64_t, 1024> hashes_{};  // of the latest digests, at count % size

  // Held by the thread whose call runs. A forked child does not use it: check_usable() throws
  // before.
  std::mutex call_mutex_;
  std::atomic<std::thread::id> caller_, group_owner_;
  std::atomic<bool> is_usable_{true};
  std::int64_t collectives_ = 0;               // the number of calls but for send and recv
  std::vector<std::int64_t> sent_, received_;  // the numbers of messages by peer
  std::vector<Pending> group_;
  std::optional<Stream> own_stream_;
};

/// An engine in C++, such as "nccl".
struct CommunicatorEngineType {
  std::string name;
  /// Why it cannot be used, one sentence; "" where it can.
  std::function<std::string()> unavailable_reason;
  /// Bytes that rank 0 makes and all ranks pass to start().
  std::function<std::string()> make_id;
  /// Connects the ranks; returns when all have called it, or throws after `timeout`.
  std::function<Ref<CommunicatorEngine>(const std::string& id,
                                        const Communicator::Options& options)>
      start;
};
SW_API bool register_communicator_engine(CommunicatorEngineType type);
/// Throws ArgumentError listing the registered ones.
SW_API const CommunicatorEngineType& communicator_engine(std::string_view name);

}  // namespace spanwise
