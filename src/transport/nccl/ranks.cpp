#include "transport/nccl/ranks.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/backoff.hpp"
#include "base/test_hook.hpp"
#include "comm/agree.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr const char* operation = "plan: exchange nccl";
const char key = 0;  ///< of what a Comm keeps

/// A communicator that no Comm uses.
struct UnusedCommunicator {
  nccl::UniqueId id;
  int rank, ranks;
  std::shared_ptr<Device> device;
  nccl::Communicator* communicator;

  bool fits(int r, int n, const Device* d) const { return rank == r && ranks == n && device.get() == d; }
};

bool same(const nccl::UniqueId& a, const nccl::UniqueId& b) {
  return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

class UnusedCommunicators {
 public:
  void add(UnusedCommunicator r) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(r));
  }
  /// The names of those that would do for a rank, one behind the other.
  std::string names(int rank, int ranks, const Device* device) {
    const std::lock_guard lock(mutex_);
    std::string names;
    for (const UnusedCommunicator& r : all_)
      if (r.fits(rank, ranks, device)) names.append(r.id.bytes, sizeof r.id.bytes);
    return names;
  }
  /// Takes a communicator out; nothing if it does not fit, or another Comm has taken it meanwhile.
  std::optional<UnusedCommunicator> take(const nccl::UniqueId& id, int rank, int ranks,
                                         const Device* device) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const UnusedCommunicator& r) {
      return same(r.id, id) && r.fits(rank, ranks, device);
    });
    if (found == all_.end()) return std::nullopt;
    UnusedCommunicator taken = std::move(*found);
    all_.erase(found);
    return taken;
  }
  /// Never destroyed: what is left at the end of the process goes with it.
  static UnusedCommunicators& of_process() {
    static auto* unused = new UnusedCommunicators;
    return *unused;
  }

 private:
  std::mutex mutex_;
  std::vector<UnusedCommunicator> all_;
};

/// A stream for messages of planning.
struct Greeting {
  explicit Greeting(Device& device) : stream(device.make_stream()), done(device.make_event(false)) {}

  /// `bytes`: of every rank.
  void enqueue(nccl::Communicator* communicator, int rank, std::byte* to, const std::byte* from,
               const std::vector<int>& bytes) const {
    const nccl::Functions& f = nccl::functions();
    nccl::check(f.group_start(), "ncclGroupStart");
    const int mine = at(bytes, rank);
    int status = 0;
    for (int r = 0; r < static_cast<int>(bytes.size()) && status == 0; ++r) {
      const auto count = static_cast<std::size_t>(std::min(at(bytes, r), mine));
      if (r == rank || count == 0) continue;
      status = f.send(from, count, nccl::byte_type, r, communicator, stream->native());
      if (status == 0) status = f.receive(to, count, nccl::byte_type, r, communicator, stream->native());
    }
    const int end = f.group_end();
    nccl::check(status != 0 ? status : end, "the first messages", communicator);
    stream->record(*done);
  }

  std::unique_ptr<DeviceStream> stream;
  std::unique_ptr<DeviceEvent> done;
};

}  // namespace

void NcclRanks::prepare(CommImpl& comm, const std::shared_ptr<Device>& device,
                        const RailSettings& /*unused*/) {
  std::shared_ptr<void>& kept = comm.kept(&key);
  const auto* mine = static_cast<const NcclRanks*>(kept.get());
  const bool serves = mine != nullptr && mine->device_ == device && !mine->aborted_;
  if (comm.least(serves ? 1 : 0) == 1) return;
  kept.reset();
  kept = std::shared_ptr<NcclRanks>(new NcclRanks(comm, device));
}

std::shared_ptr<NcclRanks> NcclRanks::of(CommImpl& comm) {
  return std::static_pointer_cast<NcclRanks>(comm.kept(&key));
}

NcclRanks::NcclRanks(CommImpl& comm, const std::shared_ptr<Device>& device)
    : device_(device), rank_(comm.rank()), ranks_(comm.size()) {
  agree(comm, operation, [] { static_cast<void>(nccl::functions()); });
  failures_ = FailureWords(comm);
  if (!take_again(comm)) make(comm);
}

