// Wisdom, trials, and what the library has, for C.
#include <atomic>

#include "c/failure.hpp"
#include "c/json.hpp"
#include "c/memory.hpp"
#include "weft/information.hpp"
#include "weft/interruption.hpp"
#include "weft/trial_progress.hpp"
#include "weft/wisdom.hpp"

using namespace weft::c;
using Json = nlohmann::ordered_json;

namespace {

std::atomic<int (*)()> asked_of_program{nullptr};
std::atomic<void (*)(const weft_trial_progress*)> told_to_program{nullptr};

bool ask_program() {
  int (*const asked)() = asked_of_program;
  return asked != nullptr && asked() != 0;
}

std::string line_of(const std::map<std::string, std::string>& options) {
  std::string text;
  for (const auto& [name, value] : options) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

void tell_program(const weft::TrialProgress& p) {
  void (*const told)(const weft_trial_progress*) = told_to_program;
  if (told == nullptr) return;
  guarded([&] {  // a report for which memory does not suffice is left out
    const std::string options = line_of(p.options), best = line_of(p.best_options);
    weft_trial_progress progress{};
    progress.size = sizeof progress;
    progress.round = p.round.c_str();
    progress.trial = p.trial;
    progress.most_trials = p.most_trials;
    progress.options = options.c_str();
    progress.seconds = p.seconds;
    progress.best_options = best.c_str();
    progress.best_seconds = p.best_seconds;
    progress.is_best = p.is_best ? 1 : 0;
    progress.seconds_left = p.seconds_left;
    told(&progress);
  });
}

weft_status with_file(const char* file, int* done, bool (*work)(const std::string&)) {
  return guarded([&] {
    check_given(file, "wisdom", "file");
    const bool did = work(file);
    if (done != nullptr) *done = did ? 1 : 0;
  });
}

Json information() {
  Json libraries = Json::array(), environment = Json::array();
  for (const weft::FftLibrary& l : weft::fft_libraries())
    libraries.push_back(
        {{"name", l.name}, {"version", l.version}, {"missing", l.missing}, {"on_gpus", l.on_gpus}});
  for (const weft::Variable& v : weft::environment_variables())
    environment.push_back({{"name", v.name}, {"meaning", v.meaning}, {"value", v.value}});
  const weft::Gpu gpu = weft::gpu();
  return {{"version", weft_version()},        {"hardware", weft::hardware()},
          {"numa_nodes", weft::numa_nodes()}, {"gpu", {{"name", gpu.name}, {"missing", gpu.missing}}},
          {"fft_libraries", libraries},       {"environment", environment}};
}

}  // namespace

weft_status weft_export_wisdom(const char* file, int* done) {
  return with_file(file, done, weft::export_wisdom);
}

weft_status weft_import_wisdom(const char* file, int* done) {
  return with_file(file, done, weft::import_wisdom);
}

weft_status weft_forget_wisdom(void) {
  return guarded([] { weft::forget_wisdom(); });
}

weft_status weft_interrupt_trials_if(int (*asked)(void)) {
  asked_of_program = asked;
  weft::interrupt_trials_if(asked != nullptr ? ask_program : nullptr);
  return WEFT_SUCCESS;
}

weft_status weft_report_trials_to(void (*told)(const weft_trial_progress* progress)) {
  told_to_program = told;
  weft::report_trials_to(told != nullptr ? tell_program : nullptr);
  return WEFT_SUCCESS;
}

weft_status weft_information_json(char** text) {
  return guarded([&] {
    check_given(text, "information", "text");
    *text = copy_of(text_of(information()));
  });
}
