/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_leaves.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

#define NAMED 2u
#define FORGOTTEN_TOGETHER 64u /* labels, at least */
#define STEPS 3u               /* fewer may be an accident, or a beginning */

void
td_find_leaves_label(td_find_leaves *self, const td_event_node_label *event) {
  *td_number_map_put(&self->labels, event->node) = event->label;
  if (self->labels.n < self->forgotten_at) return;
  td_number_map_forget_zeros(&self->labels);
  self->forgotten_at = TD_MAX(2 * self->labels.n, FORGOTTEN_TOGETHER);
}

void
td_find_leaves_free_node(td_find_leaves *self, uint32_t node) {
  uint64_t *label = td_number_map_find(&self->labels, node);
  if (label) *label = 0;
}

static td_leaf_history *
obtain(td_find_leaves *self, uint32_t name) {
  uint64_t *number = td_number_map_put(&self->numbers, name);
  if (!*number) {
    const uint64_t *owner = td_number_map_find(&self->owned, name);
    TD_GROW(self->items, self->n, self->capacity);
    self->items[self->n++] = (td_leaf_history){.name = name,
                                               .pass = TD_NONE,
                                               .owner = owner ? (uint32_t)*owner - 1 : 0,
                                               .has_owner = owner,
                                               .is_late = owner};
    *number = self->n;
  }
  return &self->items[*number - 1];
}

void
td_find_leaves_look(td_find_leaves *self, const td_event_leaf_look *event) {
  *td_number_map_put(&self->seen, event->node) |= UINT64_C(1) << event->what;
}

#define HOOKED (UINT64_C(1) << 32)

/* PyTorch 1.13 calls hooks of a leaf after its node has begun, and after the look. */
void
td_find_leaves_hook(td_find_leaves *self, const td_event_hook_begin *event) {
  bool may_change = event->kind == TD_hook_kind_tensor_pre || event->kind == TD_hook_kind_pre;
  if (may_change && td_find_leaves_label_of(self, event->node))
    *td_number_map_put(&self->seen, event->node) |= HOOKED;
}

void
td_find_leaves_begin(td_find_leaves *self, uint32_t node) {
  uint64_t *seen = td_number_map_find(&self->seen, node);
  if (seen) *seen &= ~HOOKED;
}

static uint64_t
take_seen(td_find_leaves *self, uint32_t node) {
  uint64_t *found = td_number_map_find(&self->seen, node);
  uint64_t seen = found ? *found : 0;
  if (found) *found = 0;
  if (self->seen.n >= FORGOTTEN_TOGETHER) td_number_map_forget_zeros(&self->seen);
  return seen;
}

static void
note_nonfinite(td_leaf_history *leaf, uint32_t node, uint64_t seen, uint64_t seq) {
  leaf->was_nan |= seen >> TD_leaf_sight_nan & 1;
  leaf->was_inf |= seen >> TD_leaf_sight_inf & 1;
  bool is_bad = seen & (1u << TD_leaf_sight_nan | 1u << TD_leaf_sight_inf);
  if (is_bad && !leaf->n_bad++) {
    leaf->bad_node = node;
    leaf->bad_seq = seq;
  }
}

/* Values of the pass before count no longer. */
static void
enter_pass(td_leaf_history *leaf, uint32_t pass) {
  if (leaf->pass == pass) return;
  leaf->pass = pass;
  if (!leaf->was_nan && !leaf->was_inf) leaf->n_bad = 0;
  leaf->was_nan = leaf->was_inf = false;
}

void
td_find_leaves_store(td_find_leaves *self, const td_event_accumulate *event, uint64_t seq) {
  uint64_t seen = take_seen(self, event->node);
  bool is_known = !(seen & HOOKED); /* what was looked at is what was stored */
  td_leaf_history *leaf = obtain(self, td_find_leaves_label_of(self, event->node));
  enter_pass(leaf, event->graph_task);
  leaf->node = event->node;
  leaf->was_idle |= leaf->n_idle > 1;
  leaf->n_idle = leaf->missing_step = leaf->frozen_step = 0;
  if (!leaf->n_stores++) leaf->seq = seq;
  if (is_known) note_nonfinite(leaf, event->node, seen, seq);
  leaf->n_zeros += is_known && seen >> TD_leaf_sight_zero & 1;
  leaf->n_now++;
  leaf->n_filled_now += is_known && !(seen >> TD_leaf_sight_zero & 1);
  if (seen >> TD_leaf_sight_kept & 1) {
    leaf->n_kept_now++;
    leaf->kept_seq = seq;
  }
}

