#!/bin/sh
# A tree of tools/bundle on an older Linux that has nothing of CUDA and no network: the suites in a chroot of Debian 11,
# whose C library is 2.31.
#
#   tests/embed/older.sh TREE [FOLDER] [-- options of tests/run]     (default: build/older, --suite core --suite lua)
#
# FOLDER keeps the chroot for the next run.  Needs root, and, the first time, debootstrap and the network.  What is mounted
# lies in a mount namespace that ends with this script.  Devices are the chroot's own: with them /dev/pts, without which
# no test of a prompt or of progress on a terminal can run.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
if ! [ -e "${1-}/build/jobs.json" ]; then
  echo "usage: $0 TREE [FOLDER] [-- options of tests/run]" >&2
  exit 2
fi
tree=$(cd "$1" && pwd) root=$here/build/older
shift
if [ $# -ge 1 ] && [ "$1" != -- ]; then root=$1; shift; fi
if [ $# -ge 1 ]; then
  [ "$1" = -- ] || { echo "$0: '$1' is an option of tests/run? Write -- before it" >&2; exit 2; }
  shift
fi
[ $# -ge 1 ] || set -- --suite core --suite lua

if ! [ -x "$root/usr/bin/python3" ]; then
  mkdir -p "$root"
  debootstrap --variant=minbase --include=python3 bullseye "$root"
fi
root=$(cd "$root" && pwd)
rm -rf "$root/lgt"
cp -a "$tree" "$root/lgt"

export root
# shellcheck disable=SC2016 # expanded within the namespace
exec unshare --mount --net --pid --ipc --fork sh -euc '
  mount --make-rprivate /
  ip link set lo up
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  mkdir "$root/dev/pts" "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  for stream in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${stream%:*}" "$root/dev/${stream#*:}"; done
  for device in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"
  done
  mknod -m 666 "$root/dev/tty" c 5 0
  exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=xterm \
    /lgt/tests/run --build /lgt/build "$@"' sh "$@"
