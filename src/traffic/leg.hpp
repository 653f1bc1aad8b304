// How one reshape is carried out, complete: which exchange carries it, how a pipeline cuts it into tiles, and
// why. A value, equal on all ranks; the programs of all ranks follow from it and the schedule.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "codec/codec.hpp"
#include "traffic/traits.hpp"
#include "weft/axis_vector.hpp"

namespace weft {

/// What the sender, or the receiver, does with a tile: the sizes of the sub-tiles that it transforms and
/// copies together while they are in the cache, and how often it calls the exchange meanwhile so that it
/// makes progress.
struct TileSide {
  int cross = -1;       ///< the axis that sub-tiles cut beside the one that tiles cut, or -1
  Index cross_by = 0;   ///< thickness along it; 0: whole
  Index along_by = 0;   ///< thickness along the axis that tiles cut; 0: as the tile
  int fft_tests = -1;   ///< calls into the exchange during the FFT of a tile; -1: after every operation
  int copy_tests = -1;  ///< the same while it is packed or unpacked
  bool cut() const { return cross_by > 0 || along_by > 0; }
  friend bool operator==(const TileSide&, const TileSide&) = default;
};

/// How pipelines *sequential*, *th* and *windowed* cut a reshape: along one axis (`Leg::axis`) of which every
/// sender holds the same range as its receivers, so that one cut serves both sides. Without such an axis
/// there is one tile.
struct Windowed {
  /// An axis around the one that is cut, the batch, each of whose indices has tiles of its own; or -1.
  int item_axis = -1;
  TileSide before, after;
  bool hides_after = true;  ///< whether a received tile is transformed while other tiles are exchanged
  bool in_turn = false;     ///< reshapes land in either half of the workspace in turn
  bool pads_rows = false;   ///< rows of what lands begin on multiples of what GPUs move at a time
  bool in_cells = false;    ///< what lands lies in cells of as much as GPUs move at a time
  friend bool operator==(const Windowed&, const Windowed&) = default;
};

/// How thick tiles are, one after the other: alike, but where they do not come out even the last one is
/// thinner, or the first one; or thicker and thicker, or thinner and thinner. The last three take all ranks
/// to have the same extent along the axis (docs/adr/0071, 0074).
enum class Thickness : std::uint8_t { thin_last, thin_first, growing, shrinking };

/// How pipelines *planes* and *two-front* cut a reshape: into planes of what one side holds. The other side
/// holds columns through these planes, and may divide them into a front and a rest (`TileCut`).
struct Planes {
  Index subtile = 0;        ///< bytes of the parts that pass through the cache one by one
  bool cuts_after = false;  ///< tiles cut what the receiver holds, not what the sender does
  /// Parts that are stored keep their order before the reshape until they are copied to the user's array.
  bool keeps_order = false;
  Thickness thickness = Thickness::thin_last;
  int columns = -1;   ///< the axis along which the other side has a front and a rest, or -1
  Index front = 100;  ///< percent of it
  int rest = 0;       ///< how many of the tiles are of the rest
  friend bool operator==(const Planes&, const Planes&) = default;
};

/// Pipeline *shared* cuts nothing: ranks that reach each other's memory transform one array, which holds what
/// all of them have.
struct Shared {
  friend bool operator==(const Shared&, const Shared&) = default;
};

/// Local FFTs and copies are on one lane, what moves parts between ranks on the other. On a device the two
/// lanes are streams that run side by side; on the host they are one. Operations of one lane run in their
/// order.
enum class Lane : std::uint8_t { compute, transfer };

/// A parameter of the pipeline, and who chose its value: "rule", or what an option's setter calls itself.
struct ChosenParameter {
  std::string name;
  Index value;
  std::string origin;
  Index most;  ///< the largest feasible value, whatever comes after it in the pipeline's table
  friend bool operator==(const ChosenParameter&, const ChosenParameter&) = default;
};

struct Leg {
  std::string exchange, exchange_reason;
  ExchangeTraits traits;             ///< of the exchange
  Codec codec;                       ///< of what is sent
  std::string codec_reason;          ///< empty: nobody asked for a codec
  Lane store_lane = Lane::transfer;  ///< the lane of operations that store parts into other ranks
  std::string pipeline = "sequential", reason;
  std::vector<ChosenParameter> parameters;
  int axis = -1;          ///< the axis that tiles cut, or -1 for one tile
  std::string axis_name;  ///< what printing calls it
  Index tile = 0;         ///< thickness of a tile along `axis`
  int tiles = 1;          ///< on the rank that has most
  int window = 1;         ///< tiles in flight; 0: each is awaited before anything else is done
  std::variant<Windowed, Planes, Shared> cut;
  friend bool operator==(const Leg&, const Leg&) = default;

  const Planes* planes() const { return std::get_if<Planes>(&cut); }
  /// Of a leg of a pipeline that cuts both sides alike.
  const Windowed& windowed() const { return std::get<Windowed>(cut); }
  /// Whether reshapes of a pipeline that cuts both sides alike land in either half in turn.
  bool in_turn() const {
    const auto* const windowed = std::get_if<Windowed>(&cut);
    return windowed != nullptr && windowed->in_turn;
  }
  /// Whether rows of what lands have gaps between them (`Windowed::pads_rows`).
  bool pads_rows() const {
    const auto* const windowed = std::get_if<Windowed>(&cut);
    return windowed != nullptr && windowed->pads_rows;
  }
  /// Whether what lands lies in cells (`Windowed::in_cells`).
  bool in_cells() const {
    const auto* const windowed = std::get_if<Windowed>(&cut);
    return windowed != nullptr && windowed->in_cells;
  }
  bool shares() const { return std::holds_alternative<Shared>(cut); }
  /// The axis each of whose indices has tiles of its own, or -1.
  int item_axis() const {
    const auto* const windowed = std::get_if<Windowed>(&cut);
    return windowed == nullptr ? -1 : windowed->item_axis;
  }
};

/// Whether parts are packed by who has them and unpacked by who wants them. What is stored, or taken from the
/// array itself, is not; but what is stored and coded is.
inline bool packs(const Leg& leg) {
  return leg.traits.stores ? bool(leg.codec) : leg.traits.form != Form::boxes;
}

/// "exchange p2p, pipeline windowed along axis 2: behind both FFTs; tile 16 (rule), window 2 (option)"
std::string to_string(const Leg& leg);

}  // namespace weft
