// Plans for arrays that lie whole in the memory of this process. The threads of a team are the ranks. Each
// reads its box where it lies in the array, and writes its box of the result where that belongs, so that
// nothing is scattered or gathered.
#include "bindings.hpp"
#include "view.hpp"

namespace weft::python {

namespace {

using nanobind::arg;
using Released = nanobind::gil_scoped_release;

class WholePlan {
 public:
  /// `team`: null for this thread alone. The distributions have the strides of the whole arrays.
  WholePlan(const Team* team, const PlanArguments& arguments, const Distribution& input,
            const Distribution& output)
      : team_(team),
        precision_bytes_(arguments.precision == "float32" ? 4 : 8),
        input_strides_(input.strides()),
        output_strides_(output.strides()) {
    const Released released;
    const Problem problem = problem_of(arguments, input, output);
    const Options options = options_of(arguments);
    auto plans = std::make_unique<Plans>(team == nullptr ? 1 : team->get("plan").size());
    on_ranks([&](const Comm& comm) {
      plans->at(static_cast<std::size_t>(comm.rank())) = std::make_unique<Plan>(comm, problem, options);
    });
    plans_.set(std::move(plans));
  }

  /// `source_reals`, `target_reals`: real numbers in an element, 1 or 2.
  void execute(Direction direction, nanobind::handle in, nanobind::handle out, int source_reals,
               int target_reals) {
    const char* name = direction == Direction::forward ? "forward" : "backward";
    Plans& plans = plans_.get(name);
    const View from(in, View::Access::read, name), to(out, View::Access::write, name);
    const Released released;
    const bool forward = direction == Direction::forward;
    on_ranks([&](const Comm& comm) {
      Plan& plan = *plans[static_cast<std::size_t>(comm.rank())];
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

  std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    for (const auto& plan : plans_.get("plan")) bytes += plan->workspace_bytes();
    return bytes;
  }
  std::string to_string() const { return plans_.get("plan").front()->to_string(); }

 private:
  using Plans = std::vector<std::unique_ptr<Plan>>;

  template <class Body>
  void on_ranks(const Body& body) const {
    if (team_ == nullptr)
      body(Comm::self());
    else
      team_->get("plan").run(body);
  }
  static Index first_of(const Box& box, const Strides& strides) {
    Index offset = 0;
    for (int a = 0; a < box.ndim() && !box.empty(); ++a) offset += box.lo[a] * strides[a];
    return offset;
  }

  const Team* team_;
  Index precision_bytes_;
  Strides input_strides_, output_strides_;
  OfThisProcess<Plans> plans_{"plan"};
};

}  // namespace

void bind_whole_plans(nanobind::module_& module) {
  nanobind::class_<WholePlan>(module, "WholePlan")
      .def(nanobind::init<const Team*, const PlanArguments&, const Distribution&, const Distribution&>(),
           nanobind::keep_alive<1, 2>(), arg("team").none(), arg("arguments"), arg("input"), arg("output"))
      .def("execute", &WholePlan::execute, arg("direction"), arg("source"), arg("target"),
           arg("source_reals"), arg("target_reals"))
      .def_prop_ro("workspace_bytes", &WholePlan::workspace_bytes)
      .def("__str__", &WholePlan::to_string);
}

}  // namespace weft::python
