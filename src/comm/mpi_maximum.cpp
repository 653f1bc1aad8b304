#include "comm/mpi_maximum.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/backoff.hpp"
#include "comm/mpi_world.hpp"

namespace weft {

/// Rounds of numbers, each of which is one reduction. A rank that leaves gives a last round, beside the one
/// that it may not have read. Others may be in a later round than that: it goes on to give last rounds until
/// there is one in which all ranks have left. That is the same one on all ranks, and there is no other behind
/// it.
class MpiReductions {
 public:
  void use(std::shared_ptr<const MPI_Comm> comm) { comm_ = std::move(comm); }
  bool in_use() const { return comm_ != nullptr; }

  void give(const LateMaximum::Numbers& mine, bool leaves) {
    Round& r = round(++rounds_);
    std::copy(mine.begin(), mine.end(), r.mine.begin());
    r.mine[some_leave] = leaves ? 1 : 0;
    r.mine[some_stay] = leaves ? 0 : 1;
    check_mpi(MPI_Iallreduce(r.mine.data(), r.all.data(), static_cast<int>(r.mine.size()), MPI_DOUBLE,
                             MPI_MAX, *comm_, &r.request),
              "MPI_Iallreduce");
  }

  /// Of all rounds so far.
  bool complete() {
    for (Round& r : under_way_) {
      int done = 1;
      if (r.request != MPI_REQUEST_NULL)
        check_mpi(MPI_Test(&r.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0) return false;
    }
    return true;
  }
  /// Of the newest round.
  const std::array<double, 10>& all() const { return under_way_[rounds_ % 2].all; }
  bool is_last() const { return all()[some_leave] > 0; }

  /// Of a rank that has left, or leaves now: whether all have.
  bool have_ended() noexcept {
    try {
      while (comm_) {
        if (!complete()) return false;
        if (rounds_ > 0 && all()[some_stay] == 0) return true;
        give({}, true);
      }
    } catch (const std::exception&) {
      // MPI has failed, too. A reduction may be under way: nobody else gets the communicator.
      static auto* const spoiled = new std::vector<std::shared_ptr<const MPI_Comm>>;
      spoiled->push_back(comm_);
    }
    return true;
  }

 private:
  static constexpr std::size_t some_leave = 8, some_stay = 9;
  struct Round {
    std::array<double, 10> mine{}, all{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  Round& round(std::uint64_t number) { return under_way_[number % 2]; }

  std::shared_ptr<const MPI_Comm> comm_;  ///< null: the ranks have not agreed on one
  std::uint64_t rounds_ = 0;
  std::array<Round, 2> under_way_;
};

namespace {

/// What the process keeps.
class Kept {
 public:
  static Kept& of_process() {
    static auto& all = *new Kept;
    return all;
  }

  std::shared_ptr<MpiReductions> add() {
    const std::lock_guard lock(mutex_);
    reductions_.push_back(std::make_shared<MpiReductions>());
    return reductions_.back();
  }

  void add(std::shared_ptr<MPI_Comm> comm) {
    const std::lock_guard lock(mutex_);
    comms_.push_back(std::move(comm));
  }

  void sweep() {
    const std::lock_guard lock(mutex_);
    std::erase_if(reductions_, [](const auto& r) { return r.use_count() == 1 && r->have_ended(); });
    free_unused();
  }

 private:
  Kept() {
    when_mpi_ends(AtEnd::reductions, [this] { end(); });
  }

  /// Whoever still has a maximum has left it by now.
  void end() {
    const std::lock_guard lock(mutex_);
    for (Backoff backoff; !reductions_.empty(); backoff.pause())
      std::erase_if(reductions_, [](const auto& r) { return r->have_ended(); });
    free_unused();
  }

  void free_unused() {
    std::erase_if(comms_, [](const std::shared_ptr<MPI_Comm>& comm) {
      return comm.use_count() == 1 && MPI_Comm_free(comm.get()) == MPI_SUCCESS;
    });
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<MpiReductions>> reductions_;
  std::vector<std::shared_ptr<MPI_Comm>> comms_;  ///< of worlds that are gone
};

class MpiMaximum final : public LateMaximum {
 public:
  MpiMaximum(MpiWorld& world, std::shared_ptr<MpiReductions> reductions)
      : world_(world), reductions_(std::move(reductions)) {}
  ~MpiMaximum() override { leave(); }

  void give(const Numbers& mine) override {
    const auto lock = world_.lock();
    reductions_->give(mine, false);
  }

  bool complete() override {
    const auto lock = world_.lock();
    if (!reductions_->complete()) return false;
    std::copy_n(reductions_->all().begin(), maximum_.size(), maximum_.begin());
    return true;
  }

  const Numbers& maximum() const override { return maximum_; }
  bool is_last() const override { return reductions_->is_last(); }

  /// Where MPI must not be called, it is done later for this rank.
  void leave() noexcept override {
    if (std::exchange(left_, true) || !reductions_->in_use() || !may_call_mpi()) return;
    const auto lock = world_.lock();
    try {
      reductions_->give({}, true);
    } catch (const std::exception&) {
      // MPI has failed, too.
    }
  }

 private:
  MpiWorld& world_;
  std::shared_ptr<MpiReductions> reductions_;
  Numbers maximum_{};
  bool left_ = false;
};

}  // namespace

std::shared_ptr<MpiReductions> keep_reductions() {
  return Kept::of_process().add();
}

std::unique_ptr<LateMaximum> make_late_maximum(MpiWorld& world, std::shared_ptr<MpiReductions> reductions) {
  MpiReductions& rounds = *reductions;
  auto made = std::make_unique<MpiMaximum>(world, std::move(reductions));
  rounds.use(world.own_comm());
  // No rank fails between the two but one that all ranks hear to leave: whoever gives last numbers later does
  // so knowing that all ranks have the communicator, and give theirs.
  world.barrier();
  return made;
}

void sweep_reductions() {
  Kept::of_process().sweep();
}

void free_when_unused(std::shared_ptr<MPI_Comm> comm) noexcept {
  try {
    Kept::of_process().add(std::move(comm));
    sweep_reductions();
  } catch (const std::exception&) {
    // It is not freed.
  }
}

}  // namespace weft
