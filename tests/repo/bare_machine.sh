#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Proves the two commands of the README on a bare Debian. It makes a fresh root with debootstrap, clones this
# checkout's last commit into FOLDER there, and runs `./bootstrap run` and `./bootstrap test`. It prints the times and
# the exit statuses, adds a row to tests/RUNS.md, and removes the root. Takes 30 to 60 minutes, needs root and debootstrap, and
# about 6 GB.
#
#   tests/repo/bare_machine.sh FOLDER [USER]     as root there, or as a new user of that name who has sudo
#
# Set SUITE to another Debian than bookworm, and MIRROR to another mirror. The root gets this machine's settings of apt and pip. If WHEELS is a folder
# with a wheel of PyTorch 2.13.0+cpu, the tests find it; if not, they look where pip looks.
set -eu
folder=${1:?usage: bare_machine.sh FOLDER [USER]}
user=${2:-root}
source=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d)
home=/root
failed=0

inside() {
  env -i HOME="$home" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" "$@" </dev/null
}

as_user() {
  if [ "$user" = root ]; then inside bash -c "$1"; else inside su - "$user" -c "$1"; fi
}

clean_up() {
  umount -R "$root/dev" "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap clean_up EXIT

debootstrap --variant=minbase "${SUITE:-bookworm}" "$root" ${MIRROR:+"$MIRROR"} >/dev/null
for settings in /etc/apt/apt.conf.d /etc/hosts /etc/pip.conf /etc/resolv.conf /etc/ssl/certs \
  /usr/local/share/ca-certificates; do
  [ ! -e "$settings" ] || { mkdir -p "$root${settings%/*}" && cp -aL "$settings" "$root${settings%/*}/"; }
done
if [ -n "${WHEELS:-}" ]; then
  cp -r "$WHEELS" "$root/opt/wheels"
  printf '\n[install]\nfind-links = /opt/wheels\n' >>"$root/etc/pip.conf"
fi
chmod 755 "$root" "$root/opt"
mount -t proc proc "$root/proc"
mount --rbind --make-rslave /dev "$root/dev"
if [ "$user" != root ]; then
  home=/home/$user
  inside bash -c "apt-get -qq update && apt-get -qqy install --no-install-recommends sudo && useradd -m -s /bin/bash $user"
  echo "$user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$user"
fi
git clone -q "$source" "$root$home/$folder"
inside chown -R "$user" "$home"
for command in run test; do
  begin=$SECONDS
  status=0
  as_user "cd '$home/$folder' && ./bootstrap $command" || status=$?
  echo "== ./bootstrap $command in '$folder' as $user: exit status $status after $((SECONDS - begin)) s"
  [ $status -eq 0 ] || failed=1
done
"$source/tests/repo/whole_runs.py" --add "$root$home/$folder/out/tests.json" "bare ${SUITE:-bookworm}, $(nproc) cores"
exit $failed
