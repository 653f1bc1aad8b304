// What stands behind <weft/heffte.h> and <weft/heffte_c.h>: one object of heFFTe's, made of Weft's plans.
// heFFTe chooses precision, batch, scale and in or out of place at every call, Weft while it plans, so that
// the engine keeps a plan for each combination that was called. Programs use heffte.h. This header needs no
// more than C++11.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../export.hpp"

namespace weft {

/// A box in heFFTe's terms: first and last index of each axis, and the axes from fastest to slowest in
/// memory. It is empty if a last index lies below the first one.
struct HeffteBox {
  long long low[3], high[3];
  int order[3];
};

/// What forward does along all axes; backward is its inverse but for the scale. fourier is c2c, or r2c along
/// one axis; the others are `Transform::dct1`, dct2, dst1 and dst2 of real data.
enum class HeffteTransform { fourier, cosine1, cosine2, sine1, sine2 };

/// The factor of a result: 1, the full scale s, or its square root, where s is `HeffteEngine::full_scale`.
enum class HeffteScale { none, full, symmetric };

/// What heFFTe's constructors are told.
struct HeffteRequest {
  /// Boxes of the calling rank before and after forward.
  HeffteBox inbox, outbox;
  HeffteTransform transform;
  /// The axis that r2c halves, or -1.
  int r2c_axis;
  /// What backward multiplies by beyond `Plan::scale_factor`: heFFTe's own cosine transforms have 8.
  double backward_factor;
  /// Whether arrays are in memory of the current GPU, and the stream for executions, which may be null.
  bool on_gpu;
  void* stream;
  /// Whether arrays of three axes are to be cut into slabs.
  bool slabs;
  /// Only the first so many ranks transform; not positive: all ranks.
  int first_ranks;
  /// Or only the ranks of a communicator, of which the calling rank may be one.
  bool has_subcomm, in_subcomm;
  /// Options of Weft's plans.
  std::vector<std::pair<std::string, std::string>> options;
};

/// What heFFTe's forward and backward are told.
struct HeffteCall {
  bool forward;
  /// 4 or 8: bytes of a real number.
  int real_bytes;
  /// For c2c: whether the array of the inbox is real, which is converted to or from complex numbers.
  bool real_inbox;
  long long batch;
  HeffteScale scale;
  const void* in;
  void* out;
};

/// A transform. Throws `weft::Error`.
class WEFT_API HeffteEngine {
 public:
  /// Collective over `communicator`, which must live as long as the engine. Checks the boxes of all ranks:
  /// every rank throws if those of any rank are wrong.
  HeffteEngine(MPI_Comm communicator, const HeffteRequest& request);
  ~HeffteEngine();
  HeffteEngine(HeffteEngine&&) noexcept;
  HeffteEngine& operator=(HeffteEngine&&) noexcept;

  /// Collective; all ranks give the same but for the pointers, and all are in place (both pointers equal) or
  /// none is. The first call of a kind makes its plan. Later ones allocate nothing.
  void execute(const HeffteCall& call);

  /// One over the number that forward followed by backward multiplies by. Local.
  double full_scale() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft
