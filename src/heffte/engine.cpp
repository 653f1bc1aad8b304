#include "weft/heffte_parts/engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <optional>

#include "weft/buffer.hpp"
#include "weft/error.hpp"
#include "weft/mpi.hpp"
#include "weft/plan.hpp"

namespace weft {

namespace {

const char* const operation = "heffte";

/// What every rank tells the others, all of it `long long`.
struct Told {
  long long in_low[3], in_high[3], out_low[3], out_high[3], in_order[3], out_order[3], in_subcomm;
};
constexpr int told_numbers = sizeof(Told) / sizeof(long long);

bool is_empty(const long long* low, const long long* high) {
  return high[0] < low[0] || high[1] < low[1] || high[2] < low[2];
}

long long count(const long long* low, const long long* high) {
  return is_empty(low, high) ? 0 : (high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1);
}

std::string text(const std::array<long long, 3>& n) {
  return std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]);
}

Told told_by(const HeffteRequest& request) {
  Told told{};
  for (int a = 0; a < 3; ++a) {
    told.in_low[a] = request.inbox.low[a];
    told.in_high[a] = request.inbox.high[a];
    told.out_low[a] = request.outbox.low[a];
    told.out_high[a] = request.outbox.high[a];
    told.in_order[a] = request.inbox.order[a];
    told.out_order[a] = request.outbox.order[a];
  }
  told.in_subcomm = request.in_subcomm ? 1 : 0;
  return told;
}

std::vector<Told> told_by_all(MPI_Comm communicator, const Told& mine) {
  int ranks = 0;
  MPI_Comm_size(communicator, &ranks);
  std::vector<Told> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, told_numbers, MPI_LONG_LONG, all.data(), told_numbers, MPI_LONG_LONG, communicator);
  return all;
}

void check_order(const long long* order, const char* side, int rank) {
  const std::array<bool, 3> there = {order[0] == 0 || order[1] == 0 || order[2] == 0,
                                     order[0] == 1 || order[1] == 1 || order[2] == 1,
                                     order[0] == 2 || order[1] == 2 || order[2] == 2};
  if (there[0] && there[1] && there[2]) return;
  throw Error(operation, std::string(side) + " order " + text({order[0], order[1], order[2]}),
              "the axes 0, 1 and 2, each once", rank);
}

/// The lengths of the array that the boxes of all ranks make. Throws unless it begins at 0 and has as many
/// points as the boxes; planning finds out whether they overlap.
std::array<long long, 3> world_of(const std::vector<Told>& all, long long (Told::*low)[3],
                                  long long (Told::*high)[3], const char* side) {
  std::array<long long, 3> lengths = {0, 0, 0};
  long long points = 0;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const long long *first = all[r].*low, *last = all[r].*high;
    if (is_empty(first, last)) continue;
    points += count(first, last);
    for (std::size_t a = 0; a < 3; ++a) {
      if (first[a] < 0)
        throw Error(operation, std::string(side) + " that begins at " + std::to_string(first[a]),
                    "indices that begin at 0", static_cast<int>(r));
      lengths[a] = std::max(lengths[a], last[a] + 1);
    }
  }
  if (points == 0)
    throw Error(operation, std::string(side) + "es without points", "a box with points on some rank");
  if (points != lengths[0] * lengths[1] * lengths[2])
    throw Error(operation, std::string(side) + "es with " + std::to_string(points) + " points in all",
                "boxes that fill " + text(lengths) + " once, with inclusive corners");
  return lengths;
}

Transform of_axis(HeffteTransform t) {
  switch (t) {
    case HeffteTransform::cosine1:
      return Transform::dct1;
    case HeffteTransform::cosine2:
      return Transform::dct2;
    case HeffteTransform::sine1:
      return Transform::dst1;
    case HeffteTransform::sine2:
      return Transform::dst2;
    case HeffteTransform::fourier:
      break;
  }
  return Transform::c2c;
}