void
td_find_leaves_own(td_find_leaves *self, const td_event_optimizes *event) {
  uint64_t *owned = td_number_map_put(&self->owned, event->name);
  const uint64_t *number = td_number_map_find(&self->numbers, event->name);
  td_leaf_history *leaf = number ? &self->items[*number - 1] : NULL;
  bool is_shared = *owned && *owned != 1 + (uint64_t)event->optimizer;
  *owned = 1 + (uint64_t)event->optimizer;
  if (!leaf) return;
  leaf->is_shared |= is_shared;
  leaf->has_owner = true;
  leaf->owner = event->optimizer;
}

/* Gradients that a program clears are cleared by one store at least between two steps of their own
 * optimizer. Others may come in between: a generator's pass stores into the discriminator too. */
static void
end_step(td_leaf_history *leaf) {
  bool counts = leaf->is_counting && leaf->n_now;
  bool is_kept = counts && leaf->n_kept_now == leaf->n_now;
  leaf->n_steps += counts;
  if (is_kept && !leaf->n_kept_steps++) leaf->first_kept_seq = leaf->kept_seq;
  leaf->is_counting = true;
  leaf->n_now = leaf->n_kept_now = leaf->n_filled_now = 0;
}

static td_step_history *
obtain_steps(td_find_leaves *self, uint32_t optimizer) {
  uint64_t *number = td_number_map_put(&self->steppers, optimizer);
  if (!*number) {
    TD_GROW(self->steps, self->n_steppers, self->steps_capacity);
    self->steps[self->n_steppers++] = (td_step_history){0};
    *number = self->n_steppers;
  }
  return &self->steps[*number - 1];
}

void
td_find_leaves_empty(td_find_leaves *self, const td_event_step_empty *event, uint64_t seq) {
  td_step_history *steps = obtain_steps(self, event->optimizer);
  for (uint32_t i = 0; i < self->n; i++) {
    const td_leaf_history *leaf = &self->items[i];
    bool is_own = leaf->has_owner && leaf->owner == event->optimizer && !leaf->is_shared;
    if (!is_own || !leaf->n_filled_now) continue;
    if (!steps->n_empty++) {
      steps->seq = seq;
      steps->leaf = i;
    }
    return;
  }
}

/* Who freezes parameters for the step alone has just stored into them. */
void
td_find_leaves_freeze(td_find_leaves *self, const td_event_frozen_step *event, uint64_t seq) {
  const uint64_t *number = td_number_map_find(&self->numbers, event->name);
  td_leaf_history *leaf = number ? &self->items[*number - 1] : NULL;
  if (!leaf || leaf->frozen_step || !leaf->n_idle) return;
  leaf->frozen_step = event->step;
  leaf->frozen_seq = seq;
}

void
td_find_leaves_step(td_find_leaves *self, uint32_t optimizer) {
  obtain_steps(self, optimizer)->n_steps++;
  for (uint32_t i = 0; i < self->n; i++)
    if (self->items[i].has_owner && self->items[i].owner == optimizer) {
      end_step(&self->items[i]);
      self->items[i].n_idle++;
    }
}

void
td_find_leaves_lose(td_find_leaves *self, const td_event_gradient_missing *event, uint64_t seq) {
  const uint64_t *number = td_number_map_find(&self->numbers, event->name);
  td_leaf_history *leaf = number ? &self->items[*number - 1] : NULL;
  if (!leaf || leaf->missing_step) return;
  leaf->missing_step = event->step;
  leaf->missing_seq = seq;
}

void
td_find_leaves_miss(td_find_leaves *self, uint32_t name) {
  *td_number_map_put(&self->orphans, name) = 1;
}

void
td_find_leaves_interrupt(td_find_leaves *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    self->items[i].is_counting = false;
    self->items[i].n_now = self->items[i].n_kept_now = self->items[i].n_filled_now = 0;
  }
}

uint32_t
td_find_leaves_label_of(const td_find_leaves *self, uint32_t node) {
  const uint64_t *label = td_number_map_find(&self->labels, node);
  return label ? (uint32_t)*label : 0;
}

uint32_t
td_find_leaves_owner(const td_find_leaves *self, uint32_t node) {
  uint32_t label = td_find_leaves_label_of(self, node);
  const uint64_t *number = label ? td_number_map_find(&self->numbers, label) : NULL;
  const td_leaf_history *leaf = number ? &self->items[*number - 1] : NULL;
  return leaf && leaf->has_owner && !leaf->is_shared ? 1 + leaf->owner : 0;
}

