#include "weft/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>

#include "api/gather.hpp"
#include "api/option_table.hpp"
#include "api/problem_check.hpp"
#include "base/environment.hpp"
#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "exec/executor.hpp"
#include "program/builder.hpp"
#include "program/placement.hpp"
#include "schedule/planner.hpp"

namespace weft {

namespace {

std::shared_ptr<std::byte> allocate(Index bytes) {
  if (bytes == 0) return nullptr;
  void* memory = std::aligned_alloc(64, static_cast<std::size_t>(aligned(bytes)));
  if (memory == nullptr)
    throw Error("plan: workspace", "no memory for " + human_bytes(static_cast<double>(bytes)),
                "fewer points per rank, or workspace given by the user");
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

Decomposition decomposition_of(const std::string& name) {
  return name == "slab"     ? Decomposition::slab
         : name == "pencil" ? Decomposition::pencil
                            : Decomposition::automatic;
}

Effort effort_of(const std::string& name) {
  return name == "patient" ? Effort::patient : name == "measure" ? Effort::measure : Effort::estimate;
}

}  // namespace

struct Plan::Impl {
  /// All that belongs to one direction.
  struct Way {
    Schedule schedule;
    std::vector<ReshapeChoice> choices;
    std::vector<std::vector<int>> groups;  ///< per reshape
    std::unique_ptr<Executor> executor;
  };

  Impl(const Comm& communicator, const Problem& given, const Options& opts)
      : comm(communicator), problem(given), options(opts) {
    CommImpl& c = comm.impl();
    c.check_alive("plan");
    try {
      make(c);
    } catch (const Error&) {
      // An agreed failure leaves the team usable; anything else would leave peers waiting.
      if (!agreed) c.poison(std::current_exception());
      throw;
    } catch (...) {
      c.poison(std::current_exception());
      throw;
    }
  }

  template <class Step>
  void together(CommImpl& c, const Step& step) {
    agreed = true;
    agree(c, "plan", step);
    agreed = false;
  }

  void make(CommImpl& c) {
    std::string mine;
    together(c, [&] {
      test_point("plan", c.rank());
      check_environment();
      check_problem(problem, c.size());
      mine = join(describe(problem, options), "\n");
    });
    compare(c, mine);
    const Gathered gathered = gather(c, problem);
    together(c, [&] { prepare(c, gathered); });
    for (Way& way : ways) way.executor->connect();
  }

  void compare(CommImpl& c, const std::string& mine) {
    const std::string first = c.broadcast(mine, 0);
    together(c, [&] {
      for (std::size_t at = 0, other = 0; at < mine.size() || other < first.size();) {
        const std::size_t end = std::min(mine.find('\n', at), mine.size());
        const std::size_t other_end = std::min(first.find('\n', other), first.size());
        const std::string a = mine.substr(at, end - at), b = first.substr(other, other_end - other);
        if (a != b) throw Error("plan", a, b + " as on rank 0: ranks must give the same problem");
        at = std::min(end + 1, mine.size());
        other = std::min(other_end + 1, first.size());
      }
    });
  }

  void prepare(CommImpl& c, const Gathered& gathered) {
    const ScheduleRequest request =
        resolve(problem, gathered, c.size(), decomposition_of(options.get("decomposition")));
    users_workspace = options.get("workspace") == "user";
    // Among threads agreeing costs next to nothing, and a failure on one rank alone would break the others'
    // plans.
    collective_check = options.get("check") == "collective" || c.threads() != nullptr;
    exchange = &find_exchange(options.get("exchange"), c, !users_workspace);
    fft = &find_fft(options.get("fft"));
    const PipelineChoice pipeline = choose_pipeline_option(options, exchange->overlaps(c));
    ways[0].schedule = make_schedule(request);
    ways[1].schedule = inverse(ways[0].schedule);
    const ExecutorSettings settings{problem.precision, effort_of(options.get("effort")), fft};
    const int real_bytes = problem.precision == Precision::float64 ? 8 : 4;
    for (Way& way : ways) {
      way.choices = choose_pipeline(way.schedule, *pipeline.pipeline, pipeline.values);
      for (ReshapeChoice& choice : way.choices) {
        choice.direct = exchange->direct;
        choice.exchange = exchange->name;
      }
      for (int stage : reshape_stages(way.schedule)) {
        const auto s = static_cast<std::size_t>(stage);
        way.groups.push_back(
            exchange_groups(*way.schedule.fields[s].tiling, *way.schedule.fields[s + 1].tiling));
      }
      Program program = build_program(way.schedule, way.choices, {c.rank(), real_bytes, problem.in_place});
      workspace_bytes = std::max(workspace_bytes, program.workspace_bytes);
      largest_box = std::max(largest_box, program.largest_box_bytes);
      way.executor = std::make_unique<Executor>(std::move(program), settings);
    }
    if (!users_workspace) memory = allocate(workspace_bytes);
    for (Way& way : ways) way.executor->make_exchanges(c, *exchange, way.groups, memory);
    describe_sides(c.rank(), real_bytes);
    test_point("prepare", c.rank());
  }

