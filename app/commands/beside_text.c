/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/beside_text.h"

#include "engine/base/hash.h"
#include "engine/profile/diff/sequence.h"

#include <math.h>
#include <string.h>

/* ---- numbers ---- */

/* A number as a program prints it: 1, -2.50, 1e-05. Words such as nan are text. */
typedef struct printed_number {
  double value;
  double unit; /* of its last digit behind the point; 0 if it has no point */
  bool whole;
} printed_number;

static const char *
skip_digits(const char *at) {
  while (g_ascii_isdigit(*at))
    at++;
  return at;
}

static bool
take_number(const char **at, printed_number *number) {
  const char *digits = **at == '-' || **at == '+' ? *at + 1 : *at;
  char *end;
  if (!g_ascii_isdigit(*digits)) return false;
  number->value = g_ascii_strtod(*at, &end);
  const char *point = skip_digits(digits);
  const char *last = *point == '.' ? skip_digits(point + 1) : point;
  double scale = last < end ? pow(10, g_ascii_strtod(last + 1, NULL)) : 1;
  number->unit = last > point ? scale * pow(10, (double)(point + 1 - last)) : 0;
  number->whole = end == point;
  *at = end;
  return true;
}

/* ---- texts ---- */

/* The elements of a printed tensor, and their greatest magnitude. */
typedef struct printed_tensor {
  const char *begin, *end;
  double scale;
} printed_tensor;

/* A text, its lines and the tensors in it. */
typedef struct text {
  char *copy;       /* (owned) each line ends with 0 */
  GPtrArray *lines; /* (owned) of lines in the copy */
  GArray *tensors;  /* (owned) of printed_tensor, in their order */
  guint64 *keys;    /* (owned) by line */
} text;

/* Only the elements: what follows them, such as a dtype, has digits too. */
static printed_tensor
read_tensor(const char *at) {
  printed_tensor tensor = {.begin = at};
  printed_number number;
  for (int depth = 0; *at;) {
    if (take_number(&at, &number)) {
      tensor.scale = fmax(tensor.scale, fabs(number.value));
      continue;
    }
    depth += (*at == '[') - (*at == ']');
    at++;
    if (depth == 0) break;
  }
  tensor.end = at;
  return tensor;
}

static GArray *
list_tensors(const char *text) {
  static const char begins[] = "tensor([";
  GArray *tensors = g_array_new(FALSE, FALSE, sizeof(printed_tensor));
  for (const char *at = text; (at = strstr(at, begins));) {
    printed_tensor tensor = read_tensor(at + strlen(begins) - 1);
    g_array_append_val(tensors, tensor);
    at = tensor.end;
  }
  return tensors;
}

