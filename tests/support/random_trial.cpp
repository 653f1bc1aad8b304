// Runs a random problem: every exchange that was drawn, forward and backward, twice, compared with the exact
// result, with each other bit by bit, and with what must not be touched.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "api/plan_impl.hpp"
#include "base/cache.hpp"
#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "exec/bound_plan.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"
#include "program/diversions.hpp"
#include "support/between.hpp"
#include "support/design_of.hpp"
#include "support/device_mirror.hpp"
#include "support/mode_columns.hpp"
#include "support/random_problem.hpp"
#include "support/says.hpp"
#include "support/whole_arrays.hpp"
#include "weft/buffer.hpp"
#include "weft/plan.hpp"

namespace weft::test {

namespace {

/// Arrays of a batch differ by exact factors, so that one exact result serves all.
long double weight(Index item) {
  return item % 2 == 0 ? static_cast<long double>(1 << item) : -static_cast<long double>(1 << item);
}

struct View {
  Shape shape;  ///< of the whole array
  Box box;
  Strides strides;
  Index offset, distance, batch;
  std::size_t count;
  /// Of columns of modes, where each is in the whole array; the box then counts them.
  std::vector<std::size_t> modes = {};
};

/// Calls `f(position in the whole array in C order, position in the rank's memory, array of the batch)` for
/// every point of a box.
template <class F>
void for_points(const View& v, const F& f) {
  if (v.box.empty()) return;
  const Strides whole = dense_strides(v.shape, c_order(v.shape.size()));
  for (Index item = 0; item < v.batch; ++item) {
    for (std::size_t i = 0; i < v.modes.size(); ++i)
      f(v.modes[i], i + static_cast<std::size_t>(item * v.distance), item);
    if (!v.modes.empty()) continue;
    Shape at = v.box.lo;
    for (;;) {
      Index from = 0, to = v.offset + item * v.distance;
      for (int a = 0; a < v.shape.size(); ++a) {
        from += at[a] * whole[a];
        to += (at[a] - v.box.lo[a]) * v.strides[a];
      }
      f(static_cast<std::size_t>(from), static_cast<std::size_t>(to), item);
      int a = v.shape.size() - 1;
      for (; a >= 0 && ++at[a] == v.box.hi[a]; --a) at[a] = v.box.lo[a];
      if (a < 0) break;
    }
  }
}

/// Memory for an array, off the alignment by one real number if asked for, with a fence behind it; every byte
/// is `pattern` to begin with, which makes NaN of numbers.
template <class T>
class FencedArray {
 public:
  using Real = decltype(std::real(T{}));
  FencedArray(std::size_t bytes, bool misaligned)
      : bytes_(bytes), offset_(misaligned ? sizeof(Real) : 0), memory_(bytes + offset_ + fence) {
    std::memset(memory_.data(), pattern, memory_.size());
  }
  T* data() { return reinterpret_cast<T*>(memory_.data() + offset_); }
  /// All of it, with the fence.
  Buffer<unsigned char>& memory() { return memory_; }
  std::vector<unsigned char> bytes() const {
    return {memory_.data() + offset_, memory_.data() + offset_ + bytes_};
  }
  bool fence_intact() const { return all_pattern(memory_.data() + offset_ + bytes_, fence); }
  /// Whether nothing but the points of `v` has been written.
  bool gaps_intact(const View& v) const {
    std::vector<unsigned char> copy = bytes();
    for_points(v, [&](std::size_t, std::size_t l, Index) {
      std::memset(copy.data() + l * sizeof(T), pattern, sizeof(T));
    });
    return all_pattern(copy.data(), copy.size());
  }

