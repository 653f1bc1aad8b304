// A design bound to this rank: its programs with local FFTs, copies, exchanges and memory, and the execution
// that is under way. How memory is made is in plan_memory.cpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/numa/map.hpp"
#include "comm/comm_impl.hpp"
#include "design/design.hpp"
#include "exec/ending.hpp"
#include "exec/interpreter.hpp"
#include "exec/trace.hpp"
#include "weft/comm.hpp"

namespace weft {

/// Plans of one problem that are executed in turn share a workspace, unless ranks store into it.
struct WorkspaceRoom {
  Index least = 0;  ///< bytes that the workspace has at least, for other plans
  /// Of another plan; none, and the user gives the workspace: so many bytes of it.
  std::shared_ptr<std::byte> lent = {};
  Index lent_bytes = 0;  ///< 0: nothing is lent
  bool touches = false;  ///< other memory is written once, so that the first execution is as fast as others
};

/// What a design is bound to on this rank.
struct Binding {
  Comm comm;
  std::string shape, title;  ///< of the problem, for profilers and messages
  UserLayouts layouts;       ///< of the user's arrays, before and after forward
  std::array<std::size_t, 2> array_bytes;
  ExecutorSettings settings;
  std::vector<DeviceId> device_ids = {};  ///< of every rank; none: arrays are on the host
  std::vector<int> near_groups = {};      ///< `Setting::near_groups`
  WorkspaceRoom room = {};
};

/// What turned out to be impossible, why, and what would help.
struct Obstacle {
  std::string Closed::*what = nullptr;
  std::string why, better;
};

class BoundPlan final : public CommImpl::Execution {
 public:
  /// Plans local FFTs and copies. Local; throws `weft::Error`.
  BoundPlan(Design design, Binding binding);
  ~BoundPlan() override;
  BoundPlan(const BoundPlan&) = delete;
  BoundPlan& operator=(const BoundPlan&) = delete;

  /// The workspace and the exchanges; what turned out to be impossible, if another design may do without it.
  /// Collective; throws `AgreedFailure`.
  std::optional<Obstacle> make_memory();
  /// Connects the exchanges. Collective; throws `AgreedFailure`.
  void connect();

  const Design& design() const { return design_; }
  const Program& program(Direction d) const { return half(d).executor->program(); }
  Interpreter& executor(Direction d) const { return *half(d).executor; }
  const char* name(Direction d) const { return half(d).name.c_str(); }
  const std::shared_ptr<Device>& device() const { return binding_.settings.device; }
  const std::vector<DeviceId>& device_ids() const { return binding_.device_ids; }
  const std::vector<int>& near_groups() const { return binding_.near_groups; }
  const std::array<std::size_t, 2>& array_bytes() const { return binding_.array_bytes; }
  const Comm& comm() const { return binding_.comm; }
  Interpreter::Libraries libraries() const;
  /// What exchanges on rails have found, a line each; or nothing.
  const std::string& rails_text() const { return rails_text_; }
  /// Of one workspace, of all of them on this rank, and of the largest box.
  Index workspace_bytes() const { return workspace_bytes_; }
  Index allocated_bytes() const { return second_workspace_ + workspace_bytes_; }
  bool has_two_workspaces() const { return second_workspace_ > 0; }
  Index largest_box() const { return largest_box_; }
  /// The workspace; null if the user gives it.
  const std::shared_ptr<std::byte>& memory() const { return memory_; }

  bool under_way() const { return under_way_.has_value(); }
  Direction direction() const { return last_; }  ///< of the newest execution
  Ending ending() const { return ending_; }      ///< of the last execution that is over
  /// An execution has failed in the middle.
  bool broken() const { return ending_ != Ending::well; }
  /// In place one of `in` and `out` may be null, on a rank that holds nothing on that side. `workspace`: if
  /// the user gives it.
  void start(Direction direction, const void* in, void* out, void* workspace, const BlockOperator& op = {});
  /// Takes the execution further; whether it is complete.
  bool go_on(Patience patience);
  /// The same, and a complete execution is over.
  bool advance(Patience patience);
  void wait();
  /// Whether a complete execution is also done on the device.
  bool settled(Patience patience);
  /// Executions are enqueued on this stream from now on.
  void use_stream(void* native);