/* ---- layers behind a ReLU ---- */

static bool
is_zero(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->name && leaf->n_stores >= STEPS && leaf->n_zeros == leaf->n_stores;
}

static bool
is_turned(const td_catalog_node *node) {
  return !strcmp(node->name, "TBackward0") || !strcmp(node->name, "TransposeBackward0");
}

static bool
is_relu(const td_catalog_node *node) {
  return !strcmp(node->name, "ReluBackward0");
}

#define USERS 8u /* of a leaf, the latest ones: its node may live for many passes */

/* The node that hands its gradient to this one by one of its edges, from the last one on. */
static const td_catalog_node *
giver_at(const td_catalog *catalog, const td_catalog_node *node, uint32_t at) {
  uint32_t edge = catalog->in_edges[node->first_in + node->n_in - 1 - at];
  return td_catalog_node_find(catalog, catalog->edges[edge].from);
}

/* The only one, or NULL. */
static const td_catalog_node *
giver_of(const td_catalog *catalog, const td_catalog_node *node) {
  return node && node->n_in == 1 ? giver_at(catalog, node, 0) : NULL;
}

/* The node that used a leaf, as it is or transposed; or NULL. */
static const td_catalog_node *
user_at(const td_catalog *catalog, const td_catalog_node *leaf, uint32_t at) {
  const td_catalog_node *user = giver_at(catalog, leaf, at);
  return user && is_turned(user) ? giver_of(catalog, user) : user;
}

static uint32_t
count_users(const td_catalog_node *leaf) {
  return leaf ? TD_MIN(leaf->n_in, USERS) : 0;
}

static bool
is_of_layer(const td_catalog *catalog, const td_leaf_history *leaf, const td_catalog_node *layer) {
  const td_catalog_node *node = leaf->name ? td_catalog_node_find(catalog, leaf->node) : NULL;
  for (uint32_t i = 0; i < count_users(node); i++)
    if (user_at(catalog, node, i) == layer) return true;
  return false;
}

/* The last layer that used this leaf, if a ReLU alone hands its gradient to each of them; or NULL.
 */
static const td_catalog_node *
layer_behind_relu(const td_catalog *catalog, uint32_t leaf) {
  const td_catalog_node *node = td_catalog_node_find(catalog, leaf);
  for (uint32_t i = 0; i < count_users(node); i++) {
    const td_catalog_node *giver = giver_of(catalog, user_at(catalog, node, i));
    if (!giver || !is_relu(giver)) return NULL;
  }
  return count_users(node) ? user_at(catalog, node, 0) : NULL;
}

/* What the ReLU gave out was zero if the weight that was multiplied with it got zeros, though the
 * bias beside got others. Returns 1 + the item of that one, or 0. */
static uint32_t
find_alive(const td_find_leaves *self, const td_catalog *catalog, const td_catalog_node *relu) {
  const td_catalog_node *layer = giver_of(catalog, relu);
  uint32_t alive = 0, n_zero = 0;
  for (uint32_t i = 0; layer && i < self->n; i++) {
    const td_leaf_history *leaf = &self->items[i];
    if (!is_of_layer(catalog, leaf, layer)) continue;
    if (is_zero(self, leaf))
      n_zero++;
    else
      alive = 1 + i;
  }
  return n_zero ? alive : 0;
}

/* With inputs of 0, a layer's weight gets zeros and its bias does not. */
static bool
are_all_zero(const td_find_leaves *self, const td_catalog *catalog, const td_catalog_node *layer) {
  for (uint32_t i = 0; i < self->n; i++) {
    const td_leaf_history *leaf = &self->items[i];
    if (!is_zero(self, leaf) && is_of_layer(catalog, leaf, layer)) return false;
  }
  return true;
}

static void
learn_dead(td_find_leaves *self, const td_catalog *catalog, td_leaf_history *leaf) {
  const td_catalog_node *layer = layer_behind_relu(catalog, leaf->node);
  const td_catalog_node *relu = giver_of(catalog, layer);
  bool may_be = layer && are_all_zero(self, catalog, layer);
  leaf->alive = may_be ? find_alive(self, catalog, relu) : 0;
  if (!leaf->alive || self->relu) return;
  self->relu = 1 + relu->id;
  self->relu_name = td_why_name_node_of(relu);
  self->relu_line = td_finding_line(relu);
}

