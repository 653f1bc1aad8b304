#include "design/design.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "design/rules/rules.hpp"
#include "geometry/transform.hpp"
#include "traffic/placement.hpp"

namespace weft {

namespace {

double scale(const Problem& problem, Direction d) {
  const double size = logical_size(problem.shape, problem.transforms);
  const Scale s = d == Direction::forward ? problem.forward_scale : problem.backward_scale;
  return s == Scale::none ? 1 : s == Scale::full ? 1 / size : 1 / std::sqrt(size);
}

ProgramRequest common_request(const Given& given) {
  const MachineConstants& constants = given.setting.constants;
  ProgramRequest request;
  request.real_bytes = given.real_size();
  request.in_place = given.problem.in_place;
  if (given.setting.some_far()) request.nodes = given.setting.near_groups();
  request.two_lanes = given.on_device();
  request.subtile = constants.subtile;
  request.store_past_from = constants.store_past_from;
  request.two_passes_from =
      given.on_device() ? std::numeric_limits<double>::infinity() : constants.two_passes_from;
  const PipelineParameters& asked = given.wishes.parameters;
  if (const auto kib = asked.find("subtile"); kib != asked.end())
    request.subtile = std::clamp<Index>(kib->second.values.front(), 1, 1 << 20) * 1024;
  return request;
}

/// Executions of small boxes take turns with two workspaces, so that no rank tells another that it may put,
/// nor waits for that: some 7 us, which is a tenth of a small transform. So do those of larger ones where
/// FFTs store on peers, which do not wait in the middle.
Index largest_in_turn(const Given& given, const Design& design) {
  constexpr Index small = Index{256} << 20;
  const bool takes_turns = given.on_device() && !given.setting.devices->islands.several() &&
                           std::all_of(design.legs.begin(), design.legs.end(), [](const auto& legs) {
                             return !legs.empty() && legs.front().store_lane == Lane::compute;
                           });
  return !takes_turns ? 0 : design.memory.ffts_put ? std::numeric_limits<Index>::max() : small;
}

/// By rule the pipeline that needs least is one that keeps what departs apart from where parts arrive.
bool may_be_leaner(const Given& given) {
  constexpr const char* leaner = "windowed";
  return given.wishes.pipeline.value == "auto" && given.setting.closed.roomy.empty() &&
         wished_pipeline(given.wishes, leaner).pipeline->name == std::string(leaner);
}

Index largest_box(const Design& design) {
  const Placement place(design.schedules[0], design.legs[0], design.program.real_bytes);
  Index most = 0;
  for (int r = 0; r < design.schedules[0].ranks; ++r) most = std::max(most, place.largest_box(r));
  return most;
}

}  // namespace

Design design(const Problem& problem, const Wishes& wishes, const Setting& setting) {
  const Given given{problem, wishes, setting};
  Design d;
  ScheduleRequest request = schedule_request(given);
  request.contiguous = false;
  d.schedules[0] = make_schedule(request);
  const Offers offers = choose_exchanges(given, d.schedules[0]);
  d.contiguous = choose_layout(given, offers);
  if (d.contiguous.value) {  // the ranks' boxes are the same, in another order
    request.contiguous = true;
    d.schedules[0] = make_schedule(request);
  }
  d.schedules[1] = inverse(d.schedules[0]);
  d.memory.users_workspace = wishes.users_workspace.value;
  choose_legs(given, offers, d);
  take_exchanges(given, offers, d);
  take_codecs(given, d);
  choose_puts(given, offers, d);
  check_padding(given, d);
  d.plain_executions = choose_graph(given, offers, d);
  d.threads = choose_threads(given);
  d.rails = choose_rails(wishes);
  d.rails.as_left = setting.rails_as_left;
  d.rails_chosen = rails_chosen(wishes);
  d.program = common_request(given);
  d.program.threads = d.threads.value;
  d.scales = {scale(problem, Direction::forward), scale(problem, Direction::backward)};
  if (problem.between != Between::none) {  // both in one execution
    const std::size_t first = problem.between == Between::modes ? 0 : 1;
    d.program.scale_between = d.scales[first];
    d.scales[first] = d.scales[1 - first];
  }
  d.cache_bytes = setting.cache_bytes;
  d.memory.may_be_leaner = !d.legs[0].empty() && may_be_leaner(given);
  d.memory.may_not_share = wishes.any_exchange();
  d.memory.largest_in_turn = largest_in_turn(given, d);
  d.memory.largest_box = largest_box(d);
  return d;
}

Program program_of(const Design& design, Direction direction, int rank, const UserLayouts& layouts) {
  const bool forward = direction == Direction::forward;
  ProgramRequest request = design.program;
  request.rank = rank;
  request.scale = design.scales[static_cast<std::size_t>(direction)];
  request.cache_bytes =
      design.cache_bytes[design.cache_bytes.size() == 1 ? 0 : static_cast<std::size_t>(rank)];
  request.input = layouts[forward ? 0 : 1];
  request.output = layouts[forward ? 1 : 0];
  return build_program(design.schedule(direction), design.legs_of(direction), request);
}

}  // namespace weft
