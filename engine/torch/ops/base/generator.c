/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * MT19937 (Matsumoto and Nishimura 1998). What is drawn from it for each kind of number, and in
 * which order, is as in PyTorch: one 32-bit word for a float, two for a double. */
#include "engine/torch/ops/base/generator.h"

#include <math.h>

#define N_WORDS TD_GENERATOR_WORDS
#define SHIFT_WORDS 397
#define DEFAULT_SEED 5489

static td_generator default_generator = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void
seed_locked(td_generator_state *state, uint64_t seed) {
  state->seed = seed;
  state->words[0] = (uint32_t)seed;
  for (uint32_t i = 1; i < N_WORDS; i++) {
    uint32_t before = state->words[i - 1];
    state->words[i] = 1812433253u * (before ^ before >> 30) + i;
  }
  state->left = 1;
  state->next = 0;
  state->has_normal = false;
}

void
td_generator_init(td_generator *generator, uint64_t seed) {
  pthread_mutex_init(&generator->mutex, NULL);
  seed_locked(&generator->state, seed);
}

void
td_generator_fini(td_generator *generator) {
  pthread_mutex_destroy(&generator->mutex);
}

td_generator *
td_generator_lock(td_generator *generator) {
  if (!generator) generator = &default_generator;
  pthread_mutex_lock(&generator->mutex);
  if (generator->state.left == 0) seed_locked(&generator->state, DEFAULT_SEED);
  return generator;
}

void
td_generator_unlock(td_generator *generator) {
  pthread_mutex_unlock(&generator->mutex);
}

void
td_generator_seed(td_generator *generator, uint64_t seed) {
  generator = td_generator_lock(generator);
  seed_locked(&generator->state, seed);
  td_generator_unlock(generator);
}

void
td_manual_seed(uint64_t seed) {
  td_generator_seed(NULL, seed);
}

void
td_generator_get(td_generator *generator, td_generator_state *state) {
  generator = td_generator_lock(generator);
  *state = generator->state;
  td_generator_unlock(generator);
}

void
td_generator_set(td_generator *generator, const td_generator_state *state) {
  generator = td_generator_lock(generator);
  generator->state = *state;
  td_generator_unlock(generator);
}

static void
refill(td_generator_state *state) {
  uint32_t *words = state->words;
  for (int i = 0; i < N_WORDS; i++) {
    uint32_t mixed = (words[i] & 0x80000000u) | (words[(i + 1) % N_WORDS] & 0x7fffffffu);
    words[i] = words[(i + SHIFT_WORDS) % N_WORDS] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908b0dfu : 0);
  }
  state->left = N_WORDS;
  state->next = 0;
}

uint32_t
td_draw32_locked(td_generator *generator) {
  td_generator_state *state = &generator->state;
  if (--state->left == 0) refill(state);
  uint32_t word = state->words[state->next++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

uint64_t
td_draw64_locked(td_generator *generator) {
  uint64_t high = td_draw32_locked(generator);
  return high << 32 | td_draw32_locked(generator);
}

float
td_draw_uniform_float_locked(td_generator *generator) {
  return (float)(td_draw32_locked(generator) & 0xffffffu) * 0x1p-24f;
}

double
td_draw_uniform_double_locked(td_generator *generator) {
  return (double)(td_draw64_locked(generator) & 0x1fffffffffffffu) * 0x1p-53;
}

/* Box and Muller's pairs, the second one kept for the next call. */
double
td_draw_normal_locked(td_generator *generator) {
  td_generator_state *state = &generator->state;
  if (state->has_normal) {
    state->has_normal = false;
    return state->normal;
  }
  double u1 = td_draw_uniform_double_locked(generator);
  double u2 = td_draw_uniform_double_locked(generator);
  double radius = sqrt(-2 * log1p(-u2)), angle = 2 * M_PI * u1;
  state->normal = radius * sin(angle);
  state->has_normal = true;
  return radius * cos(angle);
}
