// Plans for arrays that lie whole in memory of the host and are transformed by several GPUs. Each rank has a
// GPU: it copies its box there, transforms it with the others, and copies its box of the result back. All
// ranks copy at the same time.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.hpp"
#include "team_plans.hpp"
#include "view.hpp"

namespace weft::python {

namespace {

using nanobind::arg;
using Released = nanobind::gil_scoped_release;

/// The strides in memory of the host and of the GPU, in elements.
struct Side {
  Strides whole, own;
};

/// As few axes as there have to be of a copy, the fastest first. Neighbours that follow each other in both
/// memories are one.
std::vector<CopiedAxis> axes_of(const Box& box, const Side& side, Bytes element) {
  std::vector<CopiedAxis> axes;
  for (int a = 0; a < box.ndim(); ++a)
    if (const Index n = box.hi[a] - box.lo[a]; n > 1)
      axes.push_back({n, side.whole[a] * element, side.own[a] * element});
  std::sort(axes.begin(), axes.end(),
            [](const CopiedAxis& a, const CopiedAxis& b) { return a.device_step < b.device_step; });
  axes.insert(axes.begin(), {element, 1, 1});
  std::vector<CopiedAxis> joined;
  for (const CopiedAxis& axis : axes) {
    if (!joined.empty() && axis.host_step == joined.back().host_step * joined.back().length &&
        axis.device_step == joined.back().device_step * joined.back().length)
      joined.back().length *= axis.length;
    else
      joined.push_back(axis);
  }
  return joined;
}

class SpreadPlan {
 public:
  /// The distributions are dense; the strides are those of the whole arrays on the host, in elements.
  SpreadPlan(const Team* team, const PlanArguments& arguments, const Distribution& input,
             const Distribution& output, const Strides& input_strides, const Strides& output_strides,
             std::vector<int> devices)
      : real_bytes_(arguments.precision == "float32" ? 4 : 8),
        input_strides_(input_strides),
        output_strides_(output_strides) {
    const Released released;
    plans_ = std::make_unique<TeamPlans>(team, arguments, input, output, std::move(devices));
    memory_.resize(plans_->plans().size());
  }

  /// `input_reals`, `output_reals`: real numbers in an element of the plan's input and output, 1 or 2.
  /// Returns when the result is there.
  void execute(Direction direction, nanobind::handle in, nanobind::handle out, int input_reals,
               int output_reals) {
    const bool forward = direction == Direction::forward;
    const char* name = forward ? "forward" : "backward";
    const View from(in, View::Access::read, name), to(out, View::Access::write, name);
    const Bytes input_element = input_reals * real_bytes_, output_element = output_reals * real_bytes_;
    const Released released;
    plans_->each(name, [&](std::size_t rank, Plan& plan) {
      const int device = plans_->device(rank);
      const OnDevice current(device);
      Arrays& arrays = memory_[rank];
      arrays.input.reserve(device, plan.input_count() * static_cast<std::size_t>(input_element));
      arrays.output.reserve(device, plan.output_count() * static_cast<std::size_t>(output_element));
      const Side before{input_strides_, plan.input_strides()}, after{output_strides_, plan.output_strides()};
      const Part input{plan.input_box(), before, input_element, arrays.input.data()};
      const Part output{plan.output_box(), after, output_element, arrays.output.data()};
      const Part &source = forward ? input : output, &target = forward ? output : input;
      const OwnStream& stream = plans_->stream(rank);
      copy(source, from.data(), Towards::device, stream);
      if (forward)
        plan.forward(source.memory, target.memory);
      else
        plan.backward(source.memory, target.memory);
      copy(target, to.data(), Towards::host, stream);
      stream.wait();
    });
  }

  std::size_t workspace_bytes() const {
    std::size_t bytes = plans_->workspace_bytes();
    for (const Arrays& arrays : memory_) bytes += arrays.input.bytes() + arrays.output.bytes();
    return bytes;
  }
  std::string to_string() const { return plans_->plans().front()->to_string(); }

 private:
  struct Arrays {
    DeviceBuffer input, output;
  };
  struct Part {
    const Box& box;
    Side side;
    Bytes element;
    void* memory;
  };

  static void copy(const Part& part, void* whole, Towards towards, const OwnStream& stream) {
    if (part.box.empty()) return;
    char* const host = static_cast<char*>(whole) + first_of(part.box, part.side.whole) * part.element;
    copy_axes(axes_of(part.box, part.side, part.element), host, static_cast<char*>(part.memory), towards,
              stream);
  }

  Bytes real_bytes_;
  Strides input_strides_, output_strides_;
  std::vector<Arrays> memory_;  // freed after the plans, which may still use it
  std::unique_ptr<TeamPlans> plans_;
};

}  // namespace

void bind_spread_plans(nanobind::module_& module) {
  nanobind::class_<SpreadPlan>(module, "SpreadPlan")
      .def(nanobind::init<const Team*, const PlanArguments&, const Distribution&, const Distribution&,
                          const Strides&, const Strides&, std::vector<int>>(),
           nanobind::keep_alive<1, 2>(), arg("team").none(), arg("arguments"), arg("input"), arg("output"),
           arg("input_strides"), arg("output_strides"), arg("devices"))
      .def("execute", &SpreadPlan::execute, arg("direction"), arg("source"), arg("target"),
           arg("input_reals"), arg("output_reals"))
      .def_prop_ro("workspace_bytes", &SpreadPlan::workspace_bytes)
      .def("__str__", &SpreadPlan::to_string);
}

}  // namespace weft::python
