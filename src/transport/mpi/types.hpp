// MPI datatypes of what counts alone cannot say: more elements than fit an int, and strided boxes. A type is
// nested as often as it takes, so that every count inside it stays below the limit.
#pragma once

#include <mpi.h>

#include "transport/mpi/counts.hpp"

namespace weft {

/// A message as the arguments of a point-to-point call: one element of a large type if it has more elements
/// than MPI can count.
struct MpiPart {
  Index offset = 0;  ///< bytes from the start of the workspace
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// Makes the parts of an exchange. Owns their datatypes, which are freed if MPI is still there.
class MpiParts {
 public:
  explicit MpiParts(int element_bytes) : element_bytes_(element_bytes) {}
  ~MpiParts();
  MpiParts(const MpiParts&) = delete;
  MpiParts& operator=(const MpiParts&) = delete;

  /// Throws `weft::Error`, as does the other, if MPI does not make a type.
  MpiPart part(const Message& message);
  /// One element of a type: the points of a strided part in its order, from the start of its space.
  MpiPart part(const StridedPart& box);

 private:
  int element_bytes_;
  std::vector<MPI_Datatype> made_;
};

}  // namespace weft
