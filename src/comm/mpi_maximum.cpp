#include "comm/mpi_maximum.hpp"

#include <mpi.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/timing.hpp"
#include "comm/mpi_world.hpp"

namespace weft {

namespace {

/// A reduction, with its numbers and its communicator, as long as MPI may look at them.
struct Reduction {
  LateMaximum::Numbers mine{}, all{};
  MPI_Request request = MPI_REQUEST_NULL;
  std::shared_ptr<const MPI_Comm> comm;

  bool complete() {
    if (request == MPI_REQUEST_NULL) return true;
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }
};

/// Those that may be under way. Ranks destroy plans when they like, and reductions cannot be cancelled: what
/// is under way then is completed later.
class Reductions {
 public:
  static Reductions& of_process() {
    static auto& all = *new Reductions;
    return all;
  }

  std::shared_ptr<Reduction> add() {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_,
                  [](const std::shared_ptr<Reduction>& r) { return r.use_count() == 1 && r->complete(); });
    all_.push_back(std::make_shared<Reduction>());
    return all_.back();
  }

  /// Waits for those on a communicator, or for all of them; whether they are complete. All ranks have given
  /// what they will give. A rank that has failed may not have: it is not waited for.
  bool complete(const void* comm) noexcept {
    constexpr double patience = 5;  // seconds
    try {
      const double end = seconds_now() + patience;
      const std::lock_guard lock(mutex_);
      const auto is_complete = [&](const std::shared_ptr<Reduction>& r) {
        return (comm != nullptr && r->comm.get() != comm) || r->complete();
      };
      while (seconds_now() < end)
        if (std::all_of(all_.begin(), all_.end(), is_complete)) return true;
    } catch (const std::exception&) {
      // MPI would say so itself.
    }
    return false;
  }

 private:
  Reductions() {
    at_mpi_finalize([] { of_process().complete(nullptr); });
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<Reduction>> all_;
};

class MpiMaximum final : public LateMaximum {
 public:
  explicit MpiMaximum(MpiWorld& world) : world_(world), reduction_(Reductions::of_process().add()) {
    reduction_->comm = world.own_comm();
  }

  void give(const Numbers& mine) override {
    const auto lock = world_.lock();
    Reduction& r = *reduction_;
    r.mine = mine;
    check_mpi(MPI_Iallreduce(r.mine.data(), r.all.data(), static_cast<int>(r.mine.size()), MPI_DOUBLE,
                             MPI_MAX, *r.comm, &r.request),
              "MPI_Iallreduce");
  }

  bool complete() override {
    const auto lock = world_.lock();
    return reduction_->complete();
  }

  const Numbers& maximum() const override { return reduction_->all; }

 private:
  MpiWorld& world_;
  std::shared_ptr<Reduction> reduction_;
};

}  // namespace

bool complete_reduction(const void* comm) {
  return Reductions::of_process().complete(comm);
}

std::unique_ptr<LateMaximum> make_late_maximum(MpiWorld& world) {
  const auto lock = world.lock();
  return std::make_unique<MpiMaximum>(world);
}

}  // namespace weft
