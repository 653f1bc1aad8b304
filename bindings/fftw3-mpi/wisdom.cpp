#include "wisdom.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "weft/wisdom.hpp"

namespace weft::fftw3_mpi {

namespace {

/// A folder of this process, gone with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "weft-wisdom-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw std::filesystem::filesystem_error("weft: wisdom: a folder for temporary files (TMPDIR)", path_,
                                              std::error_code(errno, std::generic_category()));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file() const { return path_ + "/wisdom"; }

 private:
  std::string path_;
};

/// The wisdom of this process; empty, and said, if that is not possible.
std::string wisdom() noexcept {
  try {
    const TemporaryFolder folder;
    if (!export_wisdom(folder.file())) return "";
    std::ifstream file(folder.file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return "";
  }
}

void add(const std::string& text) noexcept {
  if (text.empty()) return;
  try {
    const TemporaryFolder folder;
    std::ofstream(folder.file(), std::ios::binary) << text;
    import_wisdom(folder.file());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

/// The length of a text that one message of MPI can carry; none if it is longer.
int length(std::string& text) {
  if (text.size() > INT_MAX) text.clear();
  return static_cast<int>(text.size());
}

}  // namespace

void gather_wisdom(MPI_Comm communicator) noexcept {
  constexpr int tag = 0x77;
  int rank = 0, ranks = 1;
  MPI_Comm mine = MPI_COMM_NULL;  // so that no message of the program is matched
  MPI_Comm_dup(communicator, &mine);
  MPI_Comm_rank(mine, &rank);
  MPI_Comm_size(mine, &ranks);
  if (rank > 0) {
    std::string text = wisdom();
    const int size = length(text);
    MPI_Send(text.data(), size, MPI_CHAR, 0, tag, mine);
  } else {
    for (int from = 1; from < ranks; ++from) {
      MPI_Status status;
      int size = 0;
      MPI_Probe(from, tag, mine, &status);
      MPI_Get_count(&status, MPI_CHAR, &size);
      std::string text(static_cast<std::size_t>(size), '\0');
      MPI_Recv(text.data(), size, MPI_CHAR, from, tag, mine, MPI_STATUS_IGNORE);
      add(text);
    }
  }
  MPI_Comm_free(&mine);
}

void broadcast_wisdom(MPI_Comm communicator) noexcept {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  std::string text = rank == 0 ? wisdom() : "";
  int size = length(text);
  MPI_Bcast(&size, 1, MPI_INT, 0, communicator);
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), size, MPI_CHAR, 0, communicator);
  if (rank > 0) add(text);
}

}  // namespace weft::fftw3_mpi