 private:
  static constexpr unsigned char pattern = 0xFF;
  static constexpr std::size_t fence = 64;
  static bool all_pattern(const unsigned char* p, std::size_t n) {
    return std::all_of(p, p + n, [](unsigned char c) { return c == pattern; });
  }
  std::size_t bytes_, offset_;
  Buffer<unsigned char> memory_;
};

/// Fails on all ranks if it failed on one, so that no rank goes on alone.
void fail_together(const Comm& comm, const std::string& mine) {
  if (comm.impl().least(mine.empty() ? 1 : 0) == 0)
    throw std::runtime_error(mine.empty() ? "another rank failed" : mine);
}

/// One plan, executed twice in both directions.
template <class In, class Out>
class Trial {
 public:
  Trial(const Comm& comm, const RandomProblem& p, const std::string& exchange)
      : comm_(comm),
        p_(p),
        problem_(p.of(comm.rank())),
        plan_(comm, problem_,
              Options(p.options)
                  .set("exchange", exchange)
                  .set("graph", exchange == "direct" && !p.far_pairs ? p.graph : "auto")
                  .set("puts", exchange == "direct" ? p.puts : "auto")) {}

  /// The local results of forward and backward, for comparison with those of other exchanges.
  std::pair<std::vector<Out>, std::vector<In>> run() {
    check_workspace();
    const auto size = static_cast<long double>(plan_.scale_factor());
    std::pair<std::vector<Out>, std::vector<In>> first;
    for (int repeat = 0; repeat < p_.repeats; ++repeat) {
      const long double forward = factor(p_.problem.forward_scale),
                        backward = factor(p_.problem.backward_scale);
      auto spectrum = one_way<In, Out>(Direction::forward, p_.values, p_.exact,
                                       has_operator() ? forward * backward : forward);
      auto back = has_operator()
                      ? one_way<Out, In>(Direction::backward, p_.values, p_.exact, forward * backward)
                      : one_way<Out, In>(Direction::backward, p_.exact, p_.returned, size * backward);
      if (repeat == 0) {
        first = {std::move(spectrum), std::move(back)};
      } else if (!p_.online && (!same(first.first, spectrum) || !same(first.second, back))) {
        failure_ = std::string("the second execution differs from the first, ") +
                   (same(first.first, spectrum) ? "backward" : "forward") + " of\n" + plan_.to_string();
      }
    }
    if (p_.online) check_tuning();
    fail_together(comm_, failure_);
    return first;
  }

  /// The local FFTs of this rank, forward and backward.
  std::vector<FftCall> ffts() const {
    std::vector<FftCall> calls = ffts_of(plan_, Direction::forward);
    const std::vector<FftCall> back = ffts_of(plan_, Direction::backward);
    calls.insert(calls.end(), back.begin(), back.end());
    return calls;
  }

  /// The local FFTs whose results would be stored elsewhere, by their numbers, and how many of the modes.
  std::vector<std::pair<int, Index>> stored_elsewhere() const {
    std::vector<std::pair<int, Index>> all;
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const Program& program = PlanImpl::of(plan_).bound->program(direction);
      for (const Diverted what : {Diverted::own, Diverted::puts})
        for (const Diversion& d : diversions(program, what))
          for (const Diversion::Part& part : d.parts) {
            Index points = 0;
            for (const Diversion::Piece& piece : part.pieces) points += piece.box.count();
            all.emplace_back(program.ops[static_cast<std::size_t>(part.op)].call, points);
          }
    }
    return all;
  }

  Interpreter::Libraries libraries() const { return PlanImpl::of(plan_).bound->libraries(); }

  /// Whether it sends boxes from where they lie, so that what others scale while they copy is scaled
  /// elsewhere.
  bool sends_boxes() const {
    const Design& design = design_of(plan_);
    const std::vector<Leg> legs = all_legs(design);
    return std::any_of(legs.begin(), legs.end(), [&](const Leg& leg) {
      return leg.traits.form == Form::boxes && (!leg.traits.stores || !design.memory.far.empty());
    });
  }

  template <class T>
  static bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
  }

 private:
  void check_workspace() {
    if (plan_.workspace_bytes() % 64 != 0) failure_ = "workspace is not a multiple of 64 bytes";
    if (!says(plan_.to_string(), "workspace")) failure_ = "the plan does not print its workspace";
  }

