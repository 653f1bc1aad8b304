#include "measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "api/machine_choice.hpp"
#include "api/plan_impl.hpp"
#include "api/problem_check.hpp"
#include "array.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "box_values.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"
#include "design_json.hpp"
#include "geometry/transform.hpp"
#include "known_answer.hpp"
#include "model/machine_json.hpp"
#include "output_file.hpp"
#include "peers.hpp"
#include "repeat_fields.hpp"
#include "timeline.hpp"
#include "transport/transport.hpp"

namespace weft::bench {

namespace {

/// On how many networks exchanges that gather send what machines have for each other.
int rails_that_gather(const PlanImpl& plan) {
  int rails = 1;
  for (const Leg& leg : plan.design().legs[0]) {
    const ExchangeRow& row = exchange_row(leg.exchange);
    if (leg.traits.gathers && row.rails != nullptr)
      rails = std::max(rails, row.rails(plan.comm.impl(), plan.design().rails));
  }
  return rails;
}

/// What one rank did in one repetition, kind by kind.
struct Repetition {
  double noted = 0;  ///< the time of what was noted
  std::vector<OperationSum> of = std::vector<OperationSum>(operation_kinds().size());
};

class Bench {
 public:
  Bench(const Comm& comm, const Case& c) : comm_(comm), case_(c), problem_(c.problem()) {
    if (problem_.memory == MemoryKind::host) return;
    case_.check_device();
    device_ = current_device();
    m_.device = device_->name();
    // The host does nothing but fill arrays and look at them.
    const int threads = hardware_threads() / comm_.impl().node_ranks();
    pool_ = std::make_unique<ThreadPool>(std::max(1, threads));
  }

  Measured run() {
    Index bytes = problem_.batch * static_cast<Index>(element(true));
    for (Index n : input_shape(problem_)) bytes *= n;
    m_.ceilings = find_ceilings(comm_, {bytes / comm_.size(), device_, case_.options.get("wisdom")});
    const double begin = seconds();
    plan_ = std::make_unique<Plan>(comm_, problem_, case_.options);
    m_.planning_s = slowest(comm_, seconds() - begin);
    allocate();
    tune_online();
    describe_plan();
    check_answer();
    for (const std::string& name : case_.peers) {
      const double start = seconds();
      peers_[name] = make_peer(name, comm_, case_);
      m_.peers_planning_s[name] = slowest(comm_, seconds() - start);
      m_.about_peers[name] = peers_[name]->about();
      if (const std::optional<double> error = peers_[name]->error()) m_.peers_error_l2[name] = *error;
    }
    plan_->record_times(!device_);
    repeat();
    summarise_repetitions();
    return std::move(m_);
  }

 private:
  bool is_real(bool input) const {
    const bool between = problem_.between != Between::none;
    const bool points = between ? problem_.between == Between::modes : input;
    return problem_.element == Element::real && (points || !problem_.transforms.contains(Transform::r2c));
  }
  std::size_t element(bool input) const {
    return (is_real(input) ? 1u : 2u) * (problem_.precision == Precision::float64 ? 8u : 4u);
  }

  void allocate() {
    const std::size_t in = plan_->input_count() * element(true), out = plan_->output_count() * element(false);
    agree(comm_.impl(), "weft-bench", [&] {
      const auto text = [](std::size_t bytes) { return human_bytes(static_cast<double>(bytes)); };
      const std::string beside = " of this rank, beside workspace of " + text(plan_->workspace_bytes());
      if (problem_.in_place) {
        in_ = Array(plan_->buffer_bytes(), device_, "the array" + beside);
      } else {
        in_ = Array(in, device_, "the input" + beside + " and an output of " + text(out));
        out_ = Array(out, device_, "the output" + beside + " and an input of " + text(in));
      }
    });
    if (device_) {
      const DeviceScope scope(*device_);
      stream_ = device_->make_stream();
      plan_->set_stream(static_cast<CUstream_st*>(stream_->native()));
    }
    const double mine = static_cast<double>(in_.size() + out_.size() + plan_->workspace_bytes());
    m_.memory_bytes = slowest(comm_, mine);
    m_.flops = customary_flops(problem_) * (case_.forward() && case_.backward() ? 2 : 1);
  }

