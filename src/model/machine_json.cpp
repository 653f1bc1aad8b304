#include "model/machine_json.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "weft/error.hpp"

namespace weft {

namespace {

using MachineJson = nlohmann::ordered_json;
constexpr int machine_version = 1;
constexpr const char* operation = "machine description";

/// An object of the file and where it stands, for errors.
class Reader {
 public:
  Reader(const MachineJson& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw Error(operation, name("") + "is no object", "an object");
  }

  void operator()(const char* field, std::string& value) const {
    const MachineJson& v = member(field);
    if (!v.is_string()) throw Error(operation, name(field) + " = " + v.dump(), "text");
    value = v.get<std::string>();
  }
  void operator()(const char* field, bool& value) const {
    const MachineJson& v = member(field);
    if (!v.is_boolean()) throw Error(operation, name(field) + " = " + v.dump(), "true or false");
    value = v.get<bool>();
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const char* field, Number& value) const {
    const MachineJson& v = member(field);
    const double number = v.is_number() ? v.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if constexpr (std::is_integral_v<Number>) {
      if (!(number >= 0) ||
          number > std::min(9e15, static_cast<double>(std::numeric_limits<Number>::max())) ||
          static_cast<double>(static_cast<Number>(number)) != number)
        throw Error(operation, name(field) + " = " + v.dump(), "a whole number, 0 or more");
    } else {
      if (!v.is_number()) throw Error(operation, name(field) + " = " + v.dump(), "a number");
    }
    value = static_cast<Number>(number);
  }
  /// A list of pairs.
  void operator()(const char* field, Curve& value) const {
    const MachineJson& list = member(field);
    std::vector<CurvePoint> points;
    for (const MachineJson& p : list) {
      if (!p.is_array() || p.size() != 2 || !p[0].is_number() || !p[1].is_number())
        throw Error(operation, name(field) + " has " + p.dump(), "pairs of numbers");
      points.push_back({p[0].get<double>(), p[1].get<double>()});
    }
    value = Curve(std::move(points));
  }
  /// A curve or a list that may be missing, and then is empty.
  template <class Several>
  void optional(const char* field, Several& value) const {
    if (object_.contains(field)) (*this)(field, value);
  }
  template <class Element>
  void operator()(const char* field, std::vector<Element>& values) const {
    const MachineJson& list = member(field);
    if (!list.is_array()) throw Error(operation, name(field) + " = " + list.dump(), "a list");
    values.resize(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      fields(Reader(list[i], name(field) + "[" + std::to_string(i) + "]"), values[i]);
  }
  template <class Object>
  void operator()(const char* field, Object& value) const {
    fields(Reader(member(field), name(field)), value);
  }
  /// A part that may be missing.
  template <class Object>
  void operator()(const char* field, std::optional<Object>& value) const {
    if (object_.contains(field)) (*this)(field, value.emplace());
  }
  /// A field that has this value where it is missing.
  template <class Value>
  void unless(const Value& usual, const char* field, Value& value) const {
    value = usual;
    if (object_.contains(field)) (*this)(field, value);
  }

 private:
  std::string name(const std::string& field) const { return where_.empty() ? field : where_ + "." + field; }
  const MachineJson& member(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end()) throw Error(operation, name(field) + " is missing", "a complete description");
    return *found;
  }
  const MachineJson& object_;
  std::string where_;
};

class Writer {
 public:
  explicit Writer(MachineJson& object) : object_(object) { object_ = MachineJson::object(); }

  void operator()(const char* field, const Curve& value) const {
    MachineJson& list = object_[field] = MachineJson::array();
    for (const CurvePoint& p : value.points()) list.push_back({p.x, p.y});
  }
  template <class Several>
  void optional(const char* field, const Several& value) const {
    if (!value.empty()) (*this)(field, value);
  }
  template <class Element>
  void operator()(const char* field, const std::vector<Element>& values) const {
    MachineJson& list = object_[field] = MachineJson::array();
    for (const Element& v : values) fields(Writer(list.emplace_back()), v);
  }
  template <class Object>
  void operator()(const char* field, const std::optional<Object>& value) const {
    if (value) (*this)(field, *value);
  }
  template <class Value>
  void unless(const Value& usual, const char* field, const Value& value) const {
    if (value != usual) (*this)(field, value);
  }
  template <class Value>
  void operator()(const char* field, const Value& value) const {
    if constexpr (requires { object_[field] = value; }) {
      object_[field] = value;
    } else {
      fields(Writer(object_[field]), value);
    }
  }

