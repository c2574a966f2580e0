#!/usr/bin/python3
"""What is installed works: the program, the manual, and C programs built with pkg-config.

    tests/embed/embed.py --build build

Installs into a temporary folder, and builds examples/embed.c, host.c (as C and as C++) and a few lines of C there.
"""
import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = """  mean of ten times the readings: 25
  their squares: 100 400 900 1600
  a mistake is reported: script:2: attempt to index local 'station' (a nil value)
  lgt no longer uses the readings
  the program sees 10 20 30 40
"""
EXPECTED = f"""a lua_State made by lgt
{BLOCK}a lua_State of the program's own
{BLOCK}a runtime that opens when a script asks for it
  [ 0  1  4  9 16]
"""

# A host without Lua: two runtimes one after the other, then two at the same time.
PLAIN = r"""
#include <lgt.h>
#include <stdio.h>
static int sum(lgt_runtime *rt) {
  int64_t count = 1000;
  static double data[1000];
  lgt_scalar out;
  for (int i = 0; i < 1000; i++) data[i] = i;
  lgt_id x = lgt_array_attach(rt, LGT_FLOAT64, 1, &count, LGT_MEMORY_HOST, data, NULL, NULL);
  lgt_id total = lgt_array_new(rt, LGT_FLOAT64, 0, NULL), wide = lgt_array_broadcast(rt, total, 1, &count);
  lgt_body *body;
  if (lgt_body_new(&body)) return 1;
  lgt_body_reduce(body, 1, "sum", lgt_body_load(body, LGT_FLOAT64, 0), 1);
  lgt_launch launch = {.kind = lgt_kind_generator(rt, "sum", body), .nargs = 2, .arg = {x, wide}};
  if (lgt_submit(rt, &launch) || lgt_array_item(rt, total, &out)) return puts(lgt_message()), 1;
  return out.f != 499500;
}
int main(void) {
  lgt_runtime *a, *b;
  for (int i = 0; i < 2; i++) {
    if (lgt_open(NULL, &a) || sum(a)) return 1;
    lgt_close(a);
  }
  if (lgt_open(NULL, &a) || lgt_open(NULL, &b) || sum(a) || sum(b) || sum(a)) return 1;
  lgt_close(a);
  if (sum(b)) return 1;
  lgt_close(b);
  return 0;
}
"""


# One of several ranks, under mpirun or at a rendezvous.
RANKS = r"""
#include <lua_lgt.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  lgt_config *config;
  lgt_ranks *ranks;
  lgt_runtime *rt;
  if (lgt_config_new(&config)) return puts(lgt_message()), 1;
  for (int i = 1; i + 1 < argc; i += 2)
    if (lgt_config_set(config, argv[i], argv[i + 1])) return puts(lgt_message()), 1;
  if (lgt_ranks_open(config, &ranks)) return puts(lgt_message()), 1;
  int rank = lgt_ranks_rank(ranks), size = lgt_ranks_size(ranks);
  if (rank && getenv("ALONE")) return lgt_ranks_close(ranks) != 0;
  if (lgt_open(config, &rt)) lgt_ranks_fail(ranks, lgt_message());
  lua_State *L;
  if (lgt_lua_new(rt, &L)) lgt_ranks_fail(ranks, lgt_message());
  if (lgt_lua_run_text(L, "local np = require 'array' local t = os.time() print('sum', np.sum(np.arange(10)):item(), t > 0) "
                          "if os.getenv('FAIL') then error('on all') end", "script"))
    lgt_ranks_fail(ranks, lgt_message());
  lua_close(L);
  lgt_close(rt);
  if (lgt_ranks_close(ranks)) return puts(lgt_message()), 1;
  lgt_config_free(config);
  printf("rank %d of %d\n", rank, size);
  return 0;
}
"""


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)[:200]}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def install(build, folder):
    output("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder)
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            found.setdefault(name, os.path.join(path, name))
    # the folder takes the place of the prefix
    with open(found["lgt.pc"], encoding="utf-8") as file:
        text = file.read()
    prefix = re.search(r"^prefix=(.*)$", text, re.M).group(1)
    with open(found["lgt.pc"], "w", encoding="utf-8") as file:
        file.write(re.sub(r"^prefix=.*$", f"prefix={folder}{prefix}", text, flags=re.M))
    return found


def compile_c(source, found, folder, sanitizer, compiler=("cc", "-std=c11")):
    """Build a program as its author would; where it is."""
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(found["lgt.pc"]))
    flags = output("pkg-config", "--cflags", "--libs", "lgt", env=environment).split()
    program = os.path.join(folder, os.path.basename(source).replace(".", "_"))
    extra = [f"-fsanitize={sanitizer}"] if sanitizer else []
    output(*compiler, "-Wall", "-Wextra", "-pedantic", "-Werror", *extra, source, *flags,
           f"-Wl,-rpath,{os.path.dirname(found['liblgt.so'])}", "-o", program)
    return program


