/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Findings: what is wrong, or likely to be, with the program of a tape. Each is one sentence, the
 * event that shows it, and the line of the program. What happened many times is one finding.
 *
 * Note [What counts as a finding]
 * - rank_late: Note [Who is late again and again] in engine/profile/ranks/lateness.h.
 * - ranks_part: the first operation of a process group that its ranks handed differently, or to
 * which one of them did not come: Note [Who parts] in ranks/autopsy.h.
 * - Problems that events tell: NaN and Inf, errors, conflicts, warnings. Those of the same
 * function, line and text are one.
 * - A node's error that only says again what its version_conflict says is no second finding.
 * - A birth that an earlier one led to is counted with that one. A tape tells the edges that such
 *   values went over, so this holds through later steps and the weights too.
 * - An Inf that operations make finite again in the forward pass counts only if it led to a birth.
 *   Masks of attention lead to none. Of a tape without such edges, an Inf of the forward pass
 * counts only if a NaN is born by the end of the next outermost pass, or an Inf in a gradient.
 * - no_gradient: after the first step of an optimizer, a parameter that requires a gradient had
 *   none. What one line cut off its loss is one finding. Neither did its node store one later on
 * the tape, or run, if nobody saw what is stored. Of a parameter without a name, nobody can tell
 * what came later.
 *   If the pass came to the parameter, the node that hands it its gradient returned none.
 * - loss_nonfinite: the value at which a pass began was one number and not finite, in the last of
 * the passes whose roots were made in the same place; or a NaN, and an optimizer made a step before
 * the next pass. That finding names gradients that are
 * not finite too.
 * - gradient_written: see gradient_written of events.def. Whether the other node's gradients
 * changed is not looked at: writing what was there before is a finding too.
 * - nonfinite_stored: in the last pass that stored a gradient into a leaf, that gradient was not
 *   finite. Earlier passes do not count: a program may leave such a step out and go on, as
 *   GradScaler does. A recording that looked for births has no such finding.
 * - never_cleared: between two steps of its optimizer, each store into a parameter added to a
 *   gradient that was not zero. So it was at three steps, and at most of them. One store that adds
 *   to nothing is enough: accumulation of gradients has it, and so has a discriminator that the
 *   generator's pass stores into.
 * - all_zero: three stores at least into each parameter, and nothing but zeros in all of them.
 *   Parameters beside others that get gradients do not count: a program may weigh a term with 0.
 * - dead_layer: three stores at least into each leaf of a node, all of them zeros, and a ReLU alone
 *   hands its gradient on to that node. The node behind the ReLU, alone again, has a leaf with
 * zeros alone, its weight, and one with other gradients, its bias.
 * - unowned: three stores at least into a parameter that a list or a dict of a module has, as its
 *   name says. No optimizer has it, and some optimizer has others.
 * - optimizer_idle: when the program ended well, after three passes at least, an optimizer had
 *   parameters with gradients, and neither it nor another one that has them ever made a step. Where
 *   torch.compile compiled something, nobody can tell.
 * - cleared_early: at all steps of an optimizer that were looked at, two at least, its parameters
 *   had gradients of zero or none, before the step and after it. Passes had stored others since the
 *   step before.
 * - frozen_step: an optimizer made steps for a parameter that requires no gradient, has one, and
 *   got none since the step before. That gradient is not zero, or the optimizer moves without one.
 * - loss_input: three cross-entropies of a softmax, negative log likelihoods of one, or binary
 *   cross-entropies with logits of a sigmoid. Views in between do not count.
 * - loss_spread: three losses of a tensor of n times n that an expand() made of n results.
 * - program_failed: the program ended by an exception of a type of Python, whose text is in
 *   failure_advice.def, and that no node raised.
 * - stale_node: a node that is no view was made of a parameter alone or with one other node, and
 *   ran after two steps, or more, that the parameter's optimizer made since.
 * - other_parameters: as many parameters of optimizers without name and gradient as there are
 *   parameters with name and gradients that no optimizer has.
 * - gradient_lost: a parameter that had a gradient at the first step of its optimizer had none at a
 *   later one, and none came until the end of the tape, for three steps at least. All other
 *   parameters of the optimizer had one at the first step, and at each step in a row.
 * - graphs_unreached: eight results or more, as PyTorch's Python has them when the program ends.
 * - result_unreached: a program failed, and its last pass ended well but reached no node whose
 *   gradient it was to return. With allow_unused=True a program does not fail.
 * - graphs_kept: the nodes of some passes were not freed two passes later. At the end there are
 *   three such passes more than ever in the first half of the passes. Nodes made before the first
 *   pass ended are not looked at: programs keep what they made at first. If contexts of custom
 *   Functions keep the Functions' own results when the program ends, these are named.
 * - hooks_grow: one node called a function as a hook more and more often. What counts is the node
 *   that called it most in a pass. This number rose three times and did not fall between them.
 * - order_differs: a node got the same gradients as in the pass before, in another order. Nodes are
 *   the same if they are the same leaf, or were made in the same place since the last pass ended.
 * - order_surprise: a pass left its predicted order, and not because of timing, hooks, passes
 * inside or other callers. Who is first of several threads is a guess.
 * - rule_broken: a rule of check.h.
 * - gil_kept: waits for Python's GIL of threads that began passes or ran nodes, while a pass was
 *   under way: three at least, 10 ms and a fifth of the time of all passes. Counted are those that
 *   began when one thread had the GIL that did neither.
 * - whole_gradients: in one pass a node got 100 gradients or more from slices, 64 MB in all.
 * - deep_reentry: backward calls lay half as deep inside one another as the engine's limit.
 *
 * The thread that owns the tape. */
#pragma once

#include "engine/profile/findings/finding.h"
#include "engine/trace/tape.h"

/* td_findings_make reads the tape for what events tell and, up to TD_RULES_EVENTS events, once more
 * for rules and once for orders. As td_catalog_visit. The caller calls td_findings_fini in all
 * cases. */
td_status td_findings_make(td_tape *tape, td_findings *findings, td_error *error);
