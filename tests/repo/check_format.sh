#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Fails where a source is not as clang-format would write it. Repair: clang-format -i FILE.
cd "${SOURCE_ROOT:-.}" || exit 1
if ! command -v clang-format >/dev/null; then
  echo "clang-format is not installed"
  exit 77
fi
find app engine ui tests \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0 | xargs -0 clang-format --dry-run --Werror
