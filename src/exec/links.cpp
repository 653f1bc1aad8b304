#include "exec/links.hpp"

#include <algorithm>
#include <compare>
#include <utility>

#include "base/test_hook.hpp"
#include "exec/ending.hpp"
#include "transport/failure_words.hpp"
#include "transport/staged/staged.hpp"

namespace weft {

namespace {

/// In memory of devices, what works on the host alone is served by way of the host.
std::unique_ptr<Carrier> carrier_for(const ExchangeRow& row, const CarrierRequest& request,
                                     std::shared_ptr<std::byte> pinned) {
  if (!request.device || row.traits.by_device) return row.carrier(request);
  return make_staged(row, request, std::move(pinned));
}

}  // namespace

Index far_bytes(const Program& program) {
  Index bytes = 0;
  for (const ReshapeProgram& r : program.reshapes)
    if (r.leg.traits.stores) bytes += staged_bytes(r.sent);
  return bytes;
}

Links::Links(const Program& program, const LinkRequest& request) : comm_(&request.comm) {
  const PlanMemory& memory = request.memory;
  Index offset = memory.packed_bytes;
  for (std::size_t j = 0; j < program.reshapes.size(); ++j) {
    const ReshapeMessages& sent = program.reshapes[j].sent;
    const ExchangeRow& row = *request.rows[j];
    const auto carrier = [&](const ExchangeRow& by, std::byte* pinned) {
      CarrierRequest made_from{request.comm, sent, request.groups[j], memory.device};
      if (const auto found = memory.exposed.find(&by); found != memory.exposed.end())
        made_from.exposed = found->second;
      made_from.rails = memory.rails;
      if (by.memory != nullptr) made_from.workspace = memory.reached;
      made_from.number = request.first + j;
      return carrier_for(by, made_from, {memory.pinned, pinned});
    };
    std::unique_ptr<Carrier> made;
    if (!row.traits.stores) {
      made = carrier(row, memory.goes_through_host(row) ? memory.pinned.get() : nullptr);
    } else if (memory.far != nullptr) {
      std::byte* const pinned = memory.pinned.get();
      made = carrier(*memory.far, pinned == nullptr ? nullptr : pinned + offset);
      offset += staged_bytes(sent);
    }
    carriers_.push_back(std::move(made));
    in_step_.push_back(stands_in_step(row.traits));
    windows_.push_back(row.traits.stores ? memory.reached->window(request.first + j) : nullptr);
  }
  const auto any = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& exchange) { return exchange != nullptr; });
  };
  mixed_ = any(carriers_) && any(windows_);
  const auto carrying =
      std::count_if(carriers_.begin(), carriers_.end(), [](const auto& c) { return c != nullptr; });
  for (const ExchangeRow* row : request.rows) queued_ = queued_ || (row->traits.queues && carrying > 1);
}

void Links::connect(JointSteps& steps) {
  for (const auto& c : carriers_) {
    steps.take_together(*comm_, [&] {
      if (c) c->connect();
    });
    steps.take([&] { test_point("connect", comm_->rank()); });
  }
}

void Links::begin(int turn) {
  for (const auto& w : windows_)
    if (w) w->begin(turn);
}

void Links::agree(const std::exception_ptr& failure, int stage) const {
  const double mine = failure ? 1 : 0;
  double all = 0;
  comm_->sum({&mine, 1}, {&all, 1});
  if (all == 0) return;
  struct Account {
    Ending ending;
    int stage;
    auto operator<=>(const Account&) const = default;
  };
  const Account account{ending_of(failure), stage};
  std::vector<Account> ranks;
  try {
    ranks = all_of(*comm_, account);
  } catch (const std::bad_alloc&) {
    comm_->leave_collectives(std::current_exception());
    throw;
  }
  const auto first = std::ranges::min_element(ranks);
  if (failure && account == *first) std::rethrow_exception(failure);
  throw failure_of(static_cast<int>(first - ranks.begin()), "execution", comm_->rank());
}

void Links::check() const {
  for (const auto& c : carriers_)
    if (c) c->check();
  for (const auto& w : windows_)
    if (w) w->check();
}

void Links::tell_those_who_go_on() noexcept {
  cancelled_ = true;
  for (std::size_t j = 0; j < carriers_.size(); ++j) {
    if (carriers_[j] && !in_step_[j]) carriers_[j]->cancel();
    if (windows_[j]) windows_[j]->cancel();
  }
}

void Links::cancel_carriers() noexcept {
  cancelled_ = true;
  for (const auto& c : carriers_)
    if (c) c->cancel();
}

void Links::cancel_windows() noexcept {
  for (const auto& w : windows_)
    if (w) w->cancel();
}

}  // namespace weft