def main():
    parser = argparse.ArgumentParser(description="Tests what is installed.")
    parser.add_argument("--build", default="build")
    build = os.path.abspath(parser.parse_args().build)
    options = subprocess.run(["meson", "introspect", "--buildoptions", build], capture_output=True, text=True, check=True)
    sanitizer = re.search(r'"b_sanitize", "value": "(\w+)"', options.stdout)
    sanitizer = sanitizer.group(1) if sanitizer and sanitizer.group(1) != "none" else None
    folder = tempfile.mkdtemp(prefix="lgt-install-")
    failed = 0

    def case(name, function):
        nonlocal failed
        try:
            function()
            print(f"ok {name}")
        except (AssertionError, KeyError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}")

    try:
        found = install(build, folder)

        def the_program():
            text = output(found["lgt"], "-e", "print(require('array').arange(4), require('lgt').version)", cwd=folder)
            assert text.startswith("[0 1 2 3]"), text
            assert "Look for mistakes" in output(found["lgt"], "--help")
            assert output(found["lgt"], "--check", os.path.join(ROOT, "examples/cg.lua")) == ""

        def the_manual():
            page = found["lgt.1"]
            text = output("man", "--warnings", "-l", page) if shutil.which("man") else open(page, encoding="utf-8").read()
            for option in re.findall(r"^ +(-[A-Za-z]|--[a-z-]+)\b", output(found["lgt"], "--help"), re.M):
                assert option in text.replace("\\-", "-"), f"{option} is not in the manual"

        def a_host_of_lua():
            source = shutil.copy(os.path.join(ROOT, "examples/embed.c"), folder)
            text = output(compile_c(source, found, folder, sanitizer), cwd=folder)
            assert text == EXPECTED, text

        def a_host_without_lua():
            source = os.path.join(folder, "plain.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(PLAIN)
            output(compile_c(source, found, folder, sanitizer), cwd=folder)

        def a_host_in(name, *compiler):
            source = shutil.copy(os.path.join(ROOT, "tests/embed/host.c"), os.path.join(folder, name))
            program = compile_c(source, found, folder, sanitizer, compiler)
            for options in {}, {"LGT_DOMAINS": "3", "LGT_MIN_TILE": "1"}, {"LGT_EMULATE": "1"}, {"LGT_EMULATE": "3", "LGT_MIN_TILE": "1"}:
                output(program, cwd=folder, env={**os.environ, **options})

        def all_headers(name, *compiler):
            source = os.path.join(folder, name)
            with open(source, "w", encoding="utf-8") as file:
                file.write("#include <lua_lgt.h>\n#include <lgt_binding.h>\nint main(void) { return lgt_time() < 0; }\n")
            output(compile_c(source, found, folder, sanitizer, compiler), cwd=folder)

        def ranks_of_a_host():
            source = os.path.join(folder, "ranks.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(RANKS)
            program = compile_c(source, found, folder, sanitizer)
            assert output(program) == "sum\t45\ttrue\nrank 0 of 1\n"
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                where = f"127.0.0.1:{s.getsockname()[1]}"

            def run(environment, *options):
                return [subprocess.Popen([program, "rendezvous", where, "rank", str(r), "ranks", "3", *options], stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}) for r in range(3)]
            got = sorted("".join(p.communicate(timeout=900)[0] for p in run({})).splitlines())
            assert got == ["rank 0 of 3", "rank 1 of 3", "rank 2 of 3", "sum\t45\ttrue"], got
            for p in run({"FAIL": "1"}):
                _, err = p.communicate(timeout=900)
                assert p.returncode == 1 and "lgt: script:1: on all" in err, (p.returncode, err)
            for p in run({"ALONE": "1"}):
                _, err = p.communicate(timeout=900)
                assert p.returncode == 1 and re.search("operation 1 .*: ('lgt_open' and 'the end'|'the end' and 'lgt_open');", err), (p.returncode, err)
            if shutil.which("mpirun"):
                text = output("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", program)
                assert sorted(text.splitlines()) == ["rank 0 of 2", "rank 1 of 2", "sum\t45\ttrue"], text

        case("the program, installed", the_program)
        case("the manual", the_manual)
        case("a C program with Lua", a_host_of_lua)
        case("a C program without Lua", a_host_without_lua)
        case("a program in C11 with lgt.h alone", lambda: a_host_in("host.c", "cc", "-std=c11"))
        case("the same in C++17", lambda: a_host_in("host.cc", "c++", "-std=c++17"))
        case("all headers in C11", lambda: all_headers("headers.c", "cc", "-std=c11"))
        case("all headers in C++17", lambda: all_headers("headers.cc", "c++", "-std=c++17"))
        case("a C program on several ranks", ranks_of_a_host)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
