#include "transport/ucx/registration.hpp"

#include <cstring>

#include "base/test_hook.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "transport/ucx/context.hpp"
#include "weft/error.hpp"

namespace weft::ucx {

namespace {

constexpr const char* registering = "exchange ucx: registering the workspace";

}  // namespace

Registration::Registration(std::shared_ptr<Worker> worker, std::byte* memory, Index bytes,
                           ucs_memory_type_t type)
    : worker_(std::move(worker)) {
  const auto held = lock();
  const Functions& f = functions();
  worker_->registrations_.insert(this);
  if (bytes == 0) return;
  try {
    ucp_mem_map_params_t p{};
    p.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                   UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    p.address = memory;
    p.length = static_cast<std::size_t>(bytes);
    p.memory_type = type;
    check(f.mem_map(worker_->context_, &p, &memory_), "ucp_mem_map");
    void* key = nullptr;
    std::size_t key_bytes = 0;
    check(f.rkey_pack(worker_->context_, memory_, &key, &key_bytes), "ucp_rkey_pack");
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    card_.assign(reinterpret_cast<const char*>(&address), sizeof address);
    card_.append(static_cast<const char*>(key), key_bytes);
    f.rkey_buffer_release(key);
  } catch (...) {
    worker_->registrations_.erase(this);
    release();
    throw;
  }
}

Registration::~Registration() {
  const auto held = lock();
  worker_->registrations_.erase(this);
  release();
}

void Registration::release() noexcept {
  for (Remote& remote : remotes_)
    if (remote.key != nullptr) functions().rkey_destroy(remote.key);
  remotes_.clear();
  if (memory_ != nullptr) functions().mem_unmap(worker_->context_, memory_);
  memory_ = nullptr;
}

void Registration::reach(int rank, const Endpoint& endpoint, const std::string& card) {
  if (card.empty()) return;
  const auto held = lock();
  const auto place = static_cast<std::size_t>(rank);
  if (remotes_.size() <= place) remotes_.resize(place + 1);
  Remote& remote = remotes_[place];
  std::memcpy(&remote.address, card.data(), sizeof remote.address);
  check(functions().ep_rkey_unpack(endpoint.handle, card.data() + sizeof remote.address, &remote.key),
        "ucp_ep_rkey_unpack");
}

std::shared_ptr<const RegisteredWorkspace> RegisteredWorkspace::make(CommImpl& comm, const Room& room,
                                                                     const RailSettings& settings) {
  constexpr Index least = Index{16} << 10;  // what UCX sends at once, without asking the receiver
  const bool forced = settings.one_sided == OneSided::on;
  if (settings.one_sided == OneSided::off) return nullptr;
  if (comm.least(room.memory || room.bytes == 0 ? 1 : 0) == 0) {
    if (forced)
      throw Error("plan: option one_sided", "on, with workspace of the user",
                  "auto or off, or workspace=plan: what is put into is registered while planning");
    return nullptr;
  }
  const std::shared_ptr<Rails> rails = Rails::of(comm, settings);
  std::shared_ptr<RegisteredWorkspace> made(
      new RegisteredWorkspace(room, forced ? 0 : least, rails->lanes()));
  bool any = false;
  for (int lane = 0; lane < rails->lanes(); ++lane) {
    // A rank that reaches nobody by a lane has no say, and no lane needs keys by which nobody is reached.
    constexpr int no = 0, yes = 1, no_say = 2;
    int wanted = no_say;
    agree(comm, registering, [&] {
      if (Worker* const worker = rails->worker(lane); worker != nullptr)
        wanted = forced || worker->writes_alone() ? yes : no;
    });
    if (comm.least(wanted) == yes) made->register_with(comm, *rails, lane);
    any = any || made->puts(lane);
  }
  return any ? made : nullptr;
}

/// Collective.
void RegisteredWorkspace::register_with(CommImpl& comm, const Rails& rails, int lane) {
  const std::shared_ptr<Worker> worker = rails.shared_worker(lane);
  std::shared_ptr<Registration> made;
  try {
    agree(comm, registering, [&] {
      test_point("ucx register", comm.rank());
      if (worker)
        made = std::make_shared<Registration>(worker, room_.memory.get(), room_.bytes,
                                              memory_type(room_.of_devices));
    });
    const std::vector<std::string> cards = texts_of(comm, made ? made->card() : "");
    agree(comm, registering, [&] {
      for (int r = 0; made && r < comm.size(); ++r)
        if (rails.reaches(lane, r)) made->reach(r, rails.endpoint(lane, r), at(cards, r));
    });
  } catch (const Error& e) {  // the same on all ranks
    comm.check_alive("plan");
    if (comm.rank() == 0)
      warn("exchange ucx: " + rails.name(lane) + " sends messages, and puts nothing: " + e.what());
    return;
  }
  at(lanes_, lane) = {true, made};
}

}  // namespace weft::ucx
