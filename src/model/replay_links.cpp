#include "model/replay_links.hpp"

#include <algorithm>
#include <string>

#include "base/arithmetic.hpp"
#include "weft/error.hpp"

namespace weft {

ReplayLinks::ReplayLinks(const MachineDescription& machine, const std::vector<int>& nodes, int rails)
    : machine_(machine), nodes_(nodes) {
  const LinkDescription* const network = find_link(machine, over_network, by_messages);
  if (network != nullptr && !network->rails.empty()) {
    on_rails_ = on_rails(*network, rails);
    rails_ = rails_used(*network, rails);
  }
  for (const int node : nodes) {
    const auto count = static_cast<std::size_t>(node) + 1;
    if (ranks_of_.size() < count) ranks_of_.resize(count);
    if (ranks_of_[count - 1]++ == 0) ++machines_;
  }
}

bool ReplayLinks::near(int a, int b) const {
  return at(nodes_, a) == at(nodes_, b);
}

const LinkDescription& ReplayLinks::link(bool near, const char* carries) const {
  const LinkDescription* const found = find_link(machine_, near ? over_node : over_network, carries);
  if (found == nullptr)
    throw Error("model",
                std::string("a machine without a link for ") + carries +
                    (near ? " within a machine" : " between machines"),
                "a description that has it");
  return *found;
}

const LinkDescription& ReplayLinks::link(bool near, const ExchangeTraits& exchange) const {
  return !near && exchange.on_rails && on_rails_ ? *on_rails_ : link(near, by_messages);
}

const LinkDescription& ReplayLinks::device_link(const char* between, const char* carries) const {
  const LinkDescription* const found = find_link(machine_, between, carries);
  if (found == nullptr)
    throw Error("model",
                std::string("a machine without a link for ") + carries +
                    (between == std::string(over_host) ? " between a device and its host"
                                                       : " between devices that reach each other"),
                "a description that has it");
  return *found;
}

double ReplayLinks::wire_seconds(const ExchangeTraits& exchange, int rank, Index bytes) const {
  const auto count = static_cast<double>(bytes);
  return count / bytes_per_s(link(false, exchange), count, at(ranks_of_, at(nodes_, rank)), machines_);
}

double ReplayLinks::share_of_message(const ExchangeTraits& exchange, int a, int b) const {
  const double messages = exchange.on_rails ? rails_ : 1;
  return messages / at(ranks_of_, at(nodes_, a)) / at(ranks_of_, at(nodes_, b));
}

double ReplayLinks::take_seconds(const ExchangeTraits& exchange, int receiver, int sender, Index bytes,
                                 double messages) const {
  if (sender == receiver) return 0;
  const LinkDescription& l = link(near(receiver, sender), exchange);
  const auto count = static_cast<double>(bytes);
  return messages * l.part_s + (bytes == 0 ? 0 : l.busy_share * count / l.bytes_per_s.at(count));
}

}  // namespace weft
