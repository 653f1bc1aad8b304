// Plans on a communicator. Arrays have been checked in Python (weft/_arrays.py): here they are memory.
#include <atomic>
#include <cstdint>

#include <nanobind/stl/map.h>

#include "bindings.hpp"
#include "devices.hpp"
#include "view.hpp"

namespace weft::python {

namespace {

using nanobind::arg;
using Released = nanobind::gil_scoped_release;

/// A plan in the process that made it, and the arrays of an execution that is under way.
class HeldPlan {
 public:
  HeldPlan(const Comm& comm, const PlanArguments& arguments, const Distribution& input,
           const Distribution& output) {
    try {
      const Released released;
      const Problem problem = problem_of(arguments, input, output);
      const Options options = options_of(arguments);
      try {
        const OnDevice current(arguments.device);
        plan_.set(std::make_unique<Plan>(comm, problem, options));
      } catch (const NoSuchDevice&) {
        fail_together(comm);
        throw;
      }
    } catch (const Error&) {
      if (PyErr_Occurred() != nullptr) nanobind::raise_python_error();  // what interrupted the trials
      throw;
    }
  }

  void execute(Direction direction, nanobind::handle in, nanobind::handle out) {
    const Turn turn(*this);
    Plan& plan = plan_.get(name_of(direction));
    const auto [from, to] = views(direction, in, out);
    const Released released;
    if (direction == Direction::forward)
      plan.forward(from.source(), to.data());
    else
      plan.backward(from.source(), to.data());
  }

  void start(Direction direction, nanobind::handle in, nanobind::handle out) {
    const Turn turn(*this);
    Plan& plan = plan_.get(name_of(direction));
    if (under_way_) throw Error(name_of(direction), "a plan with an execution under way", "wait() first");
    auto [from, to] = views(direction, in, out);
    {
      const Released released;
      if (direction == Direction::forward)
        plan.start_forward(from.source(), to.data());
      else
        plan.start_backward(from.source(), to.data());
    }
    from_ = std::move(from);
    to_ = std::move(to);
    under_way_ = true;
  }

  /// Lets the other ranks know that this one has no arrays for an execution: where ranks agree before they
  /// execute, among threads and with option check=collective, all of them fail. A rank without points has
  /// nothing to agree on, and executes.
  void refuse(Direction direction) {
    const Turn turn(*this);
    Plan& plan = plan_.get(name_of(direction));
    const Released released;
    const void* const nothing = nullptr;
    void* const nowhere = nullptr;
    try {
      if (direction == Direction::forward)
        plan.forward(nothing, nowhere);
      else
        plan.backward(nothing, nowhere);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the caller raises what is really wrong
    }
  }

  /// Later executions are enqueued on this stream of CUDA; only of device memory.
  void use_stream(std::uintptr_t handle) {
    const Turn turn(*this);
    Plan& plan = plan_.get("stream");
    if (stream_ == handle) return;
    plan.set_stream(reinterpret_cast<CUstream_st*>(handle));  // NOLINT(performance-no-int-to-ptr)
    stream_ = handle;
  }

  bool test() {
    const Turn turn(*this);
    Plan& plan = plan_.get("test");
    bool complete = false;
    {
      const Released released;
      complete = plan.test();
    }
    if (complete) end();
    return complete;
  }

  void wait() {
    const Turn turn(*this);
    Plan& plan = plan_.get("wait");
    {
      const Released released;
      plan.wait();
    }
    end();
  }

  void free() {
    const Turn turn(*this);
    plan_.reset();
    end();
  }

  const Plan& plan() const { return plan_.get("plan"); }

