/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check_spans.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

static bool
is_same(td_check_span a, td_check_span b) {
  return a.end_kind == b.end_kind && a.object == b.object && a.detail == b.detail;
}

static uint64_t
hash_span(td_check_span span) {
  return td_hash_number(td_hash_number((uint64_t)span.object << 32 | span.detail) ^ span.end_kind);
}

static td_check_span
span_of(const void *spans, uint32_t number) {
  return ((const td_check_spans *)spans)->names[number - 1].span;
}

TD_HASH_INDEX_DEFINE(names, td_check_span, hash_span, span_of, is_same)

void
td_check_spans_begin(td_check_spans *spans, td_check_span span) {
  TD_GROW(spans->items, spans->n, spans->capacity);
  spans->items[spans->n++] = span;
}

static uint32_t
name_span(td_check_spans *spans, td_check_span span) {
  uint32_t number = names_put(&spans->numbers, spans->n_names, span, spans);
  if (number <= spans->n_names) return number;
  TD_GROW(spans->names, spans->n_names, spans->names_capacity);
  spans->names[spans->n_names++] = (td_check_name){span, 0};
  return number;
}

static void
index_all(td_check_spans *spans) {
  while (spans->n_links < spans->n) {
    size_t place = spans->n_links;
    uint32_t name = name_span(spans, spans->items[place]);
    TD_GROW(spans->links, spans->n_links, spans->links_capacity);
    spans->links[spans->n_links++] = (td_check_link){name, spans->names[name - 1].last, place};
    spans->names[name - 1].last = place + 1;
  }
}

static void
cut(td_check_spans *spans, size_t n) {
  for (; spans->n_links > n; spans->n_links--) {
    const td_check_link *link = &spans->links[spans->n_links - 1];
    spans->names[link->name - 1].last = link->same;
  }
  spans->n = n;
}

/* 1 + the innermost span that was not broken off, or 0. All are in the index. */
static size_t
find_unbroken(td_check_spans *spans, td_check_span_test is_broken_off, void *data) {
  size_t found = spans->n;
  while (found > 0 && is_broken_off(&spans->items[found - 1], data))
    found = spans->links[found - 1].unbroken;
  for (size_t at = spans->n, next; at > found; at = next) {
    next = spans->links[at - 1].unbroken;
    spans->links[at - 1].unbroken = found;
  }
  return found;
}

bool
td_check_spans_end(td_check_spans *spans, td_check_span span, td_check_span_test is_broken_off,
                   void *data) {
  if (spans->n == 0) return false;
  if (is_same(spans->items[spans->n - 1], span)) {
    cut(spans, spans->n - 1);
    return true;
  }
  index_all(spans);
  uint32_t number = names_find(&spans->numbers, span, spans);
  size_t last = number ? spans->names[number - 1].last : 0;
  if (last == 0 || last < find_unbroken(spans, is_broken_off, data)) return false;
  cut(spans, last - 1);
  return true;
}

void
td_check_spans_fini(td_check_spans *spans) {
  free(spans->items);
  free(spans->links);
  free(spans->names);
  td_hash_index_fini(&spans->numbers);
  *spans = (td_check_spans){0};
}
