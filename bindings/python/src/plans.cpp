// Plans on a communicator. Arrays have been checked in Python (weft/_arrays.py): here they are memory.
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "bindings.hpp"
#include "devices.hpp"
#include "view.hpp"

namespace weft::python {

namespace {

using nanobind::arg;
using Released = nanobind::gil_scoped_release;

/// An operator in Python, which is called with the GIL held by whatever thread has a block. What it raises
/// stays in Python: other ranks, which may be threads of this process, are told of it in words. It gets the
/// memory of a block as a memoryview, of a GPU as (address, bytes, stream).
class PythonOperator {
 public:
  explicit PythonOperator(nanobind::handle op) : op_(op) {}

  void operator()(const Block& block) const {
    const nanobind::gil_scoped_acquire held;
    const bool real = block.element == Element::real;
    const std::size_t size = (real ? 1 : 2) * (block.precision == Precision::float64 ? 8 : 4);
    const Index most = std::max(block.fields, block.results);
    Index last = (most - 1) * block.field_stride;
    for (int a = 0; a < block.box.ndim(); ++a) last += (block.box.extent(a) - 1) * block.strides[a];
    try {
      const auto bytes = static_cast<Py_ssize_t>((static_cast<std::size_t>(last) + 1) * size);
      const nanobind::object memory =
          block.memory == MemoryKind::host
              ? nanobind::steal(PyMemoryView_FromMemory(static_cast<char*>(block.data), bytes, PyBUF_WRITE))
              : nanobind::make_tuple(reinterpret_cast<std::uintptr_t>(block.data), bytes,
                                     reinterpret_cast<std::uintptr_t>(block.stream));
      op_(memory, real, block.box.lo, block.box.hi, block.strides, block.field_stride, most);
    } catch (nanobind::python_error& raised) {
      const std::string text = raised.what();
      if (!raised_) raised_.emplace(std::move(raised));
      throw Error("apply", "an operator that raised " + text, "one that does not raise");
    }
  }
  /// Raises what the operator has raised, if it has. With the GIL held.
  void raise() {
    if (raised_) throw std::move(*raised_);
  }

 private:
  nanobind::handle op_;
  mutable std::optional<nanobind::python_error> raised_;
};

/// A plan in the process that made it, and the arrays of an execution that is under way.
class HeldPlan {
 public:
  HeldPlan(const Comm& comm, const PlanArguments& arguments, const Distribution& input,
           const Distribution& output) {
    try {
      const Released released;
      bool planning = false;  // with the other ranks
      try {
        problem_ = problem_of(arguments, input, output);
        const Options options = options_of(arguments);
        const OnDevice current(arguments.device);
        planning = true;
        plan_.set(std::make_unique<Plan>(comm, problem_, options));
      } catch (const Error& why) {
        if (!planning) Plan::refuse(comm, why);
        throw;
      }
    } catch (const Error&) {
      if (PyErr_Occurred() != nullptr) nanobind::raise_python_error();  // what interrupted the trials
      throw;
    }
  }

  /// `workspace`: None, or memory for a plan with option workspace=user.
  void execute(Direction direction, nanobind::handle in, nanobind::handle out, nanobind::handle workspace) {
    const Turn turn(busy_, "plan");
    Plan& plan = plan_.get(name_of(direction));
    const auto [from, to] = views(direction, in, out);
    if (!under_way_) take_workspace(direction, workspace);  // else the plan refuses
    {
      const Released released;
      if (direction == Direction::forward)
        plan.forward(from.source(), to.data(), workspace_.data(), workspace_.bytes());
      else
        plan.backward(from.source(), to.data(), workspace_.data(), workspace_.bytes());
    }
    give_back_workspace();
  }

