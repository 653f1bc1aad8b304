#include "transport/ucx/rails.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "base/arithmetic.hpp"
#include "base/numa/binding.hpp"
#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "weft/error.hpp"

namespace weft::ucx {

namespace {

constexpr const char* operation = "plan: rails";
const char key = 0;  ///< of what a Comm keeps

/// By option rails.
using Kept = std::map<std::string, std::shared_ptr<Rails>>;
Kept& kept(CommImpl& comm) {
  std::shared_ptr<void>& of_comm = comm.kept(&key);
  if (!of_comm) of_comm = std::make_shared<Kept>();
  return *std::static_pointer_cast<Kept>(of_comm);
}

/// The NUMA node that this rank sends from: that of its GPU, or the one that its thread is bound to.
int home_of(const Device* device, const numa::Map& machine) {
  const int of_device = device != nullptr ? machine.node_of(device->pci_address()) : numa::unknown;
  return of_device != numa::unknown ? of_device : machine.node_of(numa::of_thread());
}

/// Those of this machine, with their distances. Local.
std::vector<NetDevice> devices_of_rank(const Device* device) {
  std::vector<NetDevice> devices = network_devices();
  const numa::Map& machine = numa::of_machine();
  if (machine.has_several()) measure(devices, machine, home_of(device, machine));
  return devices;
}

/// Collective; throws the same error on all ranks.
RailChoice find_rails(CommImpl& comm, const Device* device, const RailSettings& settings) {
  std::string mine;
  agree(comm, operation, [&] {
    static_cast<void>(functions());
    if (several_nodes(comm)) mine = to_text(devices_of_rank(device));
  });
  if (!several_nodes(comm)) {  // there is one way for all
    RailChoice none;
    none.names.resize(static_cast<std::size_t>(comm.size()));
    return none;
  }
  std::vector<std::vector<NetDevice>> of_ranks;
  for (const std::string& text : texts_of(comm, mine)) of_ranks.push_back(devices_of(text));
  return choose_rails(settings.rails, of_ranks, settings.as_left);  // of the same values on all ranks
}

/// The numbers of conversations, each of which is taken once in a process.
class Conversations {
 public:
  int take_from(int least) {
    const auto held = lock();
    next_ = std::max(next_, least);
    return next_++;
  }
  bool take(int number) {
    const auto held = lock();
    if (number < next_) return false;
    next_ = number + 1;
    return true;
  }
  static Conversations& of_process() {
    static Conversations all;
    return all;
  }

 private:
  int next_ = 0;
};

/// One that has failed already if UCX sees at once that there is no way.
std::shared_ptr<Endpoint> way_to(Worker& worker, const std::string& address) {
  try {
    return worker.endpoint(address);
  } catch (const Error&) {
    auto none = std::make_shared<Endpoint>();
    none->give_up(UCS_ERR_UNREACHABLE);
    return none;
  }
}

}  // namespace

std::vector<std::string> texts_of(CommImpl& comm, const std::string& mine) {
  const std::vector<std::size_t> sizes = all_of(comm, mine.size());
  const std::size_t room = std::max<std::size_t>(1, *std::max_element(sizes.begin(), sizes.end()));
  std::string padded = mine, all(room * sizes.size(), '\0');
  padded.resize(room);
  comm.allgather(padded.data(), room, all.data());
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < sizes.size(); ++r) texts.push_back(all.substr(r * room, sizes[r]));
  return texts;
}

int new_conversation(CommImpl& comm) {
  constexpr int limit = 0xFFFFFF;
  Conversations& conversations = Conversations::of_process();
  // Threads of a process may agree with different ranks at the same time: a number counts if all ranks could
  // take it.
  for (int least = 0;;) {
    const int mine = conversations.take_from(least);
    const int most = -comm.least(-mine);
    if (most >= limit)
      throw Error(operation, "more than 16 million exchanges in one process", "plans that are kept");
    const bool taken = mine == most || conversations.take(most);
    if (comm.least(taken ? 1 : 0) == 1) return most;
    least = most + 1;
  }
}

std::uint64_t tag_of(int conversation, int sender, int kind) {
  return (static_cast<std::uint64_t>(conversation) << 40) | (static_cast<std::uint64_t>(sender) << 16) |
         static_cast<std::uint64_t>(kind);
}

void Rails::prepare(CommImpl& comm, const std::shared_ptr<Device>& gpu, const RailSettings& settings) {
  RailChoice choice = find_rails(comm, gpu.get(), settings);
  std::shared_ptr<Rails>& mine = kept(comm)[settings.rails];
  const bool serves = mine && mine->found_ == choice && mine->healthy();
  if (comm.least(serves ? 1 : 0) == 1) return;
  if (comm.rank() == 0 && !choice.warning.empty()) warn("rails: " + choice.warning);
  // If this throws, plans that were made before still have theirs.
  mine = std::shared_ptr<Rails>(new Rails(comm, std::move(choice)));
}

