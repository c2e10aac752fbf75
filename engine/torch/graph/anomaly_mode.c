/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/anomaly_mode.h"

#include "engine/base/numbers.h"
#include "engine/events/emit.h"

_Atomic unsigned td_anomaly_wanted;

_Atomic bool td_anomaly_mode_enabled;
static _Atomic bool check_nan_now = true;
static td_anomaly_search search_now = TD_ANOMALY_OFF;

bool
td_anomaly_mode_checks_nan(void) {
  return atomic_load_explicit(&check_nan_now, memory_order_relaxed);
}

static void
refresh(void) {
  static const unsigned bits[] = {[TD_ANOMALY_OFF] = 0,
                                  [TD_ANOMALY_NAN] = TD_NUMBERS_NAN,
                                  [TD_ANOMALY_NONFINITE] = TD_NUMBERS_NAN | TD_NUMBERS_INF};
  unsigned wanted = bits[search_now];
  if (td_anomaly_mode() && td_anomaly_mode_checks_nan()) wanted |= TD_NUMBERS_NAN;
  atomic_store_explicit(&td_anomaly_wanted, wanted, memory_order_relaxed);
}

void
td_anomaly_mode_set(bool enabled, bool check_nan) {
  atomic_store_explicit(&check_nan_now, check_nan, memory_order_relaxed);
  atomic_store_explicit(&td_anomaly_mode_enabled, enabled, memory_order_relaxed);
  refresh();
}

void
td_anomaly_search_set(td_anomaly_search search) {
  search_now = search;
  refresh();
}

void
td_anomaly_search_tell(void) {
  static const char *const words[] = {
      [TD_ANOMALY_OFF] = "off", [TD_ANOMALY_NAN] = "nan", [TD_ANOMALY_NONFINITE] = "nonfinite"};
  TD_EMIT(setting, .name = td_intern("anomaly"), .value = td_intern(words[search_now]));
  if (search_now == TD_ANOMALY_OFF) return;
  TD_EMIT(setting, .name = td_intern("carried"), .value = td_intern("yes"));
  TD_EMIT(setting, .name = td_intern("births"), .value = td_intern("at once"));
}

unsigned
td_anomaly_look(const td_tensor *tensor) {
  if (!td_anomaly_is_on()) return 0;
  td_numbers numbers = td_tensor_numbers(tensor);
  return td_numbers_look(&numbers);
}
