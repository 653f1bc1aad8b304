// Intel MKL as local FFT. A descriptor transforms one to seven axes of any strided box and runs one loop over
// such boxes; Weft runs the remaining loops. The choice of MKL's loop decides the speed. MKL computes on the
// calling thread only, and its process-wide settings are not changed. As MKL documents, results may differ in
// the last bits between arrays at different offsets from multiples of 64 bytes.
#include <array>

#include "fft/local_fft.hpp"
#include "fft/loops.hpp"
#include "fft/mkl/dfti.hpp"
#include "fft/shared_plans.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr const char* planning = "plan: local FFT";

/// A problem as a descriptor and loops around it.
struct Layout {
  std::vector<FftDimension> dimensions;  ///< at least one
  FftDimension batch{1, 0, 0};           ///< the loop that the descriptor runs
  std::vector<FftDimension> loops;       ///< the loops that Weft runs
};

/// The axes without those of length one, which need no transform. The last axis stays, as a real transform
/// halves it.
std::vector<FftDimension> dimensions_of(const FftProblem& p) {
  std::vector<FftDimension> kept;
  for (std::size_t i = 0; i < p.dimensions.size(); ++i) {
    const bool half = p.kind == FftKind::real && i + 1 == p.dimensions.size();
    if (p.dimensions[i].n != 1) {
      kept.push_back(p.dimensions[i]);
    } else if (half || (i + 1 == p.dimensions.size() && kept.empty())) {
      kept.push_back({1, 1, 1});
    }
  }
  if (kept.empty()) kept.push_back({1, 1, 1});
  return kept;
}

/// The loop for MKL: the one over interleaved transforms, as a cache line holds parts of several of them;
/// otherwise the longest one, which saves the most calls.
std::size_t choose_batch(const std::vector<FftDimension>& loops,
                         const std::vector<FftDimension>& dimensions) {
  const auto reach = [](const FftDimension& d) { return d.from_stride + d.to_stride; };
  std::size_t best = 0;
  for (std::size_t i = 1; i < loops.size(); ++i)
    if (loops[i].n > loops[best].n) best = i;
  const FftDimension* innermost = nullptr;
  for (const FftDimension& d : dimensions)
    if (innermost == nullptr || reach(d) < reach(*innermost)) innermost = &d;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (reach(loops[i]) < reach(*innermost) && (reach(loops[i]) < reach(loops[best]))) best = i;
  return best;
}

Layout layout_of(const FftProblem& p) {
  Layout l{dimensions_of(p), {1, 0, 0}, merge_loops(p.loops)};
  if (l.loops.empty()) return l;
  const auto best = l.loops.begin() + static_cast<std::ptrdiff_t>(choose_batch(l.loops, l.dimensions));
  l.batch = *best;
  l.loops.erase(best);
  return l;
}

/// An open descriptor, freed with the object.
class DescriptorHandle {
 public:
  DescriptorHandle(const dfti::Functions& functions, const FftProblem& p, const Layout& l)
      : functions_(functions) {
    std::vector<dfti::Long> lengths;
    for (const FftDimension& d : l.dimensions) lengths.push_back(d.n);
    const int precision = p.precision == Precision::float64 ? dfti::double_precision : dfti::single_precision;
    const int domain = p.kind == FftKind::real ? dfti::real_domain : dfti::complex_domain;
    const auto rank = static_cast<dfti::Long>(lengths.size());
    dfti::check(functions_,
                rank == 1 ? functions_.create(&descriptor_, precision, domain, rank, lengths[0])
                          : functions_.create(&descriptor_, precision, domain, rank, lengths.data()),
                planning);
  }
  DescriptorHandle(const DescriptorHandle&) = delete;
  DescriptorHandle& operator=(const DescriptorHandle&) = delete;
  ~DescriptorHandle() { functions_.free(&descriptor_); }

