// Which process an object was made in. A child of fork() has the objects of its parent but none of its
// threads and none of its connections, so that most of them would wait there for ever. Which thread is in it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>

#include "weft/error.hpp"

namespace weft::python {

/// Owns a T that belongs to the process that made it. In a child of that process its destructor is not run,
/// which would wait for threads that are not there.
template <class T>
class OfThisProcess {
 public:
  explicit OfThisProcess(const char* what) : what_(what) {}
  OfThisProcess(const OfThisProcess&) = delete;
  OfThisProcess& operator=(const OfThisProcess&) = delete;
  ~OfThisProcess() { reset(); }

  void set(std::unique_ptr<T> object) { object_ = std::move(object); }
  void reset() {
    if (made_here()) {
      object_.reset();
    } else {
      [[maybe_unused]] T* const left_to_the_parent = object_.release();
    }
  }
  /// The object. Throws `weft::Error` if it was freed, or made before this process was forked.
  T& get(const char* operation) const {
    if (!object_)
      throw Error(operation, std::string("a ") + what_ + " that was freed", std::string("a ") + what_);
    if (!made_here())
      throw Error(operation, std::string("a ") + what_ + " that was made before this process was forked",
                  std::string("a ") + what_ + " made in this process");
    return *object_;
  }

 private:
  bool made_here() const { return getpid() == process_; }

  const char* what_;
  pid_t process_ = getpid();
  std::unique_ptr<T> object_;
};

/// Only one thread at a time is in an object; the GIL does not see to that, because executions release it.
class Turn {
 public:
  Turn(std::atomic_flag& busy, const char* what) : busy_(busy) {
    if (busy_.test_and_set())
      throw Error(what, "an execution by two threads at once",
                  std::string("one thread at a time, or a ") + what + " for each");
  }
  ~Turn() { busy_.clear(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic_flag& busy_;
};

}  // namespace weft::python
