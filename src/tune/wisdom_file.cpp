#include "tune/wisdom_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

namespace weft {

namespace {

namespace fs = std::filesystem;
using Kind = WisdomText::Kind;

constexpr int all_may = 0666;  ///< reduced by the process's umask
constexpr off_t most_bytes = 256 << 20;

/// An open file, closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const std::string& file, int flags)
      : Descriptor(open(file.c_str(), flags | O_CLOEXEC, all_may)) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  bool good() const { return number_ >= 0; }
  int get() const { return number_; }

 private:
  int number_;
};

/// `what` with the system's last error; must be called before any other system call.
std::string reason(const std::string& what) {
  return what + ": " + std::generic_category().message(errno);
}

WisdomText unreadable(const std::string& why) {
  return {Kind::unreadable, {}, why};
}

/// Waits for a lock on FILE.lock. Nothing if that fails, with the reason in `why`.
std::optional<Descriptor> lock(const std::string& file, std::string& why) {
  const std::string name = file + ".lock";
  int number = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, all_may);
  // The file of another user can be locked with read permission alone, except on NFS.
  if (number < 0 && errno == EACCES) {
    number = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) errno = EACCES;
  }
  Descriptor opened(number);
  if (!opened.good()) {
    why = reason("cannot open " + name);
    return std::nullopt;
  }
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    // On file systems without locks the file is still replaced in one step, but what another job writes at
    // the same moment may be lost.
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (std::chrono::steady_clock::now() > give_up) {
      why = "others have been writing it for 30 s (" + name + " is locked)";
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return opened;
}

bool write_all(int number, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(number, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

/// Writes a new file beside `file` and returns its unique name; empty, with the reason in `why`, if that
/// fails.
std::string write_beside(const std::string& file, const std::string& text, std::string& why) {
  std::random_device random;
  std::string name = file + "." + std::to_string(random()) + ".tmp";
  const Descriptor made(name, O_WRONLY | O_CREAT | O_EXCL);
  if (!made.good()) {
    why = reason("cannot write " + name);
    return "";
  }
  struct stat old {};
  if (stat(file.c_str(), &old) == 0) static_cast<void>(fchmod(made.get(), old.st_mode & 0777));
  if (!write_all(made.get(), text) || fsync(made.get()) != 0) {
    why = reason("cannot write " + name);
    unlink(name.c_str());
    return "";
  }
  return name;
}

/// The target of a symbolic link, or of a chain of links; it need not exist.
std::string behind_links(const std::string& given) {
  std::error_code none;
  fs::path file = given;
  // The system follows fewer links than this; opening the rest reports its error.
  for (int i = 0; i < 64 && fs::is_symlink(file, none); ++i) {
    const fs::path next = fs::read_symlink(file, none);
    if (next.empty()) break;
    file = file.parent_path() / next;
  }
  return file.string();
}

/// Why a file must not be replaced; empty if it may be.
std::string why_not(const std::string& file, const WisdomText& old) {
  if (file.empty()) return "the name of the file is empty";
  if (old.kind == Kind::unreadable || old.kind == Kind::foreign || old.kind == Kind::newer)
    return old.why + "; it is left as it is";
  // The system lets a read-only file be replaced, but a user who has made it read-only does not want that.
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return "";
  return (status.st_mode & 0222) == 0 || access(file.c_str(), W_OK) != 0 ? "it is read-only" : "";
}

/// An unused name for the damaged file.
std::string name_aside(const std::string& file) {
  std::error_code none;
  std::string name = file + ".corrupt";
  for (int i = 2; fs::exists(fs::symlink_status(name, none)); ++i)
    name = file + ".corrupt" + std::to_string(i);
  return name;
}

/// Replaces `file`; the old one is kept under the name `aside`, unless that is empty. Returns what went
/// wrong; empty on success.
std::string replace(const std::string& file, const std::string& text, const std::string& aside) {
  std::string why;
  const std::string name = write_beside(file, text, why);
  if (name.empty()) return why;
  if ((!aside.empty() && rename(file.c_str(), aside.c_str()) != 0) ||
      rename(name.c_str(), file.c_str()) != 0) {
    why = reason("cannot replace it");
    unlink(name.c_str());
    return why;
  }
  // Makes the new name survive a power failure, on file systems that can.
  const fs::path folder = fs::path(file).parent_path();
  const Descriptor opened(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY);
  if (opened.good()) fsync(opened.get());
  return "";
}

}  // namespace

WisdomText read_wisdom(const std::string& file) {
  // The file is opened before it is examined, because it may be replaced at any time. O_NONBLOCK does not
  // wait for the writer of a pipe.
  const Descriptor opened(file, O_RDONLY | O_NONBLOCK);
  if (!opened.good()) return errno == ENOENT ? WisdomText{} : unreadable(reason("cannot open it"));
  struct stat status {};
  if (fstat(opened.get(), &status) != 0) return unreadable(reason("cannot look at it"));
  if (!S_ISREG(status.st_mode)) return unreadable("it is no ordinary file");
  if (status.st_size > most_bytes) return unreadable("it is larger than 256 MiB");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = read(opened.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(reason("cannot read it"));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  text.resize(done);
  return read_wisdom_text(text);
}

WisdomSaved add_to_file(const std::string& given, const Wisdom& wisdom) {
  const auto failed = [&](const std::string& why) {
    return WisdomSaved{false, "wisdom is not saved in " + given + ": " + why};
  };
  const std::string file = behind_links(given);
  const auto holds = [&](const WisdomText& text) {
    Wisdom all = text.wisdom;
    all.merge(wisdom);
    return text.kind == Kind::wisdom && all == text.wisdom;
  };
  // Checked before a lock file is made beside a file that is no wisdom or needs no change.
  const WisdomText now = read_wisdom(file);
  if (holds(now)) return {true, ""};
  if (const std::string why = why_not(file, now); !why.empty()) return failed(why);
  std::string why;
  const auto held = lock(file, why);
  if (!held) return failed(why);
  const WisdomText old = read_wisdom(file);
  if (why = why_not(file, old); !why.empty()) return failed(why);
  if (holds(old)) return {true, ""};
  Wisdom all = old.wisdom;
  all.merge(wisdom);
  const std::string aside = old.kind == Kind::damaged ? name_aside(file) : "";
  if (why = replace(file, all.to_json(), aside); !why.empty()) return failed(why);
  if (aside.empty()) return {true, ""};
  return {true, given + ": " + old.why + "; it is kept as " + aside + ", and a new one was begun"};
}

}  // namespace weft
