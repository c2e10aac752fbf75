/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where ranks part, by operations that are made up: what is found, and above all what is not. */
#include "engine/profile/ranks/autopsy.h"

#include <glib.h>

#define S UINT64_C(1000000000)

/* An operation of a process: its group and rank there are those of the event. */
typedef struct made {
  const char *group, *operation, *dtype;
  uint32_t instance, rank, size, number;
  uint64_t elements, time;
  int32_t peer;
} made;

static void
take(td_autopsy *self, uint32_t process, made one) {
  const td_event_collective event = {
      .instance = one.instance, .rank = one.rank, .size = one.size, .number = one.number};
  const td_handed handed = {.operation = one.operation,
                            .dtype = one.dtype ? one.dtype : "float32",
                            .stack = "",
                            .elements = one.elements,
                            .time = one.time,
                            .number = one.number,
                            .tensors = 1,
                            .node = TD_NONE,
                            .peer = one.peer};
  td_autopsy_take(self, process, &event, one.group ? one.group : "0", handed);
}

/* Three ranks that hand the same to one group, 10 ms apart. */
static void
take_all(td_autopsy *self, uint32_t first, uint32_t end) {
  for (uint32_t number = first; number < end; number++)
    for (uint32_t rank = 0; rank < 3; rank++)
      take(self, rank,
           (made){.operation = "ALLREDUCE",
                  .rank = rank,
                  .size = 3,
                  .number = number,
                  .elements = 8,
                  .time = number * S / 10 + rank * S / 100});
}

static td_parting
find(td_autopsy *self, uint64_t now) {
  return td_autopsy_find(self, now, 0);
}

static void
test_missing(void) {
  td_autopsy self = {0};
  take_all(&self, 1, 5);
  g_assert_null(find(&self, 100 * S).group);
  take(&self, 0, (made){.operation = "BARRIER", .size = 3, .number = 5, .time = S});
  take(&self, 2, (made){.operation = "BARRIER", .rank = 2, .size = 3, .number = 5, .time = S});
  g_assert_null(find(&self, S + S / 2).group); /* it may only be late */
  td_parting found = find(&self, 4 * S);
  g_assert_nonnull(found.group);
  g_assert_false(found.differs);
  g_assert_cmpuint(found.number, ==, 5);
  g_assert_cmpuint(found.group->members[found.missing].process, ==, 1);
  g_assert_cmpuint(found.waited, ==, 3 * S);
  for (uint32_t rank = 0; rank < 3; rank++)
    td_autopsy_end(&self, rank, 0, 4 * S);
  g_assert_null(find(&self, 100 * S).group); /* all ended well */
  td_autopsy_fini(&self);
}

/* Tapes that lack the beginning are compared from where all of them have begun. */
static void
test_late_begin(void) {
  td_autopsy self = {.is_of_dumps = true};
  for (uint32_t rank = 0; rank < 2; rank++)
    for (uint32_t number = rank ? 9 : 7; number < 12; number++)
      take(&self, rank,
           (made){.operation = number == 8 ? "BARRIER" : "ALLREDUCE",
                  .rank = rank,
                  .size = 2,
                  .number = number});
  g_assert_null(find(&self, 100 * S).group);
  take(&self, 0, (made){.operation = "BARRIER", .size = 2, .number = 12});
  td_parting found = find(&self, 0);
  g_assert_nonnull(found.group);
  g_assert_cmpuint(found.number, ==, 12);
  g_assert_cmpuint(found.group->members[found.missing].process, ==, 1);
  take(&self, 1, (made){.operation = "BARRIER", .rank = 1, .size = 2, .number = 14});
  g_assert_null(find(&self, 0).group); /* a number is missing in the middle */
  td_autopsy_fini(&self);
}

/* The ends of dumps are not ends of processes. */
static void
test_dumps_have_no_end(void) {
  td_autopsy self = {.is_of_dumps = true};
  take_all(&self, 1, 5);
  take(&self, 0, (made){.operation = "BARRIER", .size = 3, .number = 5, .time = S});
  for (uint32_t rank = 0; rank < 3; rank++)
    td_autopsy_end(&self, rank, 0, S);
  g_assert_nonnull(find(&self, S).group);
  td_autopsy_fini(&self);
}

/* Each event of a hostile tape may begin a group: then nothing is told, and it costs no square. */
static void
test_many_groups(void) {
  td_autopsy self = {0};
  for (uint32_t i = 0; i < 300000; i++)
    take(&self, 0, (made){.operation = "BARRIER", .instance = i, .size = 2, .number = 1});
  g_assert_cmpuint(self.n_groups, <, 5000);
  td_autopsy_end(&self, 0, 3, S);
  g_assert_null(find(&self, 9 * S).group);
  td_autopsy_fini(&self);
}