  /// `op`: a ready-made operator, or a function of Python.
  void apply(Direction direction, nanobind::handle in, nanobind::handle out, nanobind::handle workspace,
             nanobind::handle op) {
    const Turn turn(busy_, "plan");
    Plan& plan = plan_.get("apply");
    const std::pair<View, View> arrays = views(direction, in, out);
    if (!under_way_) take_workspace(direction, workspace);  // else the plan refuses
    const auto run = [&](const auto& with) {
      const Released released;
      plan.apply(arrays.first.source(), arrays.second.data(), with, direction, workspace_.data(),
                 workspace_.bytes());
    };
    if (nanobind::isinstance<ModeOperator>(op)) {
      run(nanobind::cast<const ModeOperator&>(op));
    } else {
      PythonOperator function(op);
      try {
        run(function);
      } catch (const Error&) {
        function.raise();
        throw;
      }
    }
    give_back_workspace();
  }

  void start(Direction direction, nanobind::handle in, nanobind::handle out, nanobind::handle workspace) {
    const Turn turn(busy_, "plan");
    Plan& plan = plan_.get(name_of(direction));
    if (under_way_) throw Error(name_of(direction), "a plan with an execution under way", "wait() first");
    auto [from, to] = views(direction, in, out);
    take_workspace(direction, workspace);
    {
      const Released released;
      if (direction == Direction::forward)
        plan.start_forward(from.source(), to.data(), workspace_.data(), workspace_.bytes());
      else
        plan.start_backward(from.source(), to.data(), workspace_.data(), workspace_.bytes());
    }
    from_ = std::move(from);
    to_ = std::move(to);
    under_way_ = true;
  }

  /// As `refuse`, of `measured_error`.
  void refuse_measurement(Direction direction) {
    const Turn turn(busy_, "plan");
    Plan& plan = plan_.get("measured error");
    const Released released;
    const void* const nothing = nullptr;
    try {
      plan.measured_error(direction, nothing);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the caller raises what is really wrong
    }
  }

  Accuracy measured_error(Direction direction, nanobind::handle in) {
    const Turn turn(busy_, "plan");
    Plan& plan = plan_.get("measured error");
    const View from(in, View::Access::read, "measured error");
    const Released released;
    return plan.measured_error(direction, from.source());
  }

  /// None: this rank has no modes to give, and all ranks fail.
  std::vector<double> spectrum(nanobind::handle modes, const std::vector<double>& units) {
    const Turn turn(busy_, "plan");
    const Plan& plan = plan_.get("shell spectrum");
    if (modes.is_none()) {
      const Released released;
      const AxisVector<double> none(mode_axes(plan), std::numeric_limits<double>::quiet_NaN());
      return shell_spectrum(plan, static_cast<const void*>(nullptr), none);
    }
    const View from(modes, View::Access::read, "shell spectrum");
    const Released released;
    return shell_spectrum(plan, from.source(), AxisVector<double>::from(units.begin(), units.end()));
  }

  void record_times(bool on) {
    const Turn turn(busy_, "plan");
    plan_.get("record_times").record_times(on);
  }

  /// Lets the other ranks know that this one has no arrays for an execution: where ranks agree before they
  /// execute, among threads and with option check=collective, all of them fail. A rank without points has
  /// nothing to agree on, and executes.
  void refuse(Direction direction) {
    const Turn turn(busy_, "plan");
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
    const Turn turn(busy_, "plan");
    Plan& plan = plan_.get("stream");
    if (stream_ == handle) return;
    plan.set_stream(reinterpret_cast<CUstream_st*>(handle));  // NOLINT(performance-no-int-to-ptr)
    stream_ = handle;
  }

  bool test() {
    const Turn turn(busy_, "plan");
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
    const Turn turn(busy_, "plan");
    Plan& plan = plan_.get("wait");
    {
      const Released released;
      plan.wait();
    }
    end();
  }

  void free() {
    const Turn turn(busy_, "plan");
    plan_.reset();
    abandon();
  }

  ~HeldPlan() { abandon(); }
  HeldPlan(const HeldPlan&) = delete;
  HeldPlan& operator=(const HeldPlan&) = delete;