  template <class Value>
  void set(int parameter, Value value) {
    dfti::check(functions_, functions_.set(descriptor_, parameter, value), planning);
  }
  /// Returns false if this version of MKL does not know the parameter.
  bool try_set(int parameter, dfti::Long* values) {
    return functions_.set(descriptor_, parameter, values) == 0;
  }
  void commit() { dfti::check(functions_, functions_.commit(descriptor_), planning); }
  dfti::Descriptor* get() const { return descriptor_; }

 private:
  const dfti::Functions& functions_;
  dfti::Descriptor* descriptor_ = nullptr;
};

using DftiStrides = std::array<dfti::Long, dfti::max_dimensions + 1>;

DftiStrides strides_of(const Layout& l, Index FftDimension::*stride) {
  DftiStrides s{};  // begins with an offset, which is 0
  for (std::size_t i = 0; i < l.dimensions.size(); ++i) s[i + 1] = l.dimensions[i].*stride;
  return s;
}

class MklPlan final : public LocalFft {
 public:
  explicit MklPlan(const FftProblem& p) : MklPlan(p, layout_of(p)) {}

  void execute(void* from, void* to, std::byte* /*work*/) const override {
    if (count_ > 0)
      for_each_index(loops_, static_cast<std::byte*>(from), static_cast<std::byte*>(to),
                     [this](std::byte* f, std::byte* t) { compute(f, t); });
  }

 private:
  MklPlan(const FftProblem& p, const Layout& l)
      : functions_(dfti::functions()),
        descriptor_(functions_, p, l),
        loops_(l.loops),
        forward_(p.direction == Direction::forward),
        in_place_(p.in_place),
        count_(l.batch.n) {
    for (FftDimension& d : loops_) {
      d.from_stride *= side_read(p).element_bytes;
      d.to_stride *= side_written(p).element_bytes;
    }
    if (p.kind == FftKind::real) descriptor_.set(dfti::conjugate_even_storage, dfti::complex_complex);
    descriptor_.set(dfti::placement, in_place_ ? dfti::inplace : dfti::not_inplace);
    descriptor_.set(dfti::thread_limit, dfti::Long{1});
    descriptor_.set(forward_ ? dfti::forward_scale : dfti::backward_scale, p.scale);
    set_layout(l);
    // Out of place DFTI keeps the input, as DFTI_DESTROY_INPUT is not set.
    descriptor_.commit();
  }

  /// Sets strides by domain, or by input and output in versions of MKL that know only these.
  void set_layout(const Layout& l) {
    DftiStrides from = strides_of(l, &FftDimension::from_stride);
    DftiStrides to = strides_of(l, &FftDimension::to_stride);
    const bool by_domain = descriptor_.try_set(dfti::fwd_strides, forward_ ? from.data() : to.data());
    const auto name = [&](int of_domain, int of_side) { return by_domain ? of_domain : of_side; };
    descriptor_.set(name(forward_ ? dfti::fwd_strides : dfti::bwd_strides, dfti::input_strides), from.data());
    descriptor_.set(name(forward_ ? dfti::bwd_strides : dfti::fwd_strides, dfti::output_strides), to.data());
    if (l.batch.n <= 1) return;
    descriptor_.set(dfti::number_of_transforms, dfti::Long{l.batch.n});
    descriptor_.set(name(forward_ ? dfti::fwd_distance : dfti::bwd_distance, dfti::input_distance),
                    dfti::Long{l.batch.from_stride});
    descriptor_.set(name(forward_ ? dfti::bwd_distance : dfti::fwd_distance, dfti::output_distance),
                    dfti::Long{l.batch.to_stride});
  }

  void compute(std::byte* from, std::byte* to) const {
    const auto transform = forward_ ? functions_.forward : functions_.backward;
    const dfti::Long status =
        in_place_ ? transform(descriptor_.get(), from) : transform(descriptor_.get(), from, to);
    if (status != 0) dfti::check(functions_, status, "execute: local FFT");
  }

