/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where ranks part: the first operation of a process group that its ranks handed differently, or to
 * which one of them did not come. The operations are those of a joined tape, or of several tapes.
 *
 * Note [Who parts]
 * All ranks of a group hand it the same operations, in the same order. So the operations of the
 * same number are compared, group by group; those of two ranks are not, for each rank has others.
 * What an operation lets ranks choose is not compared: sizes of an all-to-all, or of a gather.
 *
 * A rank that is behind may only be late. It is named if its process has ended, unless a signal
 * from outside ended it, or another rank before. Else the others must have waited for a second at
 * least, and twice as long as ever before. If all processes ended well, no rank is named. Of two
 * sides the larger one is right, or else that of the lowest rank. Processes that are gone within
 * two seconds of each other were ended from outside, and so was one that was gone after another one
 * had ended. One that was gone first and alone was not.
 *
 * Sends and receives are counted for each two ranks: messages.h.
 *
 * Of dumps, which have no end, a rank is named without a wait: Note [Dumps] in
 * engine/exchange/flight_dump.h says what of them comes here.
 *
 * Groups without names are those of the same size, if each process has one such group. Nobody can
 * tell if a member of the group has no tape, or if a tape lacks events. Of more than some thousand
 * groups it finds nothing: each process looks for its own group among all.
 *
 * One thread at a time. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/events/event.h"
#include "engine/profile/ranks/messages.h"
#include "engine/profile/ranks/pass_leaves.h"

#include <stdbool.h>

typedef struct td_autopsy_member {
  uint32_t process, instance, rank;
  td_handed last;    /* the latest of all ranks; number 0: none */
  td_handed message; /* the latest of two ranks */
  td_handed other;   /* what it handed where the group parts, if that differs; else number 0 */
} td_autopsy_member;

/* An operation that not all members have come to. */
typedef struct td_autopsy_slot {
  td_handed first; /* as the first member handed it */
  uint32_t n_came;
} td_autopsy_slot;

typedef struct td_autopsy_group {
  const char *name;
  uint32_t size, generation;  /* a later group of the same name has the next generation */
  td_autopsy_member *members; /* (owned) */
  uint32_t n_members, members_capacity;
  td_autopsy_slot *slots; /* (owned) of numbers from n_whole + 1 on */
  uint32_t n_slots, slots_capacity, n_whole;
  uint32_t parts_at; /* number of the first operation that members handed differently, or 0 */
  td_handed one;     /* that operation, as the first member handed it */
  uint64_t longest;  /* time that members of an operation came apart, but for the first one */
  bool is_confused;
} td_autopsy_group;

typedef struct td_autopsy_process {
  bool has_ended;
  bool is_gone; /* it ended and could not say so: no status */
  int32_t status;
  uint64_t end;
  uint32_t n_groups; /* of this process */
} td_autopsy_process;

typedef struct td_autopsy {
  td_autopsy_group *groups; /* (owned) */
  uint32_t n_groups, groups_capacity;
  td_autopsy_process *processes; /* (owned) by number */
  uint32_t n_processes, processes_capacity;
  td_number_map places; /* of (process, instance): 1 + group, 32 bits, and member */
  td_messages messages;
  td_pass_leaves leaves; /* the caller gives them the events of passes */
  bool is_confused;      /* a tape lacks events */
  bool is_of_dumps;      /* the caller's, before the first operation */
} td_autopsy;

/* td_autopsy_take takes an operation of a process, in the order in which the process handed them. A
 * process may begin with any number: what it handed before is not compared. `time` is of a clock of
 * all tapes. `group` is the group's name, or "". */
void td_autopsy_take(td_autopsy *self, uint32_t process, const td_event_collective *event,
                     const char *group, td_handed handed);

/* td_autopsy_end takes the end of a process, td_autopsy_go that it was gone without a word at that
 * time, and td_autopsy_lack that a tape lacks events, but for its end. */
void td_autopsy_end(td_autopsy *self, uint32_t process, int32_t status, uint64_t time);
void td_autopsy_go(td_autopsy *self, uint32_t process, uint64_t time);
void td_autopsy_lack(td_autopsy *self);
void td_autopsy_fini(td_autopsy *self);

/* What is found: `missing` is the index of a member. Of a message, it is the rank that did not send
 * it, and `handed` the receive. */
typedef struct td_parting {
  const td_autopsy_group *group;  /* of the autopsy; NULL: nothing is found */
  const td_message_pair *message; /* a receive got nothing; or NULL */
  uint32_t number;
  bool differs;     /* two handed different operations; else a member did not come */
  bool lacks_end;   /* `missing` was gone too soon to tell to which operations it came before */
  bool has_turned;  /* most members handed what the first of them did not */
  td_handed handed; /* the operation, as most members handed it */
  td_handed other;  /* as `missing` handed it, if it differs */
  uint32_t missing; /* the member that did not come, or handed another operation */
  uint64_t waited;  /* how long others had waited for it */
} td_parting;

/* td_parting_is_with_most tells whether a member handed the operation as most did. */
bool td_parting_is_with_most(const td_parting *self, const td_autopsy_member *member);

/* td_autopsy_find returns the earliest parting. `now` is the end of the tapes. Some may end up to
 * `slack` earlier, and lack what came then. */
td_parting td_autopsy_find(const td_autopsy *self, uint64_t now, uint64_t slack);

/* td_autopsy_ended_by_itself tells whether a process has ended, and no signal from outside did it
 * that ended others too. */
bool td_autopsy_ended_by_itself(const td_autopsy *self, const td_autopsy_process *process);

/* td_autopsy_member_find returns the index of the member that is a rank of the group, or
 * group->n_members. */
uint32_t td_autopsy_member_find(const td_autopsy_group *group, uint32_t rank);
