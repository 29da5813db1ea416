#!/usr/bin/env python3
"""Waiting costs nothing: processor time of a process that has a model loaded, has answered, and waits.

A replay waits when nobody reads what it prints: its pipe is made small and left unread, so the engine and its threads stand idle with the model
loaded. The window is looked at without a display where it lies beside the command; llama-server for information.
"""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from measuring import Refused, ids, median, process_seconds, row, running, script, send
from peer_server import peer_server

MODELS = ("smollm2",)
FLOOR = 0.5  # percent of one core; below it reads as 0
WATCHED, SETTLE = 5.0, 4.0  # s
LONGEST_SETTLE = 60.0  # s; a profile's first answer is followed by what is measured once per machine and model, in pieces some seconds apart
PIPE_BYTES = 4096


def percent(pid):
    """Of one core, over WATCHED seconds after as many at rest: a process that never rests is watched all the same, and misses."""
    begun, rested, seconds = time.monotonic(), 0, process_seconds(pid)
    while rested < WATCHED and time.monotonic() - begun < LONGEST_SETTLE:
        time.sleep(1)
        rested = rested + 1 if process_seconds(pid) - seconds <= FLOOR / 100 else 0
        seconds = process_seconds(pid)
    start = time.monotonic()
    time.sleep(WATCHED)
    return 100 * (process_seconds(pid) - seconds) / (time.monotonic() - start)


def ours(bench, path):
    with tempfile.TemporaryDirectory(prefix="tg-perf-") as folder:
        file = pathlib.Path(folder, "scenario.json")
        file.write_text(json.dumps({"options": {"temperature": 0}, "steps": [send("a", ids(40 + i, 1)) for i in range(40)]}), encoding="utf-8")
        command = [*bench.ours.command, "replay", str(file), "--model", path, "--threads", str(bench.args.threads), "--profile", os.path.join(folder, "profile"), "--quiet"]
        with running(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            fcntl.fcntl(process.stdout, 1031, PIPE_BYTES)  # F_SETPIPE_SZ
            time.sleep(SETTLE)
            found = percent(process.pid)
            if process.poll() is not None:
                raise Refused("The replay ended although nobody read its output.")
            process.kill()
            return found


def window(bench):
    """None where there is no window program beside the command."""
    command = shutil.which(bench.ours.command[-1]) or bench.ours.command[-1]
    program = os.path.join(os.path.dirname(command), "turnglass")
    if not os.access(program, os.X_OK):
        return None
    with tempfile.TemporaryDirectory(prefix="tg-perf-") as folder:
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        with running([program, "--profile", folder], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(SETTLE)
            found = percent(process.pid)
            return found if process.poll() is None else None


def peers(bench, path):
    with peer_server(bench, path) as server:
        server.complete(ids(40, 1))
        return percent(server.process.pid)


def measure(bench):
    rows = []
    for name, path in bench.models(*MODELS):
        label = f"idle {name}"
        for r in bench.rounds(label, 3):
            r["ours"], r["window"] = ours(bench, path), window(bench)
            r["peer"] = peers(bench, path) if bench.args.peer_bin else None
        done = bench.done(label)
        rows.append(row(6, "idle with a model loaded", name, ours=median(r["ours"] for r in done), peer=median(r["peer"] for r in done), unit="% of a core",
                        figure=median(r["ours"] for r in done), floor=FLOOR, at_most=True, meaning="%"))  # fmt: skip
        idle = median(r["window"] for r in done)
        rows.append(row(6, "idle window", "–", ours=idle, unit="% of a core", figure=idle, floor=FLOOR, at_most=True, meaning="%"))
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