  const dfti::Functions& functions_;
  DescriptorHandle descriptor_;
  std::vector<FftDimension> loops_;  ///< strides in bytes
  bool forward_, in_place_;
  Index count_;
};

/// Whether input and output have different orders of axes. MKL 2026 then writes outside its own memory in
/// some backward transforms of prime lengths (101 x 4), so such axes are transformed one after another.
bool transposes(const FftProblem& p) {
  if (p.kind != FftKind::c2c || p.in_place) return false;
  for (const FftDimension& a : p.dimensions)
    for (const FftDimension& b : p.dimensions)
      if (a.n > 1 && b.n > 1 && a.from_stride < b.from_stride && a.to_stride > b.to_stride) return true;
  return false;
}

class OneAfterAnother final : public LocalFft {
 public:
  OneAfterAnother(std::shared_ptr<const LocalFft> first, std::shared_ptr<const LocalFft> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  void execute(void* from, void* to, std::byte* /*work*/) const override {
    first_->execute(from, to, nullptr);
    rest_->execute(to, to, nullptr);
  }

 private:
  std::shared_ptr<const LocalFft> first_, rest_;
};

/// Whether input and output have one layout, as DFTI needs in place: equal strides, or, for real transforms,
/// real lines padded to the length of complex ones.
bool one_layout(const FftProblem& p) {
  const bool real = p.kind == FftKind::real, forward = p.direction == Direction::forward;
  for (const auto* dimensions : {&p.dimensions, &p.loops})
    for (const FftDimension& d : *dimensions) {
      if (d.n <= 1) continue;
      const Index real_side = forward ? d.from_stride : d.to_stride,
                  other = forward ? d.to_stride : d.from_stride;
      const bool half = real && &d == &p.dimensions.back();
      if (half ? real_side != 1 || other != 1 : real_side != (real ? 2 : 1) * other) return false;
    }
  return true;
}

std::string unable(const FftProblem& p) {
  if (p.kind == FftKind::r2r) return "the MKL back end has no DCT or DST";
  if (dimensions_of(p).size() > dfti::max_dimensions)
    return "MKL transforms at most " + std::to_string(dfti::max_dimensions) + " axes at once";
  // MKL 2021 and 2026 give wrong results here, or write outside of the array (c2r, several axes).
  if (p.in_place && p.kind == FftKind::real && p.dimensions.back().n == 1)
    return "MKL cannot do real transforms of one point in place";
  if (p.in_place && !one_layout(p)) return "MKL works in place only if input and output share one layout";
  return "";
}

std::shared_ptr<const LocalFft> plan(const FftProblem& problem) {
  static SharedPlans plans;
  FftProblem p = problem;  // without the members that do not affect MKL's plan
  p.effort = Effort::estimate;
  p.planning_seconds = 0;
  p.aligned = true;
  p.may_destroy_input = false;
  if (!transposes(p)) return plans.get(p, [&] { return std::make_shared<MklPlan>(p); });
  FftProblem first = p, rest = p;
  first.dimensions = {p.dimensions.back()};
  first.loops.insert(first.loops.end(), p.dimensions.begin(), p.dimensions.end() - 1);
  rest.dimensions.pop_back();
  rest.loops.push_back(p.dimensions.back());
  rest.in_place = true;
  rest.scale = 1;
  for (auto* axes : {&rest.dimensions, &rest.loops})
    for (FftDimension& d : *axes) d.from_stride = d.to_stride;
  return std::make_shared<OneAfterAnother>(plan(first), plan(rest));
}

}  // namespace

FftRow mkl_row() {
  return {"mkl", [] { return dfti::missing(); }, unable, plan, [] { return dfti::file(); },
          // Asking MKL for its version would make it load its parts.
          [] {
            const std::string& file = dfti::file();
            return file.substr(file.rfind('/') + 1);
          }};
}

}  // namespace weft
