#include "comm/mpi_world.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <vector>

#include "base/backoff.hpp"
#include "comm/agree.hpp"
#include "comm/mpi_devices.hpp"
#include "comm/mpi_maximum.hpp"
#include "comm/shared_memory.hpp"
#include "weft/error.hpp"
#include "weft/mpi.hpp"

namespace weft {

std::atomic<int> detail::largest_allowed_tag{0};

namespace {

enum class Life { before, alive, after };

Life life() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return finalised != 0 ? Life::after : initialised != 0 ? Life::alive : Life::before;
}

/// False below MPI_THREAD_SERIALIZED if this is not the one thread that may call MPI.
bool takes_this_thread() {
  int level = MPI_THREAD_SINGLE, main = 1;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) return true;
  MPI_Is_thread_main(&main);
  return main != 0;
}

void check_thread(const char* operation) {
  if (!takes_this_thread())
    throw Error(operation, "a call from another thread than the one that initialised MPI",
                "MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
}

void check_life(const char* operation) {
  const Life now = life();
  if (now == Life::before)
    throw Error(operation, "MPI is not initialised", "a call after MPI_Init or MPI_Init_thread");
  if (now == Life::after) throw Error(operation, "MPI is finalised", "a call before MPI_Finalize");
}

class MpiComm final : public CommImpl {
 public:
  explicit MpiComm(MPI_Comm users) : MpiComm(std::make_unique<MpiWorld>(users)) {}
  int rank() const override { return world_->rank(); }
  int size() const override { return world_->size(); }
  const char* medium() const override { return "mpi"; }
  void barrier() override { world_->barrier(); }

  void allgather(const void* mine, std::size_t bytes, void* all) override {
    const int n = static_cast<int>(bytes);
    const std::size_t bytes_of_all = bytes * static_cast<std::size_t>(size());
    const MpiWorld::Room room(*world_, bytes + bytes_of_all);
    copy(room.at(0), mine, bytes);
    world_->complete_started("MPI_Iallgather", [&](MPI_Comm comm, MPI_Request* r) {
      return MPI_Iallgather(room.at(0), n, MPI_BYTE, room.at(bytes), n, MPI_BYTE, comm, r);
    });
    copy(all, room.at(bytes), bytes_of_all);
  }

  void sum(std::span<const double> mine, std::span<double> all) override {
    const std::size_t bytes = mine.size_bytes();
    const MpiWorld::Room room(*world_, 2 * bytes);
    copy(room.at(0), mine.data(), bytes);
    world_->complete_started("MPI_Iallreduce", [&](MPI_Comm comm, MPI_Request* r) {
      return MPI_Iallreduce(room.at(0), room.at(bytes), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM,
                            comm, r);
    });
    copy(all.data(), room.at(bytes), bytes);
  }

  int least(int mine) override {
    const MpiWorld::Room room(*world_, 2 * sizeof mine);
    copy(room.at(0), &mine, sizeof mine);
    world_->complete_started(
        "MPI_Iallreduce",
        [&](MPI_Comm comm, MPI_Request* r) {
          return MPI_Iallreduce(room.at(0), room.at(sizeof mine), 1, MPI_INT, MPI_MIN, comm, r);
        },
        [&] { advance_executions(); });
    copy(&mine, room.at(sizeof mine), sizeof mine);
    return mine;
  }

  std::string broadcast(const std::string& bytes, int root) override {
    const auto send = [&](void* data, int count, MPI_Datatype type, std::size_t size) {
      const MpiWorld::Room room(*world_, size);
      copy(room.at(0), data, size);
      world_->complete_started("MPI_Ibcast", [&](MPI_Comm comm, MPI_Request* r) {
        return MPI_Ibcast(room.at(0), count, type, root, comm, r);
      });
      copy(data, room.at(0), size);
    };
    std::string result = bytes;
    int n = static_cast<int>(result.size());
    send(&n, 1, MPI_INT, sizeof n);
    result.resize(static_cast<std::size_t>(n));
    send(result.data(), n, MPI_BYTE, result.size());
    return result;
  }

  void check_alive(const char* operation) const override {
    check_caller(operation);
    world_->look_for_leavers_at_times();
    world_->check_all_there(operation);
  }
  void leave_collectives(const std::exception_ptr&) noexcept override { world_->leave(); }
  bool has_ended() const override { return !mpi_alive(); }
  void check_caller(const char* operation) const override {
    check_life(operation);
    check_thread(operation);
  }
  MpiWorld* mpi() override { return world_.get(); }
  std::unique_ptr<LateMaximum> late_maximum() override {
    std::shared_ptr<MpiReductions> reductions;
    agree(*this, "plan", [&] { reductions = keep_reductions(); });
    return make_late_maximum(*world_, std::move(reductions));
  }
  std::shared_ptr<SharedMemory> share(std::size_t bytes) override {
    return share_between_processes(*this, bytes);
  }
  std::shared_ptr<CommImpl> split(int colour) override {
    const auto lock = world_->lock();
    // Weft's colours may be any number, MPI's must not be negative.
    const std::vector<int> colours = all_of(*this, colour);
    const auto first = std::find(colours.begin(), colours.end(), colour) - colours.begin();
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(world_->comm(), static_cast<int>(first), world_->rank(), &part),
              "MPI_Comm_split");
    auto made = std::make_shared<MpiComm>(part);
    check_mpi(MPI_Comm_free(&part), "MPI_Comm_free");
    return made;
  }
  /// To the end of the process: MPI may still fill what was to be received after the ranks have parted.
  void retain(const std::shared_ptr<void>& memory) override {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    try {
      static auto* const retained = new std::vector<std::shared_ptr<void>>;
      retained->push_back(memory);
    } catch (const std::bad_alloc&) {
      // A reference that nobody gives up needs no memory.
      alignas(std::shared_ptr<void>) std::byte reference[sizeof memory];
      ::new (static_cast<void*>(reference)) std::shared_ptr<void>(memory);
    }
    world_->abandon();
  }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  explicit MpiComm(std::unique_ptr<MpiWorld> world) : CommImpl(world->nodes()), world_(std::move(world)) {}

  std::unique_ptr<MpiWorld> world_;
};

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(call, std::string(text, static_cast<std::size_t>(length)), "MPI_SUCCESS");
}