  void describe_sides(int rank, int real_bytes) {
    const auto side = [&](const Field& f) {
      const int element = f.element == Element::real ? real_bytes : 2 * real_bytes;
      return Side{f.box(rank), f.order(rank), f.element,
                  static_cast<std::size_t>(f.box(rank).count() * element)};
    };
    sides = {side(ways[0].schedule.input()), side(ways[0].schedule.output())};
  }

  struct Side {
    Box box;
    Order order;
    Element element = Element::complex;
    std::size_t bytes = 0;
  };

  void check_arrays(Direction direction, const Arrays& a) const;
  void check_alone(Direction direction, const Arrays& arrays) const;
  void check_type(const char* operation, const char* which, Type type, Element element) const;

  Comm comm;
  Problem problem;
  Options options;
  const ExchangeRow* exchange = nullptr;
  const FftRow* fft = nullptr;
  std::array<Side, 2> sides;  ///< before and after forward
  Index workspace_bytes = 0, largest_box = 0;
  std::shared_ptr<std::byte> memory;
  std::array<Way, 2> ways;  ///< by direction
  bool agreed = false;      ///< whether a failure now is known to all ranks
  bool users_workspace = false, collective_check = false;
  bool broken = false;  ///< an execution has failed in the middle
};

namespace {

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  if (a_bytes == 0 || b_bytes == 0) return false;
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

const char* name_of(Direction d) {
  return d == Direction::forward ? "forward" : "backward";
}

}  // namespace

void Plan::Impl::check_type(const char* operation, const char* which, Type type, Element element) const {
  if (type == Type::any) return;
  const bool wide = problem.precision == Precision::float64;
  const char* names[] = {"", "float", "double", "std::complex<float>", "std::complex<double>"};
  const Type wanted = element == Element::real ? (wide ? Type::real64 : Type::real32)
                                               : (wide ? Type::complex64 : Type::complex32);
  if (type != wanted)
    throw Error(std::string(operation) + ": " + which,
                std::string("elements of ") + names[static_cast<int>(type)], names[static_cast<int>(wanted)],
                comm.rank());
}

void Plan::Impl::check_arrays(Direction direction, const Arrays& a) const {
  const char* op = name_of(direction);
  const Side& in = sides[direction == Direction::forward ? 0 : 1];
  const Side& out = sides[direction == Direction::forward ? 1 : 0];
  const int rank = comm.rank();
  if (broken) throw Error(op, "a plan whose earlier execution failed in the middle", "a new plan", rank);
  check_type(op, "in", a.in_type, in.element);
  check_type(op, "out", a.out_type, out.element);
  if (a.in == nullptr && in.bytes > 0)
    throw Error(op, "in is null", "the input box " + weft::to_string(in.box), rank);
  if (a.out == nullptr && out.bytes > 0)
    throw Error(op, "out is null", "the output box " + weft::to_string(out.box), rank);
  if (problem.in_place) {
    if (in.bytes > 0 && out.bytes > 0 && a.in != a.out)
      throw Error(op, "two different arrays", "in == out, as the problem is in place", rank);
  } else if (overlap(a.in, in.bytes, a.out, out.bytes)) {
    throw Error(op, "in and out overlap", "separate arrays, or a problem that is in place", rank);
  }
  const auto needed = static_cast<std::size_t>(workspace_bytes);
  if (!users_workspace) {
    if (a.workspace != nullptr)
      throw Error(op, "workspace for a plan that owns its own", "option workspace=user, or none", rank);
    return;
  }
  if (needed == 0) return;
  if (a.workspace == nullptr || a.workspace_bytes < needed)
    throw Error(op, std::to_string(a.workspace == nullptr ? 0 : a.workspace_bytes) + " bytes of workspace",
                "at least " + std::to_string(needed), rank);
  if (reinterpret_cast<std::uintptr_t>(a.workspace) % 16 != 0)
    throw Error(op, "workspace that is not on a multiple of 16 bytes", "aligned workspace", rank);
  if (overlap(a.workspace, needed, a.in, in.bytes) || overlap(a.workspace, needed, a.out, out.bytes))
    throw Error(op, "workspace that overlaps in or out", "separate memory", rank);
}

void Plan::Impl::check_alone(Direction direction, const Arrays& arrays) const {
  try {
    check_arrays(direction, arrays);
  } catch (const Error& e) {
    if (comm.size() == 1) throw;
    throw Error(e.operation(), e.got(),
                e.expected() +
                    " (nothing has moved; other ranks may wait for this one, use option "
                    "check=collective to let all fail together)",
                e.rank());
  }
}

Plan::Plan(const Comm& comm, const Problem& problem, const Options& options)
    : impl_(std::make_unique<Impl>(comm, problem, options)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

Plan::Impl& Plan::impl() const {
  if (!impl_) throw Error("plan", "a plan that has been moved away", "the one it was moved to");
  return *impl_;
}

void Plan::execute(Direction direction, const Arrays& arrays) {
  Impl& p = impl();
  CommImpl& c = p.comm.impl();
  c.check_alive(name_of(direction));
  if (p.collective_check) {
    agree(c, name_of(direction), [&] { p.check_arrays(direction, arrays); });
  } else {
    p.check_alone(direction, arrays);
  }
  Impl::Way& way = p.ways[static_cast<std::size_t>(direction)];
  std::byte* workspace = p.memory ? p.memory.get() : static_cast<std::byte*>(arrays.workspace);
  try {
    test_workspace(workspace, workspace_bytes());
    // In place one of the two may be null, on a rank that holds nothing on that side.
    const void* in = arrays.in != nullptr || !p.problem.in_place ? arrays.in : arrays.out;
    void* out = arrays.out != nullptr || !p.problem.in_place ? arrays.out : const_cast<void*>(arrays.in);
    way.executor->run(in, out, workspace);
  } catch (...) {
    p.broken = true;
    c.poison(std::current_exception());
    way.executor->cancel();
    c.retain(p.memory);
    throw;
  }
}

const Box& Plan::input_box() const {
  return impl().sides[0].box;
}
const Box& Plan::output_box() const {
  return impl().sides[1].box;
}
const Order& Plan::input_order() const {
  return impl().sides[0].order;
}
const Order& Plan::output_order() const {
  return impl().sides[1].order;
}
std::size_t Plan::input_count() const {
  return static_cast<std::size_t>(input_box().count());
}
std::size_t Plan::output_count() const {
  return static_cast<std::size_t>(output_box().count());
}
std::size_t Plan::buffer_bytes() const {
  return std::max(impl().sides[0].bytes, impl().sides[1].bytes);
}
std::size_t Plan::workspace_bytes() const {
  return static_cast<std::size_t>(impl().workspace_bytes);
}

double Plan::scale_factor() const {
  double factor = 1;
  for (int a = 0; a < impl().problem.shape.size(); ++a)
    if (impl().problem.transforms[a] != Transform::none)
      factor *= static_cast<double>(impl().problem.shape[a]);
  return factor;
}

std::string Plan::program_to_string(Direction direction) const {
  return weft::to_string(impl().ways[static_cast<std::size_t>(direction)].executor->program());
}

std::string Plan::to_string() const {
  const Impl& p = impl();
  std::string text = "weft plan: " + by_x(p.problem.shape) + " " + weft::to_string(p.problem.transforms) +
                     (p.problem.precision == Precision::float64 ? " float64" : " float32") +
                     (p.problem.in_place ? " in place" : "") + " on " + std::to_string(p.comm.size()) +
                     " ranks (" + p.comm.medium() + ")\n";
  text += "decomposition " + p.ways[0].schedule.reason + "\n" + weft::to_string(p.ways[0].schedule);
  for (const Impl::Way& way : p.ways)
    for (std::size_t j = 0; j < way.choices.size(); ++j)
      text += std::string(name_of(way.schedule.direction)) + " reshape " + std::to_string(j + 1) + ": " +
              weft::to_string(way.choices[j]) + "\n";
  text += "local FFT " + std::string(p.fft->name) + ", effort " + p.options.get("effort") + "\n";
  text += "workspace " + human_bytes(static_cast<double>(p.workspace_bytes)) + " on rank " +
          std::to_string(p.comm.rank()) + " (" +
          (p.users_workspace ? "given by the user" : "owned by the plan") + "; largest box of any stage " +
          human_bytes(static_cast<double>(p.largest_box)) + ")\n";
  return text;
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  return out << plan.to_string();
}

}  // namespace weft