 private:
  /// Only one thread at a time is in a plan; the GIL does not see to that, because executions release it.
  class Turn {
   public:
    explicit Turn(HeldPlan& plan) : busy_(plan.busy_) {
      if (busy_.test_and_set())
        throw Error("plan", "an execution by two threads at once",
                    "one thread at a time, or a plan for each");
    }
    ~Turn() { busy_.clear(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::atomic_flag& busy_;
  };

  /// The other ranks are planning, and wait for this one: a problem that is none lets all of them fail.
  static void fail_together(const Comm& comm) {
    try {
      const Plan none(comm, Problem{});
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the caller raises what is really wrong
    }
  }

  static const char* name_of(Direction direction) {
    return direction == Direction::forward ? "forward" : "backward";
  }

  static std::pair<View, View> views(Direction direction, nanobind::handle in, nanobind::handle out) {
    return {View(in, View::Access::read, name_of(direction)),
            View(out, View::Access::write, name_of(direction))};
  }

  void end() {
    from_.release();
    to_.release();
    under_way_ = false;
  }

  View from_, to_;  // destroyed after the plan, which may still use their memory
  OfThisProcess<Plan> plan_{"plan"};
  std::atomic_flag busy_;
  bool under_way_ = false;
  std::uintptr_t stream_ = 0;  ///< the default one, as of a new plan
};

/// Whether a signal handler of Python wants to raise, as that of Ctrl-C does. Only the main thread handles
/// signals.
bool signal_raised() {
  const nanobind::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

void bind_explanations(nanobind::module_& module) {
  nanobind::class_<Candidate>(module, "Candidate",
                              "Options that a plan could have, beside those that were given.")
      .def_ro("options", &Candidate::options, "Names and values; none: as the rules choose.")
      .def_ro("summary", &Candidate::summary, "What these options make; '' if it is not known.")
      .def_ro("predicted_s", &Candidate::predicted_s,
              "Seconds of forward and backward on the slowest rank; 0: not predicted.")
      .def_ro("measured_s", &Candidate::measured_s, "The same, by a trial; 0: none was made.")
      .def_ro("why", &Candidate::why, "What it does worse or better than the chosen one.");
  nanobind::class_<Explanation>(module, "Explanation", "Why a plan is as it is; str() of it is for people.")
      .def_ro("chosen", &Explanation::chosen, "By whom and why.")
      .def_ro("candidates", &Explanation::candidates, "The chosen one, then from the fastest to the slowest.")
      .def_ro("predicted_s", &Explanation::predicted_s,
              "Seconds of forward and backward together; 0: not predicted.")
      .def_ro("compute_s", &Explanation::compute_s, "Of these, the local work of the rank with most.")
      .def_ro("wire_s", &Explanation::wire_s, "What the network needs for the bytes of the rank with most.")
      .def_ro("hangs_on", &Explanation::hangs_on, "Seconds of the critical path by kind of operation.")
      .def_ro("bound", &Explanation::bound, "What the plan is bound by.")
      .def_ro("advice", &Explanation::advice, "What would make it faster.")
      .def("__str__", [](const Explanation& e) { return to_string(e); });
}

/// Of an array, as Python describes it: box, memory order, strides in elements, distance of a
/// batch.
template <bool input>
nanobind::tuple side(const HeldPlan& held) {
  const Plan& plan = held.plan();
  const Box& box = input ? plan.input_box() : plan.output_box();
  return nanobind::make_tuple(corners_of(box), input ? plan.input_order() : plan.output_order(),
                              input ? plan.input_strides() : plan.output_strides(),
                              input ? plan.input_distance() : plan.output_distance(),
                              input ? plan.input_count() : plan.output_count());
}

}  // namespace

void bind_plans(nanobind::module_& module) {
  bind_explanations(module);
  interrupt_trials_if(signal_raised);
  nanobind::enum_<Direction>(module, "Direction")
      .value("forward", Direction::forward)
      .value("backward", Direction::backward);
  nanobind::class_<HeldPlan>(module, "Plan")
      .def(nanobind::init<const Comm&, const PlanArguments&, const Distribution&, const Distribution&>(),
           arg("comm"), arg("arguments"), arg("input"), arg("output"))
      .def("execute", &HeldPlan::execute, arg("direction"), arg("source"), arg("target"))
      .def("start", &HeldPlan::start, arg("direction"), arg("source"), arg("target"))
      .def("refuse", &HeldPlan::refuse, arg("direction"))
      .def("use_stream", &HeldPlan::use_stream, arg("handle"))
      .def("test", &HeldPlan::test)
      .def("wait", &HeldPlan::wait)
      .def("free", &HeldPlan::free)
      .def_prop_ro("input", side<true>)
      .def_prop_ro("output", side<false>)
      .def_prop_ro("scale_factor", [](const HeldPlan& held) { return held.plan().scale_factor(); })
      .def_prop_ro("workspace_bytes", [](const HeldPlan& held) { return held.plan().workspace_bytes(); })
      .def("explain",
           [](const HeldPlan& held) {
             const Plan& plan = held.plan();
             const Released released;
             return plan.explain();
           })
      .def("__str__", [](const HeldPlan& held) { return held.plan().to_string(); });
}

}  // namespace weft::python
