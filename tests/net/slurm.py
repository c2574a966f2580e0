#!/usr/bin/python3
"""Ranks under srun, with PMIx and without, on a Slurm of one node that this test sets up for itself where Slurm and
munge are installed (Debian: slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from common import LGT, RANKS, Skip, case, done, finish, run

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
LGT_QUICK = ["--heartbeat=1", "--patience=0.2"]
QUICK = ["--dead", "2000", "--patience", "200"]
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


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    """One node, as long as the block lasts."""

    def __enter__(self):
        os.environ["PATH"] += ":/usr/sbin"
        absent = [p for p in PROGRAMS if not shutil.which(p)]
        if absent or os.geteuid() != 0:
            raise Skip(f"not installed: {', '.join(absent)}" if absent else "only root can set Slurm up")
        self.folder, self.daemons = tempfile.mkdtemp(prefix="lgt-slurm-"), []
        os.chmod(self.folder, 0o755)
        path = self.path = lambda name: os.path.join(self.folder, name)
        port, port2 = free_ports(2)
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
        self.wait_for(lambda: "idle" in run(["sinfo", "--noheader"], 5).out)
        return self

    def daemon(self, *command):
        self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

    def wait_for(self, ready):
        for _ in range(150):
            if ready():
                return
            time.sleep(0.1)
        self.__exit__()
        raise Skip("Slurm does not start here")

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def srun(mpi, n, *what):
    return run(["srun", "--quiet", f"--mpi={mpi}", "--overcommit", "-n", str(n), RANKS, *what], 60)


def dies(mpi):
    outcome = srun(mpi, 3, *QUICK, "segv", "1")
    said = [line for line in outcome.err.splitlines() if line.startswith("lgt: ")]
    good = outcome.status not in (0, None) and len(said) == 1 and re.search(r"rank 1 on \S+ died", said[0])
    return None if good and outcome.seconds < 15 else str(outcome)


def program(mpi):
    """lgt itself: one output, one world, one error."""
    outcome = run(["srun", "--quiet", f"--mpi={mpi}", "--overcommit", "-n", "3", LGT, *LGT_QUICK, "-e",
                   "print(os.time() > 0, io.read()) error('on all')"], 60, stdin="line\n")
    said = [line for line in outcome.err.splitlines() if line.startswith("lgt: ")]
    good = outcome.status not in (0, None) and outcome.out == "true\tline\n" and said == ["lgt: (command line):1: on all"]
    return None if good else str(outcome)


def everything():
    for mpi in ("pmix", "none"):
        for what in ("messages", "collectives"):
            why = done(srun(mpi, 3, what))
            if why:
                return f"--mpi={mpi}, {what}: {why}"
        why = program(mpi)
        if why:
            return f"--mpi={mpi}, the program: {why}"
        why = dies(mpi)
        if why:
            return f"--mpi={mpi}, a rank dies: {why}"
    return None


def in_slurm():
    with Slurm():
        return everything()


case("srun of ranks, with PMIx and without", in_slurm)
finish(1)
