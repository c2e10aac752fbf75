#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs tests of build/ as on a machine whose habits are not those of most: one core, no /dev/shm, no network but a loopback without
# IPv6, the C locale, and a time zone 14 hours east. Needs root and util-linux. Nothing of this machine changes.
#
#   tests/repo/odd_machine.sh [OPTION OF MESON TEST...]     (--suite quick)
#
# tests/repo/bare_machine.sh takes a folder's name, so that one with a blank and an umlaut is tried too.
set -eu
cd "$(dirname "$0")/../.."

if [ "${ODD_MACHINE:-}" != inside ]; then
  export ODD_MACHINE=inside LC_ALL=C TZ=Pacific/Kiritimati
  unset LANG LANGUAGE
  exec unshare --mount --net "$0" "$@"
fi

# A new /dev with the devices of the old one, but for shm.
devices=$(mktemp -d)
mount -t tmpfs -o mode=755 none "$devices"
for name in null zero full random urandom tty; do
  touch "$devices/$name"
  mount --bind "/dev/$name" "$devices/$name"
done
mkdir "$devices/pts"
mount --bind /dev/pts "$devices/pts"
ln -s pts/ptmx "$devices/ptmx"
ln -s /proc/self/fd "$devices/fd"
for number in 0:stdin 1:stdout 2:stderr; do
  ln -s "/proc/self/fd/${number%:*}" "$devices/${number#*:}"
done
mount --rbind "$devices" /dev
trap 'umount -R "$devices" && rmdir "$devices"' EXIT

[ ! -e /proc/sys/net/ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
ip link set lo up

if [ -e /dev/shm ] || ip -6 address show | grep -q inet6; then
  echo "odd_machine.sh: there is still a /dev/shm, or IPv6" >&2
  exit 1
fi
[ $# -gt 0 ] || set -- --suite quick
taskset -c 0 meson test -C build --num-processes 2 "$@"
