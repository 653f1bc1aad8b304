#include "transport/ucx/library.hpp"

#include "base/shared_library.hpp"
#include "weft/error.hpp"

namespace weft::ucx {

namespace {

void bind_all(Functions& f, SharedLibrary::Binder& bind) {
  bind(f.get_version, "ucp_get_version");
  bind(f.config_read, "ucp_config_read");
  bind(f.config_modify, "ucp_config_modify");
  bind(f.config_release, "ucp_config_release");
  bind(f.init_version, "ucp_init_version");
  bind(f.cleanup, "ucp_cleanup");
  bind(f.context_query, "ucp_context_query");
  bind(f.worker_create, "ucp_worker_create");
  bind(f.worker_destroy, "ucp_worker_destroy");
  bind(f.worker_get_address, "ucp_worker_get_address");
  bind(f.worker_release_address, "ucp_worker_release_address");
  bind(f.worker_progress, "ucp_worker_progress");
  bind(f.ep_create, "ucp_ep_create");
  bind(f.ep_close, "ucp_ep_close_nbx");
  bind(f.tag_send, "ucp_tag_send_nbx");
  bind(f.tag_receive, "ucp_tag_recv_nbx");
  bind(f.put, "ucp_put_nbx");
  bind(f.ep_flush, "ucp_ep_flush_nbx");
  bind(f.mem_map, "ucp_mem_map");
  bind(f.mem_unmap, "ucp_mem_unmap");
  bind(f.rkey_pack, "ucp_rkey_pack");
  bind(f.rkey_buffer_release, "ucp_rkey_buffer_release");
  bind(f.ep_rkey_unpack, "ucp_ep_rkey_unpack");
  bind(f.rkey_destroy, "ucp_rkey_destroy");
  bind(f.request_status, "ucp_request_check_status");
  bind(f.request_cancel, "ucp_request_cancel");
  bind(f.request_free, "ucp_request_free");
  // Of the libraries that libucp.so.0 needs, which the loader finds with it.
  bind(f.status_string, "ucs_status_string");
  bind(f.query_components, "uct_query_components");
  bind(f.release_component_list, "uct_release_component_list");
  bind(f.component_query, "uct_component_query");
  bind(f.md_config_read, "uct_md_config_read");
  bind(f.md_config_release, "uct_config_release");
  bind(f.md_open, "uct_md_open");
  bind(f.md_close, "uct_md_close");
  bind(f.md_query_resources, "uct_md_query_tl_resources");
  bind(f.release_resources, "uct_release_tl_resource_list");
  bind(f.md_query, "uct_md_query");
  bind(f.async_create, "ucs_async_context_create");
  bind(f.async_destroy, "ucs_async_context_destroy");
  bind(f.uct_worker_create, "uct_worker_create");
  bind(f.uct_worker_destroy, "uct_worker_destroy");
  bind(f.iface_config_read, "uct_md_iface_config_read");
  bind(f.iface_open, "uct_iface_open");
  bind(f.iface_close, "uct_iface_close");
  bind(f.iface_query, "uct_iface_query");
}

/// Newer versions keep what older ones have; older ones may lack what the headers of this build promise.
std::string why_too_old(const Functions& f) {
  unsigned major = 0, minor = 0, release = 0;
  f.get_version(&major, &minor, &release);
  if (major == UCP_API_MAJOR && minor >= UCP_API_MINOR) return "";
  return "UCX " + std::to_string(major) + "." + std::to_string(minor) + " is not the " +
         std::to_string(UCP_API_MAJOR) + "." + std::to_string(UCP_API_MINOR) +
         " or later that Weft was built with; install that, or name its libucp.so.0 in the environment "
         "variable WEFT_UCX_LIBRARY";
}

std::string find_functions(Functions& f) {
  const std::string missing = open_for_good("WEFT_UCX_LIBRARY", {"libucp.so.0"},
                                            "install UCX (Debian: libucx0), or name its libucp.so.0",
                                            [&f](SharedLibrary::Binder& bind) { bind_all(f, bind); });
  return missing.empty() ? why_too_old(f) : missing;
}

using Library = OptionalLibrary<Functions, find_functions>;

}  // namespace

const std::string& missing() {
  return Library::missing();
}

const Functions& functions() {
  return Library::functions("ucx", "libucp.so.0");
}

std::string text_of(ucs_status_t status) {
  return functions().status_string(status);
}

void check(ucs_status_t status, const char* call) {
  if (status != UCS_OK) throw Error(std::string("ucx: ") + call, text_of(status), "success");
}

}  // namespace weft::ucx
