/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What wrote into tensors in place: the operation and the line, while cuts are watched (cuts.hpp).
 * A version conflict then says what wrote. Any thread. */
#pragma once

#include "engine/probe/observer/operands.hpp"
#include "engine/probe/observer/thread.hpp"
#include "engine/probe/stacks.h"

#include <ATen/SequenceNumber.h>

#include <mutex>

namespace tapedeck {

/* The last writes, by the version counter and the version that they made. An address may be used
 * again. So a write tells how many nodes its thread had made by then: what was saved later is of
 * another tensor. */
class Written {
public:
  struct Write {
    const void *counter;
    uint32_t version, operation, stack;
    uint64_t thread, sequence_nr; /* of the next node then */
  };

  Written() {
    td_probe_guard(mutex.native_handle(), TD_FORK_RECORDS);
  }

  void note(const at::RecordFunction &function) {
    const auto inputs = function.inputs();
    if (inputs.empty()) return;
    Write write = {
        nullptr, 0, 0, 0, at::RecordFunction::currentThreadId(), at::sequence_number::peek()};
    each_tensor(inputs[0], [&](at::TensorImpl *impl) {
      if (impl->is_inference()) return;
      if (!write.counter) {
        write.operation = td_probe_intern(bare_name(function.name()));
        write.stack = td_stacks_here();
      }
      write.counter = impl->version_counter().version_counter_.get();
      write.version = impl->version_counter().current_version() + 1;
      keep(write);
    });
  }

  /* What made a version of a tensor that a node saved; operation 0: not known. */
  Write find(const void *counter, uint32_t version, const Node *saver) {
    std::lock_guard<std::mutex> lock(mutex);
    const Write &write = writes[slot(counter, version)];
    bool is_it = write.counter == counter && write.version == version &&
                 write.thread == saver->thread_id_ && write.sequence_nr > saver->sequence_nr();
    return is_it ? write : Write{};
  }

private:
  static constexpr size_t N = 4096;
  std::mutex mutex;
  Write writes[N] = {}; /* guarded by mutex */

  static size_t slot(const void *counter, uint32_t version) {
    return ((reinterpret_cast<uintptr_t>(counter) >> 4) * 31 + version) % N;
  }

  static const char *bare_name(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
  }

  /* An operation within another one writes the same version, in the same line. */
  void keep(const Write &write) {
    std::lock_guard<std::mutex> lock(mutex);
    Write &kept = writes[slot(write.counter, write.version)];
    bool is_within = kept.counter == write.counter && kept.version == write.version &&
                     kept.stack == write.stack && kept.sequence_nr == write.sequence_nr;
    if (!is_within) kept = write;
  }
};

extern Written *written;

} // namespace tapedeck