Scale of_weft(HeffteScale s) {
  return s == HeffteScale::none ? Scale::none : s == HeffteScale::full ? Scale::full : Scale::symmetric;
}

/// What programs most often ask of the other direction.
Scale counterpart(Scale s) {
  return s == Scale::none ? Scale::full : s == Scale::full ? Scale::none : Scale::symmetric;
}

template <class Real>
void multiply(void* data, std::size_t count, double factor) {
  Real* const numbers = static_cast<Real*>(data);
  for (std::size_t i = 0; i < count; ++i) numbers[i] *= static_cast<Real>(factor);
}

}  // namespace

struct HeffteEngine::Impl {
  /// A plan, and what it was made for.
  struct Made {
    int real_bytes;
    Index batch;
    bool in_place;
    std::array<Scale, 2> scales;  // by direction
    std::array<bool, 2> used{};   // by direction
    std::unique_ptr<Plan> plan{};
  };

  MPI_Comm communicator;
  Comm ranks;
  HeffteRequest request;
  Problem problem;
  Options options;
  std::size_t in_count = 0;  // points of this rank's inbox
  double full_scale = 1;
  bool some_idle = false;  // whether a rank has no points at all
  bool idle = false;       // whether this one has none
  std::vector<Made> made;
  Buffer<std::complex<double>> converted;  // what real numbers become, before Weft transforms them

  Impl(MPI_Comm c, const HeffteRequest& r) : communicator(c), ranks(Comm::mpi(c)), request(r) {
    if (r.r2c_axis < -1 || r.r2c_axis > 2)
      throw Error(operation, "r2c direction " + std::to_string(r.r2c_axis), "0, 1 or 2");
    const std::vector<Told> all = told_by_all(c, told_by(r));
    const std::array<long long, 3> shape = world_of(all, &Told::in_low, &Told::in_high, "inbox");
    std::array<long long, 3> expected = shape;
    if (r.r2c_axis >= 0)
      expected[static_cast<std::size_t>(r.r2c_axis)] = shape[static_cast<std::size_t>(r.r2c_axis)] / 2 + 1;
    const std::array<long long, 3> out_shape = world_of(all, &Told::out_low, &Told::out_high, "outbox");
    if (out_shape != expected)
      throw Error(operation, "outboxes of " + text(out_shape),
                  "boxes of " + text(expected) + ", as the inboxes of " + text(shape) + " need");
    describe(all, shape);
    choose_ranks(all);
    for (const auto& [name, value] : r.options) options.set(name, value);
    if (r.slabs && std::count(shape.begin(), shape.end(), 1) == 0) options.set("decomposition", "slab");
  }

