/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/ranks/autopsy.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define WAITED_NS UINT64_C(1000000000)
#define LONGER 2u /* than ever before */
#define TOGETHER_NS UINT64_C(2000000000)
#define WRITTEN_NS UINT64_C(1000000000)

/* A process of a tape with more groups looks for its group in all of them. */
#define GROUPS_MAX 4096u

/* ---- what is the same for all ranks ---- */

enum { SIZES = 1, PEER = 2 };

static const struct {
  const char *operation;
  int compares;
} compared[] = {
    {"ALLREDUCE", SIZES},
    {"ALLREDUCE_COALESCED", SIZES},
    {"BROADCAST", SIZES | PEER},
    {"REDUCE", SIZES | PEER},
    {"_ALLGATHER_BASE", SIZES},
    {"_REDUCE_SCATTER_BASE", SIZES},
    {"ALLGATHER_INTO_TENSOR_COALESCED", SIZES},
    {"REDUCE_SCATTER_TENSOR_COALESCED", SIZES},
    {"GATHER", PEER},
    {"SCATTER", PEER},
};

static int
compares(const char *operation) {
  for (size_t i = 0; i < TD_N_ELEMENTS(compared); i++)
    if (strcmp(compared[i].operation, operation) == 0) return compared[i].compares;
  return 0;
}

static bool
is_same(const td_handed *a, const td_handed *b) {
  if (strcmp(a->operation, b->operation) != 0) return false;
  int what = compares(a->operation);
  if (what & PEER && a->peer != b->peer) return false;
  if (!(what & SIZES)) return true;
  return a->elements == b->elements && a->tensors == b->tensors && strcmp(a->dtype, b->dtype) == 0;
}

static bool
is_of_two(const char *operation) {
  return strcmp(operation, "SEND") == 0 || strcmp(operation, "RECV") == 0 ||
         strcmp(operation, "RECVANYSOURCE") == 0;
}

/* ---- groups and their members ---- */

static td_autopsy_process *
process_of(td_autopsy *self, uint32_t process) {
  while (self->n_processes <= process) {
    TD_GROW(self->processes, self->n_processes, self->processes_capacity);
    self->processes[self->n_processes++] = (td_autopsy_process){0};
  }
  return &self->processes[process];
}

static bool
has_member(const td_autopsy_group *group, uint32_t process) {
  for (uint32_t i = 0; i < group->n_members; i++)
    if (group->members[i].process == process) return true;
  return false;
}

/* The first group of this name that does not have the process yet. */
static uint32_t
find_group(td_autopsy *self, uint32_t process, const char *name, uint32_t size) {
  uint32_t generation = 0;
  for (uint32_t i = 0; i < self->n_groups; i++) {
    td_autopsy_group *group = &self->groups[i];
    if (group->size != size || strcmp(group->name, name) != 0) continue;
    if (!has_member(group, process)) return i;
    if (!*name) group->is_confused = true;
    generation++;
  }
  TD_GROW(self->groups, self->n_groups, self->groups_capacity);
  self->groups[self->n_groups] = (td_autopsy_group){
      .name = name, .size = size, .generation = generation, .is_confused = !*name && generation};
  return self->n_groups++;
}

static uint64_t
join_group(td_autopsy *self, uint32_t process, const td_event_collective *event, const char *name) {
  uint32_t number = find_group(self, process, name, event->size);
  td_autopsy_group *group = &self->groups[number];
  for (uint32_t i = 0; i < group->n_members; i++)
    group->is_confused |= group->members[i].rank == event->rank;
  TD_GROW(group->members, group->n_members, group->members_capacity);
  group->members[group->n_members] =
      (td_autopsy_member){.process = process, .instance = event->instance, .rank = event->rank};
  process_of(self, process)->n_groups++;
  return (uint64_t)(number + 1) << 32 | group->n_members++;
}

/* ---- operations ---- */

