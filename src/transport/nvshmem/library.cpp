#include "transport/nvshmem/library.hpp"

#include "base/shared_library.hpp"

namespace weft::nvshmem {

namespace {

std::string find_functions(Functions& f) {
  return open_for_good("WEFT_NVSHMEM_LIBRARY", {"libnvshmem_host.so.3"},
                       "install NVSHMEM 3, or name its libnvshmem_host.so.3",
                       [&f](SharedLibrary::Binder& bind) {
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
}

using Library = OptionalLibrary<Functions, find_functions>;

}  // namespace

const std::string& missing() {
  return Library::missing();
}

const Functions& functions() {
  return Library::functions("nvshmem", "libnvshmem_host.so.3");
}

std::unique_lock<std::mutex> lock() {
  static auto* const mutex = new std::mutex;
  return std::unique_lock(*mutex);
}

void replace_functions(const Functions* functions) {
  Library::replace(functions);
}

}  // namespace weft::nvshmem
