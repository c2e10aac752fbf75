/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_steps.h"

#include "engine/base/alloc.h"

const char *
td_chain_link_name(td_chain_link link) {
  static const char *const names[TD_N_CHAIN_LINKS] = {
#define X(name) [TD_CHAIN_##name] = #name,
      TD_CHAIN_LINKS(X)
#undef X
  };
  return names[link];
}

const char *
td_chain_end_name(td_chain_end end) {
  static const char *const names[TD_N_CHAIN_ENDS] = {
#define X(name) [TD_CHAIN_END_##name] = #name,
      TD_CHAIN_ENDS(X)
#undef X
  };
  return names[end];
}

void
td_chain_add(td_chain *chain, td_chain_step step) {
  if (chain->n == TD_CHAIN_KEPT) {
    chain->n_left_out++;
    chain->n--;
  }
  TD_GROW(chain->steps, chain->n, chain->capacity);
  chain->steps[chain->n++] = step;
}

void
td_chain_fini(td_chain *chain) {
  free(chain->steps);
  free(chain->asked);
  *chain = (td_chain){0};
}