static td_autopsy_slot *
slot_of(td_autopsy_group *group, uint32_t number) {
  while (group->n_whole + group->n_slots < number) {
    TD_GROW(group->slots, group->n_slots, group->slots_capacity);
    group->slots[group->n_slots++] = (td_autopsy_slot){0};
  }
  return &group->slots[number - group->n_whole - 1];
}

/* Operations that all have come to are forgotten. */
static void
drop_whole(td_autopsy_group *group) {
  uint32_t n = 0;
  while (n < group->n_slots && group->slots[n].n_came == group->size)
    n++;
  if (n == 0) return;
  group->n_slots -= n;
  group->n_whole += n;
  memmove(group->slots, group->slots + n, group->n_slots * sizeof *group->slots);
}

/* The first operation that is known of a member: what others handed before it is not compared. */
static void
begin_at(td_autopsy_group *group, uint32_t number) {
  uint32_t n_before = number > group->n_whole ? number - 1 - group->n_whole : 0;
  uint32_t n = TD_MIN(n_before, group->n_slots);
  if (n_before == 0) return;
  group->n_slots -= n;
  group->n_whole += n_before;
  if (group->n_slots)
    memmove(group->slots, group->slots + n, group->n_slots * sizeof *group->slots);
}

static void
part(td_autopsy_group *group, const td_autopsy_slot *slot, td_autopsy_member *member,
     const td_handed *handed) {
  if (!group->parts_at || handed->number < group->parts_at) {
    for (uint32_t i = 0; i < group->n_members; i++)
      group->members[i].other.number = 0;
    group->parts_at = handed->number;
    group->one = slot->first;
  }
  member->other = *handed;
}

static void
note_gap(td_autopsy_group *group, const td_autopsy_slot *slot, const td_handed *handed) {
  uint64_t begin = slot->first.time, end = handed->time;
  uint64_t gap = end > begin ? end - begin : begin - end;
  if (handed->number > 1 && gap > group->longest) group->longest = gap;
}

static void
compare(td_autopsy_group *group, td_autopsy_member *member, const td_handed *handed) {
  if (handed->number <= group->n_whole) return;
  td_autopsy_slot *slot = slot_of(group, handed->number);
  if (slot->n_came == 0)
    slot->first = *handed;
  else if (!is_same(&slot->first, handed))
    part(group, slot, member, handed);
  if (++slot->n_came == group->size) note_gap(group, slot, handed);
  if (handed->time < slot->first.time && !group->parts_at) slot->first = *handed;
}

void
td_autopsy_take(td_autopsy *self, uint32_t process, const td_event_collective *event,
                const char *name, td_handed handed) {
  if (self->is_confused) return;
  if (self->n_groups == GROUPS_MAX) {
    td_autopsy_lack(self);
    return;
  }
  uint64_t *place = td_number_map_put(&self->places, (uint64_t)process << 32 | event->instance);
  if (!*place) *place = join_group(self, process, event, name);
  td_autopsy_group *group = &self->groups[(*place >> 32) - 1];
  td_autopsy_member *member = &group->members[(uint32_t)*place];
  if (is_of_two(handed.operation)) {
    member->message = handed;
    td_messages_take(&self->messages, (uint32_t)(*place >> 32) - 1, member->rank, &handed);
    return;
  }
  if (member->last.number == 0)
    begin_at(group, handed.number);
  else if (handed.number != member->last.number + 1)
    group->is_confused = true;
  member->last = handed;
  if (group->is_confused || (group->parts_at && handed.number > group->parts_at)) return;
  compare(group, member, &handed);
  if (!group->parts_at) drop_whole(group);
}

void
td_autopsy_end(td_autopsy *self, uint32_t process, int32_t status, uint64_t time) {
  if (self->is_of_dumps) return;
  td_autopsy_process *facts = process_of(self, process);
  facts->has_ended = true;
  facts->status = status;
  facts->end = time;
}