/* Ends by a signal from outside say nothing; one that failed does. */
static void
test_ends(void) {
  const struct {
    int status;
    bool found;
  } ends[] = {{0, true}, {3, true}, {134, true}, {143, false}, {130, false}};
  for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
    td_autopsy self = {0};
    take_all(&self, 1, 5);
    td_autopsy_end(&self, 1, ends[i].status, i % 2 ? S - S / 10 : S + S / 20);
    take(&self, 0, (made){.operation = "BARRIER", .size = 3, .number = 5, .time = S});
    take(&self, 2, (made){.operation = "BARRIER", .rank = 2, .size = 3, .number = 5, .time = S});
    td_autopsy_end(&self, 0, 1, S + S / 10);
    td_autopsy_end(&self, 2, 1, S + S / 10);
    g_assert_cmpint(find(&self, 2 * S).group != NULL, ==, ends[i].found);
    td_autopsy_fini(&self);
  }
}

/* A rank that fails because a signal ended another one is not the reason. Of two that failed, the
 * first one is. */
static void
test_followers(void) {
  for (int status = 1; status < 145; status += 142) {
    td_autopsy self = {0};
    take_all(&self, 1, 5);
    take(&self, 2, (made){.operation = "BARRIER", .rank = 2, .size = 3, .number = 5, .time = S});
    td_autopsy_end(&self, 1, status, S + 1);
    td_autopsy_end(&self, 0, 1, S + 2);
    td_autopsy_end(&self, 2, 1, S + 3);
    td_parting found = find(&self, S + 3);
    g_assert_cmpint(found.group != NULL, ==, status == 1);
    if (found.group) g_assert_cmpuint(found.group->members[found.missing].process, ==, 1);
    td_autopsy_fini(&self);
  }
}

/* Rank `odd` hands something else; the others are right, whoever was first. */
static void
test_sides(void) {
  for (uint32_t odd = 0; odd < 3; odd++) {
    td_autopsy self = {0};
    take_all(&self, 1, 3);
    for (uint32_t rank = 0; rank < 3; rank++)
      take(&self, rank,
           (made){.operation = rank == odd ? "BARRIER" : "ALLREDUCE",
                  .rank = rank,
                  .size = 3,
                  .number = 3,
                  .elements = 8,
                  .time = S});
    take(&self, 0, (made){.operation = "GATHER", .size = 3, .number = 4, .time = S});
    td_parting found = find(&self, S);
    g_assert_true(found.differs);
    g_assert_cmpuint(found.number, ==, 3);
    g_assert_cmpuint(found.group->members[found.missing].process, ==, odd);
    g_assert_cmpstr(found.handed.operation, ==, "ALLREDUCE");
    g_assert_cmpstr(found.other.operation, ==, "BARRIER");
    td_autopsy_fini(&self);
  }
}

static bool
parts(made one, made other) {
  td_autopsy self = {0};
  one.size = other.size = 2;
  one.number = other.number = 1;
  other.rank = 1;
  take(&self, 0, one);
  take(&self, 1, other);
  bool found = find(&self, 0).group != NULL;
  td_autopsy_fini(&self);
  return found;
}

static void
test_what_is_compared(void) {
  made a = {.operation = "ALLREDUCE", .elements = 4}, b = a;
  g_assert_false(parts(a, b));
  b.elements = 5;
  g_assert_true(parts(a, b));
  a.operation = b.operation = "ALLTOALL_BASE"; /* each rank has its own sizes */
  g_assert_false(parts(a, b));
  a.operation = b.operation = "ALLGATHER";
  g_assert_false(parts(a, b));
  b = a;
  a.operation = b.operation = "BROADCAST";
  b.peer = 1;
  g_assert_true(parts(a, b));
  b = a;
  b.dtype = "float64";
  g_assert_true(parts(a, b));
  a = (made){.operation = "SEND", .peer = 1}, b = (made){.operation = "RECV"};
  g_assert_false(parts(a, b));
}

