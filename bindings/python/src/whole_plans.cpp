// Plans for arrays that lie whole in the memory of this process, or of one GPU. The threads of a team are the
// ranks. On the host each reads its box where it lies in the array, and writes its box of the result where
// that belongs, so that nothing is scattered or gathered. On GPUs one rank holds all of the array, and the
// plan's own exchanges bring the others their parts.
#include "bindings.hpp"
#include "team_plans.hpp"
#include "view.hpp"

#include <nanobind/stl/vector.h>

namespace weft::python {

namespace {

using nanobind::arg;
using Released = nanobind::gil_scoped_release;

class WholePlan {
 public:
  /// `team`: null for this thread alone. The distributions have the strides of the whole arrays. `devices`:
  /// none, or one for each rank.
  WholePlan(const Team* team, const PlanArguments& arguments, const Distribution& input,
            const Distribution& output, std::vector<int> devices)
      : precision_bytes_(arguments.precision == "float32" ? 4 : 8),
        input_strides_(input.strides()),
        output_strides_(output.strides()) {
    const Released released;
    plans_ = std::make_unique<TeamPlans>(team, arguments, input, output, std::move(devices));
  }

  /// `source_reals`, `target_reals`: real numbers in an element, 1 or 2. On GPUs rank `home` executes on
  /// `stream`, the others on their own.
  void execute(Direction direction, nanobind::handle in, nanobind::handle out, int source_reals,
               int target_reals, int home, std::uintptr_t stream) {
    const char* name = direction == Direction::forward ? "forward" : "backward";
    const View from(in, View::Access::read, name), to(out, View::Access::write, name);
    const Released released;
    const bool forward = direction == Direction::forward;
    plans_->each(name, [&](std::size_t rank, Plan& plan) {
      if (static_cast<int>(rank) == home)
        plan.set_stream(reinterpret_cast<CUstream_st*>(stream));  // NOLINT(performance-no-int-to-ptr)
      const Index in_offset = first_of(forward ? plan.input_box() : plan.output_box(),
                                       forward ? input_strides_ : output_strides_);
      const Index out_offset = first_of(forward ? plan.output_box() : plan.input_box(),
                                        forward ? output_strides_ : input_strides_);
      const void* source =
          static_cast<const char*>(from.data()) + in_offset * source_reals * precision_bytes_;
      void* target = static_cast<char*>(to.data()) + out_offset * target_reals * precision_bytes_;
      if (forward)
        plan.forward(source, target);
      else
        plan.backward(source, target);
    });
  }

  std::size_t workspace_bytes() const { return plans_->workspace_bytes(); }
  std::string to_string() const { return plans_->plans().front()->to_string(); }

 private:
  Index precision_bytes_;
  Strides input_strides_, output_strides_;
  std::unique_ptr<TeamPlans> plans_;
};

}  // namespace

void bind_whole_plans(nanobind::module_& module) {
  nanobind::class_<WholePlan>(module, "WholePlan")
      .def(nanobind::init<const Team*, const PlanArguments&, const Distribution&, const Distribution&,
                          std::vector<int>>(),
           nanobind::keep_alive<1, 2>(), arg("team").none(), arg("arguments"), arg("input"), arg("output"),
           arg("devices"))
      .def("execute", &WholePlan::execute, arg("direction"), arg("source"), arg("target"),
           arg("source_reals"), arg("target_reals"), arg("home") = -1, arg("stream") = 0)
      .def_prop_ro("workspace_bytes", &WholePlan::workspace_bytes)
      .def("__str__", &WholePlan::to_string);
}

}  // namespace weft::python
