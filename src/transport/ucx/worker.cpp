#include "transport/ucx/worker.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <optional>
#include <thread>

#include "base/numa/binding.hpp"
#include "base/text.hpp"
#include "comm/mpi_world.hpp"
#include "transport/ucx/context.hpp"
#include "transport/ucx/registration.hpp"
#include "weft/error.hpp"

namespace weft::ucx {

namespace {

/// Lets each worker move on while nobody else does. A message that UCX calls complete may still be in its
/// memory, to be written to the network when the process next calls UCX: its program may by then wait
/// elsewhere for those who wait for it. Looks that find nothing come less and less often, but do not end.
class Caretaker {
 public:
  /// `look` says whether it has let something move.
  void begin(bool (*look)()) {
    allowed_ = numa::of_thread();
    thread_ = std::thread([this, look] { run(look); });
  }
  void end() {
    {
      const std::lock_guard held(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  /// Keeps it by these network devices, as far as it may run there.
  void stay_near(const std::vector<std::string>& devices) {
    const numa::Processors there = numa::of_machine().near(devices, allowed_);
    if (there.empty() && !bound_) return;
    bound_ = !there.empty();
    numa::bind(thread_, bound_ ? there : allowed_);
  }

 private:
  void run(bool (*look)()) {
    constexpr auto soon = std::chrono::microseconds(200), late = std::chrono::microseconds(1600);
    auto period = soon;
    std::unique_lock held(mutex_);
    while (!changed_.wait_for(held, period, [&] { return over_; }))
      period = look() ? soon : std::min(2 * period, late);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
  bool bound_ = false;
  numa::Processors allowed_;  ///< of the thread that has begun it: no more than the launcher gave
};

/// Never destroyed: threads of UCX may call back after main.
struct Registry {
  std::recursive_mutex mutex;
  Caretaker caretaker;
  std::map<std::string, std::shared_ptr<Worker>> workers;  ///< by device
  std::shared_ptr<Device> gpu;                             ///< whose memory operations are in; or null
  bool awaits_finalize = false, finalised = false;

  void place_caretaker() {
    std::vector<std::string> names;
    for (const auto& [device, worker] : workers) names.push_back(system_name(device));
    caretaker.stay_near(names);
  }
};
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

constexpr std::uint64_t exact = ~std::uint64_t{0};

/// Of the last message on an endpoint. No conversation has this number (rails.hpp).
std::uint64_t farewell_from(const std::string& address) {
  return (std::uint64_t{0xFFFFFF} << 40) | (stable_hash(address) >> 24);
}

void on_sent(void* request, ucs_status_t status, void* operation) {
  functions().request_free(request);
  finish(*static_cast<Operation*>(operation), status);
}

void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* operation) {
  auto& of = *static_cast<Operation*>(operation);
  of.arrived = status == UCS_OK ? info->length : 0;
  functions().request_free(request);
  finish(of, status);
}

void on_failure(void* endpoint, ucp_ep_h, ucs_status_t status) {
  static_cast<Endpoint*>(endpoint)->give_up(status);
}

/// What every operation has. UCX is told what memory it is in, and need not find out.
ucp_request_param_t parameters(Operation& operation, ucs_memory_type_t memory) {
  ucp_request_param_t p{};
  p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  p.user_data = &operation;
  p.memory_type = memory;
  operation.status = UCS_INPROGRESS;
  return p;
}

/// Lets workers move on that nobody else has since the last time, on the caretaker's thread: who waits for
/// one network may let the others alone. UCX before 1.18 copies memory of the GPU that is current there; one
/// that is lost is forgotten. Whether anything has moved.
bool look_after_all() {
  const auto held = lock();
  Registry& all = registry();
  bool moved = false;
  const auto is_left_alone = [](const auto& named) { return !named.second->has_moved(); };
  if (std::any_of(all.workers.begin(), all.workers.end(), is_left_alone)) {
    std::optional<DeviceScope> scope;
    try {
      if (all.gpu) scope.emplace(*all.gpu);
    } catch (const Error&) {
      all.gpu.reset();
    }
    for (const auto& [name, worker] : all.workers)
      if (!worker->has_moved()) moved = worker->progress() || moved;
  }
  for (const auto& [name, worker] : all.workers) worker->begin_period();
  return moved;
}

}  // namespace

void finish(Operation& operation, ucs_status_t status) {
  operation.request = nullptr;
  operation.status = status;
  if (operation.next != nullptr) return operation.next(operation);
  operation.list->operations.push_back(&operation);
}

std::unique_lock<std::recursive_mutex> lock() {
  return std::unique_lock(registry().mutex);
}

std::shared_ptr<Worker> Worker::on(const std::string& device, DeviceClass device_class) {
  const auto held = lock();
  Registry& all = registry();
  if (all.finalised) throw Error("rails", "MPI is finalised", "a call before MPI_Finalize");
  if (const auto known = all.workers.find(device); known != all.workers.end()) {
    all.place_caretaker();
    return known->second;
  }
  if (!all.awaits_finalize) {
    when_mpi_ends(AtEnd::networks, [] { close_all(); });
    std::atexit([] { registry().caretaker.end(); });  // before UCX goes, if MPI_Finalize is never called
    all.caretaker.begin(look_after_all);
  }
  all.awaits_finalize = true;
  auto made = all.workers[device] = std::shared_ptr<Worker>(new Worker(device, device_class));
  all.place_caretaker();
  return made;
}

Worker::Worker(const std::string& device, DeviceClass device_class)
    : device_(device), is_interface_(device != shared_memory && device_class == DeviceClass::tcp) {
  const Functions& f = functions();
  // UCX fills these buffers, and the device reads them, or the other way round.
  const numa::MemoryFrom near(numa::of_machine().node_of(system_name(device)));
  context_ = make_context(device, is_interface_);
  try {
    ucp_worker_params_t p{};
    p.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    p.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    check_opened(f.worker_create(context_, &p, &worker_), "ucp_worker_create", device);
    ucp_address_t* address = nullptr;
    std::size_t bytes = 0;
    check(f.worker_get_address(worker_, &address, &bytes), "ucp_worker_get_address");
    address_.assign(reinterpret_cast<const char*>(address), bytes);
    f.worker_release_address(worker_, address);
  } catch (...) {
    close();
    throw;
  }
}

Worker::~Worker() {
  close();
}

bool Worker::writes_alone() {
  const auto held = lock();
  if (detail::pretended_writing && device_ != shared_memory) return true;
  if (!writes_alone_) writes_alone_ = ucx::writes_alone(device_);
  return *writes_alone_;
}

std::shared_ptr<Endpoint> Worker::endpoint(const std::string& address) {
  const auto known = endpoints_.find(address);
  if (known != endpoints_.end() && !known->second->failed) return known->second;
  auto made = std::make_shared<Endpoint>();
  made->address = address;
  ucp_ep_params_t p{};
  p.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  p.address = reinterpret_cast<const ucp_address_t*>(address.data());
  if (device_ != shared_memory) {
    p.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    p.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    p.err_handler = {on_failure, made.get()};
  }
  check(functions().ep_create(worker_, &p, &made->handle), "ucp_ep_create");
  if (known != endpoints_.end()) failed_.push_back(known->second);
  return endpoints_[address] = made;
}

/// What a call that starts an operation has returned.
void Worker::started(void* result, Operation& operation) {
  if (result == nullptr || UCS_PTR_IS_ERR(result)) {
    finish(operation, result == nullptr ? UCS_OK : UCS_PTR_STATUS(result));
  } else if (operation.status == UCS_INPROGRESS) {  // the callback has not been called yet
    operation.request = result;
  }
}

void Worker::send(Endpoint& to, const void* from, std::size_t bytes, std::uint64_t tag, Operation& operation,
                  ucs_memory_type_t memory) {
  if (to.failed) return finish(operation, to.why);
  ucp_request_param_t p = parameters(operation, memory);
  p.cb.send = on_sent;
  started(functions().tag_send(to.handle, from, bytes, tag, &p), operation);
}

/// Always by the callback: UCX 1.13 does not say how long a message is that a receive finds there.
void Worker::receive(void* to, std::size_t bytes, std::uint64_t tag, Operation& operation,
                     ucs_memory_type_t memory) {
  ucp_request_param_t p = parameters(operation, memory);
  p.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  p.cb.recv = on_received;
  started(functions().tag_receive(worker_, to, bytes, tag, exact, &p), operation);
}

void Worker::put(Endpoint& to, const void* from, std::size_t bytes, std::uint64_t target, ucp_rkey_h key,
                 Operation& operation, ucs_memory_type_t memory) {
  if (to.failed) return finish(operation, to.why);
  ucp_request_param_t p = parameters(operation, memory);
  p.cb.send = on_sent;
  started(functions().put(to.handle, from, bytes, target, key, &p), operation);
}

void Worker::flush(Endpoint& to, Operation& operation) {
  if (to.failed) return finish(operation, to.why);
  ucp_request_param_t p = parameters(operation, UCS_MEMORY_TYPE_HOST);
  p.cb.send = on_sent;
  started(functions().ep_flush(to.handle, &p), operation);
}

void Worker::call_back(Operation& operation) {
  if (operation.request != nullptr && worker_ != nullptr)
    functions().request_cancel(worker_, operation.request);
}

void operate_in(const std::shared_ptr<Device>& gpu) {
  const auto held = lock();
  registry().gpu = gpu;
}

bool Worker::progress() {
  has_moved_ = true;
  return worker_ != nullptr && functions().worker_progress(worker_) != 0;
}

/// Starts the last messages to and from all that this worker is connected with.
void Worker::say_farewell(std::vector<Operation>& operations, DoneList& done) {
  if (is_interface_ && !has_link(device_)) return;
  operations.assign(2 * endpoints_.size(), Operation{&done});
  std::size_t next = 0;
  for (const auto& [address, endpoint] : endpoints_) {
    if (endpoint->failed) continue;
    receive(nullptr, 0, farewell_from(address), operations[next++]);
    send(*endpoint, nullptr, 0, farewell_from(address_), operations[next++]);
  }
}

/// Takes in messages that no execution has waited for, as UCX would warn of each.
void Worker::take_in_the_rest() {
  ucp_request_param_t p{};
  void* request = nullptr;
  do request = functions().tag_receive(worker_, nullptr, 0, 0, 0, &p);
  while (request == nullptr || UCS_PTR_IS_ERR(request));
  functions().request_cancel(worker_, request);
  functions().request_free(request);
}

void Worker::close() noexcept {
  if (context_ == nullptr) return;
  for (Registration* r : registrations_) r->release();
  registrations_.clear();
  if (worker_ != nullptr) take_in_the_rest();
  const Functions& f = functions();
  ucp_request_param_t force{};
  force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  force.flags = UCP_EP_CLOSE_FLAG_FORCE;
  std::vector<void*> closing;
  const auto close_one = [&](const std::shared_ptr<Endpoint>& e) {
    if (device_ == shared_memory) return;  // goes with its worker
    if (void* const r = f.ep_close(e->handle, &force); r != nullptr && !UCS_PTR_IS_ERR(r))
      closing.push_back(r);
  };
  for (const auto& e : failed_) close_one(e);
  for (const auto& [address, e] : endpoints_) close_one(e);
  for (void* request : closing) {
    while (f.request_status(request) == UCS_INPROGRESS) f.worker_progress(worker_);
    f.request_free(request);
  }
  if (worker_ != nullptr) f.worker_destroy(worker_);
  f.cleanup(context_);
  worker_ = nullptr;
  context_ = nullptr;
}

/// At the beginning of MPI_Finalize, which all ranks call. A connection that is closed while the other side
/// still has to read from it may lose what it has not read: so all ranks say farewell first, and those that
/// do not answer are waited for no longer than this.
void Worker::close_all() {
  constexpr auto patience = std::chrono::seconds(10);
  Registry& all = registry();
  all.caretaker.end();
  const auto held = lock();
  all.finalised = true;
  const std::size_t count = all.workers.size();
  DoneList done;
  std::vector<std::vector<Operation>> operations(count);
  std::size_t i = 0, most = 0;
  for (const auto& [device, worker] : all.workers) most += 2 * worker->endpoints_.size();
  done.operations.reserve(most);
  for (const auto& [device, worker] : all.workers) worker->say_farewell(operations[i++], done);
  const auto under_way = [&] {
    std::size_t n = 0;
    for (const auto& of_worker : operations)
      for (const Operation& o : of_worker) n += o.request != nullptr ? 1 : 0;
    return n > 0;
  };
  const auto end = std::chrono::steady_clock::now() + patience;
  while (under_way() && std::chrono::steady_clock::now() < end) {
    bool moved = false;
    for (const auto& [device, worker] : all.workers) moved = worker->progress() || moved;
    if (!moved) std::this_thread::yield();
  }
  i = 0;
  for (const auto& [device, worker] : all.workers) {
    for (Operation& o : operations[i]) worker->call_back(o);
    ++i;
    worker->close();
  }
}

}  // namespace weft::ucx
