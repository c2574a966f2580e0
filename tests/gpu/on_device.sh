#!/bin/sh
# What there is to see on a machine with a GPU, within 9 minutes, from a built tree or a bundle (tools/bundle):
#
#   tests/gpu/on_device.sh [FOLDER]     leaves all output in FOLDER (on_device); prints a summary
#
# 1. what lgt and the driver say of each other, and the rates of driver, bus and memory (rates.c)
# 2. beside one another, as many as there are processors: the tests in Lua that need no emulated driver; programs with and
#    without the GPU, bit for bit (same.py); random programs (tests/random)
# 3. what a launch costs (issue.lua), and bench/run --case gpu
#
# No blanks may be in the way to either.  Python 3 is needed for programs and for the bench beside rivals, NumPy for random programs; what is missing is left out.
here=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-on_device}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
cd "$here" || exit 1
lgt=$here/build/lgt
driver=${LD_LIBRARY_PATH:-/nowhere}
begin=$(date +%s)
export XDG_CACHE_HOME="$out/cache"
export LGT_FAKE_CUDA_UNWRITTEN=0 # for the emulated driver: test_poison.lua computes with what was not written

tell() { echo "[$(($(date +%s) - begin)) s] $*"; }

"$lgt" --version | tee "$out/version.txt"
{ nvidia-smi && cat /proc/driver/nvidia/version; } > "$out/nvidia.txt" 2>&1 || :
{ lscpu && free -g; } > "$out/machine.txt" 2>&1 || :
grep -q 'GPUs.* GPUs\{0,1\}: ' "$out/version.txt" || { echo "no GPU" >&2; exit 1; }
if grep -q mulated "$out/version.txt"; then echo "this is the emulated driver of the tests: no figure means anything" >&2; fi
first='local np = require "array"; assert((np.arange(1e6) * 2 + 1):sum():item() == 1e12) print "the first kernel is right"'
if ! timeout 60 "$lgt" --gpus=1 --gpu-strict -e "$first" > "$out/first.txt" 2>&1; then
  cat "$out/first.txt"
  LGT_DEBUG=map:3 timeout 60 "$lgt" --gpus=1 -e "$first"
  exit 1
fi
cat "$out/first.txt"
timeout 60 "$here/build/tests/gpu/rates" > "$out/rates.txt" 2>&1
cat "$out/rates.txt"

# ---- tests: a line NAME SECONDS COMMAND for each
python=$(command -v python3)
{
  for path in tests/lua/test_*.lua; do
    name=$(basename "$path" .lua)
    # What is left out is about several domains, or counts what the host does, or has too little memory there.
    case $name in
      test_abreast | test_devices | test_footprint | test_interval | test_memory | test_sweep) continue ;;
      test_lgt | test_mixed | test_options | test_record | test_rows) continue ;;
    esac
    options=
    case $name in test_trace) options="--trace-sample=20 --window=32" ;; test_scan | test_launch) options=--cpus=1 ;; esac
    echo "lua_$name 150 $lgt --gpus=1 --cpus=2 $options $path"
  done
  for name in dlpack explain host inline numbers tiles; do
    echo "gpu_$name 150 $lgt --gpus=1 --cpus=1 tests/gpu/test_$name.lua"
  done
  echo "ranks_task 150 $lgt -n 2 --gpus=1 --min-tile=1 tests/lua/test_task.lua"
  echo "ranks_array 150 $lgt -n 2 --gpus=1 --min-tile=1 tests/lua/test_array.lua"
  if [ -n "$python" ]; then
    for part in 1 2 3 4 5 6; do
      echo "same_$part 170 $python tests/gpu/same.py --lgt $lgt --driver $driver --part $part/6 --setting \"on a GPU\""
    done
  fi
  if [ -n "$python" ] && "$python" -c 'import numpy' 2> "$out/numpy.txt"; then
    for part in 1 2 3 4 5 6; do
      echo "random_$part 170 $python tests/random/run.py --lgt $lgt --driver $driver --longest 8 --configs 1 --set gpus=1" \
        "--count 300 --first $((part * 100000)) -j 1 --shrink 1"
    done
  fi
} > "$out/jobs.txt"
cat > "$out/job.sh" <<'JOB'
name=$2 limit=$3 out=$1
shift 3
timeout "$limit" "$@" > "$out/$name.txt" 2>&1
status=$?
wrong=$(grep -c '^FAIL ' "$out/$name.txt")
if [ $status = 0 ] && [ "$wrong" = 0 ]; then word="ok  "; else word=FAIL; fi
echo "$word $name: $(grep -c '^ok ' "$out/$name.txt") passed, $wrong failed, exit status $status"
JOB
sort -r "$out/jobs.txt" | xargs -P "$(nproc)" -L 1 sh "$out/job.sh" "$out" > "$out/tests.txt"
tell "$(grep -c '^ok' "$out/tests.txt") jobs of $(wc -l < "$out/jobs.txt") passed"
sed -n 's/^FAIL \([a-z_0-9]*\):.*/\1/p' "$out/tests.txt" | while read -r name; do
  grep "^FAIL $name:" "$out/tests.txt"
  grep '^FAIL ' "$out/$name.txt" | cut -c 1-300 | head -3
  tail -n 2 "$out/$name.txt" | cut -c 1-300
done

# ---- speed
timeout 60 "$lgt" --gpus=1 --cpus=1 tests/gpu/issue.lua > "$out/issue.txt" 2>&1
tell "what a launch costs, in microseconds"
cat "$out/issue.txt"
if [ -n "$python" ]; then
  PYTHONUNBUFFERED=1 timeout 300 "$python" bench/run --case gpu > "$out/bench.txt" 2> "$out/bench.err"
  cat "$out/bench.txt"
else
  for n in 100000000 10000000 1000000; do
    for name in $("$lgt" bench/gpu.lua | cut -f 1); do
      printf '2\n10\n' | timeout 60 "$lgt" --gpus=1 bench/gpu.lua "$name" $n 2>&1 |
        awk -v name="$name, $n" 'NR == 3 { printf "%s: %.4g ms\n", name, 100 * $1 }'
    done
  done | tee "$out/bench.txt"
fi
tell "everything is in $out"
[ "$(grep -c '^ok' "$out/tests.txt")" = "$(wc -l < "$out/jobs.txt")" ]
