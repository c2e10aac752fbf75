/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/ranks/autopsy_words.h"

#include "engine/base/alloc.h"
#include "engine/profile/sentence.h"
#include "engine/profile/source_place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMED 4 /* ranks that came, or parameters */

char *
td_autopsy_place(const td_handed *handed) {
  return *handed->stack ? td_source_place(handed->stack) : NULL;
}

/* Where it was handed: a line, or a node of a pass. */
static char *
name_place(const td_autopsy_names *names, uint32_t process, const td_handed *handed) {
  char *place = td_autopsy_place(handed);
  if (place || handed->node == TD_NONE) return place;
  return names->node(names->data, process, handed->node);
}

static const char *
name_peer(const td_handed *handed) {
  if (strcmp(handed->operation, "SEND") == 0) return "to";
  return strncmp(handed->operation, "RECV", 4) == 0 ? "from" : "root";
}

static char *
name_handed(const td_autopsy_names *names, uint32_t process, const td_handed *handed) {
  char *place = name_place(names, process, handed), *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return place ? place : td_dup_string(handed->operation);
  fputs(handed->operation, out);
  if (*handed->dtype) fprintf(out, " %s[%" PRIu64 "]", handed->dtype, handed->elements);
  if (handed->peer >= 0) fprintf(out, " %s=%d", name_peer(handed), (int)handed->peer);
  if (place) fprintf(out, " (%s)", place);
  fclose(out);
  free(place);
  return text;
}

static char *
name_group(const td_autopsy_group *group) {
  return *group->name ? td_said(NULL, TD_SAY_ranks_group, td_with_text("name", group->name))
                      : td_said(NULL, TD_SAY_ranks_group_unnamed, td_with_number("n", group->size));
}

static uint32_t
process_of_receiver(const td_parting *parting) {
  const td_autopsy_group *group = parting->group;
  return group->members[td_autopsy_member_find(group, parting->message->to)].process;
}

/* Those who came to the operation and handed what most did. */
static char *
name_others(const td_parting *parting, const td_autopsy_names *names) {
  const td_autopsy_group *group = parting->group;
  char *list = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < group->n_members; i++) {
    const td_autopsy_member *member = &group->members[i];
    if (!td_parting_is_with_most(parting, member) || ++n > NAMED) continue;
    list = td_list_add(list, TD_SAY_list_next, names->process(names->data, member->process));
  }
  return td_list_more(list, TD_SAY_list_more, n > NAMED ? n - NAMED : 0);
}

/* A process of theirs, whose catalog has the node of the operation. */
static uint32_t
find_one_with_most(const td_parting *parting) {
  uint32_t i = 0;
  while (!td_parting_is_with_most(parting, &parting->group->members[i]))
    i++;
  return parting->group->members[i].process;
}

static void
say_missing(FILE *out, const td_autopsy *self, const td_parting *parting,
            const td_autopsy_names *names) {
  const td_autopsy_group *group = parting->group;
  const td_autopsy_member *missing = &group->members[parting->missing];
  char *who = names->process(names->data, missing->process), *others = name_others(parting, names);
  char *handed = name_handed(names, find_one_with_most(parting), &parting->handed);
  char *in = name_group(group), *time = td_format("%.1f s", (double)parting->waited * 1e-9);
  td_sentence sentence = self->is_of_dumps    ? TD_SAY_ranks_missing_dump
                         : parting->lacks_end ? TD_SAY_ranks_missing_last
                                              : TD_SAY_ranks_missing;
  td_say(out, NULL, sentence, td_with_text("missing", who),
         td_with_number("number", parting->number), td_with_text("group", in),
         td_with_text("operation", handed), td_with_text("others", others),
         td_with_text("time", time));
  free(who);
  free(others);
  free(handed);
  free(in);
  free(time);
}

/* The latest operation of a process, of whatever group. */
static const td_autopsy_group *
find_last(const td_autopsy *self, uint32_t process, td_handed *last) {
  const td_autopsy_group *of = NULL;
  for (uint32_t i = 0; i < self->n_groups; i++)
    for (uint32_t m = 0; m < self->groups[i].n_members; m++) {
      const td_autopsy_member *member = &self->groups[i].members[m];
      bool is_message = member->message.number && member->message.time >= member->last.time;
      const td_handed *own = is_message ? &member->message : &member->last;
      if (member->process != process || (of && own->time < last->time)) continue;
      of = &self->groups[i];
      *last = *own;
    }
  return of;
}

static void
say_last(FILE *out, const td_autopsy *self, uint32_t process, const td_autopsy_names *names) {
  td_handed last;
  const td_autopsy_group *group = find_last(self, process, &last);
  char *who = names->process(names->data, process), *handed = name_handed(names, process, &last);
  char *in = name_group(group);
  td_say(out, NULL, TD_SAY_ranks_last, td_with_text("missing", who),
         td_with_number("number", last.number), td_with_text("group", in),
         td_with_text("operation", handed));
  free(who);
  free(handed);
  free(in);
}

static void
say_end(FILE *out, const td_autopsy *self, const td_autopsy_process *process) {
  if (!td_autopsy_ended_by_itself(self, process)) return;
  if (process->is_gone) {
    td_say_plain(out, TD_SAY_ranks_gone);
    return;
  }
  char *status = td_format("%d", (int)process->status);
  td_say(out, NULL, TD_SAY_ranks_ended, td_with_text("status", status));
  free(status);
}

