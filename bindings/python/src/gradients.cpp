// Gradients on a communicator. Arrays have been checked in Python (weft/_arrays.py): here they are memory.
#include <atomic>
#include <cstdint>

#include "bindings.hpp"
#include "devices.hpp"
#include "view.hpp"

namespace weft::python {

namespace {

using nanobind::arg;
using Released = nanobind::gil_scoped_release;

/// A gradient in the process that made it.
class HeldGradient {
 public:
  HeldGradient(const Comm& comm, const PlanArguments& arguments, const Distribution& input,
               const Distribution& output, const std::vector<double>& lengths) {
    try {
      const Released released;
      bool planning = false;  // with the other ranks
      try {
        const Problem problem = problem_of(arguments, input, output);
        const Options options = options_of(arguments);
        const OnDevice current(arguments.device);
        planning = true;
        gradient_.set(std::make_unique<Gradient>(comm, problem, options,
                                                 AxisVector<double>::from(lengths.begin(), lengths.end())));
      } catch (const Error& why) {
        if (!planning) Plan::refuse(comm, why);
        throw;
      }
    } catch (const Error&) {
      if (PyErr_Occurred() != nullptr) nanobind::raise_python_error();  // what interrupted the trials
      throw;
    }
  }

  void execute(nanobind::handle in, nanobind::handle out) {
    const Turn turn(busy_, operation);
    Gradient& gradient = gradient_.get(operation);
    const View from(in, View::Access::read, operation), to(out, View::Access::write, operation);
    const Released released;
    gradient(from.source(), to.data());
  }

  /// As of a plan: other ranks that agree before they execute fail, as this one has no arrays.
  void refuse() {
    const Turn turn(busy_, operation);
    Gradient& gradient = gradient_.get(operation);
    const Released released;
    const void* const nothing = nullptr;
    void* const nowhere = nullptr;
    try {
      gradient(nothing, nowhere);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the caller raises what is really wrong
    }
  }

  void use_stream(std::uintptr_t handle) {
    const Turn turn(busy_, operation);
    Gradient& gradient = gradient_.get(operation);
    if (stream_ == handle) return;
    gradient.set_stream(reinterpret_cast<CUstream_st*>(handle));  // NOLINT(performance-no-int-to-ptr)
    stream_ = handle;
  }

  void free() {
    const Turn turn(busy_, operation);
    gradient_.reset();
  }

  const Gradient& gradient() const { return gradient_.get(operation); }

 private:
  static constexpr const char* operation = "gradient";

  OfThisProcess<Gradient> gradient_{operation};
  std::atomic_flag busy_;
  std::uintptr_t stream_ = 0;  ///< the default one, as of new plans
};

/// As `side` of plans.
template <bool input>
nanobind::tuple side(const HeldGradient& held) {
  const Gradient& gradient = held.gradient();
  const Box& box = input ? gradient.input_box() : gradient.output_box();
  const Strides& strides = input ? gradient.input_strides() : gradient.output_strides();
  return nanobind::make_tuple(corners_of(box), input ? gradient.input_order() : gradient.output_order(),
                              strides, input ? gradient.input_distance() : gradient.output_distance(),
                              input ? gradient.input_count() : gradient.output_count());
}

}  // namespace

void bind_gradients(nanobind::module_& module) {
  nanobind::class_<HeldGradient>(module, "Gradient")
      .def(nanobind::init<const Comm&, const PlanArguments&, const Distribution&, const Distribution&,
                          const std::vector<double>&>(),
           arg("comm"), arg("arguments"), arg("input"), arg("output"), arg("lengths"))
      .def("execute", &HeldGradient::execute, arg("source"), arg("target"))
      .def("refuse", &HeldGradient::refuse)
      .def("use_stream", &HeldGradient::use_stream, arg("handle"))
      .def("free", &HeldGradient::free)
      .def_prop_ro("input", side<true>)
      .def_prop_ro("output", side<false>)
      .def_prop_ro("axes", [](const HeldGradient& held) { return held.gradient().axes(); })
      .def_prop_ro("workspace_bytes",
                   [](const HeldGradient& held) { return held.gradient().workspace_bytes(); })
      .def("__str__", [](const HeldGradient& held) { return held.gradient().to_string(); });
}

}  // namespace weft::python