  void describe_plan() {
    m_.plan = plan_->to_string();
    m_.transport = transport();
    m_.learnt = PlanImpl::of(*plan_).learnt;
    m_.design = json_of(PlanImpl::of(*plan_).design()).dump();
    const BoundPlan& bound = *PlanImpl::of(*plan_).bound;
    m_.traced = traced_plan(1, title_of(problem_, comm_), bound.design(), bound.device() != nullptr);
    agree(comm_.impl(), "weft-bench", [&] { predict_times(); });
  }

  /// With effort online: the executions that try. What follows is as it is later on in a program.
  void tune_online() {
    OnlineRun& run = m_.online;
    if (case_.options.get("effort") != "online") return;
    const int most = std::stoi(case_.options.get("online"));
    refill();
    comm_.barrier();
    const double begin = seconds();
    while (run.executions < most)
      for (const Direction d : {Direction::forward, Direction::backward}) {
        if (d == Direction::forward ? !case_.forward() : !case_.backward()) continue;
        if (problem_.in_place) renew(1);
        execute(d);
        ++run.executions;
      }
    run.seconds = slowest(comm_, seconds() - begin);
    for (const Direction d : {Direction::forward, Direction::backward})  // in which it settles
      if (d == Direction::forward ? case_.forward() : case_.backward()) execute(d);
    run.tuning = plan_->explain().online;
    std::array<std::vector<double>, 2> first;
    for (const OnlineExecution& e : run.tuning.executions)
      if (e.options == run.tuning.executions.front().options && !e.disturbed)
        first[e.forward ? 0 : 1].push_back(e.seconds);
    for (std::vector<double>& times : first) {
      if (times.empty()) continue;
      const int shares = case_.forward() && case_.backward() ? 2 : 1;
      run.first_plan_s += summarise(times).median * run.executions / shares;
    }
  }

  /// What carries the reshapes of forward, "direct, p2p through pinned memory".
  std::string transport() const {
    const Design& design = PlanImpl::of(*plan_).design();
    const MemoryMap& memory = design.memory;
    std::string names;
    for (const Leg& leg : design.legs_of(Direction::forward)) {
      names += (names.empty() ? "" : ", ") + leg.exchange;
      if (!device_) continue;
      if (std::count(memory.staged.begin(), memory.staged.end(), leg.exchange) > 0)
        names += " through pinned memory";
      if (leg.traits.stores && !memory.far.empty()) names += " (some pairs through pinned memory)";
    }
    return names;
  }

  Array& array(bool input) { return input || problem_.in_place ? in_ : out_; }

  /// Until it is done, on the device too.
  void execute(Direction d) {
    const bool is_forward = d == Direction::forward;
    const void* const from = array(is_forward).data();
    void* const to = array(!is_forward).data();
    if (problem_.between != Between::none) {
      plan_->apply(from, to, repeat_fields, d);
    } else if (is_forward) {
      plan_->forward(from, to);
    } else {
      plan_->backward(from, to);
    }
    if (device_) plan_->wait();
  }

  /// The user's array of a side.
  BoxValues values(bool input) {
    BoxInArray where;
    where.box = input ? plan_->input_box() : plan_->output_box();
    where.strides = input ? plan_->input_strides() : plan_->output_strides();
    where.distance = input ? plan_->input_distance() : plan_->output_distance();
    where.arrays = arrays_of(problem_, input ? Direction::forward : Direction::backward);
    where.is_wide = problem_.precision == Precision::float64;
    where.is_real = is_real(input);
    return {array(input), where, pool_.get()};
  }

  template <class Value>
  void fill(bool input, const Value& value) {
    values(input).fill(value);
    executions_ = 0;
  }

