// The part of UCX that Weft uses, by function pointers that are found at run time. Types are those of UCX's
// headers, which building needs; a machine without the library loads Weft.
#pragma once

#include <ucp/api/ucp.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#include <string>

namespace weft::ucx {

struct Functions {
  decltype(&ucp_get_version) get_version;
  decltype(&ucp_config_read) config_read;
  decltype(&ucp_config_modify) config_modify;
  decltype(&ucp_config_release) config_release;
  decltype(&ucp_init_version) init_version;
  decltype(&ucp_cleanup) cleanup;
  decltype(&ucp_context_query) context_query;
  decltype(&ucp_worker_create) worker_create;
  decltype(&ucp_worker_destroy) worker_destroy;
  decltype(&ucp_worker_get_address) worker_get_address;
  decltype(&ucp_worker_release_address) worker_release_address;
  decltype(&ucp_worker_progress) worker_progress;
  decltype(&ucp_ep_create) ep_create;
  decltype(&ucp_ep_close_nbx) ep_close;
  decltype(&ucp_tag_send_nbx) tag_send;
  decltype(&ucp_tag_recv_nbx) tag_receive;
  decltype(&ucp_put_nbx) put;
  decltype(&ucp_ep_flush_nbx) ep_flush;
  decltype(&ucp_mem_map) mem_map;
  decltype(&ucp_mem_unmap) mem_unmap;
  decltype(&ucp_rkey_pack) rkey_pack;
  decltype(&ucp_rkey_buffer_release) rkey_buffer_release;
  decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack;
  decltype(&ucp_rkey_destroy) rkey_destroy;
  decltype(&ucp_request_check_status) request_status;
  decltype(&ucp_request_cancel) request_cancel;
  decltype(&ucp_request_free) request_free;
  decltype(&ucs_status_string) status_string;
  // Which devices there are, and what they can do:
  decltype(&uct_query_components) query_components;
  decltype(&uct_release_component_list) release_component_list;
  decltype(&uct_component_query) component_query;
  decltype(&uct_md_config_read) md_config_read;
  decltype(&uct_config_release) md_config_release;
  decltype(&uct_md_open) md_open;
  decltype(&uct_md_close) md_close;
  decltype(&uct_md_query_tl_resources) md_query_resources;
  decltype(&uct_release_tl_resource_list) release_resources;
  decltype(&uct_md_query) md_query;
  decltype(&ucs_async_context_create) async_create;
  decltype(&ucs_async_context_destroy) async_destroy;
  decltype(&::uct_worker_create) uct_worker_create;
  decltype(&::uct_worker_destroy) uct_worker_destroy;
  decltype(&uct_md_iface_config_read) iface_config_read;
  decltype(&uct_iface_open) iface_open;
  decltype(&uct_iface_close) iface_close;
  decltype(&uct_iface_query) iface_query;
};

/// Why UCX cannot be used in this process, or nothing. The first call looks for libucp.so.0 and opens it.
const std::string& missing();

/// Throws `weft::Error` if it is missing.
const Functions& functions();

/// "Connection reset by remote peer"
std::string text_of(ucs_status_t status);

/// Throws `weft::Error` with UCX's message unless `status` is UCS_OK.
void check(ucs_status_t status, const char* call);

}  // namespace weft::ucx
