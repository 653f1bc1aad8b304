// The memory of a Python array, held while Weft reads or writes it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/error.hpp"

namespace weft::python {

/// Memory that has no buffer protocol, such as that of a GPU: its address and size, and the object that
/// owns it.
struct Address {
  std::uintptr_t at;
  std::size_t bytes;
  nanobind::object owner;
};

/// What the buffer protocol gives of an array, or an `Address` says: the address of its first element. The
/// memory stays where it is as long as the view lives. It is made and destroyed with the GIL held. Can be
/// moved, not copied.
class View {
 public:
  enum class Access { read, write };

  View() = default;
  /// Throws `weft::Error` if the object has no such memory, or has it for reading only.
  View(nanobind::handle array, Access access, const char* operation) {
    if (nanobind::isinstance<Address>(array)) {
      const auto& address = nanobind::cast<const Address&>(array);
      buffer_.buf = reinterpret_cast<void*>(address.at);  // NOLINT(performance-no-int-to-ptr)
      buffer_.len = static_cast<Py_ssize_t>(address.bytes);
      owner_ = address.owner;
      return;
    }
    const int flags = access == Access::write ? PyBUF_STRIDED : PyBUF_STRIDED_RO;
    if (PyObject_GetBuffer(array.ptr(), &buffer_, flags) == 0) {
      held_ = true;
      return;
    }
    PyErr_Clear();
    throw Error(
        operation,
        access == Access::write ? "an output that is read-only" : "an input without memory of the host",
        access == Access::write ? "a writable NumPy array" : "a NumPy array");
  }
  View(View&& other) noexcept
      : buffer_(other.buffer_), held_(std::exchange(other.held_, false)), owner_(std::move(other.owner_)) {}
  View& operator=(View&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(held_, other.held_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { release(); }

  void release() {
    if (std::exchange(held_, false)) PyBuffer_Release(&buffer_);
    owner_.reset();
  }
  const void* source() const { return data(); }
  void* data() const { return viewing() ? buffer_.buf : nullptr; }
  std::size_t bytes() const { return viewing() ? static_cast<std::size_t>(buffer_.len) : 0; }
  /// The memory is never given back, because somebody may still use it.
  void leak() {
    held_ = false;
    owner_.release();
  }

 private:
  bool viewing() const { return held_ || owner_.is_valid(); }

  Py_buffer buffer_{};
  bool held_ = false;  ///< a buffer, which has to be given back
  nanobind::object owner_;
};

}  // namespace weft::python
