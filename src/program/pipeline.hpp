// The pipelines: how the tiles of the stages around a reshape follow each other in time. Each is one row of a
// table: its parameters, its rule and its builder; options, printing and tuning know nothing else about them.
// The rule turns a reshape of a schedule into a leg (which axis is cut, how thick, how many tiles are in
// flight), the same on all ranks; the builder makes each rank's operations of all legs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/builder.hpp"

namespace weft {

struct PipelineParameter {
  const char* name;
  const char* meaning;
  Index least, most;
  // What trials try: powers of two, or every value, between these, and perhaps what the rule does.
  Index least_tried = 1, most_tried = 1 << 30;
  bool every_value = false, rule_tried = false;
  bool each_reshape = false;  ///< by a value of its own for each
};

/// Values that were asked for: one for all reshapes, or one for each in the order of forward. What lies
/// before the exchange in forward lies behind it in backward, so that `px` is of unpacking there.
struct AskedParameter {
  AskedParameter(Index value) : values{value} {}
  AskedParameter(std::vector<Index> each, std::string who = "option")
      : values(std::move(each)), origin(std::move(who)) {}
  std::vector<Index> values;
  std::string origin = "option";
};
using PipelineParameters = std::map<std::string, AskedParameter>;

/// What the rules need to know beside the schedule.
struct PipelineRules {
  Index subtile = 128 << 10;  ///< bytes of the parts that pass through the cache one by one
  bool overlap = true;        ///< false: each tile is awaited before anything else is done
  /// In memory of devices, where tiles of planes are not cut further: the time that a tile costs however
  /// small it is, as the number of bytes whose FFT takes so long. 0: tiles are cut into parts for the cache.
  Index tile_cost = 0;
  bool in_messages = false;  ///< devices carry all that goes between ranks in messages
  Index tiles = 8;           ///< that a reshape is to have
  int real_bytes = 8;        ///< size of a real number
  bool coded = false;        ///< parts have fewer bytes on the wire
  bool whole_tiles() const { return tile_cost > 0; }
};

/// A parameter of a reshape is read once, by the pipeline, which also knows the rule for it.
class ParameterReader;

struct Pipeline {
  const char* name;
  const char* meaning;
  std::span<const PipelineParameter> parameters;
  /// The rule: fills in how reshape number `reshape` of `schedule` is cut, and the reason. Throws
  /// `weft::Error` for values that are not feasible.
  void (*choose)(const Schedule& schedule, int reshape, ParameterReader& read, Leg& leg);
  /// Makes the program of a rank, of a schedule with at least one reshape.
  Program (*build)(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request);
  bool worth_trying = true;  ///< false: it is there for comparison
  bool shares = false;       ///< needs ranks that all reach each other's memory, on the host
  bool sends_parts = false;  ///< whether what leaves a rank is put together here, not by the exchange
};

std::span<const Pipeline> pipeline_table();

/// Why pipelines that share (`Pipeline::shares`) do not do this schedule; empty: they do.
std::string not_shared(const Schedule& schedule);

/// Bytes of the largest box of a stage, or somewhat more where boxes have no common grid.
double largest_bytes(const Field& field, int real_bytes);

/// The named pipeline. Throws `weft::Error` that lists the names if there is none.
const Pipeline& find_pipeline(const std::string& name);

/// Legs for all reshapes, without their exchanges. Values outside a parameter's range or not feasible for the
/// schedule, of parameters that the pipeline does not have, and neither one nor as many as there are
/// reshapes, throw `weft::Error`.
std::vector<Leg> choose_pipeline(const Schedule& schedule, const Pipeline& pipeline,
                                 const PipelineParameters& values, const PipelineRules& rules = {});

}  // namespace weft
