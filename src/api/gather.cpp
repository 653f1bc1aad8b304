#include "api/gather.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <type_traits>

#include "api/offers.hpp"
#include "base/cache.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "design/rules/rules.hpp"
#include "geometry/layout.hpp"
#include "transport/transport.hpp"
#include "tune/machine.hpp"

namespace weft {

namespace {

/// One value if it is that of all ranks.
template <class T>
std::vector<T> shortened(std::vector<T> all) {
  if (all_equal(all)) all.resize(1);
  return all;
}

/// The memory orders that ranks ask for, of the axes of one array.
std::vector<Order> orders_of(CommImpl& comm, const Distribution& d, int ndim) {
  if (has_columns(d)) return {};
  std::vector<Order> orders = all_of(comm, d.strides().empty() ? d.order() : order_of(d.strides()));
  const bool none = std::all_of(orders.begin(), orders.end(), [](const Order& o) { return o.empty(); });
  if (none && d.kind() == Distribution::Kind::fastest) return {};
  for (Order& o : orders)
    if (o.empty()) o = c_order(ndim);
  return shortened(std::move(orders));
}

std::vector<Box> boxes_of(CommImpl& comm, const Distribution& d) {
  if (d.kind() != Distribution::Kind::box) return {};
  return all_of(comm, d.box_list().front());
}

/// The columns that ranks give, one list for each. In rounds: a rank may have many more than others.
/// Collective.
std::vector<std::vector<ModeColumn>> columns_of(CommImpl& comm, const std::vector<ModeColumn>& mine) {
  static_assert(std::is_trivially_copyable_v<ModeColumn>);
  constexpr std::size_t most_bytes = 16 << 20;
  const std::vector<std::size_t> counts = all_of(comm, mine.size());
  const std::size_t most = *std::ranges::max_element(counts);
  const std::size_t each =
      std::clamp<std::size_t>(most_bytes / (sizeof(ModeColumn) * counts.size()), 1, most + 1);
  std::vector<ModeColumn> some(each), all(each * counts.size());
  std::vector<std::vector<ModeColumn>> of_ranks(counts.size());
  for (std::size_t first = 0; first < most; first += each) {
    const auto part = [&](std::size_t count) { return std::min(count - std::min(count, first), each); };
    std::copy_n(mine.data() + std::min(first, mine.size()), part(mine.size()), some.data());
    comm.allgather(some.data(), each * sizeof(ModeColumn), all.data());
    for (std::size_t r = 0; r < counts.size(); ++r)
      of_ranks[r].insert(of_ranks[r].end(), all.data() + r * each, all.data() + r * each + part(counts[r]));
  }
  return of_ranks;
}

/// The modes of a problem, if they are given by columns. Collective.
ModeColumnsPtr mode_columns(CommImpl& comm, const Problem& problem) {
  if (!has_columns(problem.output)) return nullptr;
  std::vector<std::vector<ModeColumn>> of_ranks, of_input;
  const bool listed = problem.output.kind() == Distribution::Kind::columns;
  if (listed) of_ranks = columns_of(comm, problem.output.column_list());
  if (listed && has_columns(problem.input)) of_input = columns_of(comm, problem.input.column_list());
  ModeColumnsPtr columns;
  agree(comm, "plan", [&] {
    if (!listed)
      of_ranks = sphere_columns(problem.shape, problem.transforms, problem.output.radius(), comm.size());
    columns = std::make_shared<const ModeColumns>(make_columns(problem.shape, problem.transforms, of_ranks));
    if (!of_input.empty() && !(make_columns(problem.shape, problem.transforms, of_input) == *columns))
      throw Error("plan: columns", "input and output with different columns",
                  "the same on both sides, between which are points");
  });
  return columns;
}

/// Whether the devices of two ranks of one machine reach each other, from what `reaches` says of this rank
/// and each rank of its machine. Collective.
std::function<bool(int, int)> mutual_reach(CommImpl& comm, const std::function<bool(int)>& reaches) {
  const std::vector<int>& nodes = comm.nodes();
  std::vector<std::size_t> position;  // of every rank on its machine
  std::map<int, std::size_t> counted;
  for (const int node : nodes) position.push_back(counted[node]++);
  const std::size_t width = 1 + *std::max_element(position.begin(), position.end());
  std::vector<char> mine(width, 0), all(width * nodes.size());
  agree(comm, "plan", [&] {
    for (int r = 0; r < comm.size(); ++r)
      if (at(nodes, r) == at(nodes, comm.rank())) at(mine, at(position, r)) = reaches(r) ? 1 : 0;
  });
  comm.allgather(mine.data(), width, all.data());
  return [=](int a, int b) {
    const auto says = [&](int r, int of) { return at(all, at(position, of) + width * std::size_t(r)) != 0; };
    return a == b || (says(a, b) && says(b, a));
  };
}

/// As wisdom knows the devices of all ranks: "2x1 NVIDIA H200, 132 multiprocessors", two with a rank each.
std::string devices_text(CommImpl& comm, const Device& mine, const DeviceFacts& facts) {
  const std::vector<std::uint64_t> models = shortened(all_of(comm, stable_hash(mine.model())));
  return ranks_text(facts.numbers) + " " + facts.model +
         (models.size() == 1 ? "" : " and others (" + std::to_string(stable_hash(join(models, " "))) + ")") +
         (facts.islands.several() ? " that do not reach each other" : "");
}

/// Among threads, a rank that shares its device reaches no other: some calls of CUDA wait for all streams of
/// a process on a device, those that wait for a peer's included.
DeviceFacts device_facts(CommImpl& comm, const DeviceRanks& devices) {
  const auto id = [&](int rank) { return at(devices.ids, rank); };
  const auto shares = [&](int rank) {
    return comm.threads() != nullptr && std::count(devices.ids.begin(), devices.ids.end(), id(rank)) > 1;
  };
  DeviceFacts facts;
  facts.islands =
      islands_of(comm.nodes(), mutual_reach(comm, [&](int rank) {
                   const DeviceScope scope(*devices.mine);
                   return !shares(comm.rank()) && !shares(rank) && devices.mine->reaches(id(rank));
                 }));
  for (const DeviceId& of_rank : devices.ids)  // the number of the first rank that has it
    facts.numbers.push_back(
        static_cast<int>(std::find(devices.ids.begin(), devices.ids.end(), of_rank) - devices.ids.begin()));
  if (several_nodes(comm)) facts.no_peers = "ranks on several machines";
  if (const auto [a, b] = facts.islands.apart; a >= 0) {
    facts.no_peers += facts.no_peers.empty() ? "" : ", and ";
    const std::string names =
        comm.broadcast(devices.mine->name(), a) + " and " + comm.broadcast(devices.mine->name(), b);
    facts.no_peers += shares(a) || shares(b)
                          ? "threads of one process that share a device"
                          : "devices of ranks " + std::to_string(a) + " and " + std::to_string(b) + ", " +
                                names + ", do not reach each other";
  }
  facts.model = comm.broadcast(devices.mine->model(), 0);
  facts.text = devices_text(comm, *devices.mine, facts);
  facts.captures_flags = devices.mine->captures_flags();
  return facts;
}

bool is_named(const ExchangeRow& row, const Wishes& wishes) {
  const std::vector<std::string>& names = wishes.exchange.value;
  return std::find(names.begin(), names.end(), row.name) != names.end();
}

/// Whether an exchange that not every system has may be used. Looking for it takes time.
bool is_looked_for(const ExchangeRow& row, CommImpl& comm, const Wishes& wishes) {
  return works_among(row.traits, comm.nodes(), comm.threads() != nullptr) &&
         (is_named(row, wishes) || (wishes.effort.value != Effort::estimate && !row.traits.one_group));
}

bool takes_devices(const ExchangeRow& row, CommImpl& comm, const Wishes& wishes) {
  if (row.takes_devices == nullptr || (row.traits.by_name_only && !is_named(row, wishes))) return false;
  return works_among(row.traits, comm.nodes(), comm.threads() != nullptr) && row.takes_devices(comm);
}

/// Why an exchange that not every system has is not there, on any rank.
std::string missing(const ExchangeRow& row, CommImpl& comm, const Wishes& wishes) {
  if (row.missing == nullptr || !is_looked_for(row, comm, wishes)) return "";
  const std::string mine = row.missing(comm);
  const std::vector<int> all = all_of(comm, mine.empty() ? 0 : 1);
  const auto first = std::find(all.begin(), all.end(), 1);
  return first == all.end() ? "" : comm.broadcast(mine, static_cast<int>(first - all.begin()));
}

}  // namespace

DeviceRanks find_devices(CommImpl& comm, const Problem& problem) {
  DeviceRanks devices;
  if (problem.memory == MemoryKind::host) return devices;
  agree(comm, "plan", [&] { devices.mine = current_device(); });
  devices.ids = all_of(comm, devices.mine->id());
  return devices;
}

Setting gather_setting(CommImpl& comm, const Problem& problem, const Wishes& wishes,
                       const DeviceRanks& devices) {
  Setting setting;
  setting.medium = comm.medium();
  setting.nodes = comm.nodes();
  setting.threads = comm.threads() != nullptr;
  const int ndim = problem.shape.size();
  setting.given = {boxes_of(comm, problem.input), boxes_of(comm, problem.output),
                   orders_of(comm, problem.input, ndim), orders_of(comm, problem.output, ndim),
                   mode_columns(comm, problem)};
  if (devices.mine) setting.devices = device_facts(comm, devices);
  setting.hardware_threads = shortened(all_of(comm, hardware_threads()));
  setting.cache_bytes = shortened(all_of(comm, Index{second_cache_bytes()}));
  for (const ExchangeRow& row : exchange_table())
    setting.offers.push_back({row.name, row.traits, why_not(row, setting),
                              moves_on(row.traits, setting.nodes),
                              devices.mine && takes_devices(row, comm, wishes), missing(row, comm, wishes)});
  return setting;
}

namespace {

/// The rails of one exchange, or 0. A Comm on which they could not be opened is not asked again.
int open_rails(const ExchangeRow& row, CommImpl& comm, const Wishes& wishes, bool as_left) {
  static const char key = 0;
  std::shared_ptr<void>& failed = comm.kept(&key);
  if (failed) return 0;
  RailSettings settings = choose_rails(wishes);
  settings.as_left = as_left;
  try {
    const int networks = row.networks(comm, settings);
    if (networks < 2) return networks;
    row.prepare(comm, nullptr, settings);
    return row.rails(comm, settings);
  } catch (const Error& e) {
    comm.check_alive("plan");
    failed = std::make_shared<bool>(true);
    if (comm.rank() == 0)
      warn(std::string("effort online does not try exchange ") + row.name + ": " + e.what());
    return 0;
  }
}

}  // namespace

void open_networks(CommImpl& comm, const Wishes& wishes, Setting& setting) {
  constexpr int most_ranks = 256;  // each connects to all others
  if (!wishes.any_exchange() || !setting.several_nodes() || comm.size() > most_ranks) return;
  for (Offer& offer : setting.offers) {
    const ExchangeRow& row = exchange_row(offer.name);
    if (row.networks != nullptr && offer.why_not.empty() && offer.missing.empty())
      offer.rails = open_rails(row, comm, wishes, setting.rails_as_left);
  }
}

}  // namespace weft
