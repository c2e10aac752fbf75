/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The operations that a rank hands to its process groups: `collective`. Each back end has a class
 * with a virtual function per operation. Its vtable is filled by relocations, so the observer's
 * functions can stand there. They pass on what they get: references and integers, the same for all
 * versions.
 *
 * The observer counts the operations of each group. preload.c has it attach before the first group
 * is made, so the count is that of the group. */
#pragma once

#include "engine/probe/observer/graph.hpp"

#if TORCH_AT_LEAST(2, 0)
#if __has_include(<torch/csrc/distributed/c10d/Backend.hpp>)
#define HAS_GROUPS 1
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif
#elif __has_include(<torch/csrc/distributed/c10d/ProcessGroup.hpp>)
#define HAS_GROUPS 1
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

#if HAS_GROUPS

#include <tuple>

namespace tapedeck {

#if TORCH_AT_LEAST(2, 0)
using ProcessGroup = c10d::Backend;
#else
using ProcessGroup = c10d::ProcessGroup;
#endif

using Work = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<Tensor>;
using TensorLists = std::vector<Tensors>;
using Sizes = std::vector<int64_t>;

/* A group of this process. */
struct Group {
  uint32_t instance; /* counts the groups of the process; a later one at the same address has
                      * another number */
  std::atomic<uint32_t> n_of_all, n_of_two; /* operations, also while nothing is recorded */
};

struct Groups {
  Registry<Group> list{TD_FORK_RECORDS};
  std::atomic<uint32_t> n{0};

  Group *obtain(const ProcessGroup *group) {
    Group *found = list.find(group);
    return found ? found : list.obtain(group, [&](Group &made) { made.instance = n++; });
  }
  void forget(const ProcessGroup *group) {
    Group *gone = list.find(group);
    if (!gone) return;
    gone->instance = n++;
    gone->n_of_all = gone->n_of_two = 0;
  }
};

extern Groups *groups; /* never freed */

/* The group's name for all its ranks, where this PyTorch has one. */
template <class Any>
auto
name_of_group(const Any *group, int) -> decltype(group->getGroupUid().c_str()) {
  return group->getGroupUid().c_str();
}

template <class Any>
const char *
name_of_group(const Any *, long) {
  return "";
}

/* What an operation works on: its first tensor tells the size. */
struct Handed {
  const Tensor *first;
  size_t n;
};

inline Handed
handed(const Tensor &tensor) {
  return {&tensor, 1};
}

inline Handed
handed(const Tensors &tensors) {
  return {tensors.empty() ? nullptr : tensors.data(), tensors.size()};
}

template <class Options>
Handed
handed(const Options &) {
  return {nullptr, 0}; /* of a barrier */
}

/* The rank that sends to the others or gets from them, in the group's count. */
inline int32_t
peer_in(int peer) {
  return peer;
}

template <class Options>
auto
peer_in(const Options &options) -> decltype(static_cast<int32_t>(options.rootRank)) {
  return static_cast<int32_t>(options.rootRank);
}

inline int32_t
peer_in(...) {
  return -1;
}

/* The group is there before PyTorch's Python knows that: the first operations look for the rank. */
constexpr uint32_t RANK_TRIES = 16;

/* An operation of the thread, from here to the end of the block. One that is part of another is
 * not told. */
class Handing {
public:
  Handing(const ProcessGroup *group, const char *operation, bool is_of_two, Handed what,
          int32_t peer) {
    if (!thread_self) td_probe_name_caller();
    thread = thread_now();
    is_told = !thread->hands;
    if (!is_told) return;
    thread->hands = true;
    tell(group, operation, is_of_two, what, peer);
  }
  ~Handing() {
    if (is_told) thread->hands = false;
  }

private:
  void tell(const ProcessGroup *group, const char *operation, bool is_of_two, Handed what,
            int32_t peer) {
    Group *record = groups->obtain(group);
    if (!record) return;
    uint32_t instance = record->instance;
    uint32_t number = is_of_two ? ++record->n_of_two : ++record->n_of_all;
    const Evaluation *evaluation = thread->evaluation;
    const Task *task = evaluation ? evaluation->task : thread->finishing;
    if (!task && number <= RANK_TRIES) td_probe_find_rank();
    if (!thread->call && !thread->skips) td_probe_begin();
    if (!td_probe_is_on()) return;
    const at::TensorImpl *impl =
        what.first && what.first->defined() ? what.first->unsafeGetTensorImpl() : nullptr;
    EMIT(collective, TIME_NOW, td_probe_intern(operation), td_probe_intern(name_of_group(group, 0)),
         instance, static_cast<uint32_t>(group->getRank()), static_cast<uint32_t>(group->getSize()),
         number, impl ? static_cast<uint64_t>(impl->numel_) : 0,
         impl ? td_probe_intern(dtype_text(impl->data_type_)) : 0, clamp(what.n), peer,
         task ? task->id : TD_NONE, evaluation ? evaluation->id : TD_NONE, task ? 0 : line());
  }

