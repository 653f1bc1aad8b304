#include "support/nccl_double.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.hpp"
#include "support/device_double.hpp"
#include "support/wait_until.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// A part on its way; its sender waits until it has been taken.
struct Part {
  const void* from;
  std::size_t bytes;
  bool taken = false;
};

struct World {
  std::mutex mutex;
  int ranks = 0;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Part>>> parts;  ///< by sender and receiver
};

}  // namespace

struct nccl::Communicator {
  std::shared_ptr<World> world;
  int rank = 0;
  std::atomic<bool> aborted{false};
  std::atomic<int> error{0};
};

namespace test {

std::atomic<int> nccl_double_failing_rank{-1};

namespace {

using nccl::Communicator;

constexpr int success = 0, unhandled_error = 1, system_error = 2, invalid_argument = 4, invalid_usage = 5;

struct Call {
  bool sends;
  const void* from;
  void* to;
  std::size_t bytes;
  int peer;
  Communicator* communicator;
  void* stream;
};

thread_local int depth = 0;
thread_local std::vector<Call> calls;
std::atomic<int> made{0};

/// Memory of `allocate`, and what is registered of it.
struct Blocks {
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<std::byte>> allocated;
  struct Registered {
    const void* memory;
    const Communicator* with;
  };
  std::list<Registered> registered;  ///< handles point to them
};
Blocks blocks;

std::mutex worlds_mutex;
std::map<int, std::shared_ptr<World>> worlds;
std::list<Communicator> communicators;  // a std::list does not move what others point to

int number_of(const nccl::UniqueId& id) {
  int number = 0;
  std::memcpy(&number, id.bytes, sizeof number);
  return number;
}

int get_unique_id(nccl::UniqueId* id) {
  static std::atomic<int> last{0};
  const int number = ++last;
  std::memcpy(id->bytes, &number, sizeof number);
  return success;
}

int init_rank(Communicator** communicator, int ranks, nccl::UniqueId id, int rank) {
  std::shared_ptr<World> world;
  {
    const std::lock_guard lock(worlds_mutex);
    std::shared_ptr<World>& known = worlds[number_of(id)];
    if (!known) known = std::make_shared<World>();
    world = known;
    Communicator& mine = communicators.emplace_back();
    mine.world = world;
    mine.rank = rank;
    *communicator = &mine;
    ++made;
    ++world->ranks;
  }
  wait_until([&] {
    const std::lock_guard lock(worlds_mutex);
    return world->ranks == ranks;
  });
  return success;
}

int abort(Communicator* communicator) {
  communicator->aborted = true;
  const std::lock_guard lock(blocks.mutex);
  blocks.registered.remove_if(
      [&](const Blocks::Registered& registered) { return registered.with == communicator; });
  return success;
}

int get_async_error(Communicator* communicator, int* status) {
  *status = communicator->error;
  return success;
}

/// Takes what has come for a call; whether it had.
bool take(Communicator& c, const Call& call) {
  const std::lock_guard lock(c.world->mutex);
  auto& waiting = c.world->parts[{call.peer, c.rank}];
  if (waiting.empty()) return false;
  Part& part = *waiting.front();
  if (part.bytes != call.bytes) c.error = invalid_usage;
  std::memcpy(call.to, part.from, std::min(part.bytes, call.bytes));
  part.taken = true;
  waiting.pop_front();
  return true;
}

bool is_taken(Communicator& c, const Part& part) {
  const std::lock_guard lock(c.world->mutex);
  return part.taken;
}

void take_back(Communicator& c) {
  const std::lock_guard lock(c.world->mutex);
  for (auto& [pair, waiting] : c.world->parts)
    if (pair.first == c.rank) waiting.clear();
}

/// On the stream's thread.
void carry(Communicator& c, const std::vector<Call>& group) {
  std::vector<std::shared_ptr<Part>> sent;
  for (const Call& call : group) {
    if (!call.sends) continue;
    sent.push_back(std::make_shared<Part>(Part{call.from, call.bytes}));
    const std::lock_guard lock(c.world->mutex);
    c.world->parts[{c.rank, call.peer}].push_back(sent.back());
  }
  const auto until = [&](const auto& done) { wait_until([&] { return c.aborted || done(); }); };
  for (const Call& call : group)
    if (!call.sends) until([&] { return take(c, call); });
  for (const auto& part : sent) until([&] { return is_taken(c, *part); });
  if (c.aborted) take_back(c);
}

int allocate(void** memory, std::size_t bytes) {
  std::shared_ptr<std::byte> block;
  try {
    block = current_device()->allocate(bytes, "double of NCCL");
  } catch (const Error&) {
    return unhandled_error;
  }
  *memory = block.get();
  const std::lock_guard lock(blocks.mutex);
  blocks.allocated[block.get()] = block;
  return success;
}

int free(void* memory) {
  std::shared_ptr<std::byte> block;  // goes behind the lock
  const std::lock_guard lock(blocks.mutex);
  for (const Blocks::Registered& registered : blocks.registered)
    if (registered.memory == memory) return invalid_usage;
  const auto found = blocks.allocated.find(memory);
  if (found == blocks.allocated.end()) return invalid_argument;
  block = std::move(found->second);
  blocks.allocated.erase(found);
  return success;
}

int register_memory(Communicator* communicator, void* memory, std::size_t, void** handle) {
  if (communicator->aborted) return invalid_usage;
  const std::lock_guard lock(blocks.mutex);
  if (!blocks.allocated.contains(memory)) return invalid_argument;
  *handle = &blocks.registered.emplace_back(Blocks::Registered{memory, communicator});
  return success;
}

int deregister(Communicator* communicator, void* handle) {
  if (communicator->aborted) return invalid_usage;
  const std::lock_guard lock(blocks.mutex);
  const auto same = [&](const Blocks::Registered& registered) { return &registered == handle; };
  return blocks.registered.remove_if(same) == 1 ? success : invalid_argument;
}

int group_start() {
  ++depth;
  return success;
}

int group_end() {
  if (depth == 0) return invalid_usage;
  if (--depth > 0 || calls.empty()) return success;
  const std::vector<Call> group = std::move(calls);
  calls.clear();
  Communicator* const c = group.front().communicator;
  for (const Call& call : group)
    if (call.communicator != c || call.stream != group.front().stream) return invalid_usage;
  run_on_double_stream(group.front().stream, [c, group] { carry(*c, group); });
  return success;
}

int add(const Call& call) {
  if (depth == 0 || call.peer == call.communicator->rank) return invalid_usage;
  if (call.communicator->rank == nccl_double_failing_rank) return system_error;
  calls.push_back(call);
  return success;
}

int send(const void* from, std::size_t bytes, int type, int peer, Communicator* c, void* stream) {
  return type == nccl::byte_type ? add({true, from, nullptr, bytes, peer, c, stream}) : invalid_argument;
}

int receive(void* to, std::size_t bytes, int type, int peer, Communicator* c, void* stream) {
  return type == nccl::byte_type ? add({false, nullptr, to, bytes, peer, c, stream}) : invalid_argument;
}

}  // namespace

const nccl::Functions& nccl_double() {
  static const nccl::Functions functions{get_unique_id,
                                         init_rank,
                                         abort,
                                         get_async_error,
                                         group_start,
                                         group_end,
                                         send,
                                         receive,
                                         [](int) { return "an error of the double"; },
                                         [](Communicator*) { return ""; },
                                         allocate,
                                         free,
                                         register_memory,
                                         deregister};
  return functions;
}

int nccl_double_made() {
  return made;
}

std::size_t nccl_double_blocks() {
  const std::lock_guard lock(blocks.mutex);
  return blocks.allocated.size();
}

std::size_t nccl_double_registered() {
  const std::lock_guard lock(blocks.mutex);
  return blocks.registered.size();
}

}  // namespace test

}  // namespace weft
