// The rules of a design, one file each. All of them are pure.
#pragma once

#include <string>
#include <vector>

#include "design/design.hpp"
#include "schedule/planner.hpp"

namespace weft {

/// What a rule goes by.
struct Given {
  const Problem& problem;
  const Wishes& wishes;
  const Setting& setting;

  bool on_device() const { return setting.devices.has_value(); }
  int real_size() const { return static_cast<int>(real_bytes(problem.precision)); }
};

/// As named: one for all reshapes, or one for each in the order of forward.
using Offers = std::vector<const Offer*>;

// schedule.cpp
Chosen<bool> choose_layout(const Given& given, const Offers& offers);
/// Checks the boxes and names the distributions. Throws `weft::Error`.
ScheduleRequest schedule_request(const Given& given);
/// A batch is one axis more, the last one, and the slowest in memory.
void add_batch(ScheduleRequest& request, Index batch);
/// Of a real line whose first modes are given (`splits_line`): behind the batch, with the axis of its halves.
void add_halves(ScheduleRequest& request);
/// Wishes decomposition, grid and shrink. Throws `weft::Error` for what does not fit the ranks.
void apply_schedule_wishes(ScheduleRequest& request, const Wishes& wishes);

// exchange.cpp
/// Whether an exchange can be had for this plan.
bool serves(const Offer& offer, const Wishes& wishes, const Setting& setting);
/// Whether rules and trials may choose an exchange that nobody has named.
bool may_choose(const Offer& offer, const Wishes& wishes, const Setting& setting);
/// With "auto" of those that may be chosen one that gathers for other machines, where messages are so short
/// that their number counts; else the first that moves on while these ranks compute, else the first that
/// packs nothing, else the first; among devices one that stores before all others. Throws `weft::Error`
/// that lists the names, or says why the named one cannot serve.
Offers choose_exchanges(const Given& given, const Schedule& schedule);
/// Whether parts of arrays in memory of devices are copied to pinned memory. Throws `weft::Error` if they
/// have to and must not.
bool goes_through_host(const Offer& offer, const Given& given);
/// Writes the exchanges into the legs, and what memory they need.
void take_exchanges(const Given& given, const Offers& offers, Design& design);
/// Throws `weft::Error` if the padding of an exchange finds no room in the workspace.
void check_padding(const Given& given, const Design& design);

// codec.cpp
/// Whether an exchange can carry what is coded: it carries what is packed for it, or all pairs of ranks store
/// into each other's workspace.
bool carries_codecs(const ExchangeTraits& traits, const Setting& setting);
/// Whether only such an exchange will do: a codec was asked for, or a tolerance where messages leave a
/// machine. Memory that ranks share is faster than any codec.
bool wants_packed(const Wishes& wishes, const Setting& setting);
/// Writes the codecs into the legs: as asked for, or, with a tolerance alone, the shortest one that keeps it.
/// Throws `weft::Error` for a codec that the numbers, the memory or the exchange of a leg do not allow, and
/// for a tolerance that is not kept.
void take_codecs(const Given& given, Design& design);

// pipeline.cpp
struct PipelineWish {
  const Pipeline* pipeline;
  PipelineParameters values;
};
/// The pipeline and its parameters. With "auto": `preferred`, or, if parameters are set that it does not
/// have, the first one worth trying that has them all. With a pipeline that lacks a parameter, a variable for
/// it is not looked at, and an option set in the program is an error later on.
PipelineWish wished_pipeline(const Wishes& wishes, const std::string& preferred);
/// The pipeline that overlaps exchanges and local FFTs best.
const char* overlapping_pipeline(const Setting& setting);
/// Bytes of a message of rank 0 in the reshape where they are longest; 0 without messages.
Index message_bytes(const Given& given, const Schedule& schedule);
/// Whether tiles of messages between machines are worth what more messages cost.
bool cuts_messages(const Given& given, const Schedule& schedule);
PipelineRules pipeline_rules(const Problem& problem, const Wishes& wishes, const Setting& setting);
void choose_legs(const Given& given, const Offers& offers, Design& design);

/// Whether so little leaves a rank in a reshape, counted among the reshapes, that kernels put it if it is one
/// tile.
bool kernels_may_put(const Given& given, const Schedule& schedule, std::size_t reshape);

// launch.cpp
/// Which puts are kernels.
void choose_puts(const Given& given, const Offers& offers, Design& design);
Chosen<std::optional<int>> choose_graph(const Given& given, const Offers& offers, const Design& design);
Chosen<int> choose_threads(const Given& given);
/// Of exchanges on rails, as they are asked for.
RailSettings choose_rails(const Wishes& wishes);
/// Which of it others than the user have chosen, as printed plans say it.
std::string rails_chosen(const Wishes& wishes);

}  // namespace weft
