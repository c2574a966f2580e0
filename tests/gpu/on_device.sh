#!/bin/sh
# What there is to see on a machine with a GPU, within 8 minutes, from a built tree or a bundle (tools/bundle):
#
#   tests/gpu/on_device.sh [FOLDER]     leaves all output in FOLDER (on_device); prints a summary
#
# 1. what lgt and the driver say of each other;  2. the tests that need no emulated driver, on the GPU;  3. programs with
# and without the GPU, bit for bit;  4. bench/run --case gpu.  3 and 4 take any Python 3; without one 4 is lgt alone.
here=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-on_device}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
cd "$here" || exit 1
lgt=$here/build/lgt
failed=0
export XDG_CACHE_HOME="$out/cache"

# NAME SECONDS COMMAND...: into NAME.txt; a line on what came of it.
try() {
  name=$1 limit=$2
  shift 2
  begin=$(date +%s)
  timeout "$limit" "$@" > "$out/$name.txt" 2>&1
  status=$?
  count=$(grep -c '^ok ' "$out/$name.txt")
  wrong=$(grep -c '^FAIL ' "$out/$name.txt")
  if [ $status = 0 ] && [ "$wrong" = 0 ]; then word="ok  "; else word=FAIL failed=$((failed + 1)); fi
  echo "$word $name: $count passed, $wrong failed, exit status $status, $(($(date +%s) - begin)) s"
  [ "$word" = "ok  " ] || grep '^FAIL ' "$out/$name.txt" | head -3
}

"$lgt" --version | tee "$out/version.txt"
{ nvidia-smi && cat /proc/driver/nvidia/version; } > "$out/nvidia.txt" 2>&1 || :
case $(cat "$out/version.txt") in *mulated*) echo "this is the emulated driver of the tests" >&2; exit 1 ;; esac
grep -q 'GPUs.* GPUs\{0,1\}: ' "$out/version.txt" || { echo "no GPU" >&2; exit 1; }

try first 60 "$lgt" --gpus=1 --gpu-strict -e 'local np = require "array"; assert((np.arange(1e6) * 2 + 1):sum():item() == 1e12)'
for name in array slice scan task dtype poison; do try "lua_$name" 60 "$lgt" --gpus=1 "tests/lua/test_$name.lua"; done
try numbers 60 "$lgt" --gpus=1 tests/gpu/test_numbers.lua
try ranks 60 "$lgt" -n 2 --gpus=1 --min-tile=1 tests/lua/test_task.lua
python=$(command -v python3)
if [ -n "$python" ]; then
  try same 90 "$python" tests/gpu/same.py --lgt "$lgt" --driver "${LD_LIBRARY_PATH:-/nowhere}" --setting "on a GPU"
  timeout 330 "$python" bench/run --case gpu 2> "$out/bench.err" | tee "$out/bench.txt"
else
  for n in 100000000 10000000 1000000; do
    for name in $("$lgt" bench/gpu.lua | cut -f 1); do
      printf '2\n10\n' | timeout 60 "$lgt" --gpus=1 bench/gpu.lua "$name" $n 2>&1 |
        awk -v name="$name, $n" 'NR == 3 { printf "%s: %.4g ms\n", name, 100 * $1 }'
    done
  done | tee "$out/bench.txt"
fi
echo "$failed parts failed; everything is in $out"
[ $failed = 0 ]
