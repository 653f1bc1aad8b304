// The plan, printed on one screen: what was asked for, what was chosen and why.
#include <algorithm>
#include <ostream>

#include "api/plan_impl.hpp"
#include "api/problem_check.hpp"
#include "base/text.hpp"

namespace weft {

namespace {

std::string describe(const char* which, const UserArray& side) {
  const Strides dense = dense_strides(side.box.extents(), side.order);
  const bool same = side.box.empty() || std::equal(dense.begin(), dense.end(), side.layout.strides.begin());
  if (same && side.layout.offset == 0) return "";
  return std::string(which) + " array: strides {" + join(side.layout.strides, ",") + "}, first point at " +
         std::to_string(side.layout.offset) + "\n";
}

const char* scaling(Scale s) {
  return s == Scale::none ? "none" : s == Scale::symmetric ? "1/sqrt(N)" : "1/N";
}

/// " (lines of 512 by kernels of Weft, of 1001 aside)". `twice`: FFTs put in two exchanges, if they do.
std::string to_text(const LinesElsewise& lines, bool twice) {
  std::vector<std::string> parts, they;
  if (lines.packs) they.push_back("pack what is sent");
  if (lines.puts)
    they.push_back(std::string("store all before ") + (twice ? "both exchanges" : "the first exchange") +
                   " where it is read next, also on peers");
  else if (lines.diverts)
    they.push_back("store what stays on the rank where it is read next");
  if (!lines.by_kernels.empty())
    parts.push_back("of " + join(lines.by_kernels, ", ") + " by kernels of Weft" +
                    (they.empty() ? "" : ", which " + join(they, " and ")) +
                    (lines.in_planes ? "; two axes in one launch" : ""));
  if (!lines.aside.empty()) parts.push_back("of " + join(lines.aside, ", ") + " aside");
  return parts.empty() ? "" : " (lines " + join(parts, ", ") + ")";
}

}  // namespace

std::string PlanImpl::to_string() const {
  std::string text = "weft plan: " + title_of(problem, comm) + "\n";
  if (devices.mine)
    text += std::string("memory ") + device_row()->name + ", rank " + std::to_string(comm.rank()) + " on " +
            devices.mine->name() + "\n";
  if (problem.forward_scale != Scale::none || problem.backward_scale != Scale::none)
    text += std::string("scale ") + scaling(problem.forward_scale) + " forward, " +
            scaling(problem.backward_scale) + " backward\n";
  text += describe("input", arrays[0]) + describe("output", arrays[1]) + weft::to_string(design());
  text += bound->rails_text();
  std::vector<std::string> libraries;
  for (const auto& [name, elsewise] : bound->libraries())
    libraries.push_back(name + to_text(elsewise, lands_in_turn(design())));
  text +=
      "local FFT " + (libraries.empty() ? "none" : join(libraries, ", ")) + ", effort " +
      name_of(wishes.effort.value) +
      (wishes.fft_effort.value ? std::string(", of local FFTs ") + name_of(*wishes.fft_effort.value) : "") +
      "\n";
  if (!learnt.text.empty()) text += learnt.text + "\n";
  if (online) text += online->text() + "\n";
  text += std::string("workspace ") + (bound->has_two_workspaces() ? "two of " : "") +
          human_bytes(static_cast<double>(bound->workspace_bytes())) + " on rank " +
          std::to_string(comm.rank()) + " (" +
          (wishes.users_workspace.value ? "given by the user" : "owned by the plan") +
          "; largest box of any stage " + human_bytes(static_cast<double>(bound->largest_box())) + ")\n";
  return text;
}

std::string Plan::to_string() const {
  return impl().to_string();
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  return out << plan.to_string();
}

}  // namespace weft
