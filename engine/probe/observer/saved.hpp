/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes save for their backward functions.
 *
 * Note [Where nodes keep what they save]
 * Problem: each class of PyTorch's generated code has SavedVariables of its own. Nothing lists
 * them.
 *
 * Constraint: a node gets them in the forward pass, where the observer must cost nothing.
 *
 * Trick: release_variables of such a class calls SavedVariable::reset_data for each of them, clears
 * lists, and touches nothing else. So the observer calls it once for a block of memory that is no
 * node, and notes where reset_data is called instead of calling it. The block has a free mutex of
 * zeros, and then pointers to false elements, each the next. So a list that begins at any word
 * has one group of false elements. If the elements of a group die, a list begins at its word. From
 * then on the places are known, and a pass that announces a node reads them.
 *
 * Custom functions keep a list. The C++ ones have it in their context. Python's have it in the
 * object, at a place that differs between versions: it is found when the first element is made. */
#pragma once

#include "engine/probe/observer/python_object.hpp"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <unordered_map>

namespace tapedeck {

using SavedList = std::vector<SavedVariable>;
using ReleaseVariables = void (*)(Node *self);

/* The beginning of every CppNode. */
struct CppNodeView : Node {
  AutogradContext context;
};

/* A part of a false element that tells of its death. */
struct DeathTeller : SavedVariableHooks {
  bool *is_dead;
  explicit DeathTeller(bool *is_dead) : is_dead(is_dead) {
  }
  ~DeathTeller() override {
    *is_dead = true;
  }
  void call_pack_hook(const Tensor &) override {
  }
  Tensor call_unpack_hook() override {
    return Tensor();
  }
};

/* What measures a class. Guarded by the world's mutex. */
class Measure {
public:
  SavedPlaces of(ReleaseVariables release) {
    found = SavedPlaces{};
    fill();
    release(reinterpret_cast<Node *>(words));
    std::sort(found.offsets, found.offsets + found.n);
    for (size_t i = 0; i < N_GROUPS; i++)
      if (is_dead[i]) note_list(i);
    return found;
  }

  bool has(const void *address) const {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(words) < sizeof words;
  }

  void note(const void *member) {
    if (found.n < SavedPlaces::MOST) found.offsets[found.n++] = offset_of(member);
  }

private:
  /* A group is as long as a number of c10::Scalars: their lists are cleared, too. */
  static constexpr size_t PER_GROUP = 4, N_GROUPS = 512, N_WORDS = 8192;
  static_assert(PER_GROUP * sizeof(SavedVariable) % sizeof(c10::Scalar) == 0, "whole Scalars");
  static constexpr size_t FIRST = sizeof(Node) / sizeof(void *);

  alignas(64) const void *words[N_WORDS];
  SavedVariable *elements = nullptr; /* [N_GROUPS * PER_GROUP], made when first needed */
  bool is_dead[N_GROUPS];
  SavedPlaces found;

  uint16_t offset_of(const void *place) const {
    return static_cast<uint16_t>(static_cast<const char *>(place) -
                                 reinterpret_cast<const char *>(words));
  }

  void revive(size_t group) {
    SavedVariable *first = elements + group * PER_GROUP;
    for (size_t i = 0; i < PER_GROUP; i++)
      new (first + i) SavedVariable();
    first->hooks_ = std::make_unique<DeathTeller>(&is_dead[group]);
    is_dead[group] = false;
  }

  void fill() {
    bool is_new = !elements;
    if (is_new)
      elements = static_cast<SavedVariable *>(operator new((N_GROUPS + 1) * PER_GROUP *
                                                           sizeof(SavedVariable)));
    for (size_t group = 0; group < N_GROUPS; group++)
      if (is_new || is_dead[group]) revive(group);
    for (size_t i = 0; i < N_WORDS; i++)
      words[i] = i < FIRST ? nullptr : elements + std::min(i - FIRST, N_GROUPS) * PER_GROUP;
  }

