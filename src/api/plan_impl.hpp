// What is behind a Plan: how it is made, together on all ranks, and what it holds. Checking and running
// executions is in plan.cpp, printing in plan_text.cpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "api/gather.hpp"
#include "api/learning.hpp"
#include "api/option_table.hpp"
#include "comm/agree.hpp"
#include "comm/comm_impl.hpp"
#include "exec/interpreter.hpp"
#include "geometry/layout.hpp"
#include "transport/peer/islands.hpp"
#include "weft/plan.hpp"

namespace weft {

struct PlanImpl final : CommImpl::Flight {
  using Arrays = Plan::Arrays;
  using Type = Plan::Type;

  /// All that belongs to one direction.
  struct Way {
    std::string name;  ///< of its executions, in profilers
    Schedule schedule;
    std::vector<Leg> choices;
    std::vector<const ExchangeRow*> exchanges;  ///< per reshape
    std::vector<std::vector<int>> groups;       ///< per reshape
    std::shared_ptr<Interpreter> executor;
  };

  /// One of the user's arrays on this rank.
  struct Side {
    Box box;  ///< of one array of the batch
    Order order;
    Element element = Element::complex;
    Layout layout;         ///< with one axis more for a batch
    Strides item_strides;  ///< of one array
    Index distance = 0;    ///< from one array to the next
    std::size_t bytes = 0;
  };

  /// What is behind a plan, for those who look at more than users do.
  static const PlanImpl& of(const Plan& plan) { return plan.impl(); }

  /// `decided`: what planning is to go by instead of wisdom and trials.
  PlanImpl(const Comm& communicator, const Problem& given, const Options& opts,
           const Learnt* decided = nullptr);
  ~PlanImpl() override;
  PlanImpl(const PlanImpl&) = delete;
  PlanImpl& operator=(const PlanImpl&) = delete;

  // Making it.
  template <class Step>
  void together(CommImpl& c, const Step& step) {
    agreed = true;
    agree(c, "plan", step);
    agreed = false;
  }
  void make(CommImpl& c, const Learnt* decided);
  void make_as_learnt(CommImpl& c, const Gathered& gathered, const Learnt& found);
  void take_over(const Learnt& what);
  void plan_all(CommImpl& c, const Gathered& gathered);
  void compare(CommImpl& c, const std::string& mine);
  void find_device(CommImpl& c);
  bool device_peers() const;
  /// Per rank, a number that those have in common who store into each other's workspace.
  const std::vector<int>& near_groups(const CommImpl& c) const { return device ? islands.of : c.nodes(); }
  /// Whether a direct exchange leaves pairs of ranks to messages.
  bool some_far(const CommImpl& c) const { return device ? islands.several() : several_nodes(c); }
  std::string far_text(CommImpl& c) const;
  /// Of arrays in memory of devices: whether an exchange copies parts to pinned memory. Throws `weft::Error`
  /// if it has to and must not.
  bool goes_through_host(const ExchangeRow& row, CommImpl& c) const;
  void check_device_options() const;
  std::string devices_text() const;
  void prepare(CommImpl& c, const Gathered& gathered);
  /// Whether streams carry all messages, without the host.
  bool carried_on_streams() const;
  const char* overlapping_pipeline(CommImpl& c) const;
  void find_exchanges(CommImpl& c);
  void make_schedules(CommImpl& c, const Gathered& gathered);
  void choose_exchanges(CommImpl& c);
  PipelineRules pipeline_rules() const;
  bool is_worth_tiles(const PipelineRules& rules) const;
  void choose_threads(CommImpl& c);
  void choose_graph();
  bool among_processes() const;
  std::string graph_obstacle() const;
  double mean_box_bytes() const;
  Index tile_cost() const;
  bool stores(const Way& way, std::size_t reshape) const;
  Index place_of_second(CommImpl& c) const;
  double leaving_bytes(const Way& way, std::size_t reshape) const;
  void check_puts() const;
  void make_way(CommImpl& c, Way& way);
  bool make_memory(CommImpl& c);
  std::shared_ptr<Workspace> share_workspace(CommImpl& c, const ExchangeRow& row);
  void allocate_pinned(CommImpl& c, PlanMemory& m) const;
  void find_device_memory(CommImpl& c);
  bool is_too_large(CommImpl& c);
  ExchangeNeeds exchange_needs() const {
    return {!users_workspace && no_room.empty(), device != nullptr, device_peers(), own_devices};
  }
  void describe_sides(int rank);

