#include "transport/mpi/types.hpp"

#include <algorithm>
#include <limits>

#include "comm/mpi_world.hpp"

namespace weft {

std::atomic<Index> detail::mpi_count_limit{std::numeric_limits<int>::max()};
std::atomic<Index> detail::mpi_bytes_at_once{60 * 1024};

MPI_Datatype mpi_datatype(int element_bytes) {
  switch (element_bytes) {
    case 16:
      return MPI_C_DOUBLE_COMPLEX;
    case 8:
      return MPI_DOUBLE;
    case 4:
      return MPI_FLOAT;
    default:
      throw Error("plan: exchange", "elements of " + std::to_string(element_bytes) + " bytes", "4, 8 or 16");
  }
}

int mpi_count(Index bytes, int element_bytes) {
  const Index count = bytes / element_bytes, limit = detail::mpi_count_limit;
  if (count > limit)
    throw Error("plan: exchange", "a message or displacement of " + std::to_string(count) + " elements",
                "at most " + std::to_string(limit) +
                    ", as this exchange counts in MPI's int: use exchange p2p, p2pw, pairwise or alltoallw, "
                    "which count in large types, or more ranks");
  return static_cast<int>(count);
}

Index bytes_at_once(const MpiWorld& world, int rank, Index bytes) {
  constexpr Index most_pieces = 32;
  const std::vector<int>& nodes = world.nodes();
  const Index each = detail::mpi_bytes_at_once;
  const bool cuts = at(nodes, rank) != at(nodes, world.rank()) && bytes <= most_pieces * each;
  return cuts ? std::min(bytes, each) : bytes;
}

namespace {

/// A datatype that is freed with its last owner. Types made from it may outlive it.
using Type = std::shared_ptr<MPI_Datatype>;

Type owned(MPI_Datatype type) {
  return {new MPI_Datatype(type), [](MPI_Datatype* t) {
            if (mpi_alive()) MPI_Type_free(t);
            delete t;
          }};
}

/// `count` elements of a type, `stride` bytes apart.
Type repeated(const Type& of, Index count, Index stride) {
  const Index limit = detail::mpi_count_limit;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (count <= limit) {
    const int n = static_cast<int>(count);
    MPI_Aint lower = 0, extent = 0;
    check_mpi(MPI_Type_get_extent(*of, &lower, &extent), "MPI_Type_get_extent");
    // MPI libraries copy what they know to be contiguous in larger pieces.
    const bool dense = stride == extent;
    check_mpi(dense ? MPI_Type_contiguous(n, *of, &made) : MPI_Type_create_hvector(n, 1, stride, *of, &made),
              dense ? "MPI_Type_contiguous" : "MPI_Type_create_hvector");
    return owned(made);
  }
  const Index blocks = count / limit, rest = count % limit;
  Type many = repeated(repeated(of, limit, stride), blocks, limit * stride);
  if (rest == 0) return many;
  const Type tail = repeated(of, rest, stride);
  const int lengths[] = {1, 1};
  const MPI_Aint offsets[] = {0, blocks * limit * stride};
  const MPI_Datatype parts[] = {*many, *tail};
  check_mpi(MPI_Type_create_struct(2, lengths, offsets, parts, &made), "MPI_Type_create_struct");
  return owned(made);
}

Type basic(int element_bytes) {
  return std::make_shared<MPI_Datatype>(mpi_datatype(element_bytes));
}

}  // namespace

MpiPart::MpiPart(const Message& message, int element_bytes)
    : offset(message.offset), count(1), type(mpi_datatype(element_bytes)) {
  const Index elements = message.bytes / element_bytes;
  if (elements <= detail::mpi_count_limit) {
    count = static_cast<int>(elements);
    return;
  }
  const Type row = repeated(basic(element_bytes), elements, element_bytes);
  check_mpi(MPI_Type_commit(row.get()), "MPI_Type_commit");
  type = *row;
  own = row;
}

MpiPart::MpiPart(const StridedPart& box, int element_bytes) : space(box.at.space), count(1) {
  Type points = basic(element_bytes);
  for (int i = box.order.size() - 1; i >= 0; --i) {
    const int a = box.order[i];
    if (box.box.extent(a) != 1)
      points = repeated(points, box.box.extent(a), box.at.strides[a] * element_bytes);
  }
  const int one = 1;
  const MPI_Aint start = box.at.offset;
  check_mpi(MPI_Type_create_hindexed(1, &one, &start, *points, &type), "MPI_Type_create_hindexed");
  own = owned(type);
  check_mpi(MPI_Type_commit(&type), "MPI_Type_commit");
}

}  // namespace weft
