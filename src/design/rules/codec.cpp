// Which codec each reshape has (docs/adr/0026-codecs.md).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/text.hpp"
#include "design/rules/rules.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

constexpr const char* operation = "plan: option codec";

/// "4 of 8 bytes, relative error at most 6e-08"
std::string worth(const Codec& codec, int real_bytes) {
  const int bits = codec.row->wire_bits(codec.bits, real_bytes);
  const std::string size = bits % 8 == 0
                               ? std::to_string(bits / 8) + " of " + std::to_string(real_bytes) + " bytes"
                               : std::to_string(bits) + " of " + std::to_string(8 * real_bytes) + " bits";
  return (codec.row->varies ? "at most " : "") + size + ", relative error at most " +
         scientific(relative_error(codec));
}

/// By how much a transform can enlarge a relative error: the largest of its singular values over the
/// smallest.
double enlargement(Transform t) {
  switch (t) {
    case Transform::dct1:
      return 2;
    case Transform::dct2:
    case Transform::dct3:
    case Transform::dst2:
    case Transform::dst3:
      return std::numbers::sqrt2;
    default:
      return 1;
  }
}

/// By how much a relative error can grow that is made in each reshape, up to the output with all modes and
/// points, also those that are left out there.
std::vector<double> enlargements(const Schedule& s, const std::vector<Leg>& legs) {
  const bool forward = s.direction == Direction::forward;
  // Of a half spectrum, what is stored may have half of the energy of the whole, and the error all of its.
  double behind = forward && s.transforms.contains(Transform::r2c) ? std::numbers::sqrt2 : 1;
  // Backward some modes count less than others, as no conjugate or no second mode belongs to them. That
  // enlarges nothing if each number has an error relative to itself, but where neighbours share their errors.
  double spread = 1;
  std::vector<double> all(legs.size());
  std::size_t j = legs.size();
  for (int i = static_cast<int>(s.stages.size()) - 1; i >= 0; --i) {
    const Stage& stage = at(s.stages, i);
    if (stage.kind == Stage::Kind::reshape) {
      --j;
      all[j] = behind * (legs[j].codec && legs[j].codec.row->group > 1 ? spread : 1);
    }
    for (int a : stage.axes) {
      behind *= enlargement(s.transforms[a]);
      if (!forward && a == stage.real_axis) spread *= std::numbers::sqrt2;
      if (adds_modes_up(s, i, a)) (forward ? behind : spread) *= std::numbers::sqrt2;
    }
    // Some modes of a real line are in both halves.
    if (stage.halves == Halves::split) behind *= std::numbers::sqrt2;
  }
  return all;
}

/// The largest singular value of an unscaled transform, squared, over its logical length.
double gain(Transform t, bool forward) {
  switch (t) {
    case Transform::r2c:  // the modes of a half spectrum, and their conjugates
      return forward ? 1 : 2;
    case Transform::dct1:
      return 2;
    case Transform::dct2:
    case Transform::dst2:
      return forward ? 2 : 1;
    case Transform::dct3:
    case Transform::dst3:
      return forward ? 1 : 2;
    default:
      return 1;
  }
}

/// (1 + a)(1 + b) - 1, also of errors that 1 has no digits for.
double combined(double a, double b) {
  return a + b + a * b;
}

/// The relative error of the local FFTs, as the tests of this library bound it.
double rounding(const Given& given) {
  const double epsilon =
      given.real_size() == 8 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return 2 * epsilon * std::sqrt(1 + std::log2(logical_size(given.problem.shape, given.problem.transforms)));
}

/// The shortest codec of which the bound holds on both ways, or none; of equally short ones the most
/// accurate.
Codec shortest_within(double most, const Given& given, const Design& design) {
  const int real = given.real_size();
  std::vector<std::vector<double>> ways;
  for (const Direction d : {Direction::forward, Direction::backward})
    ways.push_back(enlargements(design.schedule(d), design.legs_of(d)));
  const auto error = [&](const Codec& codec) {
    double largest = 0;
    for (const std::vector<double>& growth : ways) {
      double sum = 0;
      for (const double g : growth) sum = combined(sum, g * relative_error(codec));
      largest = std::max(largest, sum);
    }
    return largest;
  };
  Codec best;
  int best_size = 8 * real;
  for (const CodecRow& row : codec_table())
    for (int bits = row.least_bits; bits <= row.most_bits && !row.by_library; ++bits) {
      const Codec codec{&row, bits};
      const int size = row.wire_bits(bits, real);
      if (size == 0 || error(codec) > most) continue;
      if (size < best_size || (size == best_size && best && relative_error(codec) < relative_error(best))) {
        best = codec;
        best_size = size;
      }
    }
  return best;
}

void set(Design& design, std::size_t j, const Codec& codec, const std::string& reason) {
  for (Leg* leg : design.legs_like(static_cast<int>(j))) {
    leg->codec = codec;
    leg->codec_reason = reason;
  }
}