  /// All ranks have decided alike, from times that differ.
  void check_tuning() {
    const OnlineTuning tuning = plan_.explain().online;
    std::string text = tuning.state;
    for (const OnlineExecution& e : tuning.executions) {
      text += std::to_string(e.seconds) + (e.forward ? " forward" : " backward") + (e.tried ? " try" : "");
      for (const auto& [name, value] : e.options) text += " " + name + "=" + value;
      text += "\n";
    }
    const std::string first = comm_.impl().broadcast(text, 0);
    if (text != first) failure_ = "ranks have been tuned otherwise:\n" + text + "\nnot\n" + first;
    if (tuning.trying) failure_ = "not settled: " + text;
    if (static_cast<int>(tuning.executions.size()) > std::stoi(p_.options.get("online")))
      failure_ = "not bounded: " + text;
  }

  bool has_operator() const { return problem_.between != Between::none; }

  /// What an array that comes out is times the exact one.
  long double weight_after(Direction d, Index item) const {
    return has_operator() ? weight_of(item) * weight(field_of(item, arrays_of(problem_, d))) : weight(item);
  }

  long double factor(Scale s) const {
    const auto size = static_cast<long double>(plan_.scale_factor());
    return s == Scale::none ? 1 : s == Scale::full ? 1 / size : 1 / std::sqrt(size);
  }

  View view(bool input) const {
    View v = view_of_boxes(input);
    if (has_columns(input ? problem_.input : problem_.output))
      v.modes = positions_of(problem_, plan_.columns());
    return v;
  }
  View view_of_boxes(bool input) const {
    if (input)
      return {input_shape(problem_), plan_.input_box(),      plan_.input_strides(),
              plan_.input_offset(),  plan_.input_distance(), arrays_of(problem_, Direction::forward),
              plan_.input_count()};
    return {output_shape(problem_), plan_.output_box(),      plan_.output_strides(),
            plan_.output_offset(),  plan_.output_distance(), arrays_of(problem_, Direction::backward),
            plan_.output_count()};
  }

  template <class A, class B>
  void execute(Direction d, const A* in, B* out, void* work, std::size_t bytes) {
    const bool fwd = d == Direction::forward;
    if (has_operator()) return plan_.apply(in, out, BetweenOperator(problem_), d, work, bytes);
    if (!p_.by_handle) {
      fwd ? plan_.forward(in, out, work, bytes) : plan_.backward(in, out, work, bytes);
      return;
    }
    fwd ? plan_.start_forward(in, out, work, bytes) : plan_.start_backward(in, out, work, bytes);
    for (int looks = 0; looks < 20 && !plan_.test(); ++looks) std::this_thread::yield();
    plan_.wait();
    if (!plan_.test()) failure_ = "not complete after wait";
  }

  /// The same with the arrays' images on this rank's device.
  template <class A, class B>
  void execute_on_device(Direction d, Buffer<unsigned char>& in, Buffer<unsigned char>& out,
                         std::size_t work_bytes) {
    DeviceMirror mirror;
    plan_.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
    std::byte* const from = mirror.upload(in.data(), in.size());
    std::byte* const to = problem_.in_place ? from : mirror.upload(out.data(), out.size());
    std::byte* const work = mirror.fresh(work_bytes);
    // Graphs are launched again only for the same arrays.
    for (int again = problem_.in_place ? 1 : 4; again > 0; --again)
      execute(d, reinterpret_cast<const A*>(from), reinterpret_cast<B*>(to), work, work_bytes);
    mirror.download(in.data(), from, in.size());
    if (!problem_.in_place) mirror.download(out.data(), to, out.size());
    plan_.set_stream(nullptr);
  }

