// What the model knows of a machine: how fast its memory, local FFTs, codecs and links are, as a value with
// units. It is measured (`weft-bench --measure-machine`) or written down from published figures, kept as JSON
// (machine_json.hpp), and nothing in it is fitted to a transform.
//
// Speeds of memory count bytes read plus bytes written. "Alone" is one rank while the others of its machine
// rest; "together" is each of as many ranks as a machine has cores, all at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/curve.hpp"
#include "weft/axis_vector.hpp"

namespace weft {

/// How the points of local FFTs lie: those of a line next to each other, or those of neighbouring lines. On
/// devices also a middle axis: columns in planes that follow each other. Planes are square, and both of their
/// axes are transformed.
inline constexpr const char* fft_lines = "lines";
inline constexpr const char* fft_columns = "columns";
inline constexpr const char* fft_middle = "middle";
inline constexpr const char* fft_planes = "planes";

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
  double call_s = 0;       ///< devices: what a call takes beside, however few its points are
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

/// What computes, a core or a device.
struct ComputeDescription {
  std::string name;
  Index cache_bytes = 0;  ///< of the second-level cache: of one core, of a device
  Curve copy_alone;       ///< bytes/s, by the bytes that a rank goes through again and again
  Curve share_by_run;     ///< the share of a copy's speed that is left where only so many bytes lie next to
                          ///< each other on both sides
  std::vector<FftSpeed> ffts;
  TransformRatios ratios;
  std::vector<CodecSpeed> codecs;
  friend bool operator==(const ComputeDescription&, const ComputeDescription&) = default;
};

/// What one rank on the host computes with.
struct ProcessorDescription : ComputeDescription {
  int cores = 1;           ///< of a machine
  double operation_s = 0;  ///< to begin an operation of a program
  Curve copy_together;     ///< as `copy_alone`
  /// As `share_by_run`, in the cache; and from memory where these do not begin on lines of the cache, as rows
  /// of half spectra do not.
  Curve share_by_run_in_cache, share_by_run_unaligned;
  friend bool operator==(const ProcessorDescription&, const ProcessorDescription&) = default;
};

/// A GPU, and what its host takes to start work on it. Speeds and times of a kernel are those without what
/// the kernel takes at least.
struct DeviceDescription : ComputeDescription {
  // On the device.
  double kernel_s = 0;      ///< that a kernel takes at least in a stream
  double node_s = 0;        ///< the same in a graph
  double event_s = 0;       ///< from the end of work to the start of what waits for it on another stream
  double flag_raise_s = 0;  ///< an operation of a stream that stores flags
  double flag_see_s = 0;    ///< one that waits for flags which are up
  // On the host.
  double launch_kernel_s = 0;  ///< to enqueue a kernel
  double launch_fft_s = 0;     ///< a local FFT along one axis; each axis more is a kernel
  double launch_copy_s = 0;    ///< a copy by an engine
  double launch_event_s = 0;   ///< to record an event, or to let a stream wait for it
  double launch_flags_s = 0;   ///< of flags that are stored or awaited together
  double launch_graph_s = 0;   ///< of a graph, however few its nodes are
  double launch_node_s = 0;    ///< for each of its nodes beside
  double execution_s = 0;      ///< for an execution beside, until its end has been noticed
  friend bool operator==(const DeviceDescription&, const DeviceDescription&) = default;
};

/// What parts travel over: between ranks of one machine, of two machines, between devices that reach each
/// other, between a device and pinned memory of its host.
inline constexpr const char* over_node = "node";
inline constexpr const char* over_network = "network";
inline constexpr const char* over_peer = "peer";
inline constexpr const char* over_host = "host";
/// Who carries them. Stores are into the memory of the other rank, on devices by kernels.
inline constexpr const char* by_messages = "messages";
inline constexpr const char* by_stores = "stores";
inline constexpr const char* by_engines = "engines";

/// What exchanges on rails (`ExchangeTraits::on_rails`) do with so many networks at a time. That may be less
/// than so many times what one of them does, where the cores carry the messages, too.
struct RailsDescription {
  double latency_s = 0, part_s = 0;  ///< as of a link
  double bytes_per_s = 0;            ///< of all ranks of a machine, each way, by all of these networks
  Index burst_bytes = 0;             ///< that these networks, if they have rested, carry at once
  double busy_share = 0;             ///< as of a link
  friend bool operator==(const RailsDescription&, const RailsDescription&) = default;
};

/// Pairs of ranks, or devices and their hosts, that parts travel between alike, each way.
struct LinkDescription {
  std::string between;   ///< "node", "network", "peer" or "host"
  std::string carries;   ///< "messages", "stores" or "engines"
  double latency_s = 0;  ///< from a part's start to its arrival, beside what its bytes take
  double part_s = 0;     ///< that the processor is busy for each part, at either end
  Curve bytes_per_s;     ///< from one rank, by the bytes of a part
  double node_bytes_per_s =
      0;                  ///< of all ranks of a machine, each way; 0: they do not get in each other's way
  Index burst_bytes = 0;  ///< that a link which has rested carries at once
  double busy_share =
      0;  ///< of the time that the bytes take, the share in which the receiver's processor does nothing else
  double flag_s = 0;  ///< stores: from raising a flag to seeing it
  /// The share of these speeds that is left where the ranks of so many machines exchange at once, as they get
  /// in each other's way between machines; without points all of it.
  Curve share_by_machines = {};
  /// Messages between machines: of exchanges on rails, first with one network, then with two, and so on up to
  /// all that a machine has. Empty: one network, as other exchanges find it.
  std::vector<RailsDescription> rails = {};
  friend bool operator==(const LinkDescription&, const LinkDescription&) = default;
};

struct MachineDescription {
  std::string name;
  std::string source;  ///< where the figures are from
  ProcessorDescription processor;
  std::optional<DeviceDescription> device;  ///< of every rank that has arrays in memory of one
  std::vector<LinkDescription> links;
  /// All machines are emulated on the cores of one, which their ranks share.
  bool emulated = false;
  friend bool operator==(const MachineDescription&, const MachineDescription&) = default;
};

/// Throws `weft::Error` that names the field, if one is missing, not positive, not finite or beyond what any
/// machine has.
void check_machine(const MachineDescription& machine);

/// The device. Throws `weft::Error` if none is described.
const DeviceDescription& device_of(const MachineDescription& machine);

/// How fast messages of so many bytes leave a rank that shares its machine with `ranks_of_machine` ranks,
/// itself among them, while ranks of `machines` machines exchange.
double bytes_per_s(const LinkDescription& link, double bytes, int ranks_of_machine, int machines);

/// With how many networks exchanges on rails are predicted that want so many, or 0 for all that there are: no
/// more than are described, and one at least.
int rails_used(const LinkDescription& link, int wanted);

/// The link as exchanges on rails find it. `wanted` as above.
LinkDescription on_rails(const LinkDescription& link, int wanted);

/// The link of that kind, or null.
const LinkDescription* find_link(const MachineDescription& machine, const std::string& between,
                                 const std::string& carries);

}  // namespace weft
