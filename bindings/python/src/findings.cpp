// What plans tell about themselves: why they are as they are, how long operations took, what codecs did.
#include <nanobind/stl/map.h>

#include "bindings.hpp"

namespace weft::python {

namespace {

void bind_explanations(nanobind::module_& module) {
  nanobind::class_<Candidate>(module, "Candidate",
                              "Options that a plan could have, beside those that were given.")
      .def_ro("options", &Candidate::options, "Names and values; none: as the rules choose.")
      .def_ro("summary", &Candidate::summary, "What these options make; '' if it is not known.")
      .def_ro("predicted_s", &Candidate::predicted_s,
              "Seconds of forward and backward on the slowest rank; 0: not predicted.")
      .def_ro("measured_s", &Candidate::measured_s, "The same, by a trial; 0: none was made.")
      .def_ro("why", &Candidate::why, "What it does worse or better than the chosen one.");
  nanobind::class_<OnlineExecution>(module, "OnlineExecution",
                                    "One of the executions that a plan with effort online tries with.")
      .def_ro("forward", &OnlineExecution::forward, "Whether it was forward.")
      .def_ro("options", &OnlineExecution::options, "Names and values, beside those that were given.")
      .def_ro("tried", &OnlineExecution::tried, "Whether it was a try, and not the best that was known.")
      .def_ro("seconds", &OnlineExecution::seconds,
              "From when the last rank began to when the last one was done.")
      .def_ro("making_s", &OnlineExecution::making_s, "What making this plan took before.")
      .def_ro("disturbed", &OnlineExecution::disturbed, "Other plans were under way: the time says nothing.");
  nanobind::class_<OnlineTuning>(module, "OnlineTuning", "How a plan with effort online was tuned.")
      .def_ro("state", &OnlineTuning::state, "In words; '' for other efforts.")
      .def_ro("trying", &OnlineTuning::trying, "Whether executions may still change the plan.")
      .def_ro("tried", &OnlineTuning::tried, "Plans that were tried beside the first.")
      .def_ro("ratio", &OnlineTuning::ratio, "The time of the best plan over that of the first one.")
      .def_ro("executions", &OnlineTuning::executions, "Those of the last time that it was tuned.");
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
      .def_ro("online", &Explanation::online, "How its executions tuned it, with effort online.")
      .def("__str__", [](const Explanation& e) { return to_string(e); });
}

void bind_times(nanobind::module_& module) {
  nanobind::class_<OperationTime>(module, "OperationTime", "A period of time in which an operation ran.")
      .def_ro("kind", &OperationTime::kind,
              "'fft', 'copy', 'pack', 'put', 'keep', 'exchange', 'wait' or 'unpack'.")
      .def_ro("stage", &OperationTime::stage, "Number in the printed schedule, from 0.")
      .def_ro("reshape", &OperationTime::reshape, "Number, from 0; -1: none.")
      .def_ro("tile", &OperationTime::tile, "Number within the reshape.")
      .def_ro("begin", &OperationTime::begin, "Seconds since the execution began.")
      .def_ro("end", &OperationTime::end, "Seconds since the execution began.")
      .def_ro("bytes", &OperationTime::bytes, "Written, or sent to other ranks.")
      .def_ro("memory_read", &OperationTime::memory_read, "Bytes read from arrays and workspace.")
      .def_ro("memory_written", &OperationTime::memory_written, "Bytes written to arrays and workspace.")
      .def_ro("stream", &OperationTime::stream, "On GPUs: 0 for the stream that computes, 1 for the other.")
      .def_ro("peer", &OperationTime::peer, "The other rank, if it is about one; -1: none, or several.")
      .def("__repr__", [](const OperationTime& o) {
        return "<weft.OperationTime " + std::string(o.kind) + " stage " + std::to_string(o.stage) + " tile " +
               std::to_string(o.tile) + ", " + std::to_string((o.end - o.begin) * 1e6) + " us>";
      });
  nanobind::class_<Accuracy>(module, "Accuracy",
                             "What codecs have done to a result, over all points of all ranks.")
      .def_ro("l2", &Accuracy::l2, "The 2-norm of the error over that of the exact result.")
      .def_ro("maximum", &Accuracy::maximum, "Its largest element over that of the exact result.")
      .def_ro("bound", &Accuracy::bound, "What l2 is at most.")
      .def("__repr__", [](const Accuracy& a) {
        return nanobind::str("<weft.Accuracy l2={:.3g} maximum={:.3g} bound={:.3g}>")
            .format(a.l2, a.maximum, a.bound);
      });
}

}  // namespace

void bind_findings(nanobind::module_& module) {
  bind_explanations(module);
  bind_times(module);
}

}  // namespace weft::python