  void note_list(size_t group) {
    if (found.n_lists < SavedPlaces::MOST_LISTS)
      found.lists[found.n_lists++] = offset_of(&words[FIRST + group]);
  }
};

extern Measure *measure;

inline void
reset_data_hook(SavedVariable *self) {
  if (UNLIKELY(measure->has(self)))
    measure->note(self);
  else
    self->reset_data();
}

inline bool
begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The places of a class that was met for the first time. Under the world's mutex. */
inline SavedPlaces
find_places(const std::type_info &type, void **vtable) {
  SavedPlaces places{};
  const char *name = type.name();
  if (begins_with(name, "N5torch8autograd9generated"))
    return measure->of(
        reinterpret_cast<ReleaseVariables>(vtable[vtable_slot(&Node::release_variables)]));
  if (begins_with(name, "N5torch8autograd7CppNodeI")) places.list = SavedPlaces::IN_CONTEXT;
  if (is_named(type, "N5torch8autograd6PyNodeE")) places.list = SavedPlaces::IN_OBJECT;
  return places;
}

/* Python's custom functions */

/* The last elements that were made, and where in an object a list of such elements is, or 0. An
 * element may be gone, and its address may belong to a list of something else. So what is there
 * must still hold the element's tensor. */
struct PythonLists {
  static constexpr size_t N = 64, FIRST = 48;
  struct Element {
    std::atomic<const SavedVariable *> address;
    std::atomic<const void *> tensor;
  };
  Element made[N];
  std::atomic<uint32_t> n;
  std::atomic<size_t> place;

  void note(const SavedVariable *saved) {
    if (LIKELY(place.load(std::memory_order_relaxed))) return;
    Element &one = made[n++ % N];
    one.tensor = tensor_of(saved);
    one.address = saved;
  }

  static const void *tensor_of(const SavedVariable *saved) {
    return saved->data_.defined() ? saved->data_.unsafeGetTensorImpl() : nullptr;
  }

  bool has(const void *address) const {
    for (const Element &one : made)
      if (address && one.address == address && one.tensor && one.tensor == tensor_of(one.address))
        return true;
    return false;
  }

  /* The list in an object that has one, or NULL. */
  const SavedList *in(const PythonObject *object) {
    const char *bytes = reinterpret_cast<const char *>(object);
    size_t end = static_cast<size_t>(object->type->basic_size);
    for (size_t at = FIRST; !place && at + sizeof(SavedList) <= end; at += sizeof(void *))
      if (has(*reinterpret_cast<void *const *>(bytes + at))) place = at;
    return place ? reinterpret_cast<const SavedList *>(bytes + place) : nullptr;
  }
};

extern PythonLists *python_lists;

/* SavedVariable's constructor, as libtorch_python calls it. */
inline void
saved_variable_hook(SavedVariable *self, const Tensor &tensor, bool is_output, bool on_view) {
  new (self) SavedVariable(tensor, is_output, on_view);
  python_lists->note(self);
}

inline const SavedList *
list_of(Node *node, const SavedPlaces &places) {
  if (LIKELY(places.list == SavedPlaces::NONE)) return nullptr;
  if (places.list == SavedPlaces::IN_CONTEXT)
    return &static_cast<CppNodeView *>(node)->context.saved_variables_;
  const PythonObject *object = python_object(node);
  return object ? python_lists->in(object) : nullptr;
}

/* Calls visit(number, saved) for each that holds a tensor now. */
template <class Visit>
inline void
each_saved(Node *node, const SavedPlaces &places, Visit visit) {
  uint32_t number = 0;
  auto meet = [&](const SavedVariable &saved) {
    if (saved.data_.defined()) visit(number, saved);
    number++;
  };
  auto meet_all = [&](const SavedList *list) {
    for (size_t i = 0; list && i < list->size(); i++)
      meet((*list)[i]);
  };
  const char *bytes = reinterpret_cast<const char *>(node);
  for (uint32_t i = 0; i < places.n; i++)
    meet(*reinterpret_cast<const SavedVariable *>(bytes + places.offsets[i]));
  for (uint32_t i = 0; i < places.n_lists; i++)
    meet_all(reinterpret_cast<const SavedList *>(bytes + places.lists[i]));
  meet_all(list_of(node, places));
}

/* Entries by the address of a counter. A pass brings and takes thousands, so none is an allocation
 * of its own: open addressing, and what follows an erased entry moves up. */
class CounterTable {
public:
  struct Entry {
    const void *counter;
    uint32_t id, n_holders;
  };

  Entry *find(const void *counter) {
    if (slots.empty()) return nullptr;
    Entry &entry = slots[place_of(counter)];
    return entry.counter ? &entry : nullptr;
  }