  /// Whether executions note the times of their operations.
  void record_times(bool on);
  bool records_times() const { return recording_; }
  /// Keeps the operations of the next executions, as many as there is room for, which is made here. On a
  /// device each of them waits for the one before.
  void trace();
  /// What is kept so far; null without `trace`. On a device it waits for the last execution.
  const Trace* traced();
  void progress() noexcept override { look_after(Patience::look); }
  void complete() noexcept override { look_after(Patience::wait); }
  /// This rank cannot take part in the next execution, which others may have begun.
  void fail(const std::exception_ptr& why) noexcept;

 private:
  /// What belongs to one direction.
  struct Half {
    std::string name;                           ///< of its executions, in profilers
    std::vector<const ExchangeRow*> exchanges;  ///< per reshape
    std::vector<std::vector<int>> groups;       ///< per reshape
    std::shared_ptr<Interpreter> executor;
  };

  /// This rank's equal share of its device: of what is free, and of all.
  struct DeviceMemory {
    double free_bytes = 0, total_bytes = 0;
    double sharers = 1;  ///< ranks on the device
  };

  Half& half(Direction d) { return halves_[static_cast<std::size_t>(d)]; }
  const Half& half(Direction d) const { return halves_[static_cast<std::size_t>(d)]; }
  void make_half(Direction direction);
  DeviceMemory find_device_memory() const;
  bool is_too_large(const DeviceMemory& found) const;
  double needed_bytes(bool in_place) const;
  std::string what_would_fit(const DeviceMemory& found) const;
  template <class Step>
  auto saying_what_would_fit(const DeviceMemory& found, const Step& step);
  Index place_of_second(double free_bytes);
  int roomy_reshapes() const;
  std::string why_no_turns(int roomy) const;
  Index room_for_second(double free_bytes) const;
  void set_workspace_bytes();
  std::shared_ptr<Workspace> share_workspace(const ExchangeRow& row) const;
  void allocate_pinned(PlanMemory& m);
  void allocate_workspace(PlanMemory& m);
  std::shared_ptr<std::byte> allocate_on_device(std::size_t bytes, const char* operation) const;
  void link(PlanMemory& m);
  template <class Step>
  auto failing_together(const Step& step);
  void look_after(Patience patience) noexcept;
  void give_up() noexcept;
  void finish();
  void collect();

  Design design_;
  Binding binding_;
  CommImpl& comm_;
  std::shared_ptr<std::byte> memory_;  ///< outlives the executors, whose streams may still write into it
  std::array<Half, 2> halves_;         ///< by direction
  std::string rails_text_;
  Index workspace_bytes_ = 0, largest_box_ = 0;
  Index program_bytes_ = 0;          ///< of the workspace, what is not the local FFTs' own
  Index second_workspace_ = 0;       ///< on a device, where the one of every other execution begins, or 0
  int pinned_node_ = numa::unknown;  ///< the NUMA node that pinned memory comes from, if that is chosen
  bool in_second_ = false;           ///< whether the next execution uses that
  Ending ending_ = Ending::well;
  std::exception_ptr untold_;           ///< why, if nobody who waits for the execution has been told
  std::optional<Direction> under_way_;  ///< the direction of the execution that is
  Direction last_ = Direction::forward;
  bool recording_ = false;  ///< whether the user wants times noted
  std::optional<Trace> trace_;
  bool uncollected_ = false;  ///< whether the last execution is to be kept, and is not yet
};

/// Rounded up to what GPUs like memory to start on.
constexpr Index device_aligned(Index bytes) {
  return rounded_up<Index>(bytes, 256);
}

}  // namespace weft