  void check_answer() {
    const KnownAnswer answer(problem_, case_.data == "smooth");
    for (const Direction d : {Direction::forward, Direction::backward}) {
      if (d == Direction::forward ? !case_.forward() : !case_.backward()) continue;
      const bool from_input = d == Direction::forward;
      fill(from_input, [&](const Shape& at, Index item) { return answer.given(d, at, item); });
      execute(d);
      const Index arrays = arrays_of(problem_, d);
      const auto result = [&](const Shape& at, Index item) { return answer.result(d, at, item % arrays); };
      const double wrong = values(!from_input).error(comm_, result);
      if (!(wrong <= m_.error_l2) && !std::isnan(m_.error_l2)) m_.error_l2 = wrong;  // no number stays
    }
    refill();
  }

  /// Numbers of size one.
  void refill() {
    const bool from_input = case_.forward();
    fill(from_input, [](const Shape& at, Index) {
      Index mixed = 0;
      for (Index i : at) mixed = 31 * mixed + i;
      return std::complex<double>(static_cast<double>(mixed % 17) - 8, static_cast<double>(mixed % 13) - 6);
    });
  }

  /// The time of the executions; what is noted of each in between does not count.
  double once(Repetition& r) {
    double total = 0;
    last_.clear();
    for (const Direction d : {Direction::forward, Direction::backward}) {
      if (d == Direction::forward ? !case_.forward() : !case_.backward()) continue;
      const double begin = seconds();
      execute(d);
      const double end = seconds();
      const std::vector<OperationTime> noted = plan_->operation_times();
      // They count from some time after `begin`, when the ranks had agreed to go on, and end now.
      double last = 0;
      for (const OperationTime& t : noted) last = std::max(last, t.end);
      for (OperationTime t : noted) {
        t.begin += end - last;
        t.end += end - last;
        last_.push_back({t, d, d == Direction::backward && case_.forward() ? 1 : 0});
        OperationSum& sum = r.of[number_of(t.kind)];
        sum.seconds += t.end - t.begin;
        sum.bytes_all += static_cast<double>(t.bytes);
        sum.memory_read += static_cast<double>(t.memory_read);
        sum.memory_written += static_cast<double>(t.memory_written);
      }
      total += end - begin;
    }
    return total;
  }

  /// Before so many executions: results that are transformed in place again and again would overflow. Two
  /// transforms of N points make them N times larger, cosines and sines of n points by 2n; with something
  /// between an execution is two transforms. In single precision they may overflow before so many are done;
  /// what is timed is the same.
  void renew(int executions) {
    const double digits = problem_.precision == Precision::float64 ? 300 : 36;
    double points = 1;
    for (Index n : problem_.shape) points *= 2 * static_cast<double>(n);
    const double half = problem_.between == Between::none ? 0.5 : 1;
    if (half * (executions_ + executions + 1) * std::log10(points) > digits) refill();
    executions_ += executions;
  }

  /// An execution of its own: noting times takes time on a device.
  void note(Repetition& r) {
    plan_->record_times(true);
    start_together(comm_);
    r = {};
    r.noted = once(r);
    plan_->record_times(false);
  }

  /// Before a timed one, so that each side finds caches, threads and clock rates as in a loop of its own: for
  /// ten milliseconds.
  static int untimed_runs(double seconds_of_one) {
    return static_cast<int>(std::clamp(0.01 / std::max(seconds_of_one, 1e-9), 1.0, 20.0));
  }

  void repeat() {
    std::map<std::string, std::vector<double>> peer_times;
    const int warm_up = case_.series ? 0 : 3;
    for (int i = 0; i < case_.repeat + warm_up; ++i) {
      const int untimed_ones = case_.series ? 0 : untimed_runs(times_.empty() ? 1 : times_.back());
      if (problem_.in_place) renew(2 * (untimed_ones + 2));
      Repetition untimed, r;
      for (int n = untimed_ones; n > 0; --n) once(untimed);
      start_together(comm_);
      const double began =
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
      r.noted = once(r);
      const double time = slowest(comm_, r.noted);
      if (case_.series) m_.series.push_back({began, time});
      if (device_) note(r);
      if (i >= warm_up) {
        mine_.push_back(r);
        times_.push_back(time);
      }
      for (auto& [name, peer] : peers_) {
        if (problem_.in_place) peer->refill();
        const std::vector<double>& known = peer_times[name];
        for (int n = untimed_runs(known.empty() ? 1 : known.back()); n > 0; --n) peer->run();
        start_together(comm_);
        const double its = slowest(comm_, peer->run());
        peer->rest();
        if (i >= warm_up) peer_times[name].push_back(its);
      }
    }
    for (auto& [name, times] : peer_times) m_.peers[name] = summarise(times);
  }