namespace {

/// One attribute for all of it: which attribute was set first may differ from rank to rank.
class Ending {
 public:
  static Ending& of_process() {
    static auto& all = *new Ending;
    return all;
  }
  void add(AtEnd what, std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_[static_cast<std::size_t>(what)] = std::move(task);
  }

 private:
  Ending() {
    const auto run = [](MPI_Comm, int, void* all, void*) -> int {
      for (const auto& task : static_cast<Ending*>(all)->tasks_)
        if (task) task();
      return MPI_SUCCESS;
    };
    int key = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, run, &key, nullptr), "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, this), "MPI_Comm_set_attr");
  }

  std::mutex mutex_;
  std::array<std::function<void()>, 4> tasks_;
};

}  // namespace

void when_mpi_ends(AtEnd what, std::function<void()> task) {
  Ending::of_process().add(what, std::move(task));
}

bool mpi_takes_devices(CommImpl& comm) {
  return comm.mpi() != nullptr && comm.mpi()->takes_devices();
}

bool mpi_alive() {
  return life() == Life::alive;
}

bool may_call_mpi() {
  return mpi_alive() && takes_this_thread();
}

std::unique_lock<std::recursive_mutex> MpiWorld::lock() const {
  static std::recursive_mutex mutex;
  return serialises_ ? std::unique_lock(mutex) : std::unique_lock<std::recursive_mutex>();
}