  /// Of an array of this rank's modes, which Python keeps alive.
  ModeOperator product(nanobind::handle modes, bool conjugated) const {
    const View kept(modes, View::Access::read, "product");
    const Plan& plan = plan_.get("product");
    return problem_.precision == Precision::float64
               ? weft::product(plan, static_cast<const std::complex<double>*>(kept.source()), conjugated)
               : weft::product(plan, static_cast<const std::complex<float>*>(kept.source()), conjugated);
  }

  const Plan& plan() const { return plan_.get("plan"); }
  const Problem& problem() const { return problem_; }

 private:
  static const char* name_of(Direction direction) {
    return direction == Direction::forward ? "forward" : "backward";
  }

  void take_workspace(Direction direction, nanobind::handle workspace) {
    in_use_ = true;
    workspace_.release();
    if (!workspace.is_none()) workspace_ = View(workspace, View::Access::write, name_of(direction));
  }
  void give_back_workspace() {
    workspace_.release();
    in_use_ = false;
  }

  /// After an execution that failed, or that nobody waited for, messages may use its memory as long as the
  /// communicator lives: it is never given back.
  void abandon() {
    if (under_way_) {
      from_.leak();
      to_.leak();
    }
    if (in_use_) workspace_.leak();
    end();
  }

  static std::pair<View, View> views(Direction direction, nanobind::handle in, nanobind::handle out) {
    return {View(in, View::Access::read, name_of(direction)),
            View(out, View::Access::write, name_of(direction))};
  }

  void end() {
    from_.release();
    to_.release();
    give_back_workspace();
    under_way_ = false;
  }

