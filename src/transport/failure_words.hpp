// How the ranks of a machine learn that another one has failed in the middle of an execution, whatever
// streams do: each has a word in shared memory, which is 0 until it fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "comm/comm_impl.hpp"
#include "comm/shared_memory.hpp"
#include "weft/error.hpp"

namespace weft {

/// What `rank` throws when it learns that another one has failed.
inline Aftermath failure_of(int other, const char* operation, int rank) {
  return {operation, "rank " + std::to_string(other) + " has failed in the middle",
          "the reason in the message of that rank, and a new plan", rank};
}

class FailureWords {
 public:
  using Word = std::uint32_t;

  FailureWords() = default;
  /// `others`: words of every rank behind its own, for other purposes. Collective; throws the same
  /// `weft::Error` on all ranks.
  explicit FailureWords(CommImpl& comm, std::size_t others = 0)
      : memory_(comm.share((1 + others) * sizeof(Word))), rank_(comm.rank()), ranks_(comm.size()) {}

  /// This rank has failed.
  void tell() const noexcept { word(rank_).store(1, std::memory_order_release); }
  /// Throws `weft::Error` if a rank of this machine has failed.
  void check(const char* operation) const {
    for (int r = 0; r < ranks_; ++r)
      if (memory_->of(r) != nullptr && word(r).load(std::memory_order_acquire) != 0)
        throw failure_of(r, operation, rank_);
  }
  /// A word of a rank of this machine.
  std::atomic_ref<Word> word(int rank, std::size_t i = 0) const {
    return std::atomic_ref<Word>(reinterpret_cast<Word*>(memory_->of(rank))[i]);
  }

 private:
  std::shared_ptr<SharedMemory> memory_;
  int rank_ = 0, ranks_ = 0;
};

}  // namespace weft
