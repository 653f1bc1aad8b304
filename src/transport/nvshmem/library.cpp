#include "transport/nvshmem/library.hpp"

#include <atomic>

#include "base/shared_library.hpp"
#include "weft/error.hpp"

namespace weft::nvshmem {

namespace {

struct Library {
  Functions functions{};
  std::string missing = open_for_good("WEFT_NVSHMEM_LIBRARY", {"libnvshmem_host.so.3"},
                                      "install NVSHMEM 3, or name its libnvshmem_host.so.3",
                                      [this](SharedLibrary::Binder& bind) {
                                        Functions& f = functions;
                                        bind(f.state, "nvshmemx_init_status");
                                        bind(f.get_unique_id, "nvshmemx_get_uniqueid");
                                        bind(f.set_ranks, "nvshmemx_set_attr_uniqueid_args");
                                        bind(f.start, "nvshmemx_hostlib_init_attr");
                                        bind(f.end, "nvshmemx_hostlib_finalize");
                                        bind(f.my_pe, "nvshmem_my_pe");
                                        bind(f.pes, "nvshmem_n_pes");
                                        bind(f.align, "nvshmem_align");
                                        bind(f.free, "nvshmem_free");
                                        bind(f.put_and_signal, "nvshmemx_putmem_signal_nbi_on_stream");
                                        bind(f.signal, "nvshmemx_signal_op_on_stream");
                                        bind(f.wait_for_signal, "nvshmemx_signal_wait_until_on_stream");
                                        bind(f.quiet, "nvshmemx_quiet_on_stream");
                                      });
};

/// Its threads may outlive main, and so does what leads to its functions.
const Library& library() {
  static const auto* const instance = new Library;
  return *instance;
}

std::atomic<const Functions*> replacement{nullptr};

}  // namespace

const std::string& missing() {
  static const std::string nothing;
  return replacement.load(std::memory_order_acquire) != nullptr ? nothing : library().missing;
}

const Functions& functions() {
  if (const Functions* other = replacement.load(std::memory_order_acquire)) return *other;
  if (!missing().empty()) throw Error("nvshmem", missing(), "libnvshmem_host.so.3");
  return library().functions;
}

std::unique_lock<std::mutex> lock() {
  static auto* const mutex = new std::mutex;
  return std::unique_lock(*mutex);
}

void replace_functions(const Functions* functions) {
  replacement.store(functions, std::memory_order_release);
}

}  // namespace weft::nvshmem