static const printed_tensor *
find_tensor(const text *text, const char *at) {
  guint low = 0, high = text->tensors->len;
  while (low < high) {
    guint middle = (low + high) / 2;
    const printed_tensor *tensor = &g_array_index(text->tensors, printed_tensor, middle);
    if (at >= tensor->begin && at < tensor->end) return tensor;
    if (at < tensor->begin)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* Spaces align the elements of a tensor, so they tell nothing. */
static const char *
skip_padding(const text *text, const char *at) {
  while (*at == ' ' && find_tensor(text, at))
    at++;
  return at;
}

/* A line feed at the end begins no line. */
static GPtrArray *
split(char *copy) {
  GPtrArray *lines = g_ptr_array_new();
  for (char *end; *copy; copy = end) {
    g_ptr_array_add(lines, copy);
    end = copy + strcspn(copy, "\n");
    if (*end) *end++ = '\0';
  }
  return lines;
}

/* The same for lines that may differ by rounding. Whole numbers count something. */
static guint64
key_of(const text *text, const char *line) {
  guint64 key = TD_HASH_SEED;
  for (const char *at = skip_padding(text, line); *at; at = skip_padding(text, at)) {
    const char *begin = at;
    printed_number number;
    bool rounds = take_number(&at, &number) && !number.whole;
    if (at == begin) at++;
    key = rounds ? td_hash_bytes(key, "0.", 2) : td_hash_bytes(key, begin, (size_t)(at - begin));
  }
  return key;
}

static void
text_init(text *self, const char *printed) {
  self->copy = g_strdup(printed);
  self->tensors = list_tensors(self->copy);
  self->lines = split(self->copy);
  self->keys = g_new(guint64, self->lines->len);
  for (guint i = 0; i < self->lines->len; i++)
    self->keys[i] = key_of(self, self->lines->pdata[i]);
}

static void
text_clear(text *self) {
  g_free(self->keys);
  g_array_unref(self->tensors);
  g_ptr_array_unref(self->lines);
  g_free(self->copy);
}

/* ---- two texts ---- */

typedef struct comparison {
  text a, b;
  double tolerance;
  guint first_a; /* lines before these are compared, as those of b before first_b */
  guint first_b;
  bool was_alike; /* the lines before the next ones */
  td_text_parting *parting;
} comparison;

static double
scale_at(const text *text, const char *at) {
  const printed_tensor *tensor = find_tensor(text, at);
  return tensor ? tensor->scale : 0;
}

/* Whole numbers count something, so they must be equal. `scale` is that of their tensors. */
static bool
are_alike(const printed_number *a, const printed_number *b, double scale, double tolerance) {
  double difference = fabs(a->value - b->value);
  if (difference == 0) return true;
  if (a->whole && b->whole) return false;
  double size = fmax(scale, fmax(fabs(a->value), fabs(b->value)));
  return difference <= fmax(tolerance * size, 1.5 * fmax(a->unit, b->unit));
}

/* Adds to *n_numbers how many numbers differ by rounding. */
static bool
lines_agree(const comparison *self, const char *a, const char *b, guint *n_numbers) {
  while (*(a = skip_padding(&self->a, a)) && *(b = skip_padding(&self->b, b))) {
    printed_number number_a, number_b;
    const char *after_a = a, *after_b = b;
    if (take_number(&after_a, &number_a) && take_number(&after_b, &number_b)) {
      double scale = fmax(scale_at(&self->a, a), scale_at(&self->b, b));
      if (!are_alike(&number_a, &number_b, scale, self->tolerance)) return false;
      *n_numbers += number_a.value != number_b.value;
      a = after_a;
      b = after_b;
    } else if (*a++ != *b++)
      return false;
  }
  return *a == *skip_padding(&self->b, b);
}

static void
take_difference(comparison *self, const char *line_a, const char *line_b) {
  td_text_parting *parting = self->parting;
  parting->n_parts += self->was_alike;
  self->was_alike = false;
  if (parting->n_lines++) return;
  parting->first = self->first_a;
  parting->line_a = g_strdup(line_a);
  parting->line_b = g_strdup(line_b);
}

/* The next line of a text up to `end`, or NULL. */
static const char *
next_line(const text *text, guint *first, guint end) {
  return *first < end ? text->lines->pdata[*first] : NULL;
}

/* Compares the lines up to these, one with one. What is left has no partner. */
static void
compare_up_to(comparison *self, guint end_a, guint end_b) {
  while (self->first_a < end_a || self->first_b < end_b) {
    const char *a = next_line(&self->a, &self->first_a, end_a);
    const char *b = next_line(&self->b, &self->first_b, end_b);
    guint n_numbers = 0;
    self->parting->n_rows++;
    if (a && b && lines_agree(self, a, b, &n_numbers)) {
      self->parting->n_numbers += n_numbers;
      self->was_alike = true;
    } else
      take_difference(self, a, b);
    self->first_a += a != NULL;
    self->first_b += b != NULL;
  }
}

/* Lines that may be the same are partners. Without memory, all are compared by their places. */
static void
compare(comparison *self) {
  guint n_a = self->a.lines->len, n_b = self->b.lines->len;
  g_autofree guint32 *partners = g_new(guint32, n_a);
  bool aligned = td_sequence_match(self->a.keys, n_a, self->b.keys, n_b, partners) == TD_OK;
  for (guint i = 0; i < n_a && aligned; i++) {
    if (partners[i] == G_MAXUINT32) continue;
    compare_up_to(self, i, partners[i]);
    compare_up_to(self, i + 1, partners[i] + 1);
  }
  compare_up_to(self, n_a, n_b);
}

void
td_text_part(const char *a, const char *b, double tolerance, td_text_parting *parting) {
  *parting = (td_text_parting){0};
  comparison self = {.tolerance = tolerance, .was_alike = true, .parting = parting};
  text_init(&self.a, a);
  text_init(&self.b, b);
  compare(&self);
  text_clear(&self.a);
  text_clear(&self.b);
}

void
td_text_parting_clear(td_text_parting *parting) {
  g_free(parting->line_a);
  g_free(parting->line_b);
}
