#!/usr/bin/env python3
"""A stop in the middle of a prefill: seconds until the processor rests, and whether what was computed is kept.

llama-server: the client leaves; the time counts until the server's processor time stops growing. Ours: an interrupt of `generate` at a moment that
is no border of chunks, until the process has ended (so that putting everything away counts too). What is kept shows a replay whose send is stopped
after some tokens and then sent again.
"""
import json
import random
import signal
import subprocess
import time

from measuring import Refused, compare, ids, in_turn, row, running, script, send
from peer_server import peer_server

MODELS = {"smollm2": 8000, "gemma3": 8000, "1b-q4_k_m": 4000}
FLOOR = 0.2  # s
REST = 0.15  # s without a tick of processor time: at rest


def text_of(bench, path, n):
    """A text of about N tokens."""
    words = ("glass", "river", "seven", "under", "light", "stone", "paper", "north")
    pick = random.Random(1)
    text = " ".join(pick.choice(words) for _ in range(n))
    count = bench.ours.lines(["tokenize", path, "--text", text, "--json"])[0]["count"]
    return " ".join(text.split(" ")[: max(1, n * n // count)])


def load_seconds(bench, path):
    start = time.monotonic()
    bench.ours.lines(["generate", path, "--prompt", "a", "--max-tokens", "1", "--threads", str(bench.args.threads), "--json", "--quiet"])
    return time.monotonic() - start


def ours(bench, path, text, after):
    command = [*bench.ours.command, "generate", path, "--prompt", text, "--max-tokens", "1", "--context", "0", "--threads", str(bench.args.threads), "--json", "--quiet"]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            process.wait(after)
            raise Refused("The whole prompt was read before the stop: take a longer one.")
        except subprocess.TimeoutExpired:
            pass
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate()
        seconds = time.monotonic() - start
    if printed.startswith("{") and json.loads(printed)["output"] > 0:
        raise Refused("The whole prompt was read before the stop: take a longer one.")
    return seconds


def peers(bench, path, length, after):
    with peer_server(bench, path) as server:
        connection = server.ask(ids(length, 3), 1)
        time.sleep(after)
        start = last_growth = time.monotonic()
        connection.sock.close()
        connection.close()
        seconds = server.seconds()
        while time.monotonic() - last_growth < REST:
            time.sleep(0.01)
            if server.seconds() > seconds:
                seconds, last_growth = server.seconds(), time.monotonic()
        return last_growth - start


def kept(bench, path, length):
    """(tokens held after the stop, tokens reused when sent again, stop_ms of the record)"""
    prompt = ids(length, 4)
    stopped, again = bench.ours.replay(path, [{"cancel_after": {"prefill_tokens": length * 2 // 5}}, send("a", prompt), send("a", prompt)])
    return stopped["kv"]["tokens"], again["input_cached"], stopped["stop_ms"]


def measure(bench):
    rows, moments = [], random.Random(5)
    for name, path in bench.models(*MODELS):
        label, length = f"stop {name}", MODELS[name]
        text = text_of(bench, path, min(length, 7900))
        loading = load_seconds(bench, path)
        for r in bench.rounds(label):
            after = moments.uniform(0.3, 0.8)
            r["ours"], r["peer"] = in_turn(r["number"], lambda: ours(bench, path, text, loading + after), lambda: peers(bench, path, length, 0.6 + after))
        held, reused, stop_ms = kept(bench, path, 1000 if bench.quick else 3000)
        found = compare(bench, 6, label, f"stop within a prefill of {length} tokens", name, "s", None, less_is_better=True)
        found |= {"figure": found["ours"], "meaning": "s", "floor": FLOOR, "kept": found["ours"] <= FLOOR}
        rows.append(found)
        rows.append(row(6, "stopped prefill: tokens reused by the next turn", name, ours=reused, unit="tokens", figure=reused / held if held else 0.0, floor=1.0, meaning="of those held",
                        note=f"{held} held after the stop, stop_ms {stop_ms}"))  # fmt: skip
    return rows


if __name__ == "__main__":
    script(__doc__, measure)