void
td_autopsy_go(td_autopsy *self, uint32_t process, uint64_t time) {
  if (self->is_of_dumps) return;
  td_autopsy_end(self, process, -1, time);
  self->processes[process].is_gone = true;
}

void
td_autopsy_lack(td_autopsy *self) {
  self->is_confused = true;
}

/* ---- finding ---- */

static bool
have_ended_well(const td_autopsy *self) {
  for (uint32_t i = 0; i < self->n_processes; i++) {
    const td_autopsy_process *process = &self->processes[i];
    if (process->n_groups && (!process->has_ended || process->status != 0)) return false;
  }
  return true;
}

bool
td_parting_is_with_most(const td_parting *self, const td_autopsy_member *member) {
  bool is_other = self->differs && member->other.number != 0;
  return member->last.number >= self->number && is_other == self->has_turned;
}

/* Whether the side of those who differ from the first member is the right one. */
static bool
has_turned(const td_autopsy_group *group) {
  uint32_t n_first = 0, n_other = 0, lowest = UINT32_MAX;
  bool lowest_is_other = false;
  for (uint32_t i = 0; i < group->n_members; i++) {
    const td_autopsy_member *member = &group->members[i];
    if (member->last.number < group->parts_at) continue;
    bool is_other = member->other.number != 0;
    n_other += is_other;
    n_first += !is_other;
    if (member->rank < lowest) lowest_is_other = is_other;
    if (member->rank < lowest) lowest = member->rank;
  }
  return n_other == n_first ? lowest_is_other : n_other > n_first;
}

static td_parting
find_difference(const td_autopsy_group *group) {
  td_parting found = {.group = group,
                      .number = group->parts_at,
                      .differs = true,
                      .has_turned = has_turned(group),
                      .handed = group->one};
  td_handed other = {0};
  for (uint32_t i = group->n_members; i-- > 0;) {
    const td_autopsy_member *member = &group->members[i];
    if (member->other.number) other = member->other;
    if (member->last.number >= found.number && !td_parting_is_with_most(&found, member))
      found.missing = i;
  }
  found.other = other;
  if (!found.has_turned) return found;
  found.other = found.handed;
  found.handed = other;
  return found;
}

/* Whether what ended `other` may have ended a process that was gone: not if that was long before.
 */
static bool
may_be_ended_with(const td_autopsy_process *process, const td_autopsy_process *other) {
  if (!process->is_gone || !other->has_ended) return false;
  if (other->end <= process->end) return true;
  return other->is_gone && other->end - process->end < TOGETHER_NS;
}

/* SIGHUP, SIGINT and SIGTERM end all ranks at about the same time, and SIGKILL may do so. */
bool
td_autopsy_ended_by_itself(const td_autopsy *self, const td_autopsy_process *process) {
  int32_t status = process->status;
  for (uint32_t i = 0; i < self->n_processes; i++) {
    const td_autopsy_process *other = &self->processes[i];
    if (other != process && other->n_groups && may_be_ended_with(process, other)) return false;
  }
  return process->has_ended && status != 128 + 1 && status != 128 + 2 && status != 128 + 15;
}

/* Whether a rank may have failed because a signal had ended another one. */
static bool
may_follow(const td_autopsy *self, const td_autopsy_process *process) {
  for (uint32_t i = 0; i < self->n_processes; i++) {
    const td_autopsy_process *other = &self->processes[i];
    if (other->n_groups && other->has_ended && !td_autopsy_ended_by_itself(self, other) &&
        other->end <= process->end)
      return true;
  }
  return false;
}

static bool
is_told(const td_autopsy *self, uint32_t missing, uint64_t longest, uint64_t waited) {
  const td_autopsy_process *process = &self->processes[missing];
  if (self->is_of_dumps) return true;
  if (td_autopsy_ended_by_itself(self, process) && !may_follow(self, process)) return true;
  return waited >= WAITED_NS && waited > LONGER * longest;
}

