// The memory of a bound plan, and the exchanges that are made in it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "base/memory.hpp"
#include "base/numa/binding.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/shared_memory.hpp"
#include "exec/bound_plan.hpp"
#include "program/stream_plan.hpp"
#include "traffic/placement.hpp"
#include "transport/peer/peer_memory.hpp"

namespace weft {

namespace {

/// For the flags in front of the workspace.
constexpr Index flag_room = Index{2} << 20;
/// Of the memory of a device, what plans and arrays can have: CUDA keeps some hundredth of it for itself.
constexpr double usable = 0.98;

}  // namespace

/// This rank's share of the memory of its device.
BoundPlan::DeviceMemory BoundPlan::find_device_memory() const {
  PeerMemory::give_back();
  DeviceMemory found;
  together(comm_, "plan", [&] {
    const std::vector<DeviceId>& ids = binding_.device_ids;
    const auto sharers = static_cast<double>(std::count(ids.begin(), ids.end(), device()->id()));
    found = {device()->free_bytes() / sharers, device()->total_bytes() / sharers, sharers};
  });
  return found;
}

/// For the workspace and the arrays.
double BoundPlan::needed_bytes(bool in_place) const {
  const auto [in, out] = binding_.array_bytes;
  return static_cast<double>(workspace_bytes_ + flag_room) +
         static_cast<double>(in_place ? std::max(in, out) : in + out);
}

/// After a failure: nothing if there was room for the workspace, as it then had another reason. Alike on all
/// ranks; collective.
std::string BoundPlan::what_would_fit(const DeviceMemory& found) const {
  if (design_.memory.users_workspace) return "";
  struct Need {
    double bytes, of_share, of_share_in_place, of_device;
    bool lacks;
  };
  const bool in_place = design_.program.in_place;
  const double bytes = needed_bytes(in_place), share = usable * found.total_bytes;
  Need most{bytes, bytes / share, needed_bytes(true) / share, bytes / (share * found.sharers),
            !memory_ && static_cast<double>(workspace_bytes_ + flag_room) > found.free_bytes};
  for (const Need& n : all_of(comm_, most)) {
    most.bytes = std::max(most.bytes, n.bytes);
    most.of_share = std::max(most.of_share, n.of_share);
    most.of_share_in_place = std::max(most.of_share_in_place, n.of_share_in_place);
    most.of_device = std::max(most.of_device, n.of_device);
    most.lacks = most.lacks || n.lacks;
  }
  if (!most.lacks) return "";
  const int size = comm_.size();
  const std::string needed = "; workspace and arrays take " + human_bytes(most.bytes) + " on each of " +
                             std::to_string(size) + " ranks, ";
  if (most.of_share <= 1) return needed + "which fits once other memory of the device is given back";
  const auto ranks = static_cast<Index>(std::ceil(most.of_device * size));
  return needed + "and would fit on " + std::to_string(ranks) + " with a device each" +
         (!in_place && most.of_share_in_place <= 1 ? ", or in place on these" : "");
}

/// Where a device has no room for what a step makes, its error says what would fit. Collective.
template <class Step>
auto BoundPlan::saying_what_would_fit(const DeviceMemory& found, const Step& step) {
  std::optional<Error> failure;
  try {
    return step();
  } catch (const AgreedFailure& e) {
    if (!device()) throw;
    failure = e.error;
  }
  return collectively([&]() -> decltype(step()) {
    throw Error(failure->operation(), failure->got(), failure->expected() + what_would_fit(found),
                failure->rank());
  });
}

/// Whether some device has no room for the workspace and the arrays, and another pipeline needs less.
bool BoundPlan::is_too_large(const DeviceMemory& found) const {
  if (!design_.memory.may_be_leaner) return false;
  const bool fits = needed_bytes(design_.program.in_place) <= usable * found.total_bytes &&
                    (design_.memory.users_workspace ||
                     static_cast<double>(workspace_bytes_ + flag_room) <= found.free_bytes);
  return comm_.least(fits || program_bytes_ <= 2 * aligned(largest_box_) ? 1 : 0) == 0;
}

/// Why a pipeline that was chosen for FFTs that store on peers is not worth it; empty: it is. Alike on all
/// ranks; collective.
std::string BoundPlan::why_no_turns(int roomy) const {
  if (!design_.memory.needs_turns || !design_.memory.may_be_leaner) return "";
  if (lands_in_turn(design_))
    return roomy > 0 ? "" : "FFTs that put in both exchanges are not the fastest here";
  if (second_workspace_ == 0) return "two workspaces leave too little memory";
  const bool all_spare = std::all_of(halves_.begin(), halves_.end(), [](const Half& h) {
    return h.executor->bytes_in_turn() < h.executor->program().workspace_bytes;
  });
  return comm_.least(all_spare ? 1 : 0) == 1 ? "" : "two axes in one launch are not the fastest here";
}

/// Where the workspace of every other execution begins, alike on all ranks. 0: there is one only. With two,
/// some of each may be superfluous, and is cut off.
Index BoundPlan::place_of_second(double free_bytes) {
  const Index untrimmed = program_bytes_;
  if (binding_.room.least == 0) program_bytes_ = 0;  // else other plans use it as well
  for (const Half& h : halves_) program_bytes_ = std::max(program_bytes_, h.executor->bytes_in_turn());
  set_workspace_bytes();
  const Index second = room_for_second(free_bytes);
  if (second > 0) return second;
  program_bytes_ = untrimmed;
  set_workspace_bytes();
  return 0;
}

/// In how many reshapes, the first ones, no rank waits for room. Alike on all ranks; collective.
int BoundPlan::roomy_reshapes() const {
  if (!lands_in_turn(design_)) return second_workspace_ > 0 ? 1 : 0;
  bool possible = true;
  for (const Half& h : halves_) {
    possible = possible && h.executor->ffts_can_put_all();
    for (const Half& earlier : halves_)
      possible = possible && finds_room_in_turn(h.executor->program(), earlier.executor->program());
  }
  return comm_.least(possible ? 2 : 0);
}

Index BoundPlan::room_for_second(double free_bytes) const {
  if (lands_in_turn(design_)) return 0;
  bool possible = workspace_bytes_ <= design_.memory.largest_in_turn;
  for (const Half& h : halves_)
    for (const Half& earlier : halves_)
      possible = possible && finds_room(h.executor->program(), earlier.executor->program());
  // Half of what is free is left to others.
  possible = possible && 4 * static_cast<double>(workspace_bytes_) <= free_bytes;
  const Index mine = possible ? device_aligned(std::max<Index>(1, workspace_bytes_)) : 0;
  const std::vector<Index> all = all_of(comm_, mine);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return *least == 0 ? 0 : *most;
}

/// Laid into memory of an exchange.
std::shared_ptr<Workspace> BoundPlan::share_workspace(const ExchangeRow& row) const {
  WorkspaceRequest request{comm_,
                           second_workspace_ + workspace_bytes_,
                           {},
                           device(),
                           binding_.device_ids,
                           binding_.near_groups,
                           second_workspace_ > 0};
  for (const Half& h : halves_)
    for (const ReshapeProgram& r : h.executor->program().reshapes)
      request.reshapes.push_back(row.traits.stores ? &r.stored : &r.sent);
  return collectively([&] { return row.memory(request); });
}

/// Pinned memory for parts that go through the host, by the GPU; the directions use the same in turn.
void BoundPlan::allocate_pinned(PlanMemory& m) {
  m.packed_bytes = design_.memory.staged.empty() ? 0 : program_bytes_;
  Index most = 0;
  if (m.far != nullptr)
    for (const Half& h : halves_) most = std::max(most, far_bytes(h.executor->program()));
  const int node = numa::of_machine().node_of(device()->pci_address());
  const numa::MemoryFrom near(node);
  m.pinned = device()->allocate_pinned(static_cast<std::size_t>(m.packed_bytes + most), "plan: workspace");
  if (m.pinned && near.is_heeded()) pinned_node_ = node;
}

std::optional<Obstacle> BoundPlan::make_memory() {
  PlanMemory m{.device = device()};
  m.staged = design_.memory.staged;
  m.rails = design_.rails;
  DeviceMemory found;
  if (device()) {
    found = find_device_memory();
    if (is_too_large(found))
      return Obstacle{&Closed::roomy, design_.legs[0][0].pipeline + " leaves too little memory", ""};
  }
  const std::vector<const ExchangeRow*>& rows = halves_[0].exchanges;
  const auto lays = std::find_if(rows.begin(), rows.end(),
                                 [](const ExchangeRow* row) { return lays_workspace(row->traits); });
  if (lays != rows.end()) {
    second_workspace_ = m.second = device() ? place_of_second(found.free_bytes) : 0;
    m.roomy = device() ? roomy_reshapes() : 0;
    if (const std::string why = why_no_turns(m.roomy); !why.empty()) return Obstacle{&Closed::turns, why, ""};
    try {
      m.reached = saying_what_would_fit(found, [&] { return share_workspace(**lays); });
    } catch (const AgreedFailure& e) {
      if (device() || !design_.memory.may_not_share) throw;
      comm_.check_alive("plan");
      return Obstacle{&Closed::sharing, e.error.got(), e.error.expected()};
    }
    memory_ = {m.reached, m.reached->of(comm_.rank())};
    if (!design_.memory.far.empty()) m.far = &exchange_row(design_.memory.far);
  }
  m.program_bytes = program_bytes_;
  m.fft_work_offset = device_aligned(program_bytes_);
  const std::set<const ExchangeRow*> used(rows.begin(), rows.end());
  for (const ExchangeRow& row : exchange_table())  // in one order on all ranks
    if (used.contains(&row) && row.prepare != nullptr)
      collectively([&] { row.prepare(comm_, device(), design_.rails); });
  saying_what_would_fit(found, [&] { together(comm_, "plan", [&] { allocate_workspace(m); }); });
  for (const ExchangeRow& row : exchange_table())
    if (used.contains(&row) && row.expose != nullptr)
      m.exposed[&row] = collectively([&] {
        return m.goes_through_host(row)
                   ? row.expose(comm_, m.pinned, m.packed_bytes, false, design_.rails)
                   : row.expose(comm_, memory_, workspace_bytes_, device() != nullptr, design_.rails);
      });
  for (const ExchangeRow* row : used)
    if (row->describe != nullptr)
      rails_text_ += "exchange " + std::string(row->name) + " " +
                     row->describe(comm_, design_.rails, m.exposed[row]) + "\n";
  if (pinned_node_ != numa::unknown)
    rails_text_ += "pinned memory on NUMA node " + std::to_string(pinned_node_) + ", that of the GPU\n";
  together(comm_, "plan", [&] { link(m); });
  return std::nullopt;
}

/// By an exchange, if one of those that are used wants that.
std::shared_ptr<std::byte> BoundPlan::allocate_on_device(std::size_t bytes, const char* operation) const {
  for (const ExchangeRow* row : halves_[0].exchanges)
    if (row->allocate != nullptr) return row->allocate(device(), bytes, operation);
  return device()->allocate(bytes, operation);
}

/// Local, as is `link`.
void BoundPlan::allocate_workspace(PlanMemory& m) {
  constexpr const char* operation = "plan: workspace";
  const auto bytes = static_cast<std::size_t>(workspace_bytes_);
  const WorkspaceRoom& room = binding_.room;
  if (!memory_ && room.lent_bytes > 0) {
    if (workspace_bytes_ > room.lent_bytes)
      throw Error(operation, std::to_string(workspace_bytes_) + " bytes",
                  "at most " + std::to_string(room.lent_bytes) + ", as another plan has");
    memory_ = room.lent;
  }
  if (!memory_ && !design_.memory.users_workspace)
    memory_ = device() ? allocate_on_device(bytes, operation) : allocate(bytes, operation);
  if (room.touches && memory_ && memory_ != room.lent)
    std::memset(memory_.get(), 0, bytes);  // nobody is connected
  m.workspace = memory_;
  if (device() && !halves_[0].exchanges.empty()) allocate_pinned(m);
}

void BoundPlan::link(PlanMemory& m) {
  std::size_t first = 0;
  for (Half& h : halves_) {
    h.executor->link({comm_, h.exchanges, h.groups, m, first});
    first += h.exchanges.size();
  }
}

}  // namespace weft
