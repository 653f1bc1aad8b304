// The local FFT: somebody else's library behind one call. A back end is one row of a table; plans are shared
// between all that ask for the same transform, and made under the lock that the library asks for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/effort.hpp"
#include "geometry/transform.hpp"
#include "weft/axis_vector.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft {

struct FftDimension {
  Index n, from_stride, to_stride;
  Transform transform = Transform::c2c;  ///< of an r2r problem: which DCT or DST, computed as it stands
  friend auto operator<=>(const FftDimension&, const FftDimension&) = default;
};

enum class FftKind {
  c2c,
  real,  ///< r2c forward, c2r backward, along the last of `dimensions`; c2c along the others
  r2r,   ///< a DCT or DST of real data along each of `dimensions`
};

/// One local transform, up to where the data lie. Strides are in elements of their side.
struct FftProblem {
  Precision precision = Precision::float64;
  FftKind kind = FftKind::c2c;
  Direction direction = Direction::forward;  ///< without meaning for r2r
  bool in_place = false;
  bool may_destroy_input = true;
  bool aligned = true;  ///< both sides start on multiples of 16 bytes at every execution
  Effort effort = Effort::estimate;
  double planning_seconds = 0;  ///< that the library may spend on measuring; 0: as long as it likes
  double scale = 1;             ///< the result is multiplied by it
  std::vector<FftDimension> dimensions, loops;
  friend auto operator<=>(const FftProblem&, const FftProblem&) = default;
};

/// What lies on one side of a transform.
struct FftSide {
  Index FftDimension::*stride;
  bool complex;         ///< else real numbers
  bool halved;          ///< the last dimension has n / 2 + 1 elements
  Index element_bytes;  ///< that strides count
};
FftSide side_read(const FftProblem& problem);
FftSide side_written(const FftProblem& problem);

/// Why no library can do the DCTs or DSTs of a problem, or nothing.
std::string unable_r2r(const FftProblem& problem);

/// A planned transform; may be executed by several threads at once, on different arrays.
class LocalFft {
 public:
  virtual ~LocalFft() = default;
  virtual void execute(void* from, void* to) const = 0;
};

class Device;
class StreamFft;

/// A library that computes local transforms, of arrays in one kind of memory.
struct FftRow {
  const char* name;
  /// Why the library cannot be used in this process ("libmkl_rt.so.2 was not found ..."), or nothing.
  std::string (*missing)();
  /// Why the library cannot do a problem, or nothing.
  std::string (*unable)(const FftProblem& problem);
  /// Throws `weft::Error` if planning fails. Only for problems that the library can do.
  std::shared_ptr<const LocalFft> (*plan)(const FftProblem& problem);
  /// The file that the library's code was loaded from, for messages and tests.
  std::string (*file)();
  /// The library's version in its own words; of a library that is there.
  std::string (*version)();
  /// What the library has learnt by measuring, in its own words and for all of the process: as text (empty:
  /// nothing), taken from text (false: it is not the library's or damaged, and nothing has changed), and
  /// forgotten. Null for a library that does not measure. Only of a library that is there.
  std::string (*export_wisdom)(Precision precision) = nullptr;
  bool (*import_wisdom)(Precision precision, const std::string& text) = nullptr;
  void (*forget_wisdom)() = nullptr;
  MemoryKind memory = MemoryKind::host;
  /// Of a library for the memory of devices, in the place of `plan`, on a device that the thread has entered.
  std::shared_ptr<StreamFft> (*plan_on)(Device& device, const FftProblem& problem) = nullptr;
};

/// The back ends of this build, the preferred first.
std::span<const FftRow> fft_table();
/// Puts another row in the place of those that serve devices (null: gives them back); for tests.
void replace_device_fft(const FftRow* row);

/// The back ends for this kind of memory to be asked in turn: the named one first, or with "auto" in the
/// order of the table. Throws `weft::Error` for a name that is unknown or cannot serve in this process,
/// listing those that can.
std::vector<const FftRow*> find_ffts(const std::string& name, MemoryKind memory = MemoryKind::host);

/// A transform by the first of `rows` that can do it, and which one that was. Throws `weft::Error` that says
/// why none can.
struct PlannedFft {
  std::shared_ptr<const LocalFft> fft;
  const FftRow* row = nullptr;
};
PlannedFft plan_fft(std::span<const FftRow* const> rows, const FftProblem& problem);

/// The same for memory of a device that the thread has entered.
struct PlannedStreamFft {
  std::shared_ptr<StreamFft> fft;
  const FftRow* row = nullptr;
};
PlannedStreamFft plan_stream_fft(std::span<const FftRow* const> rows, const FftProblem& problem,
                                 Device& device);

/// The same by the fastest of `rows` that can do it, as found by trying each on memory of its own; a problem
/// is tried once in the life of the process, or before, if `import_fft_choices` knows it.
PlannedFft plan_fastest_fft(std::span<const FftRow* const> rows, const FftProblem& problem);

/// Which library was the fastest for each transform that has been tried: a head, a line "  (library
/// #transform)" for each, sorted, and a bracket, as FFTW's own wisdom is laid out, so that wisdom puts texts
/// together in the same way. Empty if nothing has been tried.
std::string export_fft_choices();
/// Takes over what such a text says, also where something else was found here. False if it is something else
/// as a whole; lines of libraries that are not here, and lines that make no sense, are left out.
bool import_fft_choices(const std::string& text);
void forget_fft_choices();

/// From the first to past the last byte that a transform reads, and writes.
std::size_t span_read(const FftProblem& problem);
std::size_t span_written(const FftProblem& problem);

FftRow fftw_row();
FftRow mkl_row();
FftRow cufft_row();

}  // namespace weft
