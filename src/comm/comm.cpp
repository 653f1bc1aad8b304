#include "weft/comm.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "base/backoff.hpp"
#include "comm/comm_impl.hpp"
#include "weft/error.hpp"

namespace weft {

CommImpl& Comm::impl() const {
  if (!impl_) throw Error("comm", "a communicator that has been moved away", "the one it was moved to");
  return *impl_;
}

Comm Comm::split(int colour) const {
  impl().check_alive("split");
  impl().complete_collectives();
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
std::atomic<int> detail::pretended_ranks_per_node{0};

bool several_nodes(const CommImpl& comm) {
  return !all_equal(comm.nodes());
}

int CommImpl::node_ranks() const {
  const int mine = nodes_[static_cast<std::size_t>(rank())];
  return static_cast<int>(std::count(nodes_.begin(), nodes_.end(), mine));
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

void CommImpl::begin_execution(Execution& execution) {
  execution.before = nullptr;
  execution.next = executions_;
  if (executions_ != nullptr) executions_->before = &execution;
  executions_ = &execution;
}

void CommImpl::end_execution(Execution& execution) {
  (execution.before != nullptr ? execution.before->next : executions_) = execution.next;
  if (execution.next != nullptr) execution.next->before = execution.before;
}

void CommImpl::advance_executions(const Execution* beside) noexcept {
  for (Execution* f = executions_; f != nullptr;) {
    Execution* const after = f->next;  // one that fails leaves the list
    if (f != beside) f->progress();
    f = after;
  }
}

void CommImpl::complete_collectives() noexcept {
  // An exclusive execution is the only one under way.
  if (executions_ != nullptr && executions_->exclusive) executions_->complete();
}

void CommImpl::wait_for(LateMaximum& late) {
  for (Backoff backoff; !late.complete(); backoff.pause()) {
    check_alive("online");
    advance_executions();
  }
}

void Comm::barrier() const {
  impl().check_alive("barrier");
  impl().complete_collectives();
  impl().barrier();
}

}  // namespace weft
