// GPUs, as far as Python has to say which one it means, and what lies in their memory.
#pragma once

#include "weft/error.hpp"

namespace weft::python {

/// The number of a device that is not there.
class NoSuchDevice : public Error {
  using Error::Error;
};

/// Makes a device current in the calling thread for the lifetime of the object; -1 changes nothing. The
/// context that was current before is so again afterwards, none if there was none, so that no context is made
/// on a device that nobody asked for.
class OnDevice {
 public:
  /// Throws `NoSuchDevice`, also in a build without CUDA and on machines without a device.
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  void* before_ = nullptr;
  bool changed_ = false;
};

}  // namespace weft::python
