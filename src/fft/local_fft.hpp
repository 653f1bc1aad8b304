// The local FFT: libraries such as FFTW behind one interface. Each library is one row of a table. Equal
// transforms share a plan, and plans are made under the lock that the library needs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/effort.hpp"
#include "geometry/transform.hpp"
#include "kernels/lines/step.hpp"
#include "weft/axis_vector.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft {

struct FftDimension {
  Index n, from_stride, to_stride;
  Transform transform = Transform::c2c;  ///< of an r2r problem: which DCT or DST, computed as it stands
  Index diverted_stride = 0;             ///< of modes that are stored elsewhere (`FftProblem::diverted`)
  bool diverted = false;                 ///< the axis of which some modes are
  friend auto operator<=>(const FftDimension&, const FftDimension&) = default;
};

/// Cells in which modes are stored elsewhere (traffic/messages.hpp): of modes along the dimension whose
/// `diverted_stride` is 1, and along the one that is diverted, whose stride is that within a cell.
struct DivertedCells {
  Index points = 0, rows = 0;
  Index next_points = 0, next_rows = 0;
  explicit operator bool() const { return points > 0; }
  friend auto operator<=>(const DivertedCells&, const DivertedCells&) = default;
};

enum class FftKind {
  c2c,
  real,  ///< r2c forward, c2r backward, along the last of `dimensions`; c2c along the others
  r2r,   ///< a DCT or DST of real data along each of `dimensions`
};

/// One local transform, except for the addresses of the data. Strides are in elements of their side.
struct FftProblem {
  Precision precision = Precision::float64;
  FftKind kind = FftKind::c2c;
  Direction direction = Direction::forward;  ///< without meaning for r2r
  bool in_place = false;
  bool may_destroy_input = true;
  bool aligned = true;  ///< both sides start on multiples of 16 bytes at every execution
  Effort effort = Effort::estimate;
  double planning_seconds = 0;  ///< the most that the library may spend on measuring; 0: no limit
  double scale = 1;             ///< factor of the result
  std::vector<FftDimension> dimensions, loops;
  /// On devices: modes along one of the dimensions, of all lines, that are best stored elsewhere at once
  /// (`StreamFft::diverts`).
  DivertedModes diverted = {};
  bool puts = false;  ///< some of these are stored in memory of peers
  DivertedCells cells = {};
  friend auto operator<=>(const FftProblem&, const FftProblem&) = default;
};

/// The elements on one side of a transform.
struct FftSide {
  Index FftDimension::*stride;
  bool complex;         ///< else real numbers
  bool halved;          ///< the last dimension has n / 2 + 1 elements
  Index element_bytes;  ///< the unit of strides
};
FftSide side_read(const FftProblem& problem);
FftSide side_written(const FftProblem& problem);
/// All elements of a side: the loops, then the dimensions with their lengths there.
std::vector<FftDimension> box_of(const FftProblem& problem, const FftSide& side);

/// Why no library can do the DCTs or DSTs of a problem; empty if libraries may be able to.
std::string unable_r2r(const FftProblem& problem);

/// A planned transform. Several threads may execute it at once on different arrays.
class LocalFft {
 public:
  virtual ~LocalFft() = default;
  /// Bytes of work memory for each execution, on a multiple of 64 bytes.
  virtual Index work_bytes() const { return 0; }
  virtual void execute(void* from, void* to, std::byte* work) const = 0;
};

class Device;
class StreamFft;

/// A library that computes local transforms, of arrays in one kind of memory.
struct FftRow {
  const char* name;
  /// Why the library cannot be used in this process ("libmkl_rt.so.2 was not found ..."); empty if it can.
  std::string (*missing)();
  /// Why the library cannot do a problem; empty if it can.
  std::string (*unable)(const FftProblem& problem);
  /// Throws `weft::Error` if planning fails. Only for problems that the library can do.
  std::shared_ptr<const LocalFft> (*plan)(const FftProblem& problem);
  /// The file that the library's code was loaded from, for messages and tests.
  std::string (*file)();
  /// The library's name and version in its own words. Only if `missing` is empty.
  std::string (*version)();
  /// Export, import and deletion of what the library has learnt by measuring, for the whole process, as text
  /// of its own format. An empty text: nothing. Import returns false, and changes nothing, if the text is
  /// damaged or not this library's. Null for a library that does not measure. Only if `missing` is empty.
  std::string (*export_wisdom)(Precision precision) = nullptr;
  bool (*import_wisdom)(Precision precision, const std::string& text) = nullptr;
  void (*forget_wisdom)() = nullptr;
  MemoryKind memory = MemoryKind::host;
  /// Replaces `plan` in libraries for device memory. The thread has entered the device.
  std::shared_ptr<StreamFft> (*plan_on)(Device& device, const FftProblem& problem) = nullptr;
  /// Of lines of n points without trials: whether they take longer in place than from one memory to another,
  /// and whether they take longer where they are written as rows than side by side. Null: neither does.
  bool (*slow_in_place)(Index n) = nullptr;
  bool (*slow_in_rows)(Index n) = nullptr;
};

/// The libraries of this build, the preferred ones first.
std::span<const FftRow> fft_table();
/// Replaces the rows for device memory; null restores them. For tests.
void replace_device_fft(const FftRow* row);

/// The libraries for this kind of memory, in the order in which they are asked: the named one first, or with
/// "auto" the order of the table. Throws `weft::Error` for a library that is unknown or cannot be used in
/// this process, and lists those that can.
std::vector<const FftRow*> find_ffts(const std::string& name, MemoryKind memory = MemoryKind::host);

/// Plans a transform by the first of `rows` that can do it, and returns that row as well. Throws
/// `weft::Error` with the reasons if none can.
struct PlannedFft {
  std::shared_ptr<const LocalFft> fft;
  const FftRow* row = nullptr;
};
PlannedFft plan_fft(std::span<const FftRow* const> rows, const FftProblem& problem);

/// The same for memory of a device, which the thread has entered.
struct PlannedStreamFft {
  std::shared_ptr<StreamFft> fft;
  const FftRow* row = nullptr;
};
PlannedStreamFft plan_stream_fft(std::span<const FftRow* const> rows, const FftProblem& problem,
                                 Device& device);

/// The same by the fastest of `rows`, which is found by timing each on memory allocated for it. A problem is
/// timed once in the life of the process, and not at all if `import_fft_choices` has read its choice.
PlannedFft plan_fastest_fft(std::span<const FftRow* const> rows, const FftProblem& problem);

/// The fastest library for each transform that has been timed: a head, a line " (library #transform)" for
/// each, sorted, and a bracket. FFTW's wisdom has the same layout, so that both are merged by the same code.
/// Empty if nothing has been timed.
std::string export_fft_choices();
/// Takes over the choices of such a text, which replace those of this process. Skips lines of missing
/// libraries and invalid lines. False if the text has another format.
bool import_fft_choices(const std::string& text);
void forget_fft_choices();

/// Bytes from the first to the last byte, both included, that a transform reads, and that it writes.
std::size_t span_read(const FftProblem& problem);
std::size_t span_written(const FftProblem& problem);

FftRow fftw_row();
FftRow mkl_row();
FftRow gpu_fft_row();

}  // namespace weft