#define LEAVES_MAX 1000u /* each zero one is compared with all */

void
td_find_leaves_learn(td_find_leaves *self, const td_catalog *catalog) {
  for (uint32_t i = 0; i < self->n && self->n <= LEAVES_MAX; i++) {
    td_leaf_history *leaf = &self->items[i];
    if (is_zero(self, leaf) && !leaf->alive) learn_dead(self, catalog, leaf);
  }
}

/* ---- telling ---- */

typedef bool (*is_meant)(const td_find_leaves *self, const td_leaf_history *leaf);

static bool
is_nonfinite(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->was_nan || leaf->was_inf;
}

static bool
is_never_cleared(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->name && !leaf->is_shared && leaf->n_kept_steps >= STEPS &&
         2 * leaf->n_kept_steps > leaf->n_steps;
}

/* A gradient came later: to this layer, or to one behind the same layer. */
static bool
has_revived(const td_find_leaves *self, uint32_t alive) {
  for (uint32_t i = 0; i < self->n; i++)
    if (self->items[i].alive == alive && !is_zero(self, &self->items[i])) return true;
  return false;
}

static bool
is_dead(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->alive && !has_revived(self, leaf->alive);
}

static bool
has_no_owner(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->name && leaf->n_stores >= STEPS && !leaf->has_owner;
}

/* Where a program chooses among parameters, as a mixture of experts does, others come late. */
static bool
are_chosen(const td_find_leaves *self, uint32_t owner) {
  for (uint32_t i = 0; i < self->n; i++) {
    const td_leaf_history *leaf = &self->items[i];
    if (leaf->has_owner && leaf->owner == owner && (leaf->is_late || leaf->was_idle)) return true;
  }
  return false;
}

static bool
is_lost(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->name && leaf->missing_step && leaf->n_idle >= STEPS && leaf->has_owner &&
         !leaf->is_shared && !are_chosen(self, leaf->owner);
}

static bool
is_frozen(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->name && leaf->frozen_step && !leaf->is_shared;
}

/* A parameter that a list or a dict of a module has is called "Net.layers[2].weight". What a list
 * of the program itself has lacks the first name. */
static bool
is_in_list(const td_find_leaves *self, const td_leaf_history *leaf) {
  if (!has_no_owner(self, leaf)) return false;
  const char *name = td_tape_string(self->tape, leaf->name), *bracket = strchr(name, '[');
  const char *dot = strchr(name, '.');
  return bracket && dot && dot < bracket;
}

static bool
has_owner(const td_find_leaves *self, const td_leaf_history *leaf) {
  return leaf->has_owner;
}

static uint32_t
count(const td_find_leaves *self, is_meant is_one, const td_leaf_history **first) {
  uint32_t n = 0;
  *first = NULL;
  for (uint32_t i = 0; i < self->n; i++) {
    if (!is_one(self, &self->items[i])) continue;
    if (!n++) *first = &self->items[i];
  }
  return n;
}

/* "a, b and 3 more" */
static char *
list_names(const td_find_leaves *self, is_meant is_one, td_tape *tape) {
  char *list = td_dup_string("");
  uint32_t n = 0;
  for (uint32_t i = 0; i < self->n; i++) {
    const td_leaf_history *leaf = &self->items[i];
    if (!is_one(self, leaf) || n++ >= NAMED) continue;
    char *name = leaf->name ? td_line_dup(td_tape_string(tape, leaf->name), TD_NAME_SHOWN)
                            : td_dup_string(td_translate("a leaf without a name"));
    char *longer = td_format("%s%s%s", list, n > 1 ? ", " : "", name);
    free(name);
    free(list);
    list = longer;
  }
  if (n <= NAMED) return list;
  char *whole = td_format(td_translate("%s and %u more"), list, n - NAMED);
  free(list);
  return whole;
}

/* Takes the text. */
static void
add(td_findings *findings, td_finding_kind kind, uint64_t seq, uint32_t node, char *text,
    const char *advice) {
  td_findings_add(findings, (td_finding){.kind = kind,
                                         .seq = seq,
                                         .node = node,
                                         .n = 1,
                                         .text = text,
                                         .advice = td_dup_string(td_translate(advice))});
}

char *
td_find_leaves_dup_nonfinite(const td_find_leaves *self, td_tape *tape) {
  const td_leaf_history *first;
  return count(self, is_nonfinite, &first) ? list_names(self, is_nonfinite, tape) : NULL;
}

