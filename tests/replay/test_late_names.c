/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A keyframe has the names that the leaves of its segment get later, and no others. */
#include "engine/replay/late_names.h"

#include <glib.h>

#define N_EVENTS 3000
#define N_NODES 40

/* What a plain account says of one leaf after another. */
typedef struct life {
  uint64_t birth, naming; /* naming: UINT64_MAX without a name */
} life;

typedef struct account {
  GRand *random;
  GArray *lives;            /* (of life) */
  uint64_t births[N_NODES]; /* 1 + the number of node_new, or 0 */
  bool is_leaf[N_NODES];
  bool is_named[N_NODES];
  bool may_cut[N_EVENTS];
} account;

static td_any_event
be_born(account *self, uint32_t node, uint64_t seq) {
  self->births[node] = 1 + seq;
  self->is_leaf[node] = g_rand_boolean(self->random);
  self->is_named[node] = false;
  return (td_any_event){
      .node_new = {.event = {.kind = TD_EVENT_node_new, .size = sizeof(td_event_node_new)},
                   .node = node,
                   .sequence_nr = self->is_leaf[node] ? UINT64_MAX : seq}};
}

static td_any_event
be_named(account *self, uint32_t node, uint64_t seq) {
  if (self->is_leaf[node] && !self->is_named[node])
    g_array_append_val(self->lives, ((life){self->births[node] - 1, seq}));
  self->is_named[node] = true;
  return (td_any_event){
      .node_label = {.event = {.kind = TD_EVENT_node_label, .size = sizeof(td_event_node_label)},
                     .node = node}};
}

static td_any_event
die(account *self, uint32_t node) {
  self->births[node] = 0;
  return (td_any_event){
      .node_free = {.event = {.kind = TD_EVENT_node_free, .size = sizeof(td_event_node_free)},
                    .node = node}};
}

static td_any_event
happen(account *self, uint64_t seq) {
  uint32_t node = (uint32_t)g_rand_int_range(self->random, 0, N_NODES);
  if (!self->births[node]) return be_born(self, node, seq);
  if (g_rand_int_range(self->random, 0, 3) == 0) return die(self, node);
  return be_named(self, node, seq);
}

static void
assert_names(const account *self, const td_late_names *names, uint64_t end) {
  td_keyframe keyframe = {0};
  td_late_names_put(names, &keyframe, end);
  size_t n = 0;
  for (guint i = 0; i < self->lives->len; i++) {
    life life = g_array_index(self->lives, struct life, i);
    if (life.birth >= end || life.naming < end) continue;
    g_assert_cmpuint(n, <, keyframe.n);
    g_assert_cmpuint(keyframe.seqs[n++], ==, life.naming);
  }
  g_assert_cmpuint(n, ==, keyframe.n);
  td_keyframe_fini(&keyframe);
}

static void
test_random_lives(void) {
  account account = {.random = g_rand_new_with_seed(8),
                     .lives = g_array_new(FALSE, FALSE, sizeof(life))};
  td_late_names names = {0};
  for (uint64_t seq = 0; seq < N_EVENTS; seq++) {
    td_any_event event = happen(&account, seq);
    account.may_cut[seq] = g_rand_int_range(account.random, 0, 20) == 0;
    td_late_names_take(&names, &event.event, seq, account.may_cut[seq]);
  }
  g_assert_cmpuint(names.names.n, >, 50);
  g_assert_cmpuint(names.names.n, <, account.lives->len);
  for (uint64_t end = 1; end < N_EVENTS; end++)
    if (account.may_cut[end]) assert_names(&account, &names, end);
  td_late_names_fini(&names);
  g_array_unref(account.lives);
  g_rand_free(account.random);
}

/* What comes of two lists rises, and has all of both. */
static void
test_merge(void) {
  GRand *random = g_rand_new_with_seed(9);
  for (int round = 0; round < 200; round++) {
    td_keyframe lists[2] = {0};
    for (int i = 0; i < 2; i++) {
      uint64_t seq = 0;
      for (int n = g_rand_int_range(random, 0, 20); n > 0; n--) {
        seq += (uint64_t)g_rand_int_range(random, 0, 5);
        td_event_node_label label = {.event = {.kind = TD_EVENT_node_label, .size = sizeof label},
                                     .node = (uint32_t)i};
        td_keyframe_put(&lists[i], &label.event, seq);
      }
    }
    td_keyframe merged = td_keyframe_merge(&lists[0], &lists[1]);
    size_t n = 0, n_of[2] = {0};
    TD_PILE_EACH(&merged.events, event) {
      uint32_t from = ((const td_event_node_label *)event)->node;
      g_assert_cmpuint(merged.seqs[n], ==, lists[from].seqs[n_of[from]++]);
      if (n) g_assert_cmpuint(merged.seqs[n], >=, merged.seqs[n - 1]);
      n++;
    }
    g_assert_cmpuint(n, ==, lists[0].n + lists[1].n);
    td_keyframe_fini(&merged);
    td_keyframe_fini(&lists[0]);
    td_keyframe_fini(&lists[1]);
  }
  g_rand_free(random);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/late-names/random-lives", test_random_lives);
  g_test_add_func("/late-names/merge", test_merge);
  return g_test_run();
}
