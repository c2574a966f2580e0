#!/usr/bin/python3
"""The prompt of several ranks in a real terminal, tmux, as a person sees it on the screen.

    tests/lua/terminal.py --lgt build/lgt
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE = 600  # seconds for an answer, for what hangs
SHELL = "[$#]"  # its prompt


class Terminal:
    """A shell in a tmux server of its own."""

    def __init__(self, folder):
        self.socket = os.path.join(folder, "tmux")
        env = {k: v for k, v in os.environ.items() if not k.startswith(("LUA_", "TMUX"))}
        env.update(HOME=folder, LC_ALL="C.UTF-8", XDG_STATE_HOME=os.path.join(folder, "state"))
        self.env = env
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "50", "/bin/sh")
        self.expect(SHELL + "$")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], env=self.env, check=True, capture_output=True, text=True,
                              timeout=PATIENCE).stdout

    def screen(self):
        return self.tmux("capture-pane", "-p").rstrip()

    def expect(self, pattern):
        """Waits until the end of the screen matches."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.screen()):
            if time.monotonic() > end:
                raise AssertionError(f"no {pattern!r} on the screen in {PATIENCE} s:\n{self.screen()}")
            time.sleep(0.05)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, line, answer="", prompt=">"):
        """A line; what is written between it and the next prompt must be the answer."""
        self.tmux("send-keys", "-l", line)
        self.press("Enter")
        self.expect(re.escape(line) + r"\n" + answer + (r"\n" if answer else "") + prompt + "$")

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)


def ranks_of(marker):
    """Processes that were started with this text among their arguments."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if marker.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def session(t, lgt, marker):
    t.tmux("send-keys", "-l", f"{lgt} -n 3 -i -e \"marker = '{marker}'\"")
    t.press("Enter")
    t.expect(r"\n>$")
    assert len(ranks_of(marker)) >= 3, "three ranks"
    t.type("x = 20")
    t.type("function twice(n) return 2 * n end")
    t.type("twice(x) + 2", "42")
    t.type("for i = 1, 2 do", prompt=">>")
    t.type("print('turn', i)", prompt=">>")
    t.type("end", r"turn\t? +1\nturn\t? +2")
    t.type("a = np.arange(6):reshape(2, 3) * 1.5")
    t.type("a", r"\n\[\[0\. +1\.5 3\. *\]\n +\[4\.5 6\. +7\.5\]\]")
    t.type("a:dot(a.T)(2, 2)", r"112\.5")
    t.type("error('deliberate')", r"stdin:1: deliberate(\n.*)*")
    t.type("a + np.zeros(7)", r".*shapes \(2, 3\) and \(7\)(.*\n?)*")
    t.type("b = np.zeros(100000)")
    for turn, loop in enumerate(("while true do end", "while true do b = b + 1 end")):
        t.tmux("send-keys", "-l", f"print('loop' .. {turn}) {loop}")
        t.press("Enter")
        t.expect(f"\nloop{turn}$")  # it runs
        t.press("C-c")
        t.expect(r"interrupted(.*\n)+>$")
        t.type("twice(x)", "40")
    t.type("np.sum(a)", r"22\.5")
    t.press("C-d")
    t.expect(SHELL + "$")
    t.type("echo status $?", "status 0", SHELL)
    end = time.monotonic() + PATIENCE
    while ranks_of(marker) and time.monotonic() < end:
        time.sleep(0.05)
    assert not ranks_of(marker), "processes are left"


def leaves(t, lgt, marker):
    t.tmux("send-keys", "-l", f"{lgt} -n 3 -i -e \"marker = '{marker}'\"")
    t.press("Enter")
    t.expect(r"\n>$")
    t.tmux("send-keys", "-l", "os.exit(3)")
    t.press("Enter")
    t.expect(SHELL + "$")
    t.type("echo status $?", "status 3", SHELL)


def main():
    parser = argparse.ArgumentParser(description="Tests the prompt of several ranks in tmux.")
    parser.add_argument("--lgt", default="build/lgt")
    lgt = os.path.abspath(parser.parse_args().lgt)
    if not shutil.which("tmux"):
        print("skip terminal: tmux is not installed (Debian: tmux)")
        return 77
    failed = 0
    for case in (session, leaves):
        folder = tempfile.mkdtemp(prefix="lgt-terminal-")
        terminal = None
        try:
            terminal = Terminal(folder)
            case(terminal, lgt, f"{case.__name__} {os.getpid()}")
            print(f"ok {case.__name__}")
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"FAIL {case.__name__}: {error}")
        finally:
            if terminal:
                terminal.close()
            shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