  /// The problem, without what is known only at a call. Axis 2 of heFFTe's, the slowest by default, is the
  /// first axis. Axes of length 1 that nothing happens along are left out.
  void describe(const std::vector<Told>& all, const std::array<long long, 3>& shape) {
    std::vector<int> axes;
    for (int a = 2; a >= 0; --a)
      if (shape[static_cast<std::size_t>(a)] > 1 || request.transform != HeffteTransform::fourier ||
          a == request.r2c_axis)
        axes.push_back(a);
    for (int a = 2; a >= 0 && axes.size() < 2; --a)
      if (std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(a);
    std::array<int, 3> axis_of = {-1, -1, -1};  // of heFFTe's
    double size = 1;
    for (std::size_t i = 0; i < axes.size(); ++i)
      axis_of[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
    for (int a : axes) {
      problem.shape.push_back(shape[static_cast<std::size_t>(a)]);
      problem.transforms.push_back(a == request.r2c_axis ? Transform::r2c : of_axis(request.transform));
    }
    for (std::size_t a = 0; a < 3; ++a) {
      const auto n = static_cast<double>(shape[a]);
      switch (request.transform) {
        case HeffteTransform::fourier:
          size *= n;
          break;
        case HeffteTransform::cosine1:
          if (shape[a] == 1)
            throw Error(operation, "cosines of type I along an axis of one point",
                        "two points or more on every axis");
          size *= 2 * (n - 1);
          break;
        case HeffteTransform::sine1:
          size *= 2 * (n + 1);
          break;
        case HeffteTransform::cosine2:
        case HeffteTransform::sine2:
          size *= 2 * n;
          break;
      }
    }
    full_scale = 1 / (size * request.backward_factor);

    const auto boxes = [&](long long(Told::*low)[3], long long(Told::*high)[3]) {
      std::vector<Box> list;
      for (const Told& t : all) {
        Box box{Shape(problem.shape.size(), 0), Shape(problem.shape.size(), 0)};
        for (std::size_t i = 0; i < axes.size() && !is_empty(t.*low, t.*high); ++i) {
          box.lo[static_cast<int>(i)] = (t.*low)[axes[i]];
          box.hi[static_cast<int>(i)] = (t.*high)[axes[i]] + 1;
        }
        list.push_back(box);
      }
      return list;
    };
    const auto order = [&](const long long* fastest_first) {
      Order o;
      for (int i = 2; i >= 0; --i)
        if (const int axis = axis_of[static_cast<std::size_t>(fastest_first[i])]; axis >= 0)
          o.push_back(axis);
      return o;
    };
    for (std::size_t r = 0; r < all.size(); ++r) {
      check_order(all[r].in_order, "inbox", static_cast<int>(r));
      check_order(all[r].out_order, "outbox", static_cast<int>(r));
      const bool no_points =
          is_empty(all[r].in_low, all[r].in_high) && is_empty(all[r].out_low, all[r].out_high);
      some_idle = some_idle || no_points;
      if (static_cast<int>(r) == ranks.rank()) idle = no_points;
    }
    const Told& mine = all[static_cast<std::size_t>(ranks.rank())];
    problem.input =
        Distribution::boxes(boxes(&Told::in_low, &Told::in_high)).with_order(order(mine.in_order));
    problem.output =
        Distribution::boxes(boxes(&Told::out_low, &Told::out_high)).with_order(order(mine.out_order));
    problem.memory = request.on_gpu ? MemoryKind::cuda : MemoryKind::host;
    in_count = static_cast<std::size_t>(count(mine.in_low, mine.in_high));
  }

  /// Option shrink, which takes the first ranks.
  void choose_ranks(const std::vector<Told>& all) {
    int first = request.first_ranks;
    if (request.has_subcomm) {
      first = 0;
      for (const Told& t : all) first += static_cast<int>(t.in_subcomm);
      for (int r = 0; r < first; ++r)
        if (all[static_cast<std::size_t>(r)].in_subcomm == 0)
          throw Error(operation, "use_subcomm with a communicator that lacks rank " + std::to_string(r),
                      "the first ranks of the communicator, in any number");
    }
    if (first > 0 && first < ranks.size()) options.set("shrink", first);
  }

  /// Whether the call is in place. Ranks that have no points cannot tell by their pointers; if there are any,
  /// all ranks ask each other.
  bool in_place(const HeffteCall& call) const {
    const bool mine = call.in == call.out && !call.real_inbox;
    if (!some_idle) return mine;
    std::array<int, 2> votes = {!idle && mine, !idle && !mine};
    MPI_Allreduce(MPI_IN_PLACE, votes.data(), 2, MPI_INT, MPI_MAX, communicator);
    if (votes[0] != 0 && votes[1] != 0)
      throw Error(operation, "a call that is in place on some ranks only",
                  "the same on all ranks with points");
    return votes[0] != 0;
  }

  /// The plan for a call. One that was made for the other direction only is made again, for the scales of
  /// both.
  Plan& plan_for(const HeffteCall& call) {
    Made wanted{call.real_bytes, call.batch, in_place(call), {}};
    const std::size_t d = call.forward ? 0 : 1, other = 1 - d;
    wanted.scales[d] = of_weft(call.scale);
    wanted.scales[other] = counterpart(wanted.scales[d]);
    const auto alike = [&](const Made& m) {
      return m.real_bytes == wanted.real_bytes && m.batch == wanted.batch && m.in_place == wanted.in_place;
    };
    const auto fits = [&](const Made& m) { return alike(m) && m.scales[d] == wanted.scales[d]; };
    const auto unused = [&](const Made& m) { return alike(m) && !m.used[d]; };
    if (const auto m = std::find_if(made.begin(), made.end(), fits); m != made.end()) {
      m->used[d] = true;
      return *m->plan;
    }
    if (const auto m = std::find_if(made.begin(), made.end(), unused); m != made.end()) {
      wanted.scales[other] = m->scales[other];
      wanted.used[other] = m->used[other];
      if (request.on_gpu) m->plan->wait();
      made.erase(m);  // before the new one takes memory
    }
    wanted.used[d] = true;
    wanted.plan = make(wanted);
    return *made.emplace_back(std::move(wanted)).plan;
  }

  std::unique_ptr<Plan> make(const Made& m) const {
    Problem p = problem;
    p.precision = m.real_bytes == 4 ? Precision::float32 : Precision::float64;
    p.batch = m.batch;
    p.in_place = m.in_place;
    p.forward_scale = m.scales[0];
    p.backward_scale = m.scales[1];
    auto plan = std::make_unique<Plan>(ranks, p, options);
    if (request.on_gpu) plan->set_stream(static_cast<CUstream_st*>(request.stream));
    return plan;
  }

  /// What is left to multiply the result by.
  double rest(const HeffteCall& call) const {
    const double f = request.backward_factor;
    const double scaled = call.scale == HeffteScale::none   ? 1
                          : call.scale == HeffteScale::full ? 1 / f
                                                            : 1 / std::sqrt(f);
    return call.forward ? scaled : f * scaled;
  }

  void execute(const HeffteCall& call) {
    if (call.batch < 1) throw Error(operation, "batch size " + std::to_string(call.batch), "at least 1");
    const double factor = rest(call);
    if (factor != 1 && request.on_gpu)
      throw Error(operation, "a scale of cosine and sine transforms on GPUs that is heFFTe's 8 times Weft's",
                  "scale::none forward and scale::full backward");
    Plan& plan = plan_for(call);
    if (call.real_inbox)
      call.real_bytes == 4 ? execute_real<float>(plan, call) : execute_real<double>(plan, call);
    else
      run(plan, call.forward, call.in, call.out);
    if (factor == 1) return;
    const std::size_t points = call.forward ? plan.output_count() : plan.input_count();
    call.real_bytes == 4 ? multiply<float>(call.out, points, factor)
                         : multiply<double>(call.out, points, factor);
  }

  static void run(Plan& plan, bool forward, const void* in, void* out) {
    forward ? plan.forward(in, out) : plan.backward(in, out);
  }

  /// A c2c transform whose inbox is real.
  template <class Real>
  void execute_real(Plan& plan, const HeffteCall& call) {
    const std::size_t points = in_count * static_cast<std::size_t>(call.batch);
    if (converted.size() < points) converted = Buffer<std::complex<double>>(points);
    auto* const complex = reinterpret_cast<std::complex<Real>*>(converted.data());
    if (call.forward) {
      std::copy_n(static_cast<const Real*>(call.in), points, complex);
      run(plan, true, complex, call.out);
    } else {
      run(plan, false, call.in, complex);
      std::transform(complex, complex + points, static_cast<Real*>(call.out),
                     [](const std::complex<Real>& z) { return z.real(); });
    }
  }
};

HeffteEngine::HeffteEngine(MPI_Comm communicator, const HeffteRequest& request)
    : impl_(new Impl(communicator, request)) {}
HeffteEngine::~HeffteEngine() = default;
HeffteEngine::HeffteEngine(HeffteEngine&&) noexcept = default;
HeffteEngine& HeffteEngine::operator=(HeffteEngine&&) noexcept = default;

void HeffteEngine::execute(const HeffteCall& call) {
  impl_->execute(call);
}

double HeffteEngine::full_scale() const {
  return impl_->full_scale;
}

}  // namespace weft