static void
say_difference(FILE *out, const td_parting *parting, const td_autopsy_names *names) {
  const td_autopsy_group *group = parting->group;
  const td_autopsy_member *other = &group->members[parting->missing];
  char *who = names->process(names->data, other->process), *others = name_others(parting, names);
  char *handed = name_handed(names, find_one_with_most(parting), &parting->handed);
  char *its = name_handed(names, other->process, &parting->other), *in = name_group(group);
  td_say(out, NULL, TD_SAY_ranks_differ, td_with_text("others", others),
         td_with_text("operation", handed), td_with_number("number", parting->number),
         td_with_text("group", in), td_with_text("missing", who), td_with_text("other", its));
  free(who);
  free(others);
  free(handed);
  free(its);
  free(in);
}

/* Of a message that did not come. */
static void
say_unsent(FILE *out, const td_parting *parting, const td_autopsy_names *names) {
  const td_autopsy_group *group = parting->group;
  const td_autopsy_member *sender = &group->members[parting->missing];
  uint32_t receiver = process_of_receiver(parting);
  char *from = names->process(names->data, sender->process);
  char *to = names->process(names->data, receiver), *in = name_group(group);
  char *handed = name_handed(names, receiver, &parting->handed);
  char *time = td_format("%.1f s", (double)parting->waited * 1e-9);
  td_say(out, NULL, TD_SAY_ranks_unsent, td_with_text("to", to), td_with_text("time", time),
         td_with_number("number", parting->number), td_with_text("from", from),
         td_with_text("group", in), td_with_text("operation", handed),
         td_with_number("sent", parting->message->n_sent));
  free(from);
  free(to);
  free(in);
  free(handed);
  free(time);
}

static void
say_unlike(FILE *out, const td_parting *parting, const td_autopsy_names *names) {
  const td_autopsy_group *group = parting->group;
  uint32_t sender = group->members[parting->missing].process;
  uint32_t receiver = process_of_receiver(parting);
  char *from = names->process(names->data, sender), *to = names->process(names->data, receiver);
  char *sent = name_handed(names, sender, &parting->other), *in = name_group(group);
  char *got = name_handed(names, receiver, &parting->handed);
  td_say(out, NULL, TD_SAY_ranks_unlike, td_with_text("from", from), td_with_text("sent", sent),
         td_with_number("number", parting->number), td_with_text("to", to),
         td_with_text("group", in), td_with_text("got", got));
  free(from);
  free(to);
  free(sent);
  free(in);
  free(got);
}

/* A rank of the other side, to compare passes with. */
static uint32_t
find_other_side(const td_parting *parting) {
  return parting->message ? process_of_receiver(parting) : find_one_with_most(parting);
}

static void
say_passes(FILE *out, const td_pass_leaves *leaves, uint32_t missing, uint32_t other,
           const td_autopsy_names *names) {
  uint64_t n = td_pass_leaves_n_begun(leaves, missing), m = td_pass_leaves_n_begun(leaves, other);
  if (n == m) return;
  char *who = names->process(names->data, missing), *others = names->process(names->data, other);
  td_say(out, NULL, TD_SAY_ranks_passes, td_with_text("missing", who), td_with_number("begun", n),
         td_with_text("other", others), td_with_number("more", m));
  free(who);
  free(others);
}

/* The parameters that the latest pass of one rank leads to and that of the other one does not. */
static void
say_unreached(FILE *out, const td_pass_leaves *leaves, uint32_t missing, uint32_t other,
              const td_autopsy_names *names) {
  const char **labels;
  uint32_t n = td_pass_leaves_missing(leaves, missing, other, &labels);
  char *list = NULL;
  for (uint32_t i = 0; i < n && i < NAMED; i++)
    list = td_list_add(list, TD_SAY_list_next, td_dup_string(labels[i]));
  free(labels);
  if (n == 0) return;
  list = td_list_more(list, TD_SAY_list_more, n > NAMED ? n - NAMED : 0);
  char *who = names->process(names->data, missing), *others = names->process(names->data, other);
  td_say(out, NULL, TD_SAY_ranks_unreached, td_with_text("missing", who),
         td_with_text("other", others), td_with_text("parameters", list),
         td_with_number("pass", td_pass_leaves_n_begun(leaves, missing)));
  free(who);
  free(others);
  free(list);
}

static void
say_reasons(FILE *out, const td_autopsy *self, const td_parting *parting,
            const td_autopsy_names *names) {
  uint32_t missing = parting->group->members[parting->missing].process;
  uint32_t other = find_other_side(parting);
  say_passes(out, &self->leaves, missing, other, names);
  if (parting->message) return; /* the stages of a pipeline have other parameters */
  say_unreached(out, &self->leaves, missing, other, names);
  say_unreached(out, &self->leaves, other, missing, names);
}

char *
td_autopsy_text(const td_autopsy *self, const td_parting *parting, const td_autopsy_names *names) {
  uint32_t process = parting->group->members[parting->missing].process;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  if (parting->differs && parting->message)
    say_unlike(out, parting, names);
  else if (parting->differs)
    say_difference(out, parting, names);
  else if (parting->message)
    say_unsent(out, parting, names);
  else
    say_missing(out, self, parting, names);
  if (!parting->differs && !parting->lacks_end) say_last(out, self, process, names);
  if (!parting->differs) say_end(out, self, &self->processes[process]);
  if (parting->lacks_end)
    td_say_plain(out, TD_SAY_ranks_lacks_end);
  else
    say_reasons(out, self, parting, names);
  fclose(out);
  text[0] = (char)toupper((unsigned char)text[0]);
  return text;
}

const char *
td_autopsy_advice(const td_parting *parting) {
  return td_sentence_text(parting->message   ? TD_SAY_ranks_unsent_advice
                          : parting->differs ? TD_SAY_ranks_differ_advice
                                             : TD_SAY_ranks_missing_advice);
}