int Rails::named(CommImpl& comm, const RailSettings& settings) {
  const RailChoice choice = find_rails(comm, nullptr, settings);
  return choice.wanted > 0 ? std::min(choice.wanted, choice.count()) : choice.count();
}

std::shared_ptr<Rails> Rails::of(CommImpl& comm, const RailSettings& settings) {
  return kept(comm).at(settings.rails);
}

std::string Rails::text(const std::function<std::string(int)>& way) const {
  const std::string by_memory = way(memory_lane());
  const std::string memory = by_memory.empty() ? "" : " (" + by_memory + ")";
  if (count() == 0) return "no rails: all ranks are on one machine, and share its memory" + memory;
  std::vector<std::string> names;
  for (int j = 0; j < count(); ++j) {
    const int node = numa::of_machine().node_of(system_name(device(j)));
    names.push_back(device(j) + " (" + name_of(at(choice_.classes, j)) + ", " + way(j) +
                    (node == numa::unknown ? ")" : ", NUMA node " + std::to_string(node) + ")"));
  }
  return std::to_string(count()) + (count() == 1 ? " rail: " : " rails: ") + join(names, ", ") +
         (any_equal(nodes_) && !by_memory.empty() ? "; shared memory among ranks of a machine" + memory : "");
}

std::string Rails::name(int lane) const {
  return lane == memory_lane() ? "the memory of a machine" : "rail " + device(lane);
}

bool Rails::healthy() const {
  const auto held = lock();
  for (const auto& of_lane : endpoints_)
    for (const auto& e : of_lane)
      if (e && e->failed) return false;
  return true;
}

void Rails::progress() const {
  for (const auto& w : workers_)
    if (w) w->progress();
}

Rails::Rails(CommImpl& comm, RailChoice choice)
    : found_(choice), choice_(std::move(choice)), nodes_(comm.nodes()), rank_(comm.rank()) {
  open_all(comm);
  endpoints_.assign(workers_.size(), std::vector<std::shared_ptr<Endpoint>>(nodes_.size()));
  for (int lane = 0; lane < lanes(); ++lane) connect(comm, lane);
  leave_out_failed(try_out(comm));
  take_wanted();
}

/// Of lanes, ascending. The same error on all ranks.
void Rails::leave_out_failed(const std::vector<int>& failed) {
  if (failed.empty()) return;
  std::vector<std::string> names;
  for (const int j : failed) names.push_back(j == memory_lane() ? name(j) : device(j));
  if (choice_.named || failed.back() == memory_lane() || static_cast<int>(failed.size()) == count())
    throw Error(operation, join(names, ", ") + ", by which some rank does not reach all others",
                "devices that reach all ranks, in option rails; or exchange p2p");
  if (rank_ == 0) warn("rails: left out, as some rank does not reach all others by it: " + join(names, ", "));
  leave_out(failed);
}

/// The first of what is there, if the user has said how many. The same error on all ranks.
void Rails::take_wanted() {
  if (choice_.wanted == 0) return;
  std::vector<std::string> there;
  std::vector<int> surplus;
  for (int j = 0; j < count(); ++j) {
    there.push_back(device(j));
    if (j >= choice_.wanted) surplus.push_back(j);
  }
  if (count() < choice_.wanted && !choice_.as_left)
    throw Error(operation,
                std::to_string(choice_.wanted) + " rails, where all ranks reach each other by " +
                    join(there, ", ") + " alone",
                "no more of them in option rails, or auto");
  leave_out(surplus);
}

/// Ascending.
void Rails::leave_out(const std::vector<int>& lanes) {
  for (auto j = lanes.rbegin(); j != lanes.rend(); ++j) {
    workers_.erase(workers_.begin() + *j);
    if (!endpoints_.empty()) endpoints_.erase(endpoints_.begin() + *j);
  }
  choice_.leave_out(lanes);
}

/// The worker of a lane, if it leads to any rank. Collective; throws the same error on all ranks.
void Rails::open(CommImpl& comm, int lane) {
  agree(comm, operation, [&] {
    test_point("ucx", rank_);
    bool any = false;
    for (int r = 0; r < comm.size(); ++r) any = any || reaches(lane, r);
    if (!any) return;
    const auto& names = choice_.names[static_cast<std::size_t>(rank_)];
    at(workers_, lane) = lane == memory_lane() ? Worker::on(shared_memory, DeviceClass::tcp)
                                               : Worker::on(at(names, lane), at(choice_.classes, lane));
  });
}

/// Leaves out what some rank cannot open, unless that is all there is. Collective.
void Rails::open_all(CommImpl& comm) {
  agree(comm, operation, [&] { workers_.resize(static_cast<std::size_t>(lanes())); });
  std::vector<int> closed;
  for (int lane = 0; lane < lanes(); ++lane) try {
      open(comm, lane);
    } catch (const Error& e) {
      comm.check_alive(operation);
      const bool is_last = static_cast<int>(closed.size()) + 1 == count();
      if (choice_.named || lane == memory_lane() || is_last) throw;
      if (rank_ == 0) warn("rails: left out: " + std::string(e.what()));
      closed.push_back(lane);
    }
  leave_out(closed);
}