/// Takes an unused communicator, if all ranks have one in common. Rank 0 proposes those that fit it, one
/// after the other.
bool NcclRanks::take_again(CommImpl& comm) {
  UnusedCommunicators& unused = UnusedCommunicators::of_process();
  const std::string names = comm.broadcast(unused.names(rank_, ranks_, device_.get()), 0);
  for (std::size_t at = 0; at < names.size(); at += sizeof id_.bytes) {
    std::memcpy(id_.bytes, names.data() + at, sizeof id_.bytes);
    std::optional<UnusedCommunicator> taken = unused.take(id_, rank_, ranks_, device_.get());
    if (comm.least(taken ? 1 : 0) == 1) {
      communicator_ = taken->communicator;
      return true;
    }
    if (taken) unused.add(std::move(*taken));
  }
  return false;
}

/// The ranks wait for each other inside ncclCommInitRank, so they agree before it that none of them has
/// failed. Every rank calls it from a thread of its own, thread ranks too, so that no group call is needed.
/// NCCL connects two ranks at their first message, for which the host waits: that is done here.
void NcclRanks::make(CommImpl& comm) {
  std::shared_ptr<std::byte> bytes;
  agree(comm, operation, [&] {
    bytes = device_->allocate(2, operation);
    test_point("nccl", rank_);
    if (rank_ == 0) nccl::check(nccl::functions().get_unique_id(&id_), "ncclGetUniqueId");
  });
  const std::string id = comm.broadcast(std::string(id_.bytes, sizeof id_.bytes), 0);
  std::memcpy(id_.bytes, id.data(), sizeof id_.bytes);
  try {
    agree(comm, operation, [&] {
      nccl::check(nccl::functions().init_rank(&communicator_, ranks_, id_, rank_), "ncclCommInitRank");
    });
  } catch (const std::exception&) {
    abort();  // else other ranks would wait for this one
    throw;
  }
  greet(comm, bytes.get(), bytes.get() + 1, 1);
}

void NcclRanks::greet(CommImpl& comm, std::byte* to, const std::byte* from, int bytes) {
  const std::vector<int> all = all_of(comm, bytes);
  std::optional<Greeting> greeting;
  try {
    agree(comm, operation, [&] { greeting.emplace(*device_); });
    agree(comm, operation, [&] { greeting->enqueue(communicator_, rank_, to, from, all); });
    agree(comm, operation, [&] { await(*greeting->done); });
  } catch (const std::exception&) {
    abort();  // else other ranks would wait for this one
    throw;
  }
}

/// Until the event has passed, or a rank has failed.
void NcclRanks::await(const DeviceEvent& event) {
  try {
    for (Backoff backoff; !device_->passed(event); backoff.pause()) check();
  } catch (const std::exception&) {
    cancel();
    throw;
  }
}

NcclRanks::~NcclRanks() {
  if (communicator_ != nullptr && !aborted_)
    UnusedCommunicators::of_process().add({id_, rank_, ranks_, device_, communicator_});
}

void NcclRanks::check() {
  if (aborted_) throw Error("exchange nccl", "a communicator that was aborted", "a new plan", rank_);
  try {
    failures_.check("exchange nccl");
  } catch (const std::exception&) {
    abort();
    throw;
  }
  int status = 0;
  nccl::check(nccl::functions().get_async_error(communicator_, &status), "ncclCommGetAsyncError",
              communicator_);
  if (status == 0) return;
  cancel();
  nccl::check(status, "an exchange");
}

void NcclRanks::cancel() noexcept {
  failures_.tell();
  abort();
}

void NcclRanks::abort() noexcept {
  if (aborted_ || communicator_ == nullptr) return;
  aborted_ = true;
  try {
    nccl::functions().abort(communicator_);
  } catch (const Error&) {
    // Without the library there is nothing under way.
  }
}

}  // namespace weft
