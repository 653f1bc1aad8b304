#include "api/plan_impl.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "api/problem_check.hpp"
#include "api/schedule_options.hpp"
#include "api/user_layout.hpp"
#include "base/cache.hpp"
#include "base/environment.hpp"
#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "base/warning.hpp"
#include "comm/shared_memory.hpp"
#include "exec/executor.hpp"
#include "exec/stream_executor.hpp"
#include "program/builder.hpp"
#include "traffic/padding.hpp"

namespace weft {

namespace {

Effort effort_of(const std::string& name) {
  return name == "patient" ? Effort::patient : name == "measure" ? Effort::measure : Effort::estimate;
}

/// Whether nothing that was asked for needs a direct exchange.
bool may_do_without_sharing(const Options& options) {
  const std::vector<std::string> names = split_at_commas(options.get("exchange"));
  return std::all_of(names.begin(), names.end(), [](const std::string& name) { return name == "auto"; });
}

std::string reason_for(const ExchangeRow& row, CommImpl& c) {
  if (row.overlaps(c)) return "it moves on while these ranks compute";
  if (packs_nothing(row.traits)) return "nothing is packed";
  return "it serves these ranks";
}

}  // namespace

PlanImpl::PlanImpl(const Comm& communicator, const Problem& given, const Options& opts, const Learnt* decided)
    : comm(communicator), problem(given), options(opts) {
  const DeviceRange range(("weft plan " + by_x(problem.shape)).c_str());
  CommImpl& c = comm.impl();
  c.check_alive("plan");
  try {
    make(c, decided);
  } catch (const Error&) {
    // An agreed failure leaves the team usable; anything else would leave peers waiting.
    if (!agreed) c.poison(std::current_exception());
    throw;
  } catch (...) {
    c.poison(std::current_exception());
    throw;
  }
}

PlanImpl::~PlanImpl() {
  if (!flying) return;
  const Aftermath error(name_of(*flying), "a plan destroyed while it was under way: " + title(),
                        "wait() before that", comm.rank());
  // Nobody else may have a chance to say so.
  if (comm.impl().threads() == nullptr) std::fprintf(stderr, "%s\n", error.what());
  comm.impl().poison(std::make_exception_ptr(error));
  give_up();
}

void PlanImpl::make(CommImpl& c, const Learnt* decided) {
  std::string mine;
  together(c, [&] {
    test_point("plan", c.rank());
    warn_of_unknown_variables();
    check_problem(problem, c.size());
    if (problem.memory != MemoryKind::host) check_device_options();
    users_workspace = options.get("workspace") == "user";
    mine = join(describe(problem, options), "\n");
  });
  compare(c, mine);
  if (problem.memory != MemoryKind::host) find_device(c);
  const Gathered gathered = gather(c, problem);
  if (decided != nullptr) {
    trial = true;
    together(c, [&] { take_over(*decided); });
    plan_all(c, gathered);
    return;
  }
  agreed = true;
  const Learnt found = learn({comm, problem, options, gathered, exchange_needs(), devices_text()});
  agreed = false;
  make_as_learnt(c, gathered, found);
  agreed = true;
  if (!device) keep_learnt(comm, options, found);
  agreed = false;
}

/// What was found may be impossible by now, and the user has not asked for it.
void PlanImpl::make_as_learnt(CommImpl& c, const Gathered& gathered, const Learnt& found) {
  const Options users = options;
  try {
    together(c, [&] { take_over(found); });
    return plan_all(c, gathered);
  } catch (const Error& e) {
    if (!agreed || found.options.empty()) throw;
    agreed = false;
    if (c.rank() == 0) warn("what " + found.origin + " says of this problem does not work: " + e.what());
  }
  options = users;
  learnt.options.clear();
  learnt.origin.clear();
  learnt.text = found.origin + ": what it says of this problem does not work";
  plan_all(c, gathered);
}

void PlanImpl::take_over(const Learnt& what) {
  learnt = what;
  for (const auto& [name, value] : learnt.options) options.set(name, value);
}

void PlanImpl::plan_all(CommImpl& c, const Gathered& gathered) {
  std::optional<DeviceScope> scope;
  if (device) scope.emplace(*device);
  memory.reset();
  too_large.clear();
  for (bool complete = false; !complete;) {
    together(c, [&] { prepare(c, gathered); });
    complete = make_memory(c);
  }
  agreed = true;
  JointSteps steps("plan");
  for (Way& w : ways) w.executor->connect(steps);
  steps.agree(c);
  agreed = false;
}

void PlanImpl::compare(CommImpl& c, const std::string& mine) {
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

void PlanImpl::prepare(CommImpl& c, const Gathered& gathered) {
  // Perhaps for the second time, see `make_memory`.
  rows.clear();
  alone = false;
  ways = {};
  sides = {};
  workspace_bytes = program_bytes = largest_box = second_workspace = 0;
  // Among threads agreeing costs next to nothing, and a failure on one rank alone would break the others'
  // plans.
  collective_check = options.get("check") == "collective" || c.threads() != nullptr;
  ffts = find_ffts(options.get("fft"), problem.memory);
  if (!device && device_row() != nullptr) device_row()->notice();
  find_exchanges(c);
  make_schedules(c, gathered);
  describe_sides(c.rank());
  choose_exchanges(c);
  choose_graph();
  choose_threads(c);
  for (Way& w : ways) make_way(c, w);
  workspace_bytes = program_bytes;
  Index fft_work = 0;
  for (const Way& w : ways) fft_work = std::max(fft_work, w.executor->fft_work_bytes());
  if (fft_work > 0) workspace_bytes = device_aligned(program_bytes) + device_aligned(fft_work);
  test_point("prepare", c.rank());
}

/// The workspace and the exchanges. False if there is no room for a workspace that ranks share, or that this
/// pipeline needs, and another exchange or pipeline may be taken instead.
bool PlanImpl::make_memory(CommImpl& c) {
  PlanMemory m{.device = device, .fft_work_offset = device_aligned(program_bytes)};
  if (device) {
    find_device_memory(c);
    if (is_too_large(c)) return false;
    m.hands_over = options.get("staging") != "on";
  }
  const bool exchanges = !ways[0].choices.empty();
  const auto stores =
      std::find_if(rows.begin(), rows.end(), [](const auto* row) { return row->traits.stores; });
  if (exchanges && stores != rows.end()) {
    second_workspace = m.second = device ? place_of_second(c) : 0;
    m.reached = share_workspace(c, **stores);
    if (!m.reached) return false;
    memory = {m.reached, m.reached->of(c.rank())};
    if (some_far(c)) m.far = &find_far_exchange(c, device != nullptr);
  }
  agreed = true;
  for (const ExchangeRow* row : rows)
    if (row->prepare != nullptr && exchanges) row->prepare(c, device);
  agreed = false;
  together(c, [&] {
    constexpr const char* operation = "plan: workspace";
    const auto bytes = static_cast<std::size_t>(workspace_bytes);
    if (!memory && !users_workspace)
      memory = device ? device->allocate(bytes, operation) : allocate(bytes, operation);
    m.workspace = memory;
    if (device && exchanges) allocate_pinned(c, m);
    std::size_t first = 0;
    for (Way& w : ways) {
      w.executor->link({c, w.exchanges, w.groups, m, first});
      first += w.choices.size();
    }
  });
  return true;
}

/// What ranks store into. Null if there is no room for it and other exchanges may be taken.
std::shared_ptr<Workspace> PlanImpl::share_workspace(CommImpl& c, const ExchangeRow& row) {
  WorkspaceRequest request{
      c, second_workspace + workspace_bytes, {}, device, device_ids, islands.of, second_workspace > 0};
  for (const Way& w : ways)
    for (const ReshapeProgram& r : w.executor->program().reshapes) request.reshapes.push_back(&r.stored);
  agreed = true;
  std::shared_ptr<Workspace> made;
  try {
    made = row.memory(request);
  } catch (const Error& e) {
    if (device || !may_do_without_sharing(options)) throw;
    no_room = e.got();
    if (c.rank() == 0 && !trial) warn("exchange auto is not direct: " + no_room + "; better " + e.expected());
  }
  agreed = false;
  return made;
}

/// What streams and links bring is on its way for a while, so that both ends of it are hidden; on one machine
/// what is stored is there at once. Windowed needs the least memory. What streams carry by messages needs no
/// packing where tiles are planes, but would where they are columns.
const char* PlanImpl::overlapping_pipeline(CommImpl& c) const {
  if (!too_large.empty()) return "windowed";
  if (carried_on_streams()) return "planes";
  return several_nodes(c) || device ? "two-front" : "planes";
}

bool PlanImpl::carried_on_streams() const {
  const auto on_streams = [](const ExchangeRow* row) { return row->traits.on_streams; };
  return device && !rows.empty() && std::all_of(rows.begin(), rows.end(), on_streams);
}

void PlanImpl::make_schedules(CommImpl& c, const Gathered& gathered) {
  ScheduleRequest request = resolve(problem, gathered, c.size());
  apply_schedule_options(request, options);
  request.contiguous = contiguous;
  request.shared_axes_first = !device;
  ways[0].schedule = make_schedule(request);
  ways[1].schedule = inverse(ways[0].schedule);
}

/// With layout auto, an exchange that packs nothing gets long runs of memory to work on, and any other one
/// lines that are contiguous once they have been unpacked; but GPUs transform strided lines as fast, or
/// copy them aside in less time than a reshape takes for it.
void PlanImpl::find_exchanges(CommImpl& c) {
  bool strided = true;
  for (const std::string& name : split_at_commas(options.get("exchange"))) {
    // What a pipeline puts together by itself would be packed again.
    const bool by_parts = name == "auto" && several_nodes(c) && !device &&
                          choose_pipeline_option(options, overlapping_pipeline(c)).pipeline->sends_parts;
    const ExchangeRow& row =
        by_parts ? find_exchange_of_parts(c, exchange_needs()) : find_exchange(name, c, exchange_needs());
    const auto other = std::find_if(rows.begin(), rows.end(), [&](const ExchangeRow* r) {
      return r != &row && r->traits.stores && row.traits.stores;
    });
    if (other != rows.end())
      throw Error("plan: option exchange", std::string(row.name) + " beside " + (*other)->name,
                  "one exchange that stores into the workspace of a plan");
    rows.push_back(&row);
    strided = strided && packs_nothing(row.traits);
    alone = alone || !row.traits.concurrent;
  }
  const std::string layout = options.get("layout");
  contiguous = layout == "contiguous" || (layout == "auto" && !strided && !device);
}

/// One name serves all reshapes; several are meant one by one, in the order of forward.
void PlanImpl::choose_exchanges(CommImpl& c) {
  const std::vector<std::string> names = split_at_commas(options.get("exchange"));
  const std::size_t reshapes = reshape_stages(ways[0].schedule).size();
  if (names.size() > 1 && names.size() != reshapes)
    throw Error("plan: option exchange", std::to_string(names.size()) + " exchanges",
                "one for all, or one per reshape, of which there are " + std::to_string(reshapes));
  const auto does_not_block = [&](const ExchangeRow* row) {
    return row->traits.concurrent || row->overlaps(c);
  };
  const auto direct = [](const ExchangeRow* row) { return row->traits.stores; };
  const bool all_direct = std::all_of(rows.begin(), rows.end(), direct);
  const bool overlaps = several_nodes(c) ? std::all_of(rows.begin(), rows.end(), does_not_block)
                                         : all_direct || carried_on_streams();
  check_puts();
  const PipelineRules rules = pipeline_rules();
  PipelineChoice pipeline = choose_pipeline_option(
      options, overlaps && (!device || is_worth_tiles(rules)) ? overlapping_pipeline(c) : "sequential");
  for (auto& [name, asked] : pipeline.values)
    if (learnt.options.contains(name)) asked.origin = learnt.origin;
  for (Way& w : ways) {
    w.choices = choose_pipeline(w.schedule, *pipeline.pipeline, pipeline.values, rules);
    if (!too_large.empty())
      for (Leg& choice : w.choices) choice.reason += "; " + too_large;
    w.exchanges.assign(reshapes, rows.front());
    if (names.size() > 1) w.exchanges = rows;
    if (w.schedule.direction == Direction::backward) std::reverse(w.exchanges.begin(), w.exchanges.end());
    for (std::size_t j = 0; j < reshapes; ++j) {
      w.choices[j].traits = w.exchanges[j]->traits;
      w.choices[j].exchange = w.exchanges[j]->name;
      const std::size_t asked = names.size() == 1                            ? 0
                                : w.schedule.direction == Direction::forward ? j
                                                                             : reshapes - 1 - j;
      w.choices[j].exchange_reason = names[asked] == "auto" ? "auto: " + reason_for(*rows[asked], c)
                                     : learnt.options.contains("exchange") ? learnt.origin
                                                                           : "as asked for";
      if (!no_room.empty()) w.choices[j].exchange_reason += "; not direct: " + no_room;
      if (!no_peers.empty() && names[asked] == "auto" && !direct(w.exchanges[j]))
        w.choices[j].exchange_reason += "; not direct: " + no_peers;
      if (device && stages(*w.exchanges[j]))
        w.choices[j].exchange_reason += goes_through_host(*w.exchanges[j], c)
                                            ? "; through pinned memory"
                                            : "; MPI takes memory of the GPU";
      if (direct(w.exchanges[j]) && some_far(c)) w.choices[j].exchange_reason += "; " + far_text(c);
      if (!device || !direct(w.exchanges[j]) || !stores(w, j)) continue;
      w.choices[j].store_lane = Lane::compute;
      w.choices[j].exchange_reason += "; puts are kernels";
    }
  }
}

/// How a direct exchange serves the pairs of ranks that it leaves out.
std::string PlanImpl::far_text(CommImpl& c) const {
  const std::string name = find_far_exchange(c, device != nullptr).name;
  if (!device) return name + " between machines";
  return "through pinned memory (" + name + ") between " + islands.to_string() + ": " + no_peers;
}

PipelineRules PlanImpl::pipeline_rules() const {
  PipelineRules rules;
  rules.subtile = learnt.constants.subtile;
  rules.overlap = options.get("overlap") == "on";
  rules.tile_cost = device ? tile_cost() : 0;
  rules.real_bytes = real_size();
  return rules;
}

/// Whether there are several tiles by rule, so that one can travel while another is transformed, or tiles
/// were asked for.
bool PlanImpl::is_worth_tiles(const PipelineRules& rules) const {
  if (!options.get("tile").empty()) return true;
  const std::vector<Leg> choices = choose_pipeline(ways[0].schedule, find_pipeline("planes"), {}, rules);
  return std::any_of(choices.begin(), choices.end(), [](const Leg& c) { return c.tiles > 1; });
}

void PlanImpl::choose_threads(CommImpl& c) {
  const Index threads = options.number("threads").value_or(1);
  if (threads < 1 || threads > 1024)
    throw Error("plan: option threads", std::to_string(threads), "1 to 1024 threads per rank");
  if (threads == 1) return;
  pool = c.pool(static_cast<int>(threads));
  threads_text = "threads " + std::to_string(threads) + " per rank";
  const Index wanted = threads * c.node_ranks();
  if (wanted <= hardware_threads()) return;
  const std::string crowd = std::to_string(c.node_ranks()) + " ranks of " + std::to_string(threads) +
                            " threads on a machine that has " + std::to_string(hardware_threads());
  threads_text += ", over-subscribed: " + crowd;
  if (c.rank() == 0 && !trial) warn("over-subscribed: " + crowd);
}

void PlanImpl::make_way(CommImpl& c, Way& w) {
  const Placement place(w.schedule, w.choices, real_size());
  const std::vector<int> stages = reshape_stages(w.schedule);
  for (std::size_t j = 0; j < stages.size(); ++j) {
    const auto s = static_cast<std::size_t>(stages[j]);
    w.groups.push_back(exchange_groups(*w.schedule.fields[s].tiling, *w.schedule.fields[s + 1].tiling));
    if (w.choices[j].traits.form != Form::padded) continue;
    const std::string misfit = padding_misfit(place, static_cast<int>(j), w.groups.back());
    if (!misfit.empty())
      throw Error("plan: option exchange",
                  w.choices[j].exchange + " for reshape " + std::to_string(j + 1) + " of " +
                      name_of(w.schedule.direction) + ": padding does not fit the workspace, " + misfit,
                  "one of " + serving_exchanges(c, exchange_needs(), false));
  }
  const bool fwd = w.schedule.direction == Direction::forward;
  w.name = std::string("weft ") + name_of(w.schedule.direction) + " " + by_x(problem.shape);
  ProgramRequest request{c.rank(), real_size(), problem.in_place, {}, {}, scale(w.schedule.direction)};
  if (some_far(c)) request.nodes = near_groups(c);
  request.two_lanes = device != nullptr;
  request.cache_bytes = second_cache_bytes();
  request.subtile = learnt.constants.subtile;
  request.store_past_from = learnt.constants.store_past_from;
  request.two_passes_from =
      device ? std::numeric_limits<double>::infinity() : learnt.constants.two_passes_from;
  if (const std::string kib = options.get("subtile"); !kib.empty())
    request.subtile = std::clamp<Index>(std::stoll(kib), 1, 1 << 20) * 1024;
  request.input = sides[fwd ? 0 : 1].layout;
  request.output = sides[fwd ? 1 : 0].layout;
  Program program = build_program(w.schedule, w.choices, request);
  program_bytes = std::max(program_bytes, program.workspace_bytes);
  largest_box = std::max(largest_box, program.largest_box_bytes);
  const Effort effort = effort_of(options.get("effort"));
  const bool compare = options.get("fft") == "auto" && effort != Effort::estimate;
  // There are some hundred at most: tiles of other sizes in every trial.
  const double each = effort == Effort::estimate ? 0 : std::max(trial_seconds(options) / 100, 1e-3);
  const ExecutorSettings settings{problem.precision, effort, each,   ffts,
                                  compare,           pool,   device, plain_executions};
  if (device) {
    w.executor = std::make_shared<StreamExecutor>(std::move(program), settings);
  } else {
    w.executor = std::make_shared<Executor>(std::move(program), settings);
  }
}

double PlanImpl::scale(Direction d) const {
  const double size = logical_size(problem.shape, problem.transforms);
  const Scale s = d == Direction::forward ? problem.forward_scale : problem.backward_scale;
  return s == Scale::none ? 1 : s == Scale::full ? 1 / size : 1 / std::sqrt(size);
}

void PlanImpl::describe_sides(int rank) {
  for (const bool is_input : {true, false}) {
    const Field& f = is_input ? ways[0].schedule.input() : ways[0].schedule.output();
    Side& s = sides[is_input ? 0 : 1];
    const Box box = f.box(rank);
    s.element = f.element;
    const int ndim = problem.shape.size();
    s.box = {Shape::from(box.lo.begin(), box.lo.begin() + ndim),
             Shape::from(box.hi.begin(), box.hi.begin() + ndim)};
    for (int a : f.order(rank))
      if (a < ndim) s.order.push_back(a);
    s.layout = user_layout(problem, is_input, s.box, s.order);
    s.item_strides = Strides::from(s.layout.strides.begin(), s.layout.strides.begin() + ndim);
    s.distance = problem.batch > 1 ? s.layout.strides.back() : s.layout.count;
    const int element = f.element == Element::real ? real_size() : 2 * real_size();
    s.bytes = static_cast<std::size_t>(s.layout.count) * static_cast<std::size_t>(element);
  }
  check_in_place(problem, sides[0].box, sides[0].layout, sides[1].box, sides[1].layout);
}

}  // namespace weft
