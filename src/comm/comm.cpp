#include "weft/comm.hpp"

#include "comm/comm_impl.hpp"
#include "weft/error.hpp"

namespace weft {

CommImpl& Comm::impl() const {
  if (!impl_) throw Error("comm", "a communicator that has been moved away", "the one it was moved to");
  return *impl_;
}

Comm Comm::split(int colour) const {
  impl().check_alive("split");
  return Comm(impl().split(colour));
}

int Comm::rank() const {
  return impl().rank();
}
int Comm::size() const {
  return impl().size();
}
const char* Comm::medium() const {
  return impl().medium();
}
std::shared_ptr<ThreadPool> CommImpl::pool(int threads) {
  if (threads == 1) return nullptr;
  std::shared_ptr<ThreadPool> pool = pools_[threads].lock();
  if (!pool) {
    pool = std::make_shared<ThreadPool>(threads);
    pools_[threads] = pool;
  }
  return pool;
}

void CommImpl::take_off(Flight& flight) {
  flight.before = nullptr;
  flight.next = flights_;
  if (flights_ != nullptr) flights_->before = &flight;
  flights_ = &flight;
}

void CommImpl::land(Flight& flight) {
  (flight.before != nullptr ? flight.before->next : flights_) = flight.next;
  if (flight.next != nullptr) flight.next->before = flight.before;
}

void Comm::barrier() const {
  impl().check_alive("barrier");
  impl().barrier();
}

}  // namespace weft