char *
td_find_leaves_dup_zeros(const td_find_leaves *self, td_tape *tape, const td_leaf_history **first) {
  uint32_t n = count(self, is_zero, first);
  return n && n == self->n ? list_names(self, is_zero, tape) : NULL;
}

/* A search for births says more. */
void
td_find_leaves_tell_nonfinite(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  const td_leaf_history *first;
  bool has_nan = false;
  if (strcmp(findings->looked_for, "nonfinite") == 0) return;
  if (!count(self, is_nonfinite, &first)) return;
  for (uint32_t i = 0; i < self->n; i++) {
    const td_leaf_history *leaf = &self->items[i];
    has_nan |= leaf->was_nan;
    if (is_nonfinite(self, leaf) && leaf->bad_seq < first->bad_seq) first = leaf;
  }
  char *names = list_names(self, is_nonfinite, tape);
  char *text = td_format(td_translate("The last gradient of %s has %s. In %u stores on end it was "
                                      "not finite."),
                         names, has_nan ? "NaN" : "Inf", first->n_bad);
  free(names);
  add(findings, TD_FINDING_nonfinite_stored, first->bad_seq, first->bad_node, text,
      TD_N("Where it was born is not known: the recording looked at what leaves store, and no "
           "further. tapedeck record --anomaly nonfinite finds the place."));
}

static void
tell_never_cleared(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  const td_leaf_history *first;
  if (!count(self, is_never_cleared, &first)) return;
  char *names = list_names(self, is_never_cleared, tape);
  char *text =
      td_format(td_translate("When their optimizer made its steps, new gradients had been "
                             "added to what %s still held, and that was not zero: at %u of "
                             "%u steps that were compared."),
                names, first->n_kept_steps, first->n_steps);
  free(names);
  add(findings, TD_FINDING_never_cleared, first->first_kept_seq, first->node, text,
      TD_N("Each step then also uses what was there before. If that is not meant, call "
           "zero_grad() of the optimizer once for each of its steps."));
}

static void
tell_dead(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  const td_leaf_history *first;
  if (!count(self, is_dead, &first)) return;
  char *names = list_names(self, is_dead, tape);
  char *alive =
      td_line_dup(td_tape_string(tape, self->items[first->alive - 1].name), TD_NAME_SHOWN);
  char *text = td_format(td_translate("All gradients of %s were zero, %u times for each. %s, which "
                                      "hands gradients on to them, passed nothing on."),
                         names, first->n_stores, self->relu_name);
  char *advice = td_format(
      td_translate(
          "%s got other gradients than zero, but the weight beside it did not. So all results of "
          "the "
          "ReLU that count for the loss were 0: none of these inputs was above 0, where alone it "
          "passes gradients on. A bias far below 0, or inputs of a wrong scale do that."),
      alive);
  td_findings_add(findings,
                  (td_finding){.kind = TD_FINDING_dead_layer,
                               .seq = first->seq,
                               .node = self->relu - 1,
                               .n = 1,
                               .text = text,
                               .advice = advice,
                               .line = self->relu_line ? td_dup_string(self->relu_line) : NULL});
  free(alive);
  free(names);
}

/* Owned parameters without a name must all lack a gradient: else a nameless one may be any leaf. */
static uint32_t
count_orphans(const td_find_leaves *self, td_tape *tape) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < self->owned.n; i++) {
    uint64_t name = self->owned.entries[i].key;
    bool is_nameless = !strncmp(td_tape_string(tape, (uint32_t)name), "parameter ", 10);
    if (!is_nameless) continue;
    if (!td_number_map_find(&self->orphans, name)) return 0;
    n++;
  }
  return n;
}

const td_number_map *
td_find_leaves_replaced(const td_find_leaves *self, td_tape *tape) {
  const td_leaf_history *first;
  uint32_t n_orphans = count_orphans(self, tape);
  return n_orphans && count(self, has_no_owner, &first) == n_orphans ? &self->owned : NULL;
}

static void
tell_other_parameters(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  const td_leaf_history *first;
  uint32_t n_orphans = count_orphans(self, tape);
  if (!n_orphans || count(self, has_no_owner, &first) != n_orphans) return;
  char *names = list_names(self, has_no_owner, tape);
  char *text = td_format(td_translate("No optimizer has %s, whose gradients were stored. Instead, "
                                      "%u parameters of an optimizer belong to no module and had "
                                      "no gradient at its first step."),
                         names, n_orphans);
  free(names);
  add(findings, TD_FINDING_other_parameters, first->seq, first->node, text,
      TD_N("The optimizer seems to have parameters that the program has replaced since. Make the "
           "optimizer after the last change of the module's parameters."));
}

