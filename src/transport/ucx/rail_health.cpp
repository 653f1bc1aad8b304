#include "transport/ucx/rail_health.hpp"

#include <algorithm>

#include "transport/lost_network.hpp"

namespace weft::ucx {

void RailHealth::add(Way way) {
  if (std::find(ways_.begin(), ways_.end(), way) == ways_.end()) ways_.push_back(way);
}

/// A rank that only receives is not told by its receives that their sender is gone.
void RailHealth::look() {
  constexpr int between_checks = 64;
  if (++looks_ % between_checks != 0) return;
  for (const Way& way : ways_) {
    const Endpoint& endpoint = rails_->endpoint(way.lane, way.peer);
    if (endpoint.failed && !has_left(way.lane)) fail(way, text_of(endpoint.why));
  }
  look_at_links();
}

bool RailHealth::has_lost_link(int lane) const {
  return rails_->worker(lane)->is_interface() && !has_link(rails_->device(lane));
}

/// What is sent on a link that is down waits for it to come back, for minutes.
void RailHealth::look_at_links() {
  using Clock = std::chrono::steady_clock;
  constexpr auto between_looks = std::chrono::milliseconds(250);
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + between_looks;
  for (int lane = 0; lane < rails_->count(); ++lane) {
    if (has_left(lane) || !has_lost_link(lane)) continue;
    for (const Way& way : ways_)
      if (way.lane == lane) rails_->endpoint(lane, way.peer).give_up(UCS_ERR_UNREACHABLE);
    throw LostNetwork(exchange_, "rail " + rails_->device(lane) + ", which has lost its link",
                      "a network that is there; the next execution leaves out those that are not", rank_);
  }
}

void RailHealth::fail(Way way, const std::string& why) const {
  const std::string who = "rank " + std::to_string(way.peer) + " on ";
  if (way.lane == rails_->memory_lane())
    throw Error(exchange_, who + "this machine: " + why, "that rank to be there, and a new plan", rank_);
  throw LostNetwork(exchange_, who + rails_->name(way.lane) + ": " + why,
                    "that rank and that network to be there; the next execution goes by those that are",
                    rank_);
}

}  // namespace weft::ucx
