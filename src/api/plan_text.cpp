// The plan, printed on one screen: what was asked for, what was chosen and why.
#include <algorithm>
#include <ostream>

#include "api/plan_impl.hpp"
#include "base/text.hpp"

namespace weft {

namespace {

std::string describe(const char* which, const PlanImpl::Side& side) {
  const Strides dense = dense_strides(side.box.extents(), side.order);
  bool same = side.layout.offset == 0;
  for (int a = 0; a < dense.size(); ++a)
    same = same && (side.box.empty() || side.layout.strides[a] == dense[a]);
  if (same) return "";
  return std::string(which) + " array: strides {" + join(side.layout.strides, ",") + "}, first point at " +
         std::to_string(side.layout.offset) + "\n";
}

const char* scaling(Scale s) {
  return s == Scale::none ? "none" : s == Scale::symmetric ? "1/sqrt(N)" : "1/N";
}

}  // namespace

std::string PlanImpl::title() const {
  return by_x(problem.shape) + " " + weft::to_string(problem.transforms) +
         (problem.element == Element::real ? " of real" : " of complex") +
         (problem.precision == Precision::float64 ? " float64" : " float32") +
         (problem.batch > 1 ? ", batch of " + std::to_string(problem.batch) : "") +
         (problem.in_place ? ", in place" : "") + ", on " + std::to_string(comm.size()) + " ranks (" +
         comm.medium() + ")";
}

std::string PlanImpl::to_string() const {
  std::string text = "weft plan: " + title() + "\n";
  if (device) text += "memory cuda, rank " + std::to_string(comm.rank()) + " on " + device->name() + "\n";
  if (problem.forward_scale != Scale::none || problem.backward_scale != Scale::none)
    text += std::string("scale ") + scaling(problem.forward_scale) + " forward, " +
            scaling(problem.backward_scale) + " backward\n";
  text += describe("input", sides[0]) + describe("output", sides[1]);
  text += "decomposition " + ways[0].schedule.reason + "\n" + weft::to_string(ways[0].schedule);
  for (const Way& w : ways)
    for (std::size_t j = 0; j < w.choices.size(); ++j)
      text += std::string(name_of(w.schedule.direction)) + " reshape " + std::to_string(j + 1) + ": " +
              weft::to_string(w.choices[j]) + "\n";
  Interpreter::Libraries used;
  for (const Way& w : ways)
    for (const auto& [name, lengths] : w.executor->libraries())
      used[name].insert(lengths.begin(), lengths.end());
  std::vector<std::string> libraries;
  for (const auto& [name, lengths] : used)
    libraries.push_back(name + (lengths.empty() ? "" : " (lines of " + join(lengths, ", ") + " aside)"));
  text += "local FFT " + (libraries.empty() ? "none" : join(libraries, ", ")) + ", effort " +
          options.get("effort") + ", layout " + (contiguous ? "contiguous" : "strided") + "\n";
  if (!learnt.text.empty()) text += learnt.text + "\n";
  if (!threads_text.empty()) text += threads_text + "\n";
  if (!graph_text.empty()) text += graph_text + "\n";
  text += std::string("workspace ") + (second_workspace > 0 ? "two of " : "") +
          human_bytes(static_cast<double>(workspace_bytes)) + " on rank " + std::to_string(comm.rank()) +
          " (" + (users_workspace ? "given by the user" : "owned by the plan") +
          "; largest box of any stage " + human_bytes(static_cast<double>(largest_box)) + ")\n";
  return text;
}

std::string Plan::to_string() const {
  return impl().to_string();
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  return out << plan.to_string();
}

}  // namespace weft