void take_asked(const Given& given, Design& design) {
  const Wish<std::vector<Codec>>& asked = given.wishes.codec;
  const std::size_t reshapes = design.legs[0].size();
  if (asked.value.size() > 1 && asked.value.size() != reshapes)
    throw Error(operation, std::to_string(asked.value.size()) + " codecs",
                "one for all, or one per reshape, of which there are " + std::to_string(reshapes));
  for (const Codec& codec : asked.value) check_codec(codec, given.real_size());
  for (std::size_t j = 0; j < reshapes; ++j) {
    const Codec& codec = asked.value[asked.value.size() == 1 ? 0 : j];
    if (!codec) continue;
    if (given.on_device() && codec.row->by_library)
      throw Error(operation, to_string(codec) + " with arrays in memory of a GPU",
                  "a codec that is no library's of the host: fp32, fp16, bf16 or trim:m");
    const Leg& leg = design.legs[0][j];
    if (!carries_codecs(leg.traits, given.setting))
      throw Error(operation,
                  to_string(codec) + " with exchange " + leg.exchange +
                      (leg.traits.stores ? " among ranks some of which do not reach each other's memory"
                                         : ", which takes what it sends from the array itself"),
                  "exchange auto, or one that carries packed parts");
    if (codec.row->varies && !leg.traits.any_length)
      throw Error(
          operation,
          to_string(codec) + " with exchange " + leg.exchange + ", which sends parts of a fixed length",
          "exchange auto, p2p or copy, or a codec of fixed length such as zfp:R");
    set(design, j, codec, asked.reason() + ": " + worth(codec, given.real_size()));
  }
}

void choose(const Given& given, Design& design) {
  const double tolerance = *given.wishes.tolerance.value, least = rounding(given);
  if (tolerance < least)
    throw Error(
        "plan: option tolerance", scientific(tolerance),
        "at least " + scientific(least) + ", the rounding errors of local FFTs of this size and precision");
  const Codec codec = shortest_within(tolerance - least, given, design);
  for (std::size_t j = 0; j < design.legs[0].size(); ++j) {
    const bool packed = !packs_nothing(design.legs[0][j].traits);
    set(design, j, packed ? codec : Codec(),
        !packed ? "tolerance: exact, as nothing is packed for this exchange"
        : codec ? "tolerance: " + worth(codec, given.real_size())
                : "tolerance: no codec has so small an error");
  }
}

}  // namespace

bool carries_codecs(const ExchangeTraits& traits, const Setting& setting) {
  return traits.stores ? traits.gathers || !setting.some_far() : traits.form != Form::boxes;
}

bool wants_packed(const Wishes& wishes, const Setting& setting) {
  return wishes.any_codec() || (wishes.may_code() && setting.several_nodes() && !setting.devices);
}

void take_codecs(const Given& given, Design& design) {
  if (given.wishes.tolerance.value && given.problem.between != Between::none)
    throw Error("plan: option tolerance", "given with an operator between two transforms",
                "option codec: what an operator makes of an error is not known");
  if (given.wishes.may_code()) return choose(given, design);
  take_asked(given, design);
  if (!given.wishes.tolerance.value) return;
  for (const Schedule& s : design.schedules) {
    const double error = codec_error(design, s.direction) + rounding(given);
    if (error > *given.wishes.tolerance.value)
      throw Error(
          operation, "codecs with an error of up to " + scientific(error),
          "at most the tolerance of " + scientific(*given.wishes.tolerance.value) + ", or no option codec");
  }
}

double codec_error(const Design& design, Direction direction) {
  const std::vector<Leg>& legs = design.legs_of(direction);
  const std::vector<double> growth = enlargements(design.schedule(direction), legs);
  double error = 0;
  for (std::size_t j = 0; j < legs.size(); ++j)
    error = combined(error, growth[j] * relative_error(legs[j].codec));
  return error;
}

bool leaves_out(const Design& design, Direction direction) {
  const Schedule& s = design.schedule(direction);
  bool coded = false;
  for (int i = 0, j = 0; i < static_cast<int>(s.stages.size()); ++i) {
    if (at(s.stages, i).kind == Stage::Kind::reshape)
      coded |= bool(at(design.legs_of(direction), j++).codec);
    else if (coded && leaves_out(s, i))
      return true;
  }
  return false;
}

double codec_error_of_input(const Design& design, Direction direction) {
  const Schedule& s = design.schedule(direction);
  const bool forward = direction == Direction::forward;
  double squares = logical_size(s.lengths, s.transforms);
  for (int i = 0; i < static_cast<int>(s.stages.size()); ++i) {
    const Stage& stage = at(s.stages, i);
    for (const int a : stage.axes)
      squares *= stage.halves == Halves::join
                     ? 1
                     : gain(s.transforms[a], forward) * (forward && adds_modes_up(s, i, a) ? 2 : 1);
    if (stage.halves == Halves::split) squares *= 2;  // of some modes there are two
  }
  double error = 0;
  for (const Leg& leg : design.legs_of(direction)) error = combined(error, relative_error(leg.codec));
  return std::sqrt(squares) * design.scales[static_cast<std::size_t>(direction)] * error;
}

}  // namespace weft