MpiWorld::MpiWorld(MPI_Comm users) {
  check_life("Comm::mpi");
  check_thread("Comm::mpi");
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  spare_rooms_.reserve(4);
  serialises_ = level == MPI_THREAD_SERIALIZED;
  const auto held = lock();
  if (users == MPI_COMM_NULL)
    throw Error("Comm::mpi", "MPI_COMM_NULL", "a communicator that this rank belongs to");
  int inter = 0;
  check_mpi(MPI_Comm_test_inter(users, &inter), "MPI_Comm_test_inter");
  if (inter != 0)
    throw Error("Comm::mpi", "an intercommunicator",
                "an intracommunicator, such as MPI_Intercomm_merge makes of it");
  check_mpi(MPI_Comm_dup(users, &comm_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  int first = rank_;
  check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  if (const int each = detail::pretended_ranks_per_node; each != 0)
    first = each > 0 ? rank_ / each : rank_ % -each;
  nodes_.resize(static_cast<std::size_t>(size_));
  check_mpi(MPI_Allgather(&first, 1, MPI_INT, nodes_.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  const int mine = mpi_takes_devices() ? 1 : 0;
  int all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  takes_devices_ = all == 1;
  int* largest = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&largest), &found), "MPI_Comm_get_attr");
  if (found != 0) largest_tag_ = *largest;
  if (const int limit = detail::largest_allowed_tag.load(); limit > 0)
    largest_tag_ = std::min(largest_tag_, limit);
}

namespace {

/// Windows, and their memory, of ranks that have parted after a failure. Freeing one waits for the others,
/// which all are in MPI_Finalize sooner or later.
class LeftToFinalize {
 public:
  static void add(MPI_Win window, const std::shared_ptr<std::byte>& memory) {
    static auto& left = *new LeftToFinalize;
    const std::lock_guard lock(left.mutex_);
    left.windows_.emplace_back(window, memory);
  }

 private:
  LeftToFinalize() {
    when_mpi_ends(AtEnd::windows, [this] {
      for (auto& [window, memory] : windows_) MpiWorld::free_window(window);
      windows_.clear();
    });
  }

  std::mutex mutex_;
  std::vector<std::pair<MPI_Win, std::shared_ptr<std::byte>>> windows_;
};

}  // namespace

MpiWorld::~MpiWorld() {
  // After MPI_Finalize the communicators are gone with MPI.
  if (!mpi_alive()) return;
  const auto held = lock();
  // They have no messages, and reductions that are taken care of.
  while (!own_comms_.empty()) {
    free_when_unused(std::move(own_comms_.back()));
    own_comms_.pop_back();
  }
  try {
    // Its wait looks, which that of MPI_Win_free does not. Ranks that have parted wait for nobody here.
    if (!left_ && !abandoned_ && !windows_.empty()) barrier();
  } catch (const std::exception&) {
    // A rank has left.
  }
  if (left_ || leaver_ >= 0) {
    // Not all ranks have the same windows: neither they nor their memory are given back.
    static_cast<void>(new (std::nothrow) std::vector<KeptWindow>(std::move(windows_)));
    return;
  }
  if (abandoned_) {
    for (const KeptWindow& kept : windows_) LeftToFinalize::add(*kept.window, kept.memory);
    return;
  }
  for (KeptWindow& kept : windows_) free_window(*kept.window);
  for (auto& [colours, group] : groups_) MPI_Comm_free(&group->comm);
  MPI_Comm_free(&comm_);
}

bool MpiWorld::complete(std::span<MPI_Request> requests) const {
  int done = 0;
  const auto held = lock();
  check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
  return done != 0;
}

MpiWorld::Room::Room(MpiWorld& world, std::size_t bytes) : world_(world), bytes_(bytes) {
  world.check_all_there("a collective call");
  constexpr std::size_t least = 4096;  // so that short ones allocate nothing
  if (!world.spare_rooms_.empty() && world.spare_rooms_.back().second >= bytes) {
    std::tie(memory_, bytes_) = std::move(world.spare_rooms_.back());
    world.spare_rooms_.pop_back();
    return;
  }
  bytes_ = std::max(bytes, least);
  memory_.reset(new std::byte[bytes_]);
}

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): MPI may still write there
MpiWorld::Room::~Room() {
  constexpr std::size_t most_spare = 1 << 16;
  if (world_.left_) {
    static_cast<void>(memory_.release());
  } else if (bytes_ <= most_spare && world_.spare_rooms_.size() < world_.spare_rooms_.capacity()) {
    world_.spare_rooms_.emplace_back(std::move(memory_), bytes_);
  }
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

void MpiWorld::leave() noexcept {
  if (left_ || size_ == 1) return;
  left_ = true;
  abandon();
  if (leaver_ >= 0 || !may_call_mpi()) return;  // those who have been told need not tell others
  const auto held = lock();
  for (int r = 0; r < size_; ++r) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (r != rank_ && MPI_Isend(nullptr, 0, MPI_BYTE, r, leaving_tag, comm_, &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

void MpiWorld::look_for_leavers_at_times() {
  constexpr unsigned between_looks = 64;
  if (++calls_ % between_looks == 0) look_for_leavers();
}

void MpiWorld::look_for_leavers() {
  if (leaver_ >= 0 || left_) return;
  int found = 0;
  MPI_Status status;
  {
    const auto held = lock();
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, leaving_tag, comm_, &found, &status), "MPI_Iprobe");
  }
  if (found != 0) leaver_ = status.MPI_SOURCE;
}

void MpiWorld::check_all_there(const char* operation) const {
  if (leaver_ >= 0)
    throw Aftermath(operation, "rank " + std::to_string(leaver_) + " has failed between two collective calls",
                    "the reason in the message of that rank, and a new Comm", rank_);
  if (left_)
    throw Error(operation, "this rank has failed between two collective calls of this Comm, or in one",
                "a new Comm", rank_);
}

void MpiWorld::barrier() {
  complete_started("MPI_Ibarrier", [](MPI_Comm comm, MPI_Request* r) { return MPI_Ibarrier(comm, r); });
}

std::pair<int, bool> MpiWorld::complete_any(std::span<MPI_Request> requests, MPI_Status* status) const {
  int index = MPI_UNDEFINED, done = 1;
  const auto held = lock();
  check_mpi(MPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &done, status),
            "MPI_Testany");
  return {index == MPI_UNDEFINED ? -1 : index, done != 0};
}

std::shared_ptr<MpiGroup> MpiWorld::group(const std::vector<int>& colours, Calls calls) {
  const auto held = lock();
  const std::pair key(colours, calls);
  if (const auto known = groups_.find(key); known != groups_.end()) {
    int out_of_step = known->second->out_of_step ? 1 : 0;
    take_most(std::span(&out_of_step, 1), MPI_INT);
    if (out_of_step == 0) return known->second;
    groups_.erase(known);  // the communicator stays: calls on it may be under way
  }
  auto made = std::make_shared<MpiGroup>();
  free_unused();
  barrier();  // whose wait looks, which MPI_Comm_split does not
  // Where MPI has no communicator left it fails on all ranks, which go on.
  check_mpi(MPI_Comm_split(comm_, colours[static_cast<std::size_t>(rank_)], rank_, &made->comm),
            "MPI_Comm_split");
  check_mpi(MPI_Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return groups_[key] = made;
}

std::vector<std::int64_t> MpiWorld::most_of(std::vector<std::int64_t> numbers) {
  const auto held = lock();
  take_most(std::span(numbers), MPI_INT64_T);
  return numbers;
}

std::shared_ptr<const MPI_Comm> MpiWorld::own_comm() {
  const auto held = lock();
  if (std::shared_ptr<const MPI_Comm> spare = free_unused(true)) return spare;
  auto own = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
  const Room room(*this, sizeof(MPI_Comm));
  auto* const made = new (room.at(0)) MPI_Comm(MPI_COMM_NULL);
  own_comms_.reserve(own_comms_.size() + 1);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(comm_, made, &request), "MPI_Comm_idup");
  wait_for({&request, 1});
  *own = *made;
  check_mpi(MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  own_comms_.push_back(own);
  return own;
}

MPI_Win MpiWorld::make_window(std::byte* memory, std::size_t bytes) {
  barrier();  // whose wait looks, which MPI_Win_create does not
  const auto held = lock();
  MPI_Win made = MPI_WIN_NULL;
  check_mpi(MPI_Win_create(memory, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm_, &made),
            "MPI_Win_create");
  check_mpi(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, made), "MPI_Win_lock_all");
  int* model = nullptr;
  int found = 0;
  check_mpi(MPI_Win_get_attr(made, MPI_WIN_MODEL, static_cast<void*>(&model), &found), "MPI_Win_get_attr");
  if (found == 0 || *model != MPI_WIN_UNIFIED)
    throw Error("MPI_Win_create", "windows of the separate memory model", "the unified one");
  return made;
}

std::shared_ptr<MPI_Win> MpiWorld::keep_window(const std::shared_ptr<std::byte>& memory) {
  windows_.push_back({std::make_shared<MPI_Win>(MPI_WIN_NULL), memory});
  return windows_.back().window;
}

void MpiWorld::free_window(MPI_Win& window) {
  if (window == MPI_WIN_NULL) return;  // on all ranks
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

std::shared_ptr<const MPI_Comm> MpiWorld::free_unused(bool take) {
  std::shared_ptr<const MPI_Comm> taken;
  sweep_reductions();
  if (groups_.empty() && own_comms_.empty() && windows_.empty()) return taken;
  std::vector<int> used;
  for (const auto& [colours, group] : groups_) used.push_back(group.use_count() > 1 ? 1 : 0);
  for (const auto& own : own_comms_) used.push_back(own.use_count() > 1 ? 1 : 0);
  for (const KeptWindow& kept : windows_) used.push_back(kept.window.use_count() > 1 ? 1 : 0);
  take_most(std::span(used), MPI_INT);
  std::size_t i = 0;
  for (auto group = groups_.begin(); group != groups_.end();) {
    if (used[i++] == 0) {
      check_mpi(MPI_Comm_free(&group->second->comm), "MPI_Comm_free");
      group = groups_.erase(group);
    } else {
      ++group;
    }
  }
  std::erase_if(own_comms_, [&](const std::shared_ptr<MPI_Comm>& own) {
    if (used[i++] != 0) return false;
    if (take && !taken) {
      taken = own;
      return false;
    }
    check_mpi(MPI_Comm_free(own.get()), "MPI_Comm_free");
    return true;
  });
  std::erase_if(windows_, [&](KeptWindow& kept) {
    if (used[i++] != 0) return false;
    free_window(*kept.window);
    return true;
  });
  return taken;
}

TagRange::TagRange(const std::shared_ptr<Used>& used, int first, int count)
    : first_(first), entry_(nullptr, [used, first](const void*) { used->erase(first); }) {
  used->emplace(first, count);
}

void MpiWorld::check_tags(int count) const {
  if (count > largest_tag_)
    throw Error("plan: option tile", "an exchange that needs " + std::to_string(count) + " tags of messages",
                "at most " + std::to_string(largest_tag_) + " (MPI_TAG_UB): make tiles thicker");
}

/// The first of `count` consecutive tags, from `first` on, that this rank does not use.
int MpiWorld::free_tags_from(int first, int count) const {
  for (const auto& [begin, size] : *used_tags_)
    if (begin < first + count && first < begin + size) first = begin + size;
  return first;
}

/// Ranks destroy exchanges at different times. Tags that were never used are free on all ranks. After the
/// last tag the ranks agree on the first range that all of them have given back.
TagRange MpiWorld::take_tags(int count) {
  const int last = largest_tag_ - count + 1;
  if (next_tag_ >= 0 && next_tag_ <= last) {
    const int first = next_tag_;
    next_tag_ += count;
    return {used_tags_, first, count};
  }
  next_tag_ = -1;
  const auto held = lock();
  for (int first = leaving_tag + 1;;) {
    int all = first <= last ? free_tags_from(first, count) : first;
    take_most(std::span(&all, 1), MPI_INT);
    if (all > last)
      throw Error("plan: exchange by messages",
                  std::to_string(count) + " tags of messages beside those of other plans",
                  "fewer plans on one Comm, or thicker tiles: MPI has " + std::to_string(largest_tag_) +
                      " tags (MPI_TAG_UB)");
    if (all == first) return {used_tags_, first, count};
    first = all;
  }
}

template <>
Comm Comm::mpi<MPI_Comm>(MPI_Comm communicator) {
  return Comm(std::make_shared<MpiComm>(communicator));
}

}  // namespace weft