/* Groups of other members, groups made again, and groups without names. */
static void
test_groups(void) {
  td_autopsy self = {0};
  for (uint32_t i = 0; i < 4; i++)
    take(&self, i,
         (made){.group = i < 2 ? "1" : "2",
                .operation = i < 2 ? "BARRIER" : "GATHER",
                .rank = i % 2,
                .size = 2,
                .number = 1});
  g_assert_null(find(&self, 100 * S).group);
  for (uint32_t i = 0; i < 2; i++)
    take(&self, i,
         (made){.group = "1",
                .operation = "ALLREDUCE",
                .instance = 1,
                .rank = i,
                .size = 2,
                .number = 1,
                .elements = i});
  g_assert_true(find(&self, 100 * S).differs);
  td_autopsy_fini(&self);
  for (uint32_t n_groups = 1; n_groups < 3; n_groups++) {
    for (uint32_t instance = 0; instance < n_groups; instance++)
      for (uint32_t i = 0; i < 2; i++)
        take(&self, i,
             (made){.group = "",
                    .operation = i ? "BARRIER" : "GATHER",
                    .instance = instance,
                    .rank = i,
                    .size = 2,
                    .number = 1});
    g_assert_cmpint(find(&self, 100 * S).group != NULL, ==, n_groups == 1);
    td_autopsy_fini(&self);
  }
}

/* Processes that are gone without a word: one alone failed, several at the same time were ended. */
static void
test_gone(void) {
  for (int n_gone = 1; n_gone < 4; n_gone++) {
    td_autopsy self = {0};
    take_all(&self, 1, 5);
    take(&self, 0, (made){.operation = "BARRIER", .size = 3, .number = 5, .time = S});
    take(&self, 2, (made){.operation = "BARRIER", .rank = 2, .size = 3, .number = 5, .time = S});
    for (int i = 0; i < n_gone; i++)
      td_autopsy_go(&self, (uint32_t)(1 + i) % 3, S + S / 2 + (uint64_t)i);
    td_parting found = find(&self, S + S / 2 + 9);
    g_assert_cmpint(found.group != NULL, ==, n_gone == 1);
    if (found.group) g_assert_cmpuint(found.group->members[found.missing].process, ==, 1);
    g_assert_cmpint(found.lacks_end, ==, n_gone == 1); /* it may have come, and not said so */
    td_autopsy_fini(&self);
  }
  td_autopsy self = {0}; /* after another one had ended */
  take_all(&self, 1, 5);
  td_autopsy_end(&self, 0, 1, S);
  td_autopsy_go(&self, 1, 2 * S);
  g_assert_true(td_autopsy_ended_by_itself(&self, &self.processes[0]));
  g_assert_false(td_autopsy_ended_by_itself(&self, &self.processes[1]));
  td_autopsy_fini(&self);
  /* all at once, after a long wait */
  take_all(&self, 1, 5);
  take(&self, 0, (made){.operation = "BARRIER", .size = 3, .number = 5, .time = S});
  take(&self, 2, (made){.operation = "BARRIER", .rank = 2, .size = 3, .number = 5, .time = S});
  for (uint32_t i = 0; i < 3; i++)
    td_autopsy_go(&self, i, 9 * S);
  g_assert_cmpuint(find(&self, 9 * S).waited, ==, 8 * S);
  g_assert_false(find(&self, 9 * S).lacks_end);
  td_autopsy_fini(&self);
}

static void
message(td_autopsy *self, uint32_t rank, const char *operation, int peer, uint32_t number,
        uint64_t time) {
  take(self, rank,
       (made){.operation = operation,
              .rank = rank,
              .size = 3,
              .number = number,
              .elements = 4,
              .time = time,
              .peer = peer});
}

/* A receive that no send comes for: of another rank that sent enough, and of one that waits
 * itself, nothing is said. */
static void
test_messages(void) {
  td_autopsy self = {0};
  message(&self, 2, "RECV", 1, 1, 2 * S);
  message(&self, 1, "RECV", 0, 1, S);
  message(&self, 0, "SEND", 1, 1, S);
  message(&self, 1, "RECV", 0, 2, 2 * S);
  g_assert_null(find(&self, 2 * S + S / 2).message); /* 0 may send it yet */
  td_parting found = find(&self, 9 * S);
  g_assert_nonnull(found.message);
  g_assert_cmpuint(found.group->members[found.missing].process, ==, 0);
  g_assert_cmpuint(found.number, ==, 2);
  g_assert_cmpuint(found.message->n_sent, ==, 1);
  g_assert_cmpuint(found.waited, ==, 7 * S);
  td_autopsy_go(&self, 0, 2 * S + 1);
  g_assert_null(find(&self, 2 * S + S / 4).message); /* it may have sent it */
  self.processes[0] = (td_autopsy_process){.n_groups = 1};
  td_autopsy_end(&self, 0, 3, 2 * S);
  g_assert_nonnull(find(&self, 2 * S + S / 4).message); /* it will not */
  take(
      &self, 0,
      (made){.operation = "SEND", .size = 3, .number = 2, .elements = 5, .time = 3 * S, .peer = 1});
  found = find(&self, 2 * S + S / 2);
  g_assert_true(found.differs && found.message);
  g_assert_cmpuint(found.other.elements, ==, 5);
  message(&self, 1, "RECVANYSOURCE", -1, 3, 3 * S);
  g_assert_null(find(&self, 99 * S).message);
  td_autopsy_fini(&self);
}

