/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Generators of random numbers: the Mersenne twister of PyTorch's CPU generators. Its streams of
 * uniform and normal numbers are PyTorch's, so a script with a seed sees the same values. Any
 * thread: each generator has a lock. Where a function takes a generator, NULL is the default one,
 * whose seed is 5489 at first. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TD_GENERATOR_WORDS 624
#define TD_GENERATOR_SEED 67280421310721 /* of a new generator that is not the default one */
typedef struct td_generator_state {
  uint64_t seed;
  uint32_t words[TD_GENERATOR_WORDS];
  int left, next; /* left - 1 words are left; the next one's place */
  bool has_normal;
  double normal; /* the second of a pair of normal numbers */
} td_generator_state;

typedef struct td_generator {
  pthread_mutex_t mutex;
  td_generator_state state; /* (guarded by mutex) */
} td_generator;

void td_generator_init(td_generator *generator, uint64_t seed);
void td_generator_fini(td_generator *generator);

/* td_generator_seed starts a generator again, td_manual_seed the default one. */
void td_generator_seed(td_generator *generator, uint64_t seed);
void td_manual_seed(uint64_t seed);

/* td_generator_set returns to a state that td_generator_get wrote. */
void td_generator_get(td_generator *generator, td_generator_state *state);
void td_generator_set(td_generator *generator, const td_generator_state *state);

/* td_generator_lock lets the caller draw. It returns the generator itself. */
td_generator *td_generator_lock(td_generator *generator);
void td_generator_unlock(td_generator *generator);
uint32_t td_draw32_locked(td_generator *generator);
uint64_t td_draw64_locked(td_generator *generator);
float td_draw_uniform_float_locked(td_generator *generator); /* in [0, 1) */
double td_draw_uniform_double_locked(td_generator *generator);
double td_draw_normal_locked(td_generator *generator);