 private:
  MachineJson& object_;
};

// The fields of each part of a description, for reading and writing alike.
template <class Visitor, class Speed>
requires std::is_same_v<std::remove_const_t<Speed>, FftSpeed>
void fields(const Visitor& visit, Speed& f) {
  visit("library", f.library);
  visit("real_bytes", f.real_bytes);
  visit("length", f.length);
  visit("shape", f.shape);
  visit("rows_meet", f.rows_meet);
  visit("in_cache_s", f.in_cache_s);
  visit("in_memory_s", f.in_memory_s);
  visit.unless(0.0, "call_s", f.call_s);
}
template <class Visitor, class Ratios>
requires std::is_same_v<std::remove_const_t<Ratios>, TransformRatios>
void fields(const Visitor& visit, Ratios& r) {
  visit("real", r.real);
  visit("real_planes", r.real_planes);
  visit("r2r", r.r2r);
}
template <class Visitor, class Speed>
requires std::is_same_v<std::remove_const_t<Speed>, CodecSpeed>
void fields(const Visitor& visit, Speed& c) {
  visit("codec", c.codec);
  visit("real_bytes", c.real_bytes);
  visit("encode_bytes_per_s", c.encode_bytes_per_s);
  visit("decode_bytes_per_s", c.decode_bytes_per_s);
}
template <class Visitor, class Processor>
requires std::is_same_v<std::remove_const_t<Processor>, ProcessorDescription>
void fields(const Visitor& visit, Processor& p) {
  visit("name", p.name);
  visit("cores", p.cores);
  visit("cache_bytes", p.cache_bytes);
  visit("operation_s", p.operation_s);
  visit("copy_alone", p.copy_alone);
  visit("copy_together", p.copy_together);
  visit("share_by_run_in_cache", p.share_by_run_in_cache);
  visit("share_by_run", p.share_by_run);
  visit("share_by_run_unaligned", p.share_by_run_unaligned);
  visit("ffts", p.ffts);
  visit("ratios", p.ratios);
  visit("codecs", p.codecs);
}
template <class Visitor, class Device>
requires std::is_same_v<std::remove_const_t<Device>, DeviceDescription>
void fields(const Visitor& visit, Device& d) {
  visit("name", d.name);
  visit("cache_bytes", d.cache_bytes);
  visit("copy_alone", d.copy_alone);
  visit("share_by_run", d.share_by_run);
  visit("kernel_s", d.kernel_s);
  visit("node_s", d.node_s);
  visit("event_s", d.event_s);
  visit("flag_raise_s", d.flag_raise_s);
  visit("flag_see_s", d.flag_see_s);
  visit("launch_kernel_s", d.launch_kernel_s);
  visit("launch_fft_s", d.launch_fft_s);
  visit("launch_copy_s", d.launch_copy_s);
  visit("launch_event_s", d.launch_event_s);
  visit("launch_flags_s", d.launch_flags_s);
  visit("launch_graph_s", d.launch_graph_s);
  visit("launch_node_s", d.launch_node_s);
  visit("execution_s", d.execution_s);
  visit("ffts", d.ffts);
  visit("ratios", d.ratios);
  visit("codecs", d.codecs);
}
template <class Visitor, class Rails>
requires std::is_same_v<std::remove_const_t<Rails>, RailsDescription>
void fields(const Visitor& visit, Rails& r) {
  visit("latency_s", r.latency_s);
  visit("part_s", r.part_s);
  visit("bytes_per_s", r.bytes_per_s);
  visit("burst_bytes", r.burst_bytes);
  visit("busy_share", r.busy_share);
}
template <class Visitor, class Link>
requires std::is_same_v<std::remove_const_t<Link>, LinkDescription>
void fields(const Visitor& visit, Link& l) {
  visit("between", l.between);
  visit("carries", l.carries);
  visit("latency_s", l.latency_s);
  visit("part_s", l.part_s);
  visit("bytes_per_s", l.bytes_per_s);
  visit("node_bytes_per_s", l.node_bytes_per_s);
  visit("burst_bytes", l.burst_bytes);
  visit("busy_share", l.busy_share);
  visit("flag_s", l.flag_s);
  visit.optional("share_by_machines", l.share_by_machines);
  visit.optional("rails", l.rails);
}
template <class Visitor, class Machine>
requires std::is_same_v<std::remove_const_t<Machine>, MachineDescription>
void fields(const Visitor& visit, Machine& m) {
  visit("name", m.name);
  visit("source", m.source);
  visit("emulated", m.emulated);
  visit("processor", m.processor);
  visit("device", m.device);
  visit("links", m.links);
}

/// Parts without further parts are on one line each.
std::string indented(const MachineJson& json, const std::string& indent) {
  const auto is_part = [](const MachineJson& v) { return v.is_structured(); };
  if (!json.is_structured() || std::none_of(json.begin(), json.end(), is_part)) return json.dump();
  const bool curve = json.is_array() && json.front().is_array();
  std::string text = json.is_array() ? "[" : "{";
  const char* separator = "";
  for (const auto& [key, value] : json.items()) {
    text += separator;
    text += curve ? "" : "\n " + indent;
    text += (json.is_object() ? MachineJson(key).dump() + ": " : "") + indented(value, indent + " ");
    separator = curve ? ", " : ",";
  }
  return text + (curve ? "" : "\n" + indent) + (json.is_array() ? "]" : "}");
}

}  // namespace

MachineDescription read_machine(const std::string& text) {
  const MachineJson json = MachineJson::parse(text, nullptr, false);
  if (json.is_discarded()) throw Error(operation, "text that is no JSON", "a file of --measure-machine");
  int found = 0;
  const Reader read(json, "");
  read("weft_machine", found);
  if (found != machine_version)
    throw Error(operation, "weft_machine = " + std::to_string(found),
                "version " + std::to_string(machine_version) + ", which this Weft reads");
  MachineDescription machine;
  fields(read, machine);
  check_machine(machine);
  return machine;
}

std::string to_json(const MachineDescription& machine) {
  MachineJson json;
  const Writer write(json);
  write("weft_machine", machine_version);
  fields(write, machine);
  return indented(json, "") + "\n";
}

}  // namespace weft
