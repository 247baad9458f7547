// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "spanwise/core/storage.hpp"
#include "support/fake_stream.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class StreamUsesTest : public ::testing::Test {
 protected:
  std::vector<const StreamIdentity*> to_wait_for(const StreamIdentity& stream, bool writes) const {
    std::vector<const StreamIdentity*> streams;
    uses_.for_each_to_wait_for(stream, writes,
                               [&](StreamIdentity& other) { streams.push_back(&other); });
    return streams;
  }
  // What a launch does: wait, then record.
  std::vector<const StreamIdentity*> use(StreamIdentity& stream, bool writes) {
    auto streams = to_wait_for(stream, writes);
    uses_.record(stream, writes);
    return streams;
  }
  std::vector<const StreamIdentity*> all() const {
    std::vector<const StreamIdentity*> streams;
    for (const auto& stream : uses_.all()) streams.push_back(stream.get());
    return streams;
  }

  StreamUses uses_;
  Ref<test::FakeStream> a_ = make_ref<test::FakeStream>(), b_ = make_ref<test::FakeStream>(),
                        c_ = make_ref<test::FakeStream>();
};

TEST_F(StreamUsesTest, StartEmpty) {
  EXPECT_TRUE(uses_.none());
  EXPECT_FALSE(uses_.is_only_user(*a_));
  EXPECT_THAT(all(), IsEmpty());
  EXPECT_THAT(to_wait_for(*a_, true), IsEmpty());
}

TEST_F(StreamUsesTest, OneStreamNeverWaits) {
  for (const bool writes : {false, true, false, true, true}) {
    EXPECT_THAT(use(*a_, writes), IsEmpty());
    EXPECT_TRUE(uses_.is_only_user(*a_));
  }
  EXPECT_THAT(all(), ElementsAre(a_.get()));
}

TEST_F(StreamUsesTest, AReaderWaitsForTheWriterOnce) {
  use(*a_, true);
  EXPECT_THAT(use(*b_, false), ElementsAre(a_.get()));
  EXPECT_THAT(use(*b_, false), IsEmpty());
  EXPECT_FALSE(uses_.is_only_user(*a_));
  EXPECT_FALSE(uses_.is_only_user(*b_));
  EXPECT_FALSE(uses_.none());
  EXPECT_THAT(all(), ElementsAre(a_.get(), b_.get()));
}

TEST_F(StreamUsesTest, AReaderWaitsAgainForANewWrite) {
  use(*a_, true);
  use(*b_, false);
  EXPECT_THAT(use(*a_, true), ElementsAre(b_.get()));
  EXPECT_THAT(use(*b_, false), ElementsAre(a_.get()));
}

TEST_F(StreamUsesTest, ReadersDoNotWaitForEachOther) {
  EXPECT_THAT(use(*a_, false), IsEmpty());
  EXPECT_THAT(use(*b_, false), IsEmpty());
  EXPECT_THAT(use(*c_, false), IsEmpty());
  EXPECT_THAT(use(*a_, false), IsEmpty());
  EXPECT_THAT(all(), UnorderedElementsAre(a_.get(), b_.get(), c_.get()));
}

TEST_F(StreamUsesTest, AWriterWaitsForEveryReaderAndClearsTheirRecords) {
  use(*a_, false);
  use(*b_, false);
  use(*c_, false);
  EXPECT_THAT(use(*b_, true), UnorderedElementsAre(a_.get(), c_.get()));
  EXPECT_TRUE(uses_.is_only_user(*b_));
  EXPECT_THAT(all(), ElementsAre(b_.get()));
}

TEST_F(StreamUsesTest, ASoleReaderThatWritesIsWaitedForByReaders) {
  use(*a_, false);
  use(*a_, true);
  EXPECT_THAT(to_wait_for(*b_, false), ElementsAre(a_.get()));
}

TEST_F(StreamUsesTest, WriterReadsWithoutWaiting) {
  use(*a_, true);
  use(*b_, false);
  EXPECT_THAT(use(*a_, false), IsEmpty());
  EXPECT_THAT(to_wait_for(*c_, true), UnorderedElementsAre(a_.get(), b_.get()));
}

TEST_F(StreamUsesTest, AReaderThatWritesDoesNotWaitForTheWriterAgain) {
  use(*a_, true);
  use(*b_, false);
  EXPECT_THAT(use(*b_, true), IsEmpty());
  EXPECT_THAT(use(*a_, false), ElementsAre(b_.get()));
}

TEST_F(StreamUsesTest, ProducerIsTheFirstWriter) {
  uses_.set_producer(a_);
  EXPECT_EQ(uses_.producer(), a_.get());
  EXPECT_TRUE(uses_.only_producer_used());
  EXPECT_TRUE(uses_.is_only_user(*a_));
  EXPECT_THAT(all(), ElementsAre(a_.get()));
  EXPECT_THAT(use(*a_, true), IsEmpty());
  EXPECT_THAT(use(*b_, false), ElementsAre(a_.get()));
  EXPECT_FALSE(uses_.only_producer_used());
  EXPECT_THAT(use(*b_, false), IsEmpty());
  EXPECT_THAT(all(), ElementsAre(a_.get(), b_.get()));
  EXPECT_THAT(use(*c_, true), UnorderedElementsAre(a_.get(), b_.get()));
  EXPECT_THAT(all(), ElementsAre(c_.get()));
  EXPECT_EQ(uses_.producer(), a_.get()) << "other users of the memory do not replace the producer";
  EXPECT_THAT(use(*a_, true), ElementsAre(c_.get()));
  EXPECT_TRUE(uses_.only_producer_used());
}

TEST_F(StreamUsesTest, LaterWriterReplacesTheProducer) {
  uses_.set_producer(a_);
  EXPECT_THAT(use(*b_, true), ElementsAre(a_.get()));
  EXPECT_THAT(use(*c_, false), ElementsAre(b_.get()));
  EXPECT_THAT(all(), ElementsAre(b_.get(), c_.get()));
}

TEST_F(StreamUsesTest, KeepTheirStreamsAlive) {
  EXPECT_EQ(a_->use_count(), 1);
  use(*a_, false);
  use(*b_, false);
  EXPECT_EQ(a_->use_count(), 2);
  EXPECT_EQ(b_->use_count(), 2);
  use(*c_, true);
  EXPECT_EQ(a_->use_count(), 1);
  EXPECT_EQ(b_->use_count(), 1);
  EXPECT_EQ(c_->use_count(), 2);
}

// Run under the thread sanitizer, this is the proof that record() and its readers may race.
TEST_F(StreamUsesTest, TakeRecordsFromManyThreads) {
  std::vector<std::thread> threads;
  std::vector<Ref<test::FakeStream>> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(make_ref<test::FakeStream>());
  for (const auto& stream : streams)
    threads.emplace_back([&, stream] {
      for (int round = 0; round < 2000; ++round) use(*stream, round % 7 == 0);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& stream : streams) uses_.record(*stream, false);
  EXPECT_THAT(all(), UnorderedElementsAre(streams[0].get(), streams[1].get(), streams[2].get(),
                                          streams[3].get()));
}

}  // namespace
}  // namespace spanwise