  template <class A, class B>
  std::vector<B> one_way(Direction d, const std::vector<Exact>& from, const std::vector<Exact>& to,
                         long double scale) {
    const bool fwd = d == Direction::forward;
    const View in_view = view(fwd), out_view = view(!fwd);
    const bool in_place = problem_.in_place;
    FencedArray<A> in(in_place ? plan_.buffer_bytes() : in_view.count * sizeof(A), p_.misaligned);
    FencedArray<B> separate(in_place ? 0 : out_view.count * sizeof(B), p_.misaligned);
    for_points(in_view, [&](std::size_t g, std::size_t l, Index item) {
      in.data()[l] = narrowed<A>(weight(item) * from[g]);
    });
    const std::vector<unsigned char> before = in.bytes();
    B* out = in_place ? reinterpret_cast<B*>(in.data()) : separate.data();
    Buffer<unsigned char> workspace(p_.user_workspace ? plan_.workspace_bytes() : 0);
    void* work = workspace.size() > 0 ? workspace.data() : nullptr;
    if (problem_.memory == MemoryKind::host) {
      execute(d, static_cast<const A*>(in.data()), out, work, workspace.size());
    } else {
      execute_on_device<A, B>(d, in.memory(), separate.memory(), workspace.size());
    }
    if (!in.fence_intact() || !separate.fence_intact()) failure_ = "memory behind an array was changed";
    if (!in_place && before != in.bytes()) failure_ = "out of place, the input was changed";
    if (!in_place && !separate.gaps_intact(out_view)) failure_ = "a halo of the output was changed";
    std::vector<B> result;
    double sums[3] = {0, 0, 0};  // error, norm, norm of the input
    for_points(in_view, [&](std::size_t g, std::size_t, Index item) {
      sums[2] += static_cast<double>(std::norm(weight(item) * from[g]));
    });
    for_points(out_view, [&](std::size_t g, std::size_t l, Index item) {
      const Exact expected = weight_after(d, item) * scale * to[g];
      result.push_back(out[l]);
      sums[0] += static_cast<double>(std::norm(Exact(out[l]) - expected));
      sums[1] += static_cast<double>(std::norm(expected));
    });
    compare(d, sums);
    return result;
  }

  void compare(Direction d, const double (&sums)[3]) {
    std::vector<double> all(3 * static_cast<std::size_t>(comm_.size()));
    comm_.impl().allgather(sums, sizeof sums, all.data());
    double error = 0, norm = 0, given = 0;
    for (std::size_t r = 0; r < all.size(); r += 3) {
      error += all[r];
      norm += all[r + 1];
      given += all[r + 2];
    }
    // Backward starts from the exact spectrum rounded to the working precision, which costs up to half an
    // ulp.
    const double relative = norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
    const double bound =
        p_.bounds[static_cast<std::size_t>(d)] + codec_bound(d, std::sqrt(given / (norm > 0 ? norm : 1)));
    if (!(relative <= bound))
      throw std::runtime_error(std::string(d == Direction::forward ? "forward" : "backward") +
                               ": relative error " + std::to_string(relative / bound) + " times the bound\n" +
                               plan_.to_string());
  }

  /// What codecs may add, relative to the output. Of modes that are left out behind an exchange its messages
  /// have had their part, and the error is relative to them, too: only what it is of the input, which is so
  /// many times the output, is known. An operator multiplies by 1 to 2, forward and backward enlarge.
  double codec_bound(Direction d, double input_over_output) const {
    const Design& design = design_of(plan_);
    if (has_operator()) return 4 * codec_error(design, d);
    if (!leaves_out(design, d)) return codec_error(design, d);
    return codec_error_of_input(design, d) * input_over_output;
  }

  const Comm& comm_;
  const RandomProblem& p_;
  Problem problem_;
  Plan plan_;
  std::string failure_;  ///< on this rank
};

/// What one exchange gave on this rank.
template <class In, class Out>
struct Outcome {
  std::string exchange;
  bool sends_boxes = false;
  std::vector<FftCall> ffts;
  std::vector<std::pair<int, Index>> stored_elsewhere;
  Interpreter::Libraries libraries;
  std::pair<std::vector<Out>, std::vector<In>> results;
};

/// Whether two local FFTs are the same, of the same places.
bool are_same(const FftCall& a, const FftCall& b) {
  const auto at_one_place = [](const Operand& x, const Operand& y) {
    return x.space == y.space && x.offset == y.offset && x.strides == y.strides;
  };
  return a.axes == b.axes && a.r2r == b.r2r && a.extents == b.extents && at_one_place(a.from, b.from) &&
         at_one_place(a.to, b.to);
}