  /* In a pass, the node tells more than the line of the call of backward. */
  uint32_t line() {
    if (!td_own_wants(TD_recorder_work_collectives)) return 0;
    Timed timed(TD_recorder_work_collectives);
    return td_stacks_here();
  }

  Thread *thread;
  bool is_told;
};

/* Whether an operation is of two ranks: send and receive name a rank or a tag, and have no options.
 */
template <class... Arguments>
constexpr bool is_of_two =
    std::is_same<std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>,
                 int>::value;

/* The function that stands in the vtable of one back end for one operation. WHAT and PEER say which
 * arguments tell its tensors and its peer. */
template <class Place, size_t WHAT, size_t PEER, class Result, class... Arguments> struct Handler {
  static void *original;

  static Result call(ProcessGroup *group, Arguments... arguments) {
    auto all = std::tie(arguments...);
    Handing handing(group, Place::operation(), is_of_two<Arguments...>, handed(std::get<WHAT>(all)),
                    peer_in(std::get<PEER>(all)));
    return reinterpret_cast<Result (*)(ProcessGroup *, Arguments...)>(original)(group,
                                                                                arguments...);
  }
};

template <class Place, size_t WHAT, size_t PEER, class Result, class... Arguments>
void *Handler<Place, WHAT, PEER, Result, Arguments...>::original;

/* A group is freed. */
template <class Place> struct Forgetter {
  static void *original;

  static void call(ProcessGroup *group) {
    groups->forget(group);
    reinterpret_cast<void (*)(ProcessGroup *)>(original)(group);
  }
};

template <class Place> void *Forgetter<Place>::original;

/* X(back end, function as mangled, operation, what, peer, result, arguments...) */
#define OPERATIONS(X, backend)                                                                     \
  X(backend, "9allreduce", ALLREDUCE, 0, 1, Work, Tensors &, const c10d::AllreduceOptions &)       \
  X(backend, "16allreduce_sparse", ALLREDUCE_SPARSE, 0, 1, Work, Tensors &,                        \
    const c10d::AllreduceOptions &)                                                                \
  X(backend, "19allreduce_coalesced", ALLREDUCE_COALESCED, 0, 1, Work, Tensors &,                  \
    const c10d::AllreduceCoalescedOptions &)                                                       \
  X(backend, "9broadcast", BROADCAST, 0, 1, Work, Tensors &, const c10d::BroadcastOptions &)       \
  X(backend, "6reduce", REDUCE, 0, 1, Work, Tensors &, const c10d::ReduceOptions &)                \
  X(backend, "9allgather", ALLGATHER, 1, 2, Work, TensorLists &, Tensors &,                        \
    const c10d::AllgatherOptions &)                                                                \
  X(backend, "19allgather_coalesced", ALLGATHER_COALESCED, 1, 2, Work, TensorLists &, Tensors &,   \
    const c10d::AllgatherOptions &)                                                                \
  X(backend, "15_allgather_base", _ALLGATHER_BASE, 1, 2, Work, Tensor &, Tensor &,                 \
    const c10d::AllgatherOptions &)                                                                \
  X(backend, "31allgather_into_tensor_coalesced", ALLGATHER_INTO_TENSOR_COALESCED, 1, 2, Work,     \
    Tensors &, Tensors &, const c10d::AllgatherOptions &)                                          \
  X(backend, "6gather", GATHER, 1, 2, Work, TensorLists &, Tensors &, const c10d::GatherOptions &) \
  X(backend, "7scatter", SCATTER, 0, 2, Work, Tensors &, TensorLists &,                            \
    const c10d::ScatterOptions &)                                                                  \
  X(backend, "14reduce_scatter", REDUCE_SCATTER, 0, 2, Work, Tensors &, TensorLists &,             \
    const c10d::ReduceScatterOptions &)                                                            \
  X(backend, "20_reduce_scatter_base", _REDUCE_SCATTER_BASE, 0, 2, Work, Tensor &, Tensor &,       \
    const c10d::ReduceScatterOptions &)                                                            \
  X(backend, "31reduce_scatter_tensor_coalesced", REDUCE_SCATTER_TENSOR_COALESCED, 0, 2, Work,     \
    Tensors &, Tensors &, const c10d::ReduceScatterOptions &)                                      \
  X(backend, "8alltoall", ALLTOALL, 1, 2, Work, Tensors &, Tensors &,                              \
    const c10d::AllToAllOptions &)                                                                 \
  X(backend, "13alltoall_base", ALLTOALL_BASE, 1, 4, Work, Tensor &, Tensor &, Sizes &, Sizes &,   \
    const c10d::AllToAllOptions &)                                                                 \
  X(backend, "4send", SEND, 0, 1, Work, Tensors &, int, int)                                       \
  X(backend, "4recv", RECV, 0, 1, Work, Tensors &, int, int)                                       \
  X(backend, "13recvAnysource", RECVANYSOURCE, 0, 0, Work, Tensors &, int)                         \
  X(backend, "7barrier", BARRIER, 0, 0, Work, const c10d::BarrierOptions &)                        \
  X(backend, "16monitoredBarrier", MONITORED_BARRIER, 0, 0, void, const c10d::BarrierOptions &,    \
    bool)

/* Their places: a type for each back end and operation. */
#define OPERATION_PLACE(backend, name, word, ...)                                                  \
  struct backend##_##word {                                                                        \
    static const char *operation() {                                                               \
      return #word;                                                                                \
    }                                                                                              \
  };
