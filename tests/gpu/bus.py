#!/usr/bin/python3
"""What crosses the bus to a GPU while a program iterates: nothing but the numbers that the script looks at.

Each program runs twice on the emulated driver, the second time with more turns.  These must bring no byte to the GPU, and from it 8
for each time that the script waited for a value.
"""
import argparse
import os
import sys
import tempfile

import same

# name: (arguments, the same with more turns)
TURNS = {
    "jacobi": (["103", "40"], ["103", "100"]),
    "stencil": (["97", "50"], ["97", "120"]),
    "cg": (["301", "1e-3"], ["301", "1e-8"]),
    "pcg": (["301", "1e-3"], ["301", "1e-8"]),
    "logreg": (["503", "12", "40"], ["503", "12", "90"]),
    "heat_3d": (["17", "15"], ["17", "40"]),
    "cavity_flow": (["21", "20", "20"], ["21", "50", "20"]),
    "shallow_water": (["30", "8"], ["30", "20"]),
    "gray_scott": (["40", "30"], ["40", "80"]),
    "wave": (["37", "40"], ["37", "90"]),
    "burgers": (["203", "20"], ["203", "50"]),
    "jacobi_1d": (["103", "20"], ["103", "60"]),
    "jacobi_2d": (["33", "15"], ["33", "40"]),
    "adi": (["24", "6"], ["24", "15"]),
    "fdtd_2d": (["20", "30", "10"], ["20", "30", "30"]),
    "linreg": (["1001", "7", "50"], ["1001", "7", "120"]),
    "nbody": (["10", "20"], ["10", "50"]),
    "channel_flow": (["21", "21", "10", "15"], ["21", "21", "30", "15"]),
    "mandelbrot1": (["35", "25", "30"], ["35", "25", "60"]),
}


def look(args, name, folder):
    """Why it failed, or None."""
    env = {"LD_LIBRARY_PATH": args.driver, "LGT_FAKE_CUDA_STRICT": "1"}
    runs = []
    for turns in TURNS[name]:
        same.programs.PROGRAMS[name] = (turns, 0)
        runs.append(same.Run(args, ["--gpus=1"], name, folder, env))
        if runs[-1].why:
            return runs[-1].why
    few, many = runs[0].stats, runs[1].stats
    more = {counter: many[counter] - few[counter] for counter in ("launches", "waits", "bytes_to_devices", "bytes_from_devices")}
    if more["launches"] <= 0:
        return "the second run has no more launches"
    if more["bytes_to_devices"]:
        return f"{more['bytes_to_devices']} bytes more to the GPU for {more['launches']} launches more"
    if more["bytes_from_devices"] > 8 * more["waits"]:
        return f"{more['bytes_from_devices']} bytes more from the GPU for {more['waits']} looks more"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lgt", default=os.path.join(same.ROOT, "build/lgt"))
    parser.add_argument("--driver", default=os.path.join(same.ROOT, "build/tests/gpu"), help="folder of the emulated driver")
    parser.add_argument("names", nargs="*", help="programs")
    args = parser.parse_args()
    args.lgt, args.driver = os.path.abspath(args.lgt), os.path.abspath(args.driver)
    failed = False
    with tempfile.TemporaryDirectory(prefix="lgt-gpu-") as folder:
        args.cache = os.path.join(folder, "kernels")
        with open(os.path.join(folder, "wrapper.lua"), "w", encoding="utf-8") as file:
            file.write(same.WRAPPER)
        for name in args.names or TURNS:
            why = look(args, name, folder)
            failed |= why is not None
            print(f"FAIL {name}: {why}" if why else f"ok {name}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
