// A context and a worker of UCX on one network device, and its endpoints. A process has one for each device
// that it uses, shared by all Comms and plans, and destroys them at the beginning of MPI_Finalize.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "transport/ucx/devices.hpp"
#include "transport/ucx/library.hpp"

namespace weft::ucx {

/// To be held during calls of everything below. One for the process: threads of different Comms share
/// workers, whose progress completes operations of all of them.
std::unique_lock<std::recursive_mutex> lock();

/// Operations will be in the memory of this GPU.
void operate_in(const std::shared_ptr<Device>& gpu);

struct Operation;

/// Where operations say that they are done. It has room for all of its operations, so that nothing is
/// allocated.
struct DoneList {
  std::vector<Operation*> operations;
};

/// Something that is sent or received. It stays where it is while it is under way.
struct Operation {
  DoneList* list = nullptr;
  /// Called in the place of noting it there; it may start others, on the thread that lets workers move on.
  void (*next)(Operation& operation) = nullptr;
  void* request = nullptr;  ///< null: not under way
  ucs_status_t status = UCS_OK;
  std::size_t arrived = 0;  ///< bytes, of a receive
};

/// To be called of an operation that is over.
void finish(Operation& operation, ucs_status_t status);

/// The way to a worker of another process.
struct Endpoint {
  std::string address;  ///< of that worker
  ucp_ep_h handle = nullptr;
  bool failed = false;  ///< the other process or the network is not there any more
  ucs_status_t why = UCS_OK;

  void give_up(ucs_status_t status) {
    failed = true;
    why = status;
  }
};

class Registration;

class Worker {
 public:
  /// That of a device. Throws `weft::Error`.
  static std::shared_ptr<Worker> on(const std::string& device, DeviceClass device_class);

  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Whether the system knows its device as a network interface.
  bool is_interface() const { return is_interface_; }
  const std::string& device() const { return device_; }
  /// Whether its device does; see `weft::ucx::writes_alone`. The first call looks.
  bool writes_alone();
  const std::string& address() const { return address_; }
  /// The way to the worker with this address; a new one if the last has failed. Throws `weft::Error`.
  std::shared_ptr<Endpoint> endpoint(const std::string& address);

  /// Start an operation; it may be on its list when this returns. Messages with the same tag between two
  /// workers arrive in the order in which they were sent. Throws `weft::Error`.
  void send(Endpoint& to, const void* from, std::size_t bytes, std::uint64_t tag, Operation& operation,
            ucs_memory_type_t memory = UCS_MEMORY_TYPE_HOST);
  void receive(void* to, std::size_t bytes, std::uint64_t tag, Operation& operation,
               ucs_memory_type_t memory = UCS_MEMORY_TYPE_HOST);
  /// Writes to an address in the memory of another process, by the key that it has given for that. Complete
  /// when `from` may be overwritten.
  void put(Endpoint& to, const void* from, std::size_t bytes, std::uint64_t target, ucp_rkey_h key,
           Operation& operation, ucs_memory_type_t memory);
  /// Complete when all that has been put is in the memory of the other process.
  void flush(Endpoint& to, Operation& operation);
  /// Calls a receive back that nobody will complete.
  void call_back(Operation& operation);

  /// Lets it move on, which a thread of the workers' own need not do then. Whether anything has moved.
  bool progress();
  /// Whether that was called since `begin_period`.
  bool has_moved() const { return has_moved_; }
  void begin_period() { has_moved_ = false; }

 private:
  friend class Registration;

  Worker(const std::string& device, DeviceClass device_class);
  void started(void* result, Operation& operation);
  void say_farewell(std::vector<Operation>& operations, DoneList& done);
  void take_in_the_rest();
  void close() noexcept;
  static void close_all();

  std::string device_, address_;
  bool is_interface_, has_moved_ = false;
  std::optional<bool> writes_alone_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;                               ///< null: closed, as MPI is finalised
  std::map<std::string, std::shared_ptr<Endpoint>> endpoints_;  ///< by address
  std::vector<std::shared_ptr<Endpoint>> failed_;
  std::set<Registration*> registrations_;
};

}  // namespace weft::ucx