/* How long those who came have waited: until the first of them ended. */
static uint64_t
wait_of(const td_autopsy *self, const td_autopsy_group *group, const td_handed *handed,
        uint64_t now) {
  uint64_t end = now;
  for (uint32_t i = 0; i < group->n_members; i++) {
    const td_autopsy_member *member = &group->members[i];
    const td_autopsy_process *process = &self->processes[member->process];
    if (member->last.number >= handed->number && process->has_ended && process->end < end)
      end = process->end;
  }
  return end > handed->time ? end - handed->time : 0;
}

static uint64_t
end_of(const td_autopsy *self, const td_autopsy_member *member) {
  const td_autopsy_process *process = &self->processes[member->process];
  return process->has_ended ? process->end : UINT64_MAX;
}

/* The recorder writes at least once a second. What came after that may not be on the tape of a
 * process that was gone. */
static bool
may_lack(const td_autopsy_process *missing, const td_handed *handed) {
  return missing->is_gone && missing->end < handed->time + WRITTEN_NS;
}

/* Such a process is missing at the last operation that others came to. */
static void
look_at_last(const td_autopsy *self, td_parting *found) {
  const td_autopsy_group *group = found->group;
  const td_autopsy_process *missing = &self->processes[group->members[found->missing].process];
  if (!may_lack(missing, &found->handed)) return;
  uint32_t last = group->n_slots;
  while (last > 1 && group->slots[last - 1].n_came == 0)
    last--;
  found->lacks_end = true;
  found->number = group->n_whole + last;
  found->handed = group->slots[last - 1].first;
}

/* Of several that did not come, the one that ended first, or the first. */
static td_parting
find_missing(const td_autopsy *self, const td_autopsy_group *group, uint64_t now, uint64_t slack) {
  td_parting found = {0};
  if (group->n_slots == 0 || group->n_members < group->size) return found;
  const td_handed *handed = &group->slots[0].first;
  uint64_t waited = wait_of(self, group, handed, now);
  for (uint32_t i = 0; i < group->n_members; i++) {
    const td_autopsy_member *member = &group->members[i];
    if (member->last.number >= handed->number) continue;
    uint64_t surely = waited > slack ? waited - slack : 0;
    if (!is_told(self, member->process, group->longest, surely)) continue;
    if (found.group && end_of(self, member) >= end_of(self, &group->members[found.missing]))
      continue;
    found = (td_parting){.group = group,
                         .number = handed->number,
                         .handed = *handed,
                         .missing = i,
                         .waited = waited};
  }
  if (found.group) look_at_last(self, &found);
  return found;
}

uint32_t
td_autopsy_member_find(const td_autopsy_group *group, uint32_t rank) {
  uint32_t i = 0;
  while (i < group->n_members && group->members[i].rank != rank)
    i++;
  return i;
}

/* A receive of another size than what was sent. */
static td_parting
find_unlike(const td_autopsy *self, const td_message_pair *pair) {
  td_parting found = {0};
  const td_autopsy_group *group = &self->groups[pair->group];
  uint32_t from = td_autopsy_member_find(group, pair->from);
  if (!pair->differs_at || group->is_confused || from == group->n_members) return found;
  if (td_autopsy_member_find(group, pair->to) == group->n_members) return found;
  return (td_parting){.group = group,
                      .message = pair,
                      .number = pair->differs_at,
                      .differs = true,
                      .handed = pair->got,
                      .other = pair->sent,
                      .missing = from};
}

