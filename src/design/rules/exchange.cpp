// Which exchange carries every reshape.
#include <algorithm>

#include "base/text.hpp"
#include "design/rules/rules.hpp"
#include "traffic/padding.hpp"

namespace weft {

namespace {

constexpr const char* operation = "plan: option exchange";

int merit(const Offer& offer, const Setting& setting) {
  if (setting.devices && offer.traits.stores) return 3;
  if (offer.overlaps) return 2;
  return packs_nothing(offer.traits) ? 1 : 0;
}

/// The names of the exchanges that could serve, "p2p, alltoallv"; without those that pad if padding has no
/// room.
std::string serving(const Given& given, bool padding_fits = true) {
  std::vector<std::string> names;
  for (const Offer& offer : given.setting.offers)
    if (may_choose(offer, given.wishes, given.setting) && (padding_fits || offer.traits.form != Form::padded))
      names.push_back(offer.name);
  return join(names, ", ");
}

/// What serves beside an exchange that stores: among devices, through pinned memory.
const Offer& find_beside(const Setting& setting) {
  for (const Offer& offer : setting.offers)
    if (offer.why_not.empty() &&
        (setting.devices ? stages(offer.traits) && offer.traits.concurrent : offer.traits.beside_stores))
      return offer;
  throw Error(operation, "direct among some ranks of medium " + setting.medium,
              "an exchange that serves the others beside it");
}

/// What serves the pairs of ranks that an exchange which stores leaves out: those of different machines, or,
/// among devices, those that do not reach each other.
const Offer& find_far(const Offer& stores, const Setting& setting) {
  return stores.traits.gathers ? stores : find_beside(setting);
}

/// Among several machines, what carries parts that a pipeline puts together by itself: an exchange that
/// stores where any ranks share memory, else what would serve beside one.
const Offer& find_for_parts(const Given& given) {
  if (given.setting.any_share_memory())
    for (const Offer& offer : given.setting.offers)
      if (offer.traits.stores && serves(offer, given.wishes, given.setting)) return offer;
  return find_beside(given.setting);
}

/// Whether messages are so short that what counts is how many a machine sends.
bool counts_messages(const Given& given, const Schedule& schedule) {
  constexpr Index most = 8 << 10;
  return given.setting.some_far() && !given.on_device() && message_bytes(given, schedule) < most;
}

const Offer& find_best(const Given& given, bool gathers) {
  const Offer* best = nullptr;
  const auto better = [&](const Offer& a, const Offer& b) {
    if (gathers && a.traits.gathers != b.traits.gathers) return a.traits.gathers;
    return merit(a, given.setting) > merit(b, given.setting);
  };
  for (const Offer& offer : given.setting.offers)
    if (may_choose(offer, given.wishes, given.setting) && !offer.traits.by_name_only &&
        (best == nullptr || better(offer, *best)))
      best = &offer;
  if (best == nullptr) throw Error(operation, "\"auto\"", "auto or one of " + serving(given));
  return *best;
}

const Offer& find_named(const std::string& name, const Given& given) {
  const std::vector<Offer>& offers = given.setting.offers;
  const auto named =
      std::find_if(offers.begin(), offers.end(), [&](const Offer& offer) { return offer.name == name; });
  const std::string quoted = "\"" + name + "\"";
  if (named == offers.end()) throw Error(operation, quoted, "auto or one of " + serving(given));
  if (serves(*named, given.wishes, given.setting)) {
    if (named->missing.empty()) return *named;
    throw Error(operation, quoted + ": " + named->missing, "auto");
  }
  if (!named->why_not.empty())
    throw Error(operation, quoted + named->why_not, "auto or one of " + serving(given));
  if (given.wishes.users_workspace.value)
    throw Error(operation, quoted + " with workspace given by the user",
                "workspace of the plan, or one of " + serving(given));
  throw Error(operation, quoted + " among GPUs that do not reach each other",
              "auto or one of " + serving(given));
}

/// What a pipeline puts together by itself would be packed again by an exchange that packs.
bool pipeline_sends_parts(const Given& given, const Schedule& schedule) {
  return given.setting.several_nodes() && !given.on_device() && !wants_packed(given.wishes, given.setting) &&
         (given.wishes.pipeline.value != "auto" || cuts_messages(given, schedule)) &&
         wished_pipeline(given.wishes, overlapping_pipeline(given.setting)).pipeline->sends_parts;
}

std::string reason_for(const Offer& offer) {
  if (offer.traits.gathers) return "auto: short messages are gathered";
  if (offer.overlaps) return "auto: it moves on while these ranks compute";
  return packs_nothing(offer.traits) ? "auto: nothing is packed" : "auto: it serves these ranks";
}

/// How an exchange that stores serves the pairs of ranks that it leaves out.
std::string far_text(const Offer& stores, const Setting& setting) {
  if (stores.traits.gathers)
    return std::string("one message for each pair of machines") +
           (stores.traits.on_rails ? " on each network" : "");
  const std::string& name = find_beside(setting).name;
  if (!setting.devices) return name + " between machines";
  return "through pinned memory (" + name + ") between " + setting.devices->islands.to_string() + ": " +
         setting.devices->no_peers;
}

std::string reason(const Given& given, const Offer& offer, bool automatic) {
  const Setting& setting = given.setting;
  const Wish<std::vector<std::string>>& wish = given.wishes.exchange;
  std::string text = automatic ? reason_for(offer) : wish.reason();
  if (!setting.closed.sharing.empty()) text += "; not direct: " + setting.closed.sharing;
  if (given.on_device() && !setting.devices->no_peers.empty() && automatic && !offer.traits.stores)
    text += "; not direct: " + setting.devices->no_peers;
  if (given.on_device() && stages(offer.traits))
    text += goes_through_host(offer, given) ? "; through pinned memory" : "; given memory of the GPU";
  if (offer.traits.stores && setting.some_far()) text += "; " + far_text(offer, setting);
  return text;
}

}  // namespace

bool serves(const Offer& offer, const Wishes& wishes, const Setting& setting) {
  if (!offer.why_not.empty() || (offer.traits.own_workspace && wishes.users_workspace.value)) return false;
  if (!offer.traits.stores) return true;
  const bool apart = setting.devices && setting.devices->islands.several();
  return !wishes.users_workspace.value && setting.closed.sharing.empty() &&
         (!apart || wishes.staging.value != Switch::off);
}

bool may_choose(const Offer& offer, const Wishes& wishes, const Setting& setting) {
  // What gathers for other machines is no other plan where there are none.
  return serves(offer, wishes, setting) && (!offer.traits.gathers || setting.some_far()) &&
         (!wants_packed(wishes, setting) || carries_codecs(offer.traits, setting)) &&
         (!wishes.any_varying_codec() || offer.traits.any_length);
}

Offers choose_exchanges(const Given& given, const Schedule& schedule) {
  Offers offers;
  for (const std::string& name : given.wishes.exchange.value)
    offers.push_back(name != "auto" ? &find_named(name, given)
                     : pipeline_sends_parts(given, schedule)
                         ? &find_for_parts(given)
                         : &find_best(given, counts_messages(given, schedule)));
  const Offer* lays = nullptr;
  for (const Offer* offer : offers) {
    if (!lays_workspace(offer->traits)) continue;
    if (offer->traits.stores && offer->traits.form != Form::boxes)
      throw Error(operation, offer->name + ", which stores and says that what goes beside it is packed",
                  "form boxes in its row");
    if (lays != nullptr && lays != offer)
      throw Error(operation, offer->name + " beside " + lays->name,
                  "one exchange that lays the workspace of a plan into memory of its own");
    lays = offer;
  }
  return offers;
}

bool goes_through_host(const Offer& offer, const Given& given) {
  const Switch staging = given.wishes.staging.value;
  if (!stages(offer.traits) || (staging != Switch::on && offer.takes_devices)) return false;
  if (staging == Switch::off)
    throw Error(
        "plan: option staging", "off with exchange " + offer.name,
        given.setting.threads
            ? "auto: this exchange copies on the host"
            : "auto, or a library for it that says that it takes memory of GPUs, which this one does not");
  return true;
}

void take_exchanges(const Given& given, const Offers& offers, Design& design) {
  const Switch staging = given.wishes.staging.value;
  if (!given.on_device() && staging != Switch::automatic)
    throw Error("plan: option staging",
                std::string(staging == Switch::on ? "on" : "off") + " with arrays on the host", "auto");
  const std::vector<std::string>& names = given.wishes.exchange.value;
  const std::size_t reshapes = design.legs[0].size();
  if (names.size() > 1 && names.size() != reshapes)
    throw Error(operation, std::to_string(names.size()) + " exchanges",
                "one for all, or one per reshape, of which there are " + std::to_string(reshapes));
  for (std::size_t j = 0; j < reshapes; ++j) {
    const std::size_t asked = names.size() == 1 ? 0 : j;
    const Offer& offer = *offers[asked];
    const std::string why = reason(given, offer, names[asked] == "auto");
    for (Leg* leg : design.legs_like(static_cast<int>(j))) {
      leg->traits = offer.traits;
      leg->exchange = offer.name;
      leg->exchange_reason = why;
    }
  }
  if (reshapes == 0) return;
  for (const Offer* offer : offers) {
    if (offer->traits.stores && given.setting.some_far())
      design.memory.far = find_far(*offer, given.setting).name;
    if (given.on_device() && goes_through_host(*offer, given)) design.memory.staged.push_back(offer->name);
  }
}

RailSettings choose_rails(const Wishes& wishes) {
  RailSettings rails;
  rails.rails = wishes.rails.value;
  rails.chunk = wishes.chunk.value;
  rails.in_flight = wishes.in_flight.value;
  rails.barrier = wishes.barrier.value;
  rails.rebalance = wishes.rebalance.value;
  rails.one_sided = wishes.one_sided.value;
  return rails;
}

std::string rails_chosen(const Wishes& wishes) {
  std::vector<std::string> chosen;
  const auto add = [&](const char* option, const auto& wish) {
    if (wish.learnt())
      chosen.push_back(option + (" " + std::to_string(wish.value)) + " (" + wish.reason() + ")");
  };
  add("chunk", wishes.chunk);
  add("inflight", wishes.in_flight);
  return join(chosen, ", ");
}

void check_padding(const Given& given, const Design& design) {
  for (const Schedule& schedule : design.schedules) {
    const std::vector<Leg>& legs = design.legs_of(schedule.direction);
    const Placement place(schedule, legs, given.real_size());
    for (std::size_t j = 0; j < legs.size(); ++j) {
      if (legs[j].traits.form != Form::padded) continue;
      const int reshape = static_cast<int>(j);
      const std::string misfit = padding_misfit(place, reshape, exchange_groups(schedule, reshape));
      if (!misfit.empty())
        throw Error(operation,
                    legs[j].exchange + " for reshape " + std::to_string(j + 1) + " of " +
                        name_of(schedule.direction) + ": padding does not fit the workspace, " + misfit,
                    "one of " + serving(given, false));
    }
  }
}

}  // namespace weft