  /* A new one has no holders yet. */
  Entry &obtain(const void *counter) {
    if (2 * n >= slots.size()) resize(std::max(2 * slots.size(), LEAST));
    Entry &entry = slots[place_of(counter)];
    if (!entry.counter) {
      entry = {counter, 0, 0};
      n++;
    }
    return entry;
  }

  void erase(Entry *entry) {
    size_t mask = slots.size() - 1, hole = static_cast<size_t>(entry - slots.data());
    for (size_t i = (hole + 1) & mask; slots[i].counter; i = (i + 1) & mask) {
      if (((i - home_of(slots[i].counter)) & mask) < ((i - hole) & mask)) continue;
      slots[hole] = slots[i];
      hole = i;
    }
    slots[hole] = {};
    if (--n * 8 < slots.size() && slots.size() > KEPT) resize(slots.size() / 2);
  }

  void clear() {
    std::vector<Entry>().swap(slots);
    n = 0;
  }

private:
  static constexpr size_t LEAST = 256, KEPT = 65536; /* slots; powers of 2 */
  std::vector<Entry> slots;
  size_t n = 0; /* entries: at most half of the slots */

  size_t home_of(const void *counter) const {
    return (reinterpret_cast<uintptr_t>(counter) * 0x9e3779b97f4a7c15u >> 20) & (slots.size() - 1);
  }

  size_t place_of(const void *counter) const {
    size_t i = home_of(counter);
    while (slots[i].counter && slots[i].counter != counter)
      i = (i + 1) & (slots.size() - 1);
    return i;
  }

  void resize(size_t n_slots) {
    std::vector<Entry> old(n_slots);
    old.swap(slots);
    for (const Entry &entry : old)
      if (entry.counter) slots[place_of(entry.counter)] = entry;
  }
};

/* Counters of versions, which tensors and their views share. Each has a number as long as a node on
 * the tape holds such a tensor: then nobody else gets its address. */
class Counters {
public:
  Counters() {
    td_probe_guard(mutex.native_handle(), TD_FORK_RECORDS);
  }

  static const void *of(const SavedVariable &saved) {
    return saved.data_.unsafeGetTensorImpl()->version_counter_.version_counter_.get();
  }

  uint32_t hold(const Node *node, const SavedPlaces &places, const SavedVariable &saved) {
    std::lock_guard<std::mutex> lock(mutex);
    const void *counter = of(saved);
    CounterTable::Entry &entry = entries.obtain(counter);
    if (entry.n_holders++ == 0) entry.id = n++;
    if (places.list == SavedPlaces::IN_OBJECT) of_objects.emplace(node, counter);
    return entry.id;
  }

  uint32_t find(const SavedVariable &saved) {
    std::lock_guard<std::mutex> lock(mutex);
    const CounterTable::Entry *found = entries.find(of(saved));
    return found ? found->id : TD_NONE;
  }

  void drop(Node *node, const SavedPlaces &places) {
    std::lock_guard<std::mutex> lock(mutex);
    if (places.list != SavedPlaces::IN_OBJECT)
      return each_saved(node, places,
                        [&](uint32_t, const SavedVariable &saved) { drop_locked(of(saved)); });
    auto [begin, end] = of_objects.equal_range(node);
    for (auto held = begin; held != end; held++)
      drop_locked(held->second);
    of_objects.erase(begin, end);
  }

  /* Nobody has told what nodes let go of meanwhile. Numbers go on. */
  void forget() {
    std::lock_guard<std::mutex> lock(mutex);
    entries.clear();
    of_objects.clear();
  }

  void clear() {
    forget();
    n = 0;
  }

private:
  std::mutex mutex; /* guards what follows */
  CounterTable entries;
  /* The object of a Python node may be gone when the node dies. */
  std::unordered_multimap<const Node *, const void *> of_objects;
  uint32_t n = 0;

  void drop_locked(const void *counter) {
    CounterTable::Entry *found = entries.find(counter);
    if (found && --found->n_holders == 0) entries.erase(found);
  }
};

extern Counters *counters;

/* A node that is on the tape lets go of what it saved, or dies with it. */
inline void
drop_saved(Node *node, const NodeClass *found) {
  if (found && found->saved.any()) counters->drop(node, found->saved);
}

} // namespace tapedeck
