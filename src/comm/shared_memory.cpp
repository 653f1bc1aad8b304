#include "comm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"

namespace weft {

namespace {

constexpr const char* operation = "plan: shared memory";

/// The name of a shared memory object, as ranks send it to each other.
using Name = std::array<char, 48>;

/// The bytes that the ranks of this machine will allocate, and the free room before they do.
struct Demand {
  /// Collective.
  Demand(CommImpl& comm, std::size_t mine) {
    struct statvfs room {};
    if (statvfs("/dev/shm", &room) == 0)
      free = static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize);
    bytes = all_of(comm, mine);
    const std::vector<int>& nodes = comm.nodes();
    for (std::size_t r = 0; r < bytes.size(); ++r)
      if (nodes[r] == nodes[static_cast<std::size_t>(comm.rank())]) all += static_cast<double>(bytes[r]);
    ranks = comm.node_ranks();
  }

  std::vector<std::size_t> bytes;  ///< of every rank
  double all = 0;                  ///< of the ranks of this machine
  int ranks = 0;                   ///< of this machine
  double free = -1;                ///< of /dev/shm; negative: unknown
};

/// A shared memory object, mapped into this process as long as the result lives.
std::shared_ptr<std::byte> mapped(int file, std::size_t bytes, const std::string& what) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED)
    throw Error(operation, "mapping " + what + " failed: " + std::strerror(errno),
                "more address space (ulimit -v), or another exchange");
#ifdef MADV_HUGEPAGE
  madvise(at, bytes, MADV_HUGEPAGE);  // only a hint
#endif
  return {static_cast<std::byte*>(at), [bytes](std::byte* p) { munmap(p, bytes); }};
}

/// An open shared memory object, and its name until that is removed.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() {
    forget();
    if (file_ >= 0) close(file_);
  }

  void create(std::size_t bytes, const Demand& demand) {
    static std::atomic<unsigned> number{0};
    std::random_device random;
    for (int tries = 0; file_ < 0; ++tries) {
      char name[sizeof(Name)];
      std::snprintf(name, sizeof name, "/weft-%ld-%u-%08x", static_cast<long>(getpid()), number++, random());
      file_ = shm_open(name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
      if (file_ >= 0) name_ = name;
      if (file_ < 0 && (errno != EEXIST || tries == 100))
        throw Error(operation, std::string("shm_open failed: ") + std::strerror(errno),
                    "a /dev/shm that this user may write, more open files (ulimit -n), or another exchange");
    }
    // What the ranks of a machine cannot have together is not begun: filling /dev/shm would harm others.
    const bool hopeless = demand.free >= 0 && demand.all > demand.free;
    if (const int problem = hopeless ? ENOSPC : reserve(bytes); problem != 0)
      throw Error(
          operation,
          "no room for " + human_bytes(demand.all) + " in /dev/shm (" + std::to_string(demand.ranks) +
              (demand.ranks == 1 ? " rank" : " ranks") + " of this machine, " +
              human_bytes(static_cast<double>(bytes)) + " of it for this one), where " +
              (demand.free < 0 ? "an unknown amount" : human_bytes(demand.free)) + " were free (" +
              std::strerror(problem) + ")",
          "a larger /dev/shm (mount -o remount,size=..., for containers --shm-size), fewer points per "
          "rank, or another exchange");
  }

  /// Reserves the pages; returns 0 or an errno. A signal interrupts and undoes one call, so small pieces are
  /// reserved, to finish some between two signals.
  int reserve(std::size_t bytes) const {
    constexpr std::size_t piece = 32 << 20;
    int problem = 0;
    for (std::size_t at = 0; at < bytes && problem == 0;) {
      const std::size_t size = std::min(piece, bytes - at);
      problem = posix_fallocate(file_, static_cast<off_t>(at), static_cast<off_t>(size));
      if (problem == 0) at += size;
      if (problem == EINTR) problem = 0;
    }
    return problem;
  }

  void open(const char* name) {
    file_ = shm_open(name, O_RDWR, 0);
    if (file_ < 0)
      throw Error(operation,
                  std::string("the memory of another rank cannot be opened: ") + std::strerror(errno),
                  "ranks that see one /dev/shm, more open files (ulimit -n), or another exchange");
  }

  void forget() {
    if (!name_.empty()) shm_unlink(name_.c_str());
    name_.clear();
  }
  int file() const { return file_; }
  const std::string& name() const { return name_; }

 private:
  int file_ = -1;
  std::string name_;
};

class ProcessMemory final : public SharedMemory {
 public:
  ProcessMemory(CommImpl& comm, std::size_t bytes) : mappings_(static_cast<std::size_t>(comm.size())) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const Demand demand(comm, bytes);
    Object mine;
    Name name{};
    agree(comm, operation, [&] {
      if (bytes == 0) return;
      mine.create(bytes, demand);
      mappings_[rank] = mapped(mine.file(), bytes, "shared memory");
      std::memcpy(name.data(), mine.name().c_str(), mine.name().size());
    });
    const std::vector<Name> names = all_of(comm, name);
    agree(comm, operation, [&] {
      for (std::size_t r = 0; r < names.size(); ++r) {
        if (r == rank || demand.bytes[r] == 0 || comm.nodes()[r] != comm.nodes()[rank]) continue;
        Object theirs;
        theirs.open(names[r].data());
        mappings_[r] = mapped(theirs.file(), demand.bytes[r], "the memory of rank " + std::to_string(r));
      }
    });
  }
  std::byte* of(int rank) const override { return at(mappings_, rank).get(); }

 private:
  std::vector<std::shared_ptr<std::byte>> mappings_;  ///< by rank
};

}  // namespace

namespace {
[[noreturn]] void no_memory(std::size_t bytes, const char* what) {
  throw Error(what, "no memory for " + human_bytes(static_cast<double>(bytes)),
              "fewer points per rank, or workspace given by the user");
}
}  // namespace

std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* what) {
  if (bytes == 0) return nullptr;
  void* memory = std::aligned_alloc(64, rounded_up<std::size_t>(bytes, 64));
  if (memory == nullptr) no_memory(bytes, what);
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

/// The system provides large allocations as zero pages when they are first touched, and calloc relies on
/// that.
std::shared_ptr<std::byte> allocate_zeros(std::size_t bytes, const char* what) {
  if (bytes == 0) return nullptr;
  std::size_t room = bytes + 64;
  void* const memory = std::calloc(room, 1);
  if (memory == nullptr) no_memory(bytes, what);
  void* aligned = memory;
  std::align(64, bytes, aligned, room);
  return {static_cast<std::byte*>(aligned), [memory](std::byte*) { std::free(memory); }};
}

std::shared_ptr<SharedMemory> share_between_processes(CommImpl& comm, std::size_t bytes) {
  return std::make_shared<ProcessMemory>(comm, bytes);
}

}  // namespace weft