/* A receive for which the other rank has sent nothing. */
static td_parting
find_unsent(const td_autopsy *self, const td_message_pair *pair, uint64_t now, uint64_t slack) {
  td_parting found = {0};
  const td_autopsy_group *group = &self->groups[pair->group];
  uint32_t from = td_autopsy_member_find(group, pair->from);
  uint32_t to = td_autopsy_member_find(group, pair->to);
  if (group->is_confused || pair->receives.first == pair->receives.n) return found;
  if (from == group->n_members || to == group->n_members) return found;
  const td_handed *handed = &pair->receives.items[pair->receives.first];
  const td_autopsy_process *receiver = &self->processes[group->members[to].process];
  uint64_t end = receiver->has_ended && receiver->end < now ? receiver->end : now;
  uint64_t waited = end > handed->time + slack ? end - handed->time - slack : 0;
  if (!is_told(self, group->members[from].process, pair->longest, waited)) return found;
  if (may_lack(&self->processes[group->members[from].process], handed)) return found;
  return (td_parting){.group = group,
                      .message = pair,
                      .number = pair->n_sent + 1,
                      .handed = *handed,
                      .missing = from,
                      .waited = waited};
}

static uint64_t
key_of_rank(uint32_t group, uint32_t rank) {
  return (uint64_t)group << 32 | rank;
}

/* The ranks that wait for a message: what they do not send is no fault of theirs. */
static void
note_receivers(const td_messages *messages, td_number_map *receivers) {
  for (uint32_t i = 0; i < messages->n; i++) {
    const td_message_pair *pair = &messages->pairs[i];
    if (pair->receives.first < pair->receives.n)
      *td_number_map_put(receivers, key_of_rank(pair->group, pair->to)) = 1;
  }
}

/* The earliest one whose sender waits for no message, or else the earliest one. */
static td_parting
find_message(const td_autopsy *self, uint64_t now, uint64_t slack) {
  td_parting found = {0};
  td_number_map receivers = {0};
  bool found_waits = false;
  note_receivers(&self->messages, &receivers);
  for (uint32_t i = 0; i < self->messages.n && !self->messages.is_confused; i++) {
    const td_message_pair *pair = &self->messages.pairs[i];
    td_parting other = find_unsent(self, pair, now, slack);
    bool waits = td_number_map_find(&receivers, key_of_rank(pair->group, pair->from)) != NULL;
    if (!other.group || (found.group && waits > found_waits)) continue;
    if (found.group && waits == found_waits && other.handed.time >= found.handed.time) continue;
    found = other;
    found_waits = waits;
  }
  td_number_map_fini(&receivers);
  return found;
}

/* A rank may not come to an operation because it waits for a message. */
static bool
explains(const td_parting *message, const td_parting *found) {
  if (!message->group || !found->group) return message->group != NULL;
  return !found->differs || message->handed.time < found->handed.time;
}

td_parting
td_autopsy_find(const td_autopsy *self, uint64_t now, uint64_t slack) {
  td_parting found = {0};
  if (self->is_confused || have_ended_well(self)) return found;
  for (uint32_t i = 0; i < self->n_groups; i++) {
    const td_autopsy_group *group = &self->groups[i];
    if (group->is_confused) continue;
    td_parting other =
        group->parts_at ? find_difference(group) : find_missing(self, group, now, slack);
    if (other.group && (!found.group || other.handed.time < found.handed.time)) found = other;
  }
  td_parting message = find_message(self, now, slack);
  for (uint32_t i = 0; i < self->messages.n && !self->messages.is_confused; i++) {
    td_parting other = find_unlike(self, &self->messages.pairs[i]);
    if (other.group && (!message.group || other.handed.time < message.handed.time)) message = other;
  }
  return explains(&message, &found) ? message : found;
}

void
td_autopsy_fini(td_autopsy *self) {
  for (uint32_t i = 0; i < self->n_groups; i++) {
    free(self->groups[i].members);
    free(self->groups[i].slots);
  }
  free(self->groups);
  free(self->processes);
  td_number_map_fini(&self->places);
  td_messages_fini(&self->messages);
  td_pass_leaves_fini(&self->leaves);
  *self = (td_autopsy){0};
}