#define GROUP_PLACES(backend)                                                                      \
  struct backend;                                                                                  \
  OPERATIONS(OPERATION_PLACE, backend)
GROUP_PLACES(Gloo)
GROUP_PLACES(NCCL)
GROUP_PLACES(MPI)
#undef GROUP_PLACES
#undef OPERATION_PLACE

#define GROUP_LIBRARY_Gloo "libtorch_cpu.so"
#define GROUP_LIBRARY_NCCL "libtorch_cuda"
#define GROUP_LIBRARY_MPI "libtorch_cpu.so"
#define GROUP_CLASS_Gloo "_ZN4c10d16ProcessGroupGloo"
#define GROUP_CLASS_NCCL "_ZN4c10d16ProcessGroupNCCL"
#define GROUP_CLASS_MPI "_ZN4c10d15ProcessGroupMPI"

#define OPERATION_HOOK(backend, name, word, what, peer, ...)                                       \
  {GROUP_LIBRARY_##backend,                                                                        \
   GROUP_CLASS_##backend name "E",                                                                 \
   reinterpret_cast<void *>(Handler<backend##_##word, what, peer, __VA_ARGS__>::call),             \
   false,                                                                                          \
   false,                                                                                          \
   &Handler<backend##_##word, what, peer, __VA_ARGS__>::original},
#define GROUP_HOOKS_OF(backend)                                                                    \
  {GROUP_LIBRARY_##backend,                                                                        \
   GROUP_CLASS_##backend "D0Ev",                                                                   \
   reinterpret_cast<void *>(Forgetter<backend>::call),                                             \
   false,                                                                                          \
   true,                                                                                           \
   &Forgetter<backend>::original},                                                                 \
      OPERATIONS(OPERATION_HOOK, backend)
/* For a table of td_relocation. */
#define GROUP_HOOKS GROUP_HOOKS_OF(Gloo) GROUP_HOOKS_OF(NCCL) GROUP_HOOKS_OF(MPI)

/* Whether a back end was found. */
inline bool
groups_are_watched() {
  return Forgetter<Gloo>::original || Forgetter<NCCL>::original || Forgetter<MPI>::original;
}

} // namespace tapedeck

#else

#define GROUP_HOOKS
namespace tapedeck {
inline bool
groups_are_watched() {
  return false;
}
} // namespace tapedeck

#endif