  void summarise_repetitions() {
    m_.time = summarise(times_);
    // The repetition nearest to the median, as its slowest rank saw it.
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < times_.size(); ++i)
      if (std::abs(times_[i] - m_.time.median) < std::abs(times_[chosen] - m_.time.median)) chosen = i;
    const std::vector<double> totals = all_of(comm_, mine_[chosen].noted);
    const auto rank =
        static_cast<std::size_t>(std::max_element(totals.begin(), totals.end()) - totals.begin());
    m_.median_total_s = totals[rank];
    const std::vector<OperationSum>& mine = mine_[chosen].of;
    const std::vector<std::string>& kinds = operation_kinds();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const OperationSum all{all_of(comm_, mine[k].seconds)[rank], sum(comm_, mine[k].bytes_all),
                             sum(comm_, mine[k].memory_read), sum(comm_, mine[k].memory_written)};
      if (all.seconds > 0 || all.bytes_all > 0) m_.operations[kinds[k]] = all;
      m_.traffic.read += all.memory_read;
      m_.traffic.written += all.memory_written;
    }
    double sent = 0, messages = 0;
    const PlanImpl& plan = PlanImpl::of(*plan_);
    for (const Direction d : {Direction::forward, Direction::backward}) {
      if (d == Direction::forward ? !case_.forward() : !case_.backward()) continue;
      add_bound(m_.traffic, *plan_, d);
      sent += bytes_sent(*plan_, d);
      messages += static_cast<double>(messages_between_machines(plan.design(), d, plan.setting.nodes,
                                                                comm_.rank(), rails_that_gather(plan)));
    }
    m_.messages = sum(comm_, messages);
    // Each local FFT reads and writes its box once; what is sent goes over the wire once.
    const double transformed = mine[number_of("fft")].bytes_all;
    m_.memory_bound_s = 2 * slowest(comm_, transformed) / m_.ceilings.copy_bytes_per_s;
    if (m_.ceilings.send_bytes_per_s > 0)
      m_.wire_bound_s = slowest(comm_, sent) / m_.ceilings.send_bytes_per_s;
    m_.timeline = gather_timeline(comm_, last_);
  }

  void predict_times() {
    if (comm_.rank() != 0) return;
    const std::string file = case_.options.get("machine");
    const PlanImpl& plan = PlanImpl::of(*plan_);
    const std::optional<MachineDescription>& machine = plan.learnt.machine;
    if (case_.explain || machine) m_.explanation = plan_->explain();
    if (!machine) return;
    const PredictionRequest request{*machine, plan.design(), plan.setting, problem_.precision};
    try {
      for (const Direction d : {Direction::forward, Direction::backward})
        if (d == Direction::forward ? case_.forward() : case_.backward())
          m_.predicted.push_back(predict(request, d).prediction);
    } catch (const Error&) {
      m_.predicted.clear();
      if (!file.empty()) throw;  // with a description of wisdom nobody has asked for it
    }
  }

  Comm comm_;
  const Case& case_;
  Problem problem_;
  std::shared_ptr<Device> device_;  ///< null: arrays are on the host
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<Plan> plan_;
  std::map<std::string, std::unique_ptr<Peer>> peers_;
  Array in_, out_;
  int executions_ = 0;  ///< since one of them was filled
  std::vector<Repetition> mine_;
  std::vector<double> times_;          ///< of the slowest rank
  std::vector<TracedOperation> last_;  ///< of the last repetition, by this rank's clock
  Measured m_;
};

}  // namespace

Measured measure(const Comm& comm, const Case& c) {
  return Bench(comm, c).run();
}

}  // namespace weft::bench
