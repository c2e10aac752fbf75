/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decimal numbers as whole multiples of a power of ten, exactly: "4404917024183.729" with three
 * decimals is 4404917024183729. A double would round them. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* td_fixed_point_read reads a decimal number of JSON, exponents included, and drops the decimals
 * after `decimals`. False if the text is no such number or beyond 2^61. */
bool td_fixed_point_read(const char *text, size_t length, int decimals, int64_t *value);
