#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Fails where a source is not as clang-format 14 would write it. Repair: clang-format -i FILE. Other versions write otherwise.
cd "${SOURCE_ROOT:-.}" || exit 1
if ! command -v clang-format >/dev/null; then
  echo "clang-format is not installed"
  exit 77
fi
case "$(clang-format --version)" in
*"version 14."*) ;;
*)
  echo "skipped: this is $(clang-format --version), and the sources are as version 14 writes them"
  exit 77
  ;;
esac
find app engine ui tests \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0 | xargs -0 clang-format --dry-run --Werror