static void
tell_lost(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  const td_leaf_history *first;
  if (!count(self, is_lost, &first)) return;
  char *names = list_names(self, is_lost, tape);
  char *text = td_format(td_translate("%s had a gradient at first, but none at step %u of the "
                                      "optimizer, nor later."),
                         names, first->missing_step);
  free(names);
  add(findings, TD_FINDING_gradient_lost, first->missing_seq, first->node, text,
      TD_N("It still requires a gradient. In the later steps the loss did not depend on it, or an "
           "operation without a gradient cut it off. If that is meant, requires_grad_(False) says "
           "so."));
}

static void
tell_unowned(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  const td_leaf_history *first, *owned;
  if (!count(self, has_owner, &owned) || !count(self, is_in_list, &first)) return;
  char *names = list_names(self, is_in_list, tape);
  char *text =
      td_format(td_translate("No optimizer has %s, whose gradients were stored %u times or "
                             "more. A Python list or dict of the module has them."),
                names, STEPS);
  free(names);
  add(findings, TD_FINDING_unowned, first->seq, first->node, text,
      TD_N("parameters() does not look into lists and dicts, so an optimizer that is made of it "
           "does "
           "not change these. Make them nn.ModuleList, nn.ModuleDict or nn.ParameterList, or give "
           "them to an optimizer."));
}

static void
tell_frozen(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  const td_leaf_history *first;
  if (!count(self, is_frozen, &first)) return;
  char *names = list_names(self, is_frozen, tape);
  char *text =
      td_format(td_translate("%s required no gradient at step %u of the optimizer, nor got "
                             "one later. But its .grad from before was still there."),
                names, first->frozen_step);
  free(names);
  add(findings, TD_FINDING_frozen_step, first->frozen_seq, first->node, text,
      TD_N(
          "An optimizer changes each parameter whose .grad is not None. If that is zero, momentum, "
          "weight decay and the averages of Adam change the parameter still. Set its .grad to None "
          "when you freeze it."));
}

/* Steps that the recorder looks at: the first ones, and each whose number is a power of two. Which
 * parameters an optimizer has is not known at the first one. */
static uint32_t
count_looks(uint32_t n_steps) {
  uint32_t n = 0;
  for (uint32_t step = 2; step <= n_steps; step++)
    n += step < 4 || !(step & (step - 1));
  return n;
}

static bool
is_empty(const td_step_history *steps) {
  return steps->n_empty >= 2 && steps->n_empty == count_looks(steps->n_steps);
}

static void
tell_empty(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  for (uint32_t i = 0; i < self->n_steppers; i++) {
    const td_step_history *steps = &self->steps[i];
    if (!is_empty(steps)) continue;
    const td_leaf_history *leaf = &self->items[steps->leaf];
    char *name = td_line_dup(td_tape_string(tape, leaf->name), TD_NAME_SHOWN);
    char *text =
        td_format(td_translate("No parameter of an optimizer had a gradient other than zero "
                               "when the optimizer made its steps. Backward passes had "
                               "stored others before, as for %s."),
                  name);
    free(name);
    add(findings, TD_FINDING_cleared_early, steps->seq, leaf->node, text,
        TD_N("Something cleared them in between, so no step used them. Call zero_grad() before "
             "backward() or after step(), not between the two."));
    return;
  }
}

void
td_find_leaves_tell(const td_find_leaves *self, td_tape *tape, td_findings *findings) {
  tell_never_cleared(self, tape, findings);
  tell_dead(self, tape, findings);
  tell_other_parameters(self, tape, findings);
  tell_lost(self, tape, findings);
  tell_unowned(self, tape, findings);
  tell_frozen(self, tape, findings);
  tell_empty(self, tape, findings);
}

void
td_find_leaves_fini(td_find_leaves *self) {
  free(self->items);
  free(self->relu_name);
  free(self->relu_line);
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->labels);
  td_number_map_fini(&self->seen);
  td_number_map_fini(&self->owned);
  td_number_map_fini(&self->orphans);
  td_number_map_fini(&self->steppers);
  free(self->steps);
  *self = (td_find_leaves){0};
}