  // Running it.
  template <class Step>
  auto failing_together(const Step& step);
  void check_arrays(Direction direction, const Arrays& a) const;
  void check_alone(Direction direction, const Arrays& arrays) const;
  void check_type(const char* operation, const char* which, Type type, Element element) const;
  void check_memory(const char* operation, const Arrays& a, const Side& in, const Side& out) const;
  void check_place(const char* operation, const char* which, const void* pointer) const;
  void check_in_flight(const char* operation) const;
  void start(Direction direction, const Arrays& arrays);
  /// Takes the execution further; whether it is complete.
  bool go_on(Patience patience);
  /// The same, and a complete execution is over.
  bool advance(Patience patience);
  void wait();
  bool settled(Patience patience);
  void use_stream(void* native);
  void give_up() noexcept;
  void land();
  void look() override { go_on(Patience::look); }
  void complete() override { go_on(Patience::wait); }

  Way& way(Direction d) { return ways[static_cast<std::size_t>(d)]; }
  int real_size() const { return static_cast<int>(real_bytes(problem.precision)); }
  double scale(Direction d) const;
  /// What is transformed, on how many ranks: the first line of the printed plan.
  std::string title() const;
  std::string to_string() const;
  /// Of workspaces on this rank.
  Index allocated_bytes() const { return second_workspace + workspace_bytes; }

  Comm comm;
  Problem problem;
  Options options;  ///< of the user, and what has been learnt
  Learnt learnt;
  std::vector<const FftRow*> ffts;
  std::vector<const ExchangeRow*> rows;  ///< as named: one for all reshapes, or one for each
  bool contiguous = true;                ///< layout of the local FFTs
  std::shared_ptr<ThreadPool> pool;
  std::array<Side, 2> sides;  ///< before and after forward
  Index workspace_bytes = 0, largest_box = 0;
  Index second_workspace = 0;        ///< on a device, where the one of every other execution begins, or 0
  bool in_second = false;            ///< whether the next execution uses that
  Index program_bytes = 0;           ///< of the workspace, what is not the local FFTs' own
  std::shared_ptr<Device> device;    ///< null: arrays are on the host
  std::vector<DeviceId> device_ids;  ///< of every rank
  Islands islands;                   ///< ranks whose devices reach each other
  bool own_devices = false;          ///< whether no two ranks share one
  std::string no_peers;              ///< why not all of them reach each other
  std::shared_ptr<std::byte> memory;
  std::array<Way, 2> ways;  ///< by direction
  std::string threads_text, graph_text;
  std::optional<int> plain_executions;     ///< on a device, before executions are captured as graphs
  std::string no_room;                     ///< why memory could not be shared, if that was tried
  double free_bytes = 0, total_bytes = 0;  ///< of the device's memory, a share for each rank that has it
  std::string too_large;                   ///< why a pipeline was not taken that keeps apart what departs
  bool agreed = false;                     ///< whether a failure now is known to all ranks
  bool trial = false;                      ///< planned to be timed: warnings are for the plan that is chosen
  bool users_workspace = false, collective_check = false;
  bool broken = false;                  ///< an execution has failed in the middle
  std::optional<Direction> flying;      ///< the execution that is under way
  Direction last = Direction::forward;  ///< of the newest execution
};

const char* name_of(Direction d);

/// Rounded up to what GPUs like memory to start on.
Index device_aligned(Index bytes);

}  // namespace weft