/// Makes the ways to the ranks that are reached by a lane. Collective.
void Rails::connect(CommImpl& comm, int lane) {
  const std::shared_ptr<Worker>& worker = at(workers_, lane);
  const std::vector<std::string> addresses = texts_of(comm, worker ? worker->address() : "");
  agree(comm, operation, [&] {
    const auto held = lock();
    for (int r = 0; r < comm.size(); ++r)
      if (reaches(lane, r)) at(at(endpoints_, lane), r) = way_to(*worker, at(addresses, r));
  });
}

namespace {

/// Empty messages from every rank to every other, by every lane. They stay where they are while they are
/// under way.
struct FirstMessages {
  FirstMessages(int lanes, int ranks)
      : ranks_(ranks), operations(2 * static_cast<std::size_t>(lanes * ranks), Operation{&done}) {
    done.operations.reserve(operations.size());
  }
  Operation& received(int lane, int rank) { return at(operations, 2 * (lane * ranks_ + rank)); }
  Operation& sent(int lane, int rank) { return at(operations, 2 * (lane * ranks_ + rank) + 1); }
  bool complete(int lane, int rank) {
    return received(lane, rank).request == nullptr && sent(lane, rank).request == nullptr;
  }
  bool good(int lane, int rank) {
    return complete(lane, rank) && received(lane, rank).status == UCS_OK && sent(lane, rank).status == UCS_OK;
  }
  /// UCX may still write to them.
  static void keep(std::unique_ptr<FirstMessages> messages) {
    const auto held = lock();
    static auto* const all = new std::vector<std::unique_ptr<FirstMessages>>;
    all->push_back(std::move(messages));
  }

  int ranks_;
  DoneList done;
  std::vector<Operation> operations;
};

}  // namespace

/// Calls `step(lane, rank)` for every way to another rank. Whether all calls were true.
template <class Step>
bool Rails::each_way(int first, int last, const Step& step) const {
  bool all = true;
  for (int lane = first; lane < last; ++lane)
    for (int r = 0; r < static_cast<int>(nodes_.size()); ++r)
      if (at(at(endpoints_, lane), r)) all = step(lane, r) && all;
  return all;
}

/// Sends an empty message to everybody by every lane, so that all connections are there when the first tile
/// is sent. Returns the lanes by which some rank did not hear from all others. Collective.
std::vector<int> Rails::try_out(CommImpl& comm) const {
  constexpr auto patience = std::chrono::seconds(10);
  const int conversation = new_conversation(comm);
  auto messages = std::make_unique<FirstMessages>(lanes(), comm.size());
  FirstMessages& m = *messages;
  {
    const auto held = lock();
    each_way(0, lanes(), [&](int lane, int r) {
      worker(lane)->receive(nullptr, 0, tag_of(conversation, r, 0), m.received(lane, r));
      worker(lane)->send(endpoint(lane, r), nullptr, 0, tag_of(conversation, rank_, 0), m.sent(lane, r));
      return true;
    });
  }
  // A rank that is done helps the others until all are, as they may still connect to it.
  const auto end = std::chrono::steady_clock::now() + patience;
  const auto call_back = [&] {
    const auto held = lock();
    each_way(0, lanes(), [&](int lane, int r) {
      worker(lane)->call_back(m.received(lane, r));
      // Nobody says farewell there, and later plans try another one.
      if (!m.good(lane, r) && !endpoint(lane, r).failed) endpoint(lane, r).give_up(UCS_ERR_UNREACHABLE);
      return true;
    });
    if (!each_way(0, lanes(), [&](int lane, int r) { return m.complete(lane, r); }))
      FirstMessages::keep(std::move(messages));
  };
  std::vector<int> failed;
  try {
    for (bool all = false; !all;) {
      bool mine = false;
      {
        const auto held = lock();
        for (int i = 0; i < 100; ++i) progress();
        mine = each_way(0, lanes(),
                        [&](int lane, int r) { return m.complete(lane, r) || endpoint(lane, r).failed; });
      }
      std::this_thread::yield();
      all = comm.least(mine || std::chrono::steady_clock::now() >= end ? 1 : 0) == 1;
    }
    for (int lane = 0; lane < lanes(); ++lane) {
      const bool good = each_way(lane, lane + 1, [&](int l, int r) { return m.good(l, r); });
      if (comm.least(good ? 1 : 0) == 0) failed.push_back(lane);
    }
  } catch (...) {  // MPI has failed
    call_back();
    throw;
  }
  call_back();
  return failed;
}

}  // namespace weft::ucx
