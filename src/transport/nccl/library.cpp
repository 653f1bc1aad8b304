#include "transport/nccl/library.hpp"

#include "base/shared_library.hpp"
#include "weft/error.hpp"

namespace weft::nccl {

namespace {

#if defined(WEFT_WITH_HIP)  // RCCL has NCCL's functions
constexpr const char *file = "librccl.so.1", *remedy = "install RCCL, or name its librccl.so.1";
#else
constexpr const char *file = "libnccl.so.2", *remedy = "install NCCL 2, or name its libnccl.so.2";
#endif

std::string find_functions(Functions& f) {
  return open_for_good("WEFT_NCCL_LIBRARY", {file}, remedy, [&f](SharedLibrary::Binder& bind) {
    bind(f.get_unique_id, "ncclGetUniqueId");
    bind(f.init_rank, "ncclCommInitRank");
    bind(f.abort, "ncclCommAbort");
    bind(f.get_async_error, "ncclCommGetAsyncError");
    bind(f.group_start, "ncclGroupStart");
    bind(f.group_end, "ncclGroupEnd");
    bind(f.send, "ncclSend");
    bind(f.receive, "ncclRecv");
    bind(f.message, "ncclGetErrorString");
    bind(f.last_error, "ncclGetLastError");
    bind.if_there(f.allocate, "ncclMemAlloc");
    bind.if_there(f.free, "ncclMemFree");
    bind.if_there(f.register_memory, "ncclCommRegister");
    bind.if_there(f.deregister, "ncclCommDeregister");
  });
}

using Library = OptionalLibrary<Functions, find_functions>;

}  // namespace

const std::string& missing() {
  return Library::missing();
}

const Functions& functions() {
  return Library::functions("nccl", file);
}

void check(int status, const char* call, Communicator* communicator) {
  if (status == 0) return;
  const Functions& f = functions();
  std::string text = f.message(status);
  if (const char* last = f.last_error(communicator); last != nullptr && *last != '\0')
    text += std::string(": ") + last;
  throw Error(std::string("nccl: ") + call, text + " (" + std::to_string(status) + ")", "success");
}

void replace_functions(const Functions* functions) {
  Library::replace(functions);
}

}  // namespace weft::nccl