  View from_, to_, workspace_;  // destroyed after the plan, which may still use their memory
  bool in_use_ = false;         // the workspace, until an execution has succeeded
  OfThisProcess<Plan> plan_{"plan"};
  Problem problem_;
  std::atomic_flag busy_;
  bool under_way_ = false;
  std::uintptr_t stream_ = 0;  ///< the default one, as of a new plan
};

/// Whether trials are to end: by the program, or because a signal handler of Python wants to raise, as that
/// of Ctrl-C does. Only the main thread handles signals.
bool signal_raised() {
  if (trials_interrupted()) return true;
  const nanobind::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
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

using Lengths = std::vector<double>;

AxisVector<double> vector_of(const Lengths& lengths) {
  return AxisVector<double>::from(lengths.begin(), lengths.end());
}

template <ModeOperator (*make)(const Problem&, const AxisVector<double>&)>
ModeOperator ready_made(const HeldPlan& held, const Lengths& lengths) {
  return make(held.problem(), vector_of(lengths));
}

}  // namespace

void bind_plans(nanobind::module_& module) {
  nanobind::class_<ModeOperator>(module, "ModeOperator",
                                 "A ready-made operator on modes, made by `weft.operators` for a plan.")
      .def("__repr__", [](const ModeOperator&) { return "<weft operator on modes>"; });
  module.def(
      "refuse_plan",
      [](const Comm& comm, const std::string& operation, const std::string& got,
         const std::string& expected) {
        const Released released;
        Plan::refuse(comm, Error(operation, got, expected));
      },
      arg("comm"), arg("operation"), arg("got"), arg("expected"),
      "Lets all ranks fail that make a plan, as this one has found its arguments to be wrong. Raises "
      "weft.Error.");
  interrupt_trials_if(signal_raised);
  nanobind::enum_<Direction>(module, "Direction")
      .value("forward", Direction::forward)
      .value("backward", Direction::backward);
  nanobind::class_<HeldPlan>(module, "Plan")
      .def(nanobind::init<const Comm&, const PlanArguments&, const Distribution&, const Distribution&>(),
           arg("comm"), arg("arguments"), arg("input"), arg("output"))
      .def("execute", &HeldPlan::execute, arg("direction"), arg("source"), arg("target"),
           arg("workspace").none())
      .def("apply", &HeldPlan::apply, arg("direction"), arg("source"), arg("target"), arg("workspace").none(),
           arg("op"))
      .def(
          "derivative",
          [](const HeldPlan& held, const Lengths& lengths, int axis, int order) {
            return derivative(held.problem(), axis, order, vector_of(lengths));
          },
          arg("lengths"), arg("axis"), arg("order"))
      .def_prop_ro("columns",
                   [](const HeldPlan& held) {
                     std::vector<Shape> first;
                     std::vector<Index> count;
                     for (const ModeColumn& c : held.plan().columns()) {
                       first.push_back(c.first);
                       count.push_back(c.count);
                     }
                     return nanobind::make_tuple(first, count);
                   })
      .def_prop_ro("between_box", [](const HeldPlan& held) { return corners_of(held.plan().between_box()); })
      .def("product", &HeldPlan::product, arg("modes"), arg("conjugated"), nanobind::keep_alive<0, 2>())
      .def("gradient", ready_made<gradient>, arg("lengths"))
      .def("divergence", ready_made<divergence>, arg("lengths"))
      .def("curl", ready_made<curl>, arg("lengths"))
      .def("solenoidal_part", ready_made<solenoidal_part>, arg("lengths"))
      .def("laplacian", ready_made<laplacian>, arg("lengths"))
      .def(
          "inverse_helmholtz",
          [](const HeldPlan& held, const Lengths& lengths, double shift) {
            return inverse_helmholtz(held.problem(), shift, vector_of(lengths));
          },
          arg("lengths"), arg("shift"))
      .def(
          "shift",
          [](const HeldPlan& held, const Lengths& lengths, const Lengths& distances) {
            return shift(held.problem(), vector_of(distances), vector_of(lengths));
          },
          arg("lengths"), arg("distances"))
      .def("start", &HeldPlan::start, arg("direction"), arg("source"), arg("target"), arg("workspace").none())
      .def("refuse", &HeldPlan::refuse, arg("direction"))
      .def("use_stream", &HeldPlan::use_stream, arg("handle"))
      .def("test", &HeldPlan::test)
      .def("wait", &HeldPlan::wait)
      .def("free", &HeldPlan::free)
      .def_prop_ro("input", side<true>)
      .def_prop_ro("output", side<false>)
      .def(
          "logical_length", [](const HeldPlan& held, int axis) { return logical_length(held.plan(), axis); },
          arg("axis"))
      .def(
          "wavenumbers",
          [](const HeldPlan& held, int axis, bool zero) {
            return wavenumbers(held.plan(), axis, zero ? Nyquist::zero : Nyquist::kept);
          },
          arg("axis"), arg("nyquist_is_zero"))
      .def(
          "hermitian_weights",
          [](const HeldPlan& held, int axis) { return hermitian_weights(held.plan(), axis); }, arg("axis"))
      .def(
          "dealiasing_mask",
          [](const HeldPlan& held, int axis, double fraction) {
            return dealiasing_mask(held.plan(), axis, fraction);
          },
          arg("axis"), arg("fraction"))
      .def("shell_spectrum", &HeldPlan::spectrum, arg("modes").none(), arg("units"))
      .def_prop_ro("scale_factor", [](const HeldPlan& held) { return held.plan().scale_factor(); })
      .def("measured_error", &HeldPlan::measured_error, arg("direction"), arg("source"))
      .def("refuse_measurement", &HeldPlan::refuse_measurement, arg("direction"))
      .def("record_times", &HeldPlan::record_times, arg("on"))
      .def("operation_times", [](const HeldPlan& held) { return held.plan().operation_times(); })
      .def(
          "program", [](const HeldPlan& held, Direction d) { return held.plan().program_to_string(d); },
          arg("direction"))
      .def_prop_ro("buffer_bytes", [](const HeldPlan& held) { return held.plan().buffer_bytes(); })
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
