// Memory of large results. What a result that died had is kept for one of about its size, because fresh
// memory costs a fifth of a transform: the system clears each page before it is written. Kept memory is
// bounded, and on Linux the system may take it while it waits. Everything here runs with the GIL held, so
// that there is no lock that a child of fork() could find taken.
#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include "bindings.hpp"

namespace weft::python {

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kHugePage = 2 * kMiB;
constexpr std::size_t kPage = 4096;

struct Block {
  void* at = nullptr;
  std::size_t bytes = 0;
};

/// Whole pages, huge ones if there is room for them and the system has them. Null if memory does not suffice.
Block allocate(std::size_t bytes) {
  const std::size_t alignment = bytes < 2 * kHugePage ? kPage : kHugePage;
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) return {};
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* at = std::aligned_alloc(alignment, rounded);
  if (at == nullptr) return {};
#ifdef MADV_HUGEPAGE
  if (alignment == kHugePage) madvise(at, rounded, MADV_HUGEPAGE);  // only a hint
#endif
  return {.at = at, .bytes = rounded};
}

/// Memory that nobody uses, the oldest first.
class Idle {
 public:
  /// Idle memory that fits and wastes at most a quarter, or new memory.
  Block take(std::size_t bytes) {
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
      if (block->bytes >= bytes && block->bytes - bytes <= kHugePage + bytes / 4 &&
          (best == blocks_.end() || block->bytes <= best->bytes))
        best = block;
    if (best != blocks_.end()) {
      const Block taken = *best;
      blocks_.erase(best);
      return taken;
    }
    Block fresh = allocate(bytes);
    if (fresh.at == nullptr) {
      shrink_to(0);
      fresh = allocate(bytes);
    }
    if (fresh.at == nullptr) throw std::bad_alloc();
    return fresh;
  }

  void give_back(Block block) {
    if (block.bytes > limit_) {
      std::free(block.at);
      return;
    }
#ifdef MADV_FREE
    madvise(block.at, block.bytes, MADV_FREE);  // the system may take the pages when memory is short
#endif
    shrink_to(limit_ - block.bytes);
    blocks_.push_back(block);
  }

  void limit(std::size_t bytes) {
    limit_ = bytes;
    shrink_to(bytes);
  }

  void shrink_to(std::size_t most) {
    std::size_t sum = bytes();
    auto kept = blocks_.begin();
    for (; sum > most; ++kept) {
      sum -= kept->bytes;
      std::free(kept->at);
    }
    blocks_.erase(blocks_.begin(), kept);
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Block& block : blocks_) sum += block.bytes;
    return sum;
  }

 private:
  std::vector<Block> blocks_;
  std::size_t limit_ = 0;
};

/// Never destroyed: arrays may outlive everything else in the process.
Idle& idle() {
  static Idle* const memory = new Idle;
  return *memory;
}

/// What an array has as its base, and its views with it. Gives the memory back when the last of them is gone.
class ResultMemory {
 public:
  explicit ResultMemory(std::size_t bytes) : block_(idle().take(bytes)), bytes_(bytes) {}
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;
  ~ResultMemory() { idle().give_back(block_); }

  int fill(PyObject* self, Py_buffer* view, int flags) const {
    return PyBuffer_FillInfo(view, self, block_.at, static_cast<Py_ssize_t>(bytes_), 0, flags);
  }

 private:
  Block block_;
  std::size_t bytes_;
};

int buffer_of(PyObject* self, Py_buffer* view, int flags) {
  return nanobind::inst_ptr<ResultMemory>(self)->fill(self, view, flags);
}

std::array slots{PyType_Slot{Py_bf_getbuffer, reinterpret_cast<void*>(buffer_of)}, PyType_Slot{0, nullptr}};

}  // namespace

void bind_result_memory(nanobind::module_& module) {
  using nanobind::arg;
  nanobind::class_<ResultMemory>(module, "ResultMemory", nanobind::type_slots(slots.data()))
      .def(nanobind::init<std::size_t>(), arg("bytes"));
  module.def(
      "limit_idle_memory", [](std::size_t bytes) { idle().limit(bytes); }, arg("bytes"));
  module.def("free_idle_memory", [] { idle().shrink_to(0); });
  module.def("idle_memory", [] { return idle().bytes(); });
}

}  // namespace weft::python
