// What Python is told of GPUs, and of arrays that are given by DLPack.
#include "devices.hpp"

#include <nanobind/ndarray.h>

#include <utility>

#include "bindings.hpp"
#include "view.hpp"

namespace weft::python {

namespace {

using nanobind::arg;

/// What a DLPack capsule says of an array: kind of memory and device as DLPack counts them, address, shape,
/// strides in elements, kind of number as NumPy's letter, bytes of an element.
nanobind::tuple imported(const nanobind::object& capsule) {
  nanobind::ndarray<nanobind::ro> array;
  if (!nanobind::try_cast(capsule, array))
    throw Error("plan", "a DLPack capsule that cannot be read", "a new one of an array of numbers");
  nanobind::list shape, strides;
  for (std::size_t a = 0; a < array.ndim(); ++a) {
    shape.append(array.shape(a));
    strides.append(array.stride(a));
  }
  const auto code = static_cast<nanobind::dlpack::dtype_code>(array.dtype().code);
  const char* kind = code == nanobind::dlpack::dtype_code::Float     ? "f"
                     : code == nanobind::dlpack::dtype_code::Complex ? "c"
                                                                     : "V";
  return nanobind::make_tuple(array.device_type(), array.device_id(),
                              reinterpret_cast<std::uintptr_t>(array.data()), nanobind::tuple(shape),
                              nanobind::tuple(strides), kind, array.itemsize());
}

}  // namespace

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      device_(other.device_) {}
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(device_, other.device_);
  return *this;
}

void bind_devices(nanobind::module_& module) {
  nanobind::class_<Address>(module, "Address", "Memory: an address, bytes, and the object that owns it.")
      .def(
          "__init__",
          [](Address* self, std::uintptr_t at, std::size_t bytes, nanobind::object owner) {
            new (self) Address{.at = at, .bytes = bytes, .owner = std::move(owner)};
          },
          arg("at"), arg("bytes"), arg("owner"));
  module.def("device_count", device_count, "The number of GPUs that CUDA finds; 0 without CUDA.");
  module.def("current_device", current_device, "The GPU of the calling thread; 0 if none was chosen.");
  module.def("device_of", device_of, arg("address"), "The GPU whose memory the address is in; -1: none.");
  module.def(
      "order_streams", order_streams, arg("device"), arg("earlier"), arg("later"),
      "What is enqueued on stream `later` from now on comes after what has been enqueued on `earlier`.");
  module.def("imported", imported, arg("capsule"), "What a DLPack capsule says of an array.");
}

}  // namespace weft::python
