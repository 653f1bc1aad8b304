// MPI datatypes of what counts alone cannot say: more elements than fit an int, and strided boxes. A type is
// nested as often as it takes, so that every count inside it stays below the limit.
#pragma once

#include <mpi.h>

#include "transport/mpi/counts.hpp"

namespace weft {

/// Owns a committed datatype; freed if MPI is still there.
class MpiType {
 public:
  MpiType() = default;
  ~MpiType();
  MpiType(MpiType&& other) noexcept;
  MpiType& operator=(MpiType&& other) noexcept;

  /// `count` elements in a row. Throws `weft::Error` if MPI does not make the type.
  static MpiType row(Index count, int element_bytes);
  /// The points of a strided part, from the start of its space, in its order.
  static MpiType box(const StridedPart& part, int element_bytes);

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// A message as the arguments of a point-to-point call: one element of a large type if it has more elements
/// than MPI can count.
struct MpiPart {
  Index offset = 0;  ///< bytes from the start of the workspace
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// Makes the parts of an exchange, and keeps their types.
class MpiParts {
 public:
  explicit MpiParts(int element_bytes) : element_bytes_(element_bytes) {}
  MpiPart part(const Message& message);
  /// One element of a type that begins at the start of the box's space.
  MpiPart part(const StridedPart& box);

 private:
  int element_bytes_;
  std::vector<MpiType> made_;
};

}  // namespace weft
