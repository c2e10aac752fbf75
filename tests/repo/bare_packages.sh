#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Proves the wheel and the packages on bare machines: fresh roots, made with debootstrap, without this project's dependencies.
# It removes the roots again. Takes 10 minutes, needs root, debootstrap and 5 GB. First: ./bootstrap wheel; ./bootstrap debs.
#
#   tests/repo/bare_packages.sh [wheel] [old] [debs]      all three, if none is named
#
# wheel: Debian 12 with python3 and pip. Records PyTorch at level 2, then with g++ at level 1; uninstalls.
# old:   Debian 11, the oldest C library that the wheel runs with.
# debs:  Debian 12 with what apt takes for the two packages. The window opens under Xvfb, and its picture is looked at.
#
# Set MIRROR to another mirror of Debian. The roots get this machine's settings of apt and pip. If WHEELS is a folder with a
# wheel of PyTorch 2.13.0+cpu, pip takes that. If not, it looks where pip looks.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$PWD/out
mirror=${MIRROR:-http://deb.debian.org/debian}
root=
trap 'remove_root' EXIT

say() { printf '\n== %s\n' "$*"; }
die() { printf 'bare_packages.sh: %s\n' "$*" >&2; exit 1; }
inside() { env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$root" "$@" </dev/null; }
install() { inside apt-get -qqy install --no-install-recommends "$@" >/dev/null; }

remove_root() {
  [ -n "$root" ] || return 0
  umount -R "$root/proc" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$root"
  root=
}

# make_root SUITE [PACKAGE...]
make_root() {
  local suite=$1
  shift
  remove_root
  root=$(mktemp -d)
  say "A bare root of $suite with: $*"
  debootstrap --variant=minbase ${1:+--include="$(IFS=,; echo "$*")"} "$suite" "$root" "$mirror" >/dev/null
  for settings in /etc/apt/apt.conf.d /etc/hosts /etc/pip.conf /etc/resolv.conf /etc/ssl/certs /usr/local/share/ca-certificates; do
    [ ! -e "$settings" ] || { rm -rf "$root$settings" && mkdir -p "$root${settings%/*}" && cp -aL "$settings" "$root${settings%/*}/"; }
  done
  chmod 755 "$root"
  mount -t proc proc "$root/proc"
  mount --rbind --make-rslave /dev "$root/dev"
  mkdir -p "$root/work" "$root/opt/wheels"
  [ -z "${WHEELS:-}" ] || cp "$WHEELS"/* "$root/opt/wheels/"
  cp "$out"/*.whl "$out"/*.deb "$root/work/" 2>/dev/null || true
}

# What a recording and a tape give, in the root. record_at LEVEL PYTHON PREFIX
record_at() {
  printf 'import torch\nx = torch.ones(3, requires_grad=True)\nfor _ in range(3):\n    (x.exp() * 2).sum().backward()\n' >"$root/work/p.py"
  inside sh -c "cd /work && '$3/tapedeck' record --force -o $1.tape -- '$2' p.py"
  inside sh -c "cd /work && '$3/tapedeck' info --json $1.tape" | python3 -c "
import json, sys
info = json.load(sys.stdin)
print('level', info['probe_level'], '-', info['n_events'], 'events')
sys.exit(info['probe_level'] != $1)"
  inside sh -c "cd /work && '$3/tapedeck' report $1.tape" | sed -n 1,3p
  inside sh -c "cd /work && '$3/tapedeck' check $1.tape"
  draw "$1.tape" "$3"
}

# draw TAPE PREFIX: a picture and a page. Text is measured for both, and nothing may complain about fonts.
draw() {
  inside sh -c "cd /work && '$2/tapedeck' render $1 --view graph --size 800x600 -o picture.png" 2>&1 | tee "$root/work/said"
  mkdir -p out/bare
  cp "$root/work/picture.png" "out/bare/$1.png"
  [ -e "out/bare/$1" ] || cp "$root/work/$1" out/bare/ # for `old`
  inside sh -c "cd /work && '$2/tapedeck' export $1 --to html --force -o page.html && '$2/tapedeck' findings $1" 2>&1 | tee -a "$root/work/said"
  if grep -i fontconfig "$root/work/said"; then die "fontconfig complains"; fi
}

# try_engine PREFIX: the engine of Tapedeck itself
try_engine() {
  inside sh -c "cd /work && '$1/tapedeck' run --force -o mlp.tape mlp && '$1/tapedeck' why mlp.tape | sed -n 1,3p"
}

prove_wheel() {
  make_root bookworm python3 python3-pip python3-venv
  inside python3 -m venv /work/venv
  inside /work/venv/bin/pip install -q --disable-pip-version-check --find-links /opt/wheels numpy torch==2.13.0+cpu
  (cd "$root" && find work/venv usr etc -not -name '*.pyc' -not -name __pycache__ | sort) >"$root.before"
  inside sh -c '/work/venv/bin/pip install -q --disable-pip-version-check /work/*.whl'
  say "Level 2, without a compiler"
  record_at 2 /work/venv/bin/python /work/venv/bin
  try_engine /work/venv/bin
  inside /work/venv/bin/python -m tapedeck --version
  inside /work/venv/bin/python -c 'import tapedeck; print(len(tapedeck.Tape("/work/2.tape").nodes), "nodes, read from Python")'
  say "Uninstalled"
  inside /work/venv/bin/pip uninstall -qy tapedeck
  (cd "$root" && find work/venv usr etc -not -name '*.pyc' -not -name __pycache__ | sort) >"$root.after"
  diff "$root.before" "$root.after" || die "that is left of the wheel"
  echo "nothing is left of the wheel"
  rm "$root.before" "$root.after"
  say "Level 1, with g++"
  inside sh -c '/work/venv/bin/pip install -q --disable-pip-version-check /work/*.whl'
  inside apt-get -qq update
  install g++
  record_at 1 /work/venv/bin/python /work/venv/bin
}

prove_old() {
  make_root bullseye python3 python3-venv
  inside python3 -m venv /work/venv
  inside sh -c '/work/venv/bin/pip install -q --upgrade pip && /work/venv/bin/pip install -q /work/*.whl'
  inside ldd --version | sed -n 1p
  cp "$out/bare/2.tape" "$root/work/" 2>/dev/null || die "prove the wheel first: its tape is read here"
  inside sh -c 'cd /work && venv/bin/tapedeck info 2.tape | sed -n 1,3p'
  draw 2.tape /work/venv/bin
  # its Python is 3.9: the package records and reads, the engine is for another version
  inside sh -c 'cd /work && venv/bin/tapedeck run mlp; echo status $?'
  inside sh -c 'cd /work && venv/bin/tapedeck record -- venv/bin/python -c "print(1)"; echo status $?'
}

prove_debs() {
  make_root bookworm
  echo "deb $mirror bookworm main" >"$root/etc/apt/sources.list"
  inside apt-get -qq update
  inside sh -c 'apt-get -qqy install --no-install-recommends /work/tapedeck_*.deb >/dev/null'
  try_engine /usr/bin
  inside sh -c 'cd /work && tapedeck open mlp.tape; echo status $?'
  say "The window"
  inside sh -c 'apt-get -qqy install --no-install-recommends /work/tapedeck-window_*.deb xvfb xauth x11-apps imagemagick >/dev/null'
  inside sh -c 'cd /work && xvfb-run -a -s "-screen 0 1200x800x24" sh -c "tapedeck open mlp.tape & sleep 8; import -window root window.png; kill \$!"'
  mkdir -p out/bare
  cp "$root/work/window.png" out/bare/
  say "PyTorch of Debian, level 2 and level 1"
  install python3-torch
  record_at 2 /usr/bin/python3 /usr/bin
  install g++ libtorch-dev
  record_at 1 /usr/bin/python3 /usr/bin
  say "The same version again"
  inside sh -c 'apt-get -qqy install --reinstall --no-install-recommends /work/tapedeck*.deb >/dev/null'
  inside dpkg --verify tapedeck tapedeck-window || die "the packages do not put there what they say"
  say "Removed"
  inside apt-get -qqy purge tapedeck tapedeck-window >/dev/null
  if (cd "$root" && find usr etc var/lib/dpkg/info -path '*tapedeck*' | grep .); then die "that is left of the packages"; fi
  echo "nothing is left of the packages"
}

for what in "${@:-wheel old debs}"; do
  for each in $what; do prove_"$each"; done
done
say "Pictures: out/bare/"