/* A pass of a process, which leads to the leaves that have names. */
static void
run_pass(td_autopsy *self, uint32_t process, uint32_t graph_task, const char *const *labels) {
  td_any_event begin = {
      .graph_task_begin = {.event.kind = TD_EVENT_graph_task_begin, .graph_task = graph_task}};
  td_pass_leaves_take(&self->leaves, process, &begin, NULL);
  for (uint32_t i = 0; labels[i]; i++) {
    td_any_event label = {.node_label = {.event.kind = TD_EVENT_node_label, .node = i}};
    td_any_event leads = {.dependency = {.event.kind = TD_EVENT_dependency, .node = i}};
    td_pass_leaves_take(&self->leaves, process, &label, labels[i]);
    td_pass_leaves_take(&self->leaves, process, &leads, NULL);
    td_any_event gone = {.node_free = {.event.kind = TD_EVENT_node_free, .node = i}};
    td_pass_leaves_take(&self->leaves, process, &gone, NULL);
  }
  td_any_event end = {
      .graph_task_end = {.event.kind = TD_EVENT_graph_task_end, .graph_task = graph_task}};
  td_pass_leaves_take(&self->leaves, process, &end, NULL);
}

static void
test_leaves(void) {
  td_autopsy self = {0};
  const char **missing;
  run_pass(&self, 0, 1, (const char *const[]){"a", "b", "c", "a", NULL});
  g_assert_cmpuint(td_pass_leaves_missing(&self.leaves, 1, 0, &missing), ==, 0);
  run_pass(&self, 1, 2, (const char *const[]){"a", NULL});
  g_assert_cmpuint(td_pass_leaves_missing(&self.leaves, 1, 0, &missing), ==, 2);
  g_assert_cmpstr(missing[0], ==, "b");
  g_assert_cmpstr(missing[1], ==, "c");
  g_free(missing);
  g_assert_cmpuint(td_pass_leaves_missing(&self.leaves, 0, 1, &missing), ==, 0);
  g_free(missing);
  run_pass(&self, 1, 3, (const char *const[]){"a", NULL}); /* another pass of the two */
  g_assert_cmpuint(td_pass_leaves_missing(&self.leaves, 1, 0, &missing), ==, 0);
  g_assert_cmpuint(td_pass_leaves_n_begun(&self.leaves, 1), ==, 2);
  td_autopsy_fini(&self);
}

/* Nobody can tell without all tapes, or all events. */
static void
test_lacks(void) {
  td_autopsy self = {0};
  take(&self, 0, (made){.operation = "BARRIER", .size = 3, .number = 1});
  take(&self, 1, (made){.operation = "BARRIER", .rank = 1, .size = 3, .number = 1});
  take(&self, 1, (made){.operation = "BARRIER", .rank = 1, .size = 3, .number = 2});
  g_assert_null(find(&self, 100 * S).group);
  take(&self, 2, (made){.operation = "BARRIER", .rank = 2, .size = 3, .number = 1});
  g_assert_nonnull(find(&self, 100 * S).group);
  take(&self, 2, (made){.operation = "GATHER", .rank = 2, .size = 3, .number = 4});
  g_assert_null(find(&self, 100 * S).group);
  td_autopsy_fini(&self);
  take_all(&self, 1, 2);
  take(&self, 0, (made){.operation = "BARRIER", .size = 3, .number = 2});
  td_autopsy_lack(&self);
  g_assert_null(find(&self, 100 * S).group);
  td_autopsy_fini(&self);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/profile/autopsy/gone", test_gone);
  g_test_add_func("/profile/autopsy/messages", test_messages);
  g_test_add_func("/profile/autopsy/leaves", test_leaves);
  g_test_add_func("/profile/autopsy/many_groups", test_many_groups);
  g_test_add_func("/profile/autopsy/missing", test_missing);
  g_test_add_func("/profile/autopsy/late-begin", test_late_begin);
  g_test_add_func("/profile/autopsy/dumps-have-no-end", test_dumps_have_no_end);
  g_test_add_func("/profile/autopsy/ends", test_ends);
  g_test_add_func("/profile/autopsy/followers", test_followers);
  g_test_add_func("/profile/autopsy/sides", test_sides);
  g_test_add_func("/profile/autopsy/what-is-compared", test_what_is_compared);
  g_test_add_func("/profile/autopsy/groups", test_groups);
  g_test_add_func("/profile/autopsy/lacks", test_lacks);
  return g_test_run();
}