/// The same local FFTs at the same places, computed in the same ways, give the same bits; an exchange that
/// does not copy all parts scales in other places, too.
template <class In, class Out>
bool comparable(const RandomProblem& p, const Outcome<In, Out>& a, const Outcome<In, Out>& b) {
  const bool scaled = p.problem.forward_scale != Scale::none || p.problem.backward_scale != Scale::none;
  return std::equal(a.ffts.begin(), a.ffts.end(), b.ffts.begin(), b.ffts.end(), are_same) &&
         a.libraries == b.libraries && a.stored_elsewhere == b.stored_elsewhere &&
         (!scaled || (!a.sends_boxes && !b.sends_boxes));
}

template <class In, class Out>
void run_typed(const Comm& comm, const RandomProblem& p) {
  using T = Trial<In, Out>;
  std::vector<Outcome<In, Out>> outcomes;
  for (const std::string& exchange : p.exchanges) {
    Outcome<In, Out> mine;
    mine.exchange = exchange;
    try {
      T trial(comm, p, exchange);
      mine.results = trial.run();
      mine.ffts = trial.ffts();
      mine.stored_elsewhere = trial.stored_elsewhere();
      mine.libraries = trial.libraries();
      mine.sends_boxes = trial.sends_boxes();
    } catch (const Error& e) {
      // Padding may have no room; what has no padding never says so.
      const bool padded = ("," + exchange + ",").find(",alltoall,") != std::string::npos;
      if (padded && says(e.what(), "padding does not fit")) continue;
      throw;
    }
    for (const Outcome<In, Out>& other : outcomes) {
      if (comm.impl().least(comparable(p, mine, other) ? 1 : 0) == 0) continue;
      const bool same = T::same(mine.results.first, other.results.first) &&
                        T::same(mine.results.second, other.results.second);
      fail_together(comm,
                    same ? "" : "exchanges " + other.exchange + " and " + exchange + " differ in a bit");
    }
    outcomes.push_back(std::move(mine));
  }
}

template <class Real>
void run_precision(const Comm& comm, const RandomProblem& p) {
  using Complex = std::complex<Real>;
  const bool r2c = p.problem.transforms.contains(Transform::r2c);
  if (p.problem.element == Element::complex || (r2c && p.problem.between == Between::points)) {
    run_typed<Complex, Complex>(comm, p);
  } else if (r2c && p.problem.between == Between::none) {
    run_typed<Real, Complex>(comm, p);
  } else {
    run_typed<Real, Real>(comm, p);
  }
}

/// Gives a switch another value for the lifetime of the object, once for all ranks that are threads of one
/// process. Collective; so is `end`, without which ranks may find the old value while others are not done.
template <typename T>
class SwitchOfRanks {
 public:
  SwitchOfRanks(const Comm& comm, std::atomic<T>& where, T value) : comm_(comm) {
    if (comm.rank() == 0 || comm.impl().threads() == nullptr)
      switched_ = std::make_unique<const ScopedSwitch<T>>(where, value);
    comm.barrier();
  }
  void end() {
    comm_.barrier();
    switched_.reset();
    comm_.barrier();
  }

 private:
  const Comm& comm_;
  std::unique_ptr<const ScopedSwitch<T>> switched_;
};

/// The same ranks, of which so many share a machine.
Comm machines_of(const Comm& comm, int ranks) {
  if (ranks == 0) return comm;
  SwitchOfRanks machine(comm, detail::pretended_ranks_per_node, ranks);
  Comm machines = comm.split(0);
  machine.end();
  return machines;
}

}  // namespace

void run_random_problem(const Comm& comm, const RandomProblem& p) {
  try {
    std::optional<SwitchOfRanks<std::int64_t>> small_cache;
    if (p.small_cache) small_cache.emplace(comm, detail::pretended_second_cache, 64);
    const Comm machines = machines_of(comm, p.node_ranks);
    if (p.problem.precision == Precision::float64) {
      run_precision<double>(machines, p);
    } else {
      run_precision<float>(machines, p);
    }
    if (small_cache) small_cache->end();
  } catch (const std::exception& e) {
    throw std::runtime_error(std::string(e.what()) + "\n" + p.describe());
  }
}

}  // namespace weft::test
