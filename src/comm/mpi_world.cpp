#include "comm/mpi_world.hpp"

#include "weft/error.hpp"
#include "weft/mpi.hpp"

namespace weft {

namespace {

enum class Life { before, alive, after };

Life life() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return finalised != 0 ? Life::after : initialised != 0 ? Life::alive : Life::before;
}

void check_life(const char* operation) {
  const Life now = life();
  if (now == Life::before)
    throw Error(operation, "MPI is not initialised", "MPI_Init or MPI_Init_thread to have been called");
  if (now == Life::after) throw Error(operation, "MPI is finalised", "a call before MPI_Finalize");
}

class MpiComm final : public CommImpl {
 public:
  explicit MpiComm(MPI_Comm users) : world_(users) {}
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  const char* medium() const override { return "mpi"; }
  void barrier() override { check_mpi(MPI_Barrier(world_.comm()), "MPI_Barrier"); }

  void allgather(const void* mine, std::size_t bytes, void* all) override {
    const int n = static_cast<int>(bytes);
    check_mpi(MPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, world_.comm()), "MPI_Allgather");
  }

  int least(int mine) override {
    int result = mine;
    check_mpi(MPI_Allreduce(&mine, &result, 1, MPI_INT, MPI_MIN, world_.comm()), "MPI_Allreduce");
    return result;
  }

  std::string broadcast(const std::string& bytes, int root) override {
    std::string result = bytes;
    int n = static_cast<int>(result.size());
    check_mpi(MPI_Bcast(&n, 1, MPI_INT, root, world_.comm()), "MPI_Bcast");
    result.resize(static_cast<std::size_t>(n));
    check_mpi(MPI_Bcast(result.data(), n, MPI_BYTE, root, world_.comm()), "MPI_Bcast");
    return result;
  }

  void check_alive(const char* operation) const override { check_life(operation); }
  MpiWorld* mpi() override { return &world_; }
  void retain(const std::shared_ptr<std::byte>& workspace) override { retained_.push_back(workspace); }

 private:
  std::vector<std::shared_ptr<std::byte>> retained_;
  MpiWorld world_;
};

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(call, std::string(text, static_cast<std::size_t>(length)), "MPI_SUCCESS");
}

MpiWorld::MpiWorld(MPI_Comm users) {
  check_life("Comm::mpi");
  if (users == MPI_COMM_NULL)
    throw Error("Comm::mpi", "MPI_COMM_NULL", "a communicator that this rank belongs to");
  check_mpi(MPI_Comm_dup(users, &comm_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  int place = 0;
  check_mpi(MPI_Comm_rank(node, &place), "MPI_Comm_rank");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  const int first_of_node = place == 0 ? 1 : 0;
  check_mpi(MPI_Allreduce(&first_of_node, &nodes_, 1, MPI_INT, MPI_SUM, comm_), "MPI_Allreduce");
  int* largest = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&largest), &found), "MPI_Comm_get_attr");
  if (found != 0) largest_tag_ = *largest;
}

MpiWorld::~MpiWorld() {
  // After MPI_Finalize the communicators are gone with MPI.
  if (life() != Life::alive) return;
  for (auto& [colours, group] : groups_) MPI_Comm_free(&group);
  MPI_Comm_free(&comm_);
}

MPI_Comm MpiWorld::group(const std::vector<int>& colours) {
  const auto known = groups_.find(colours);
  if (known != groups_.end()) return known->second;
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm_, colours[static_cast<std::size_t>(rank_)], rank_, &made), "MPI_Comm_split");
  check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  groups_[colours] = made;
  return made;
}

void MpiWorld::check_tags(int count) const {
  if (count > largest_tag_)
    throw Error("plan: option tile", std::to_string(count) + " tiles",
                "at most " + std::to_string(largest_tag_) + " (MPI_TAG_UB): make tiles thicker");
}

int MpiWorld::take_tags(int count) {
  if (next_tag_ > largest_tag_ - count) next_tag_ = 0;
  const int first = next_tag_;
  next_tag_ += count;
  return first;
}

template <>
Comm Comm::mpi<MPI_Comm>(MPI_Comm communicator) {
  return Comm(std::make_shared<MpiComm>(communicator));
}

}  // namespace weft
