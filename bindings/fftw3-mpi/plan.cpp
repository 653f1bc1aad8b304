#include "plan.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "communicators.hpp"
#include "serial.hpp"
#include "weft/error.hpp"

namespace weft::fftw3_mpi {

// Its address is the mark. A plan of FFTW begins with a pointer to memory that FFTW allocated, never with
// this.
const char MarkedPlan::mark = 'w';

namespace {

/// Weft's local FFTs are planned for one thread of FFTW's each: threads are Weft's own.
class OneThread {
 public:
  explicit OneThread(Precision precision) : precision_(precision), threads_(planner_threads(precision)) {
    if (threads_ > 1) set_planner_threads(precision_, 1);
  }
  ~OneThread() {
    if (threads_ > 1) set_planner_threads(precision_, threads_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  int wanted() const { return threads_; }

 private:
  Precision precision_;
  int threads_;
};

void say(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
}

/// What ranks have to agree on before Weft plans: whether any has failed, whether the plan is in place, which
/// ranks without points cannot tell, and the direction, which a problem of Weft's does not hold.
struct Agreement {
  int failed;  ///< the first rank that has; the number of ranks if none
  bool in_place, out_of_place, forward, backward;
};

Agreement agree(MPI_Comm communicator, int rank, int ranks, const std::optional<Translation>& t,
                bool has_points, bool same) {
  const auto yes = [](bool is) { return is ? 0 : 1; };
  const bool forward = t && t->direction == Direction::forward;
  std::array<int, 5> mine{t ? ranks : rank, yes(has_points && same), yes(has_points && !same), yes(forward),
                          yes(t && !forward)},
      all{};
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_INT, MPI_MIN, communicator);
  return {all[0], all[1] == 0, all[2] == 0, all[3] == 0, all[4] == 0};
}

}  // namespace

MarkedPlan::MarkedPlan(const Translation& t, const Comm& comm, void* in, void* out)
    : comm_(comm),
      plan_(comm, t.problem, t.options),
      direction_(t.direction),
      in_(in),
      out_(out),
      in_place_(t.problem.in_place || t.relayed),
      reads_(!t.from[static_cast<std::size_t>(comm.rank())].empty()),
      writes_(!t.to[static_cast<std::size_t>(comm.rank())].empty()),
      relayed_(t.relayed),
      flops_(nominal_flops(t, comm.rank())) {
  if (!relayed_) return;
  const bool forward = direction_ == Direction::forward;
  const bool complex =
      t.problem.element == Element::complex || (forward && t.problem.transforms.contains(Transform::r2c));
  const std::size_t real = t.problem.precision == Precision::float64 ? sizeof(double) : sizeof(float);
  relay_ =
      Buffer<std::byte>((forward ? plan_.output_count() : plan_.input_count()) * real * (complex ? 2 : 1));
}

void MarkedPlan::execute(void* in, void* out) noexcept {
  try {
    if (in_place_ && (reads_ || writes_) && in != out)
      throw Error("fftw3-mpi: execute", "two arrays for a plan that is in place", "one array", comm_.rank());
    if (relayed_ && in == out) out = relay_.data();
    if (!in_place_ && !reads_) in = nullptr;
    if (!in_place_ && !writes_) out = nullptr;
    if (in_place_ && !reads_ && !writes_) in = out = nullptr;
    if (direction_ == Direction::forward) {
      plan_.forward(static_cast<const void*>(in), out);
    } else {
      plan_.backward(static_cast<const void*>(in), out);
    }
    if (relayed_ && in != nullptr && relay_.size() > 0) std::memcpy(in, relay_.data(), relay_.size());
  } catch (const std::exception& e) {
    say(e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

std::string MarkedPlan::to_string() const {
  std::string text = plan_.to_string();
  if (relayed_)
    text += "then copied from an array of " + std::to_string(relay_.size()) +
            " bytes of this rank into the user's\n";
  return text;
}

MarkedPlan* MarkedPlan::of(const void* handle) {
  if (handle == nullptr) return nullptr;
  const void* first = nullptr;
  std::memcpy(&first, handle, sizeof first);
  return first == &mark ? static_cast<MarkedPlan*>(const_cast<void*>(handle)) : nullptr;
}

MarkedPlan* make(const Request& request, void* in, void* out, MPI_Comm communicator) noexcept {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  std::string failure;
  try {
    const OneThread serial(request.precision);
    std::optional<Translation> t;
    bool has_points = false;
    try {
      if (const std::string front = library_in_front(request.precision); !front.empty())
        throw Error("fftw3-mpi: plan", "FFTW in front of libweft_fftw3_mpi, or within the program: " + front,
                    "a program linked with -lweft_fftw3_mpi in front of FFTW's shared libraries", rank);
      t = translate(request, in == out, ranks, serial.wanted());
      has_points =
          !t->from[static_cast<std::size_t>(rank)].empty() || !t->to[static_cast<std::size_t>(rank)].empty();
    } catch (const std::exception& e) {
      failure = e.what();
    }
    const Agreement all = agree(communicator, rank, ranks, t, has_points, in == out);
    if (all.failed < ranks) {
      if (all.failed == rank) say(failure);
      return nullptr;
    }
    failure.clear();
    if (all.in_place && all.out_of_place)
      throw Error("fftw3-mpi: plan", "one array on some ranks and two on others", "the same on all ranks");
    if (all.forward && all.backward)
      throw Error("fftw3-mpi: plan", "forward on some ranks and backward on others", "the same on all ranks");
    if (all.in_place != (in == out)) t = translate(request, all.in_place, ranks, serial.wanted());
    return new MarkedPlan(*t, handle_of(communicator), in, out);
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (rank == 0) say(failure);
  return nullptr;
}

}  // namespace weft::fftw3_mpi
