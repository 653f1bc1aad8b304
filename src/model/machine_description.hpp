// What the model knows of a machine: how fast its memory, local FFTs, codecs and links are, as a value with
// units. It is measured (`weft-bench --measure-machine`) or written down from published figures, kept as JSON
// (machine_json.hpp), and nothing in it is fitted to a transform.
//
// Speeds of memory count bytes read plus bytes written. "Alone" is one rank while the others of its machine
// rest; "together" is each of as many ranks as a machine has cores, all at once.
#pragma once

#include <string>
#include <vector>

#include "model/curve.hpp"
#include "weft/axis_vector.hpp"

namespace weft {

/// How the points of local FFTs lie.
inline constexpr const char *fft_lines = "lines",  ///< those of a line next to each other
    *fft_columns = "columns",                      ///< those of neighbouring lines next to each other
        *fft_planes = "planes";                    ///< both axes of square planes are transformed

/// How long a local FFT of one length takes, in seconds for each complex point. Libraries differ by factors
/// between lengths, so that there is no formula for it.
struct FftSpeed {
  std::string library;
  int real_bytes = 8;
  Index length = 0;
  std::string shape = fft_lines;
  /// Points of a line that are not next to each other lie multiples of 512 bytes apart, and so meet in few
  /// sets of the cache: rows of planes that are not padded, or columns 64 KiB apart.
  bool rows_meet = false;
  double in_cache_s = 0;   ///< of points that are in the cache
  double in_memory_s = 0;  ///< of points that come from memory and go back there
  friend bool operator==(const FftSpeed&, const FftSpeed&) = default;
};

/// What transforms that are not c2c take, over a c2c of as many complex points as they have real numbers.
struct TransformRatios {
  double real = 0.5;         ///< r2c and c2r along lines
  double real_planes = 0.5;  ///< the same of planes, along both axes
  double r2r = 0.7;          ///< DCTs and DSTs
  friend bool operator==(const TransformRatios&, const TransformRatios&) = default;
};

/// Bytes of plain numbers that a core encodes and decodes in a second, in its cache.
struct CodecSpeed {
  std::string codec;  ///< "fp32", "trim"
  int real_bytes = 8;
  double encode_bytes_per_s = 0, decode_bytes_per_s = 0;
  friend bool operator==(const CodecSpeed&, const CodecSpeed&) = default;
};

/// What one rank computes with.
struct ProcessorDescription {
  std::string name;
  int cores = 1;           ///< of a machine
  Index cache_bytes = 0;   ///< of the second-level cache, of one core
  double operation_s = 0;  ///< to begin an operation of a program
  Curve copy_alone;        ///< bytes/s, by the bytes that a rank goes through again and again
  Curve copy_together;     ///< the same
  /// The share of a copy's speed that is left where only so many bytes lie next to each other on both sides;
  /// and where these do not begin on lines of the cache, as rows of half spectra do not.
  Curve share_by_run_in_cache, share_by_run, share_by_run_unaligned;
  std::vector<FftSpeed> ffts;
  TransformRatios ratios;
  std::vector<CodecSpeed> codecs;
  friend bool operator==(const ProcessorDescription&, const ProcessorDescription&) = default;
};

/// Pairs of ranks that parts travel between alike.
struct LinkDescription {
  std::string between;   ///< "node": ranks of one machine; "network": of two
  std::string carries;   ///< "messages"; "stores": into the memory of the other rank
  double latency_s = 0;  ///< from a part's start to its arrival, beside what its bytes take
  double part_s = 0;     ///< that the processor is busy for each part, at either end
  Curve bytes_per_s;     ///< from one rank, by the bytes of a part
  double node_bytes_per_s =
      0;                  ///< of all ranks of a machine, each way; 0: they do not get in each other's way
  Index burst_bytes = 0;  ///< that a link which has rested carries at once
  double busy_share =
      0;  ///< of the time that the bytes take, the share in which the receiver's processor is busy
  double flag_s = 0;  ///< stores: from raising a flag to seeing it
  /// The share of these speeds that is left where the ranks of so many machines exchange at once, as they get
  /// in each other's way between machines; without points all of it.
  Curve share_by_machines = {};
  friend bool operator==(const LinkDescription&, const LinkDescription&) = default;
};

struct MachineDescription {
  std::string name;
  std::string source;  ///< where the figures are from
  ProcessorDescription processor;
  std::vector<LinkDescription> links;
  /// All machines are emulated on the cores of one, which their ranks share.
  bool emulated = false;
  friend bool operator==(const MachineDescription&, const MachineDescription&) = default;
};

/// Throws `weft::Error` that names the field, if one is missing, not positive, not finite or beyond what any
/// machine has.
void check_machine(const MachineDescription& machine);

/// How fast messages of so many bytes leave a rank that shares its machine with `ranks_of_machine` ranks,
/// itself among them, while ranks of `machines` machines exchange.
double bytes_per_s(const LinkDescription& link, double bytes, int ranks_of_machine, int machines);

/// The link of that kind, or null.
const LinkDescription* find_link(const MachineDescription& machine, const std::string& between,
                                 const std::string& carries);

}  // namespace weft
