#include "tune/wisdom_store.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/text.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "fft/local_fft.hpp"
#include "tune/wisdom_file.hpp"
#include "weft/wisdom.hpp"

namespace weft {

namespace {

constexpr const char* operation = "plan: wisdom";

/// Calls `visit(row, precision, key)` for each precision of each library with wisdom of its own.
template <class Visit>
void each_library(const Visit& visit) {
  const std::string hardware = hardware_text();
  for (const FftRow& row : fft_table()) {
    if (row.export_wisdom == nullptr || !row.missing().empty()) continue;
    for (const Precision precision : {Precision::float32, Precision::float64})
      visit(row, precision, Machine::library(hardware, row, precision));
  }
}

/// The key of the choices of the fastest library for each transform. These are kept in fft/fft_choices and
/// not in the store.
std::string key_of_choices() {
  std::vector<std::string> versions;
  for (const FftRow& row : fft_table())
    if (row.memory == MemoryKind::host && row.missing().empty()) versions.push_back(row.version());
  std::sort(versions.begin(), versions.end());
  return hardware_text() + ", " + join(versions, ", ") + ", fastest";
}

/// What rank 0 has shared last on a Comm. It grows with every search, and what every plan begins with should
/// not: it is sent and read again when it is another one.
struct SharedWisdom {
  std::string text;  ///< on rank 0
  Wisdom wisdom;
  int times_forgotten = 0;  ///< by this process, when it learnt that
};

SharedWisdom& last_shared(CommImpl& comm) {
  static const char key = 0;
  std::shared_ptr<void>& of_comm = comm.kept(&key);
  if (!of_comm) of_comm = std::make_shared<SharedWisdom>();
  return *static_cast<SharedWisdom*>(of_comm.get());
}

}  // namespace

WisdomStore& WisdomStore::of_process() {
  static WisdomStore store;
  return store;
}

Wisdom WisdomStore::all() {
  Wisdom learnt;
  each_library([&](const FftRow& row, Precision precision, const std::string& key) {
    if (const std::string text = row.export_wisdom(precision); !text.empty())
      learnt.remember_library(key, text);
  });
  Wisdom all = with([](const Wisdom& wisdom) { return wisdom; });
  all.merge(learnt);
  if (const std::string text = export_fft_choices(); !text.empty())
    all.remember_library(key_of_choices(), text);
  return all;
}

std::string WisdomStore::learn(const Wisdom& other) {
  with([&](Wisdom& wisdom) { wisdom.merge(other); });
  std::string wrong;
  each_library([&](const FftRow& row, Precision precision, const std::string& key) {
    const auto text = other.library(key);
    if (text && !row.import_wisdom(precision, *text))
      wrong = row.name + std::string(" refuses its wisdom, which is damaged or from another build");
  });
  const auto choices = other.library(key_of_choices());
  if (choices && !import_fft_choices(*choices))
    wrong = "the choices of the fastest local FFT libraries are damaged";
  return wrong;
}

void WisdomStore::forget() {
  with([](Wisdom& wisdom) { wisdom = {}; });
  each_library([](const FftRow& row, Precision, const std::string&) { row.forget_wisdom(); });
  forget_fft_choices();
  ++times_forgotten_;
}

bool export_wisdom(const std::string& file) {
  const WisdomSaved done = add_to_file(file, WisdomStore::of_process().all());
  if (!done.remark.empty()) warn(done.remark);
  return done.saved;
}

bool import_wisdom(const std::string& file) {
  const WisdomText read = read_wisdom(file);
  std::string wrong = read.why;
  const bool wise = read.kind == WisdomText::Kind::wisdom;
  if (wise) wrong = WisdomStore::of_process().learn(read.wisdom);
  if (!wrong.empty()) warn("wisdom in " + file + ": " + wrong);
  return wise;
}

void forget_wisdom() {
  WisdomStore::of_process().forget();
}

Wisdom share_wisdom(CommImpl& comm, const Machine& machine) {
  WisdomStore& store = WisdomStore::of_process();
  SharedWisdom& last = last_shared(comm);
  // Ranks of one process have one store, and one library of local FFTs. What that has learnt is not looked
  // at: the program may be planning FFTs of its own in another thread, which libraries do not allow beside
  // it.
  const bool one_process = comm.threads() != nullptr || comm.size() == 1;
  std::string text;
  agree(comm, operation, [&] {
    if (comm.rank() != 0) return;
    const Wisdom known = one_process ? store.with([](const Wisdom& wisdom) { return wisdom; }) : store.all();
    text = known.of(machine.fingerprint, machine.hardware).to_json();
    if (text == last.text) text.clear();
  });
  text = comm.broadcast(text, 0);
  const bool news = !text.empty();
  if (news) last.wisdom = Wisdom::from_json(text);
  if (comm.rank() == 0 && news) last.text = std::move(text);
  const int times_forgotten = store.times_forgotten();
  const bool forgotten = std::exchange(last.times_forgotten, times_forgotten) != times_forgotten;
  // Thread ranks share one store, which has this wisdom already.
  if (comm.rank() != 0 && comm.threads() == nullptr && (news || forgotten))
    if (const std::string wrong = store.learn(last.wisdom); !wrong.empty())
      warn("wisdom of rank 0: " + wrong);
  return last.wisdom;
}

void gather_wisdom(CommImpl& comm, const Machine& machine) {
  if (comm.threads() != nullptr || comm.size() == 1) return;
  WisdomStore& store = WisdomStore::of_process();
  const Wisdom shared = share_wisdom(comm, machine);
  std::string mine;  // usually empty
  agree(comm, operation, [&] {
    const Wisdom known = shared.of("", machine.hardware), here = store.all().of("", machine.hardware);
    Wisdom both = known;
    both.merge(here);
    if (comm.rank() != 0 && both != known) mine = here.to_json();
  });
  const std::vector<std::size_t> sizes = all_of(comm, mine.size());
  if (*std::max_element(sizes.begin(), sizes.end()) == 0) return;
  // One rank after the other, so that no rank needs memory for the wisdom of all ranks at once.
  for (int r = 1; r < comm.size(); ++r) {
    if (at(sizes, r) == 0) continue;
    const std::string its = comm.broadcast(mine, r);
    agree(comm, operation, [&] {
      if (comm.rank() != 0) return;
      Wisdom both_ranks = store.all();
      both_ranks.merge(Wisdom::from_json(its));
      store.learn(both_ranks);
    });
  }
  share_wisdom(comm, machine);
}

}  // namespace weft
