"""Where ranks run: under mpirun, in two network namespaces, on a Slurm of one node."""
import itertools
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time

from common import Skip, run

MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
SLURM = ("munged", "slurmctld", "slurmd", "srun")


reserved = []


def free_port():
    """A port that no other test is given meanwhile: a name stands for it as long as this process runs.  Those that the
    kernel hands out itself lie above."""
    for _ in range(1000):
        port, name = random.randrange(10000, 30000), socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0lgt test port {port}")
            with socket.socket() as s:
                s.bind(("", port))
        except OSError:
            name.close()
            continue
        reserved.append(name)
        return port
    raise RuntimeError("no port is free")


class Namespaces:
    """Two namespaces a and b that a cable connects, 10.77.0.1 and 10.77.0.2."""
    count = itertools.count()

    def __enter__(self):
        number = f"{os.getpid() % 100000}x{next(self.count)}"  # names of interfaces have 15 characters
        self.names = [f"lgt{number}{x}" for x in "ab"]
        self.cable = [f"l{number}{x}" for x in "ab"]
        if not shutil.which("ip"):
            raise Skip("no ip command (Debian: iproute2)")
        try:
            for name in self.names:
                self.ip("netns", "add", name)
            self.ip("link", "add", self.cable[0], "netns", self.names[0], "type", "veth", "peer", self.cable[1], "netns", self.names[1])
            for k in range(2):
                self.inside(k, "ip", "addr", "add", f"10.77.0.{k + 1}/24", "dev", self.cable[k])
                self.inside(k, "ip", "link", "set", self.cable[k], "up")
                self.inside(k, "ip", "link", "set", "lo", "up")
            self.wait_for_carrier()
        except subprocess.CalledProcessError as error:
            self.__exit__()
            raise Skip(f"network namespaces are not permitted here: {error.stderr.decode().strip()}") from None
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def wait_for_carrier(self):
        for _ in range(1000):
            shown = [subprocess.run(self.command(k, ["ip", "link", "show", self.cable[k]]), capture_output=True, text=True).stdout
                     for k in range(2)]
            if all("state UP" in text for text in shown):
                return
            time.sleep(0.02)
        raise RuntimeError(f"the link does not come up: {shown}")

    def ip(self, *args):
        subprocess.run(["ip", *args], check=True, capture_output=True)

    def command(self, k, command):
        return ["ip", "netns", "exec", self.names[k], *command]

    def inside(self, k, *command):
        subprocess.run(self.command(k, command), check=True, capture_output=True)


CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={port2}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SwitchType=switch/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=8
PartitionName=p Nodes={host} Default=YES
"""


class Slurm:
    """One node, as long as the block lasts."""

    def __enter__(self):
        os.environ["PATH"] += ":/usr/sbin"
        absent = [p for p in SLURM if not shutil.which(p)]
        if absent or os.geteuid() != 0:
            raise Skip(f"not installed: {', '.join(absent)}" if absent else "only root can set Slurm up")
        self.folder, self.daemons = tempfile.mkdtemp(prefix="lgt-slurm-"), []
        os.chmod(self.folder, 0o755)
        path = self.path = lambda name: os.path.join(self.folder, name)
        port, port2 = free_port(), free_port()
        for name in ("state", "spool"):
            os.mkdir(path(name))
        with open(path("key"), "wb") as file:
            file.write(os.urandom(128))
        os.chmod(path("key"), 0o600)
        with open(path("slurm.conf"), "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=self.folder, port=port, port2=port2))
        os.environ["SLURM_CONF"] = path("slurm.conf")
        self.daemon("munged", "--force", "--foreground", f"--socket={path('munge.sock')}", f"--key-file={path('key')}",
                    f"--pid-file={path('munged.pid')}", f"--log-file={path('munged.log')}", f"--seed-file={path('seed')}")
        self.wait_for(lambda: os.path.exists(path("munge.sock")))
        self.daemon("slurmctld", "-D", "-c")
        self.daemon("slurmd", "-D", "-c")
        self.wait_for(lambda: "idle" in run(["sinfo", "--noheader"], 60).out)
        return self

    def daemon(self, *command):
        self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

    def wait_for(self, ready):
        for _ in range(600):
            if ready():
                return
            time.sleep(0.1)
        self.__exit__()
        raise Skip("Slurm does not start here")

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(60)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


