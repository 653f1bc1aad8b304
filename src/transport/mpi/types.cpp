#include "transport/mpi/types.hpp"

#include <limits>

#include "comm/mpi_world.hpp"

namespace weft {

std::atomic<Index> detail::mpi_count_limit{std::numeric_limits<int>::max()};

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
                    "which count in "
                    "large types, or more ranks");
  return static_cast<int>(count);
}

namespace {

/// Makes nested types and frees those that are only parts of others.
class TypeMaker {
 public:
  explicit TypeMaker(int element_bytes) : type_(mpi_datatype(element_bytes)), dense_bytes_(element_bytes) {}
  ~TypeMaker() {
    if (own_) MPI_Type_free(&type_);
  }
  TypeMaker(const TypeMaker&) = delete;
  TypeMaker& operator=(const TypeMaker&) = delete;

  /// `count` times what there is, `stride` bytes apart.
  void repeat(Index count, Index stride) {
    if (count == 1) return;
    const bool dense = stride == dense_bytes_;
    replace(repeated(type_, count, stride, dense));
    dense_bytes_ = dense ? dense_bytes_ * count : 0;
  }

  void shift(Index bytes) {
    const int one = 1;
    const MPI_Aint at = bytes;
    MPI_Datatype shifted = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_create_hindexed(1, &one, &at, type_, &shifted), "MPI_Type_create_hindexed");
    replace(shifted);
  }

  /// The type, which is the caller's to free.
  MPI_Datatype committed() {
    if (!own_) shift(0);  // one of MPI's own is not to be freed
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
    own_ = false;
    return type_;
  }

 private:
  void replace(MPI_Datatype next) {
    if (own_) MPI_Type_free(&type_);
    type_ = next;
    own_ = true;
  }

  static MPI_Datatype repeated(MPI_Datatype of, Index count, Index stride, bool dense) {
    const Index limit = detail::mpi_count_limit;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (count <= limit) {
      const int n = static_cast<int>(count);
      check_mpi(dense ? MPI_Type_contiguous(n, of, &made) : MPI_Type_create_hvector(n, 1, stride, of, &made),
                dense ? "MPI_Type_contiguous" : "MPI_Type_create_hvector");
      return made;
    }
    const Index blocks = count / limit, rest = count % limit;
    MPI_Datatype block = repeated(of, limit, stride, dense);
    MPI_Datatype many = repeated(block, blocks, limit * stride, dense);
    MPI_Type_free(&block);
    if (rest == 0) return many;
    MPI_Datatype tail = repeated(of, rest, stride, dense);
    const int lengths[] = {1, 1};
    const MPI_Aint offsets[] = {0, blocks * limit * stride};
    const MPI_Datatype parts[] = {many, tail};
    check_mpi(MPI_Type_create_struct(2, lengths, offsets, parts, &made), "MPI_Type_create_struct");
    MPI_Type_free(&many);
    MPI_Type_free(&tail);
    return made;
  }

  MPI_Datatype type_;
  bool own_ = false;
  Index dense_bytes_;  ///< size of the type if it has no gaps, else 0
};

}  // namespace

MpiParts::~MpiParts() {
  for (MPI_Datatype& type : made_)
    if (mpi_alive()) MPI_Type_free(&type);
}

MpiPart MpiParts::part(const Message& message) {
  const Index count = message.bytes / element_bytes_;
  if (count <= detail::mpi_count_limit)
    return {message.offset, static_cast<int>(count), mpi_datatype(element_bytes_)};
  TypeMaker maker(element_bytes_);
  maker.repeat(count, element_bytes_);
  made_.push_back(maker.committed());
  return {message.offset, 1, made_.back()};
}

MpiPart MpiParts::part(const StridedPart& box) {
  TypeMaker maker(element_bytes_);
  for (int i = box.order.size() - 1; i >= 0; --i) {
    const int a = box.order[i];
    maker.repeat(box.box.extent(a), box.at.strides[a] * element_bytes_);
  }
  maker.shift(box.at.offset);
  made_.push_back(maker.committed());
  return {0, 1, made_.back()};
}

}  // namespace weft
