"""What all scripts of this folder share: options, rounds with a look at the machine, running both programs, and the table of floors.

A script offers measure(bench) -> [row(...), ...] and calls script(...) at its end; run.py calls the same measure() of all of them.
"""
import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

FILES = {
    "smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "gemma3": "gemma-3-270m-q4_k_m.gguf",
    "1b-q4_k_m": "r1b-Q4_K_M.gguf",
    "1b-q8_0": "r1b-Q8_0.gguf",
    "1b-q4_0": "r1b-Q4_0.gguf",
    "1b-f16": "r1b-F16.gguf",
    "recurrent": "random-recurrent.gguf",
}
NOISY = 0.10  # cores used by other processes during a round; above this its figures are doubtful
FAST_MEMORY = 45e9  # bytes per second; machines with two states of bandwidth (33 and 57 GB/s) are told apart here
TICK = os.sysconf("SC_CLK_TCK")


class Refused(Exception):
    """One sentence that says what cannot be measured and why."""


def options(description, add_more=None):
    parser = argparse.ArgumentParser(description=description)
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    parser.add_argument("--peer-bin", metavar="DIR", help="folder with llama-bench, llama-batched-bench and llama-server")
    parser.add_argument("--turnglass", default="turnglass-cli", metavar="CLI", help="our command (default: %(default)s)")
    parser.add_argument("--models", default=os.environ.get("TG_TEST_MODELS", os.path.join(data, "turnglass", "models")), metavar="DIR", help="folder of the model files (default: %(default)s)")
    parser.add_argument("--only-models", default="", metavar="NAME,...", help="of " + ", ".join(FILES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, metavar="N", help="interleaved rounds (default: 9, quick: 2)")
    parser.add_argument("--quick", action="store_true", help="few rounds and short texts: shows that all runs, proves no floor")
    parser.add_argument("--json", metavar="FILE", help="write rows and rounds here")
    if add_more:
        add_more(parser)
    args = parser.parse_args()
    args.rounds = args.rounds or (2 if args.quick else 9)
    if args.rounds < 1 or args.threads < 1:
        parser.error("--rounds and --threads are at least 1")
    wrong = set(filter(None, args.only_models.split(","))) - set(FILES)
    if wrong:
        parser.error(f"there is no model named {', '.join(sorted(wrong))}")
    return args


# ---- the machine


def process_seconds(pid):
    """Processor time of a process so far, in seconds; 0 when it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def process_memory(pid):
    """Resident memory of a process in bytes: all, its own, of files, and the most so far."""
    keys = {"VmRSS:": "resident", "RssAnon:": "own", "RssFile:": "file", "VmHWM:": "most"}
    found = dict.fromkeys(keys.values(), 0)
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
        name, *rest = line.split()
        if name in keys:
            found[keys[name]] = int(rest[0]) * 1024
    return found


def _scan(size, passes, start, results):
    buffer = bytearray(b"\1") * size
    start.wait()
    begin = time.monotonic()
    for _ in range(passes):
        buffer.find(0)  # reads all of it
    results.put((begin, time.monotonic()))


def read_bandwidth(workers, size=192 << 20, passes=6):
    """Bytes per second that so many processes read from memory together."""
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(workers), context.Queue()
    processes = [context.Process(target=_scan, args=(size, passes, start, results)) for _ in range(workers)]
    for process in processes:
        process.start()
    times = [results.get() for _ in processes]
    for process in processes:
        process.join()
    return workers * size * passes / (max(end for _, end in times) - min(begin for begin, _ in times))


class Load:
    """How many cores other processes used since the object was made."""

    live = set()  # processes of ours that run now

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), self._machine(), self._ours()

    def others(self):
        elapsed = max(time.monotonic() - self.start, 1e-3)
        return max(0.0, (self._machine() - self.busy) - (self._ours() - self.own)) / elapsed

    @staticmethod
    def _machine():
        user, nice, system, _, _, irq, softirq = map(int, pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:8])
        return (user + nice + system + irq + softirq) / TICK

    @classmethod
    def _ours(cls):
        total = sum(process_seconds(pid) for pid in cls.live)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            usage = resource.getrusage(who)
            total += usage.ru_utime + usage.ru_stime
        return total


@contextlib.contextmanager
def running(command, **more):
    """A child process that is ended with the block, counted as ours."""
    try:
        process = subprocess.Popen(command, **more)
    except OSError as error:
        raise Refused(f"{command[0]} cannot be run: {error.strerror}.") from error
    Load.live.add(process.pid)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
        Load.live.discard(process.pid)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


# ---- both programs


class Turnglass:
    def __init__(self, command, threads):
        self.command, self.threads = shlex.split(command), threads

    def lines(self, arguments, on_line=None):
        """The JSON lines a command prints; ON_LINE(process, line) is called as each arrives."""
        command = [*self.command, *arguments]
        found = []
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors, running(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            for text in process.stdout:
                try:
                    found.append(json.loads(text))
                except ValueError:
                    raise Refused(f"turnglass-cli {arguments[0]} printed no JSON: {text.strip()[:200]}") from None
                if on_line:
                    on_line(process, found[-1])
            if process.wait() != 0:
                errors.seek(0)
                said = errors.read().strip()[-300:] or next((line["error"] for line in found if "error" in line), "no reason given")
                raise Refused(f"turnglass-cli {arguments[0]} ended with {process.returncode}: {said}")
        return found

    def replay(self, model, steps, *, context=8192, profile=None, on_line=None, **more):
        """Runs a scenario; the records of its sends, in order. All answers are greedy and go on at the end token."""
        with tempfile.TemporaryDirectory(prefix="tg-perf-") as folder:
            file = pathlib.Path(folder, "scenario.json")
            file.write_text(json.dumps({"options": {"temperature": 0, "ignore_eos": True, "context": context, **more}, "steps": steps}), encoding="utf-8")
            arguments = ["replay", str(file), "--model", model, "--threads", str(self.threads), "--profile", profile or os.path.join(folder, "profile"), "--quiet"]
            return [line for line in self.lines(arguments, on_line) if "input_total" in line]

    def bench(self, model, *, threads=None, **more):
        """{(test, tokens, depth, batch): row} and the limits."""
        arguments = ["bench", model, "--threads", str(threads or self.threads), "--json", "--quiet"]
        for key, value in more.items():
            arguments += ["--" + key.replace("_", "-"), str(value)]
        (report,) = self.lines(arguments)
        return {(r["test"], r["tokens"], r["depth"], r["batch"]): r for r in report["results"]}, report["limits"]

    def engine_peak(self, model, tokens, context):
        """The most memory that turnglass-engine, which lies beside the command, held from its start to the end of an answer of TOKENS tokens; bytes."""
        program = os.path.join(os.path.dirname(self.command[-1]), "turnglass-engine")
        command = [program, "generate", model, "--prompt", "Once upon a time", "--max-tokens", str(tokens), "--ignore-eos", "--context", str(context),
                   "--threads", str(self.threads), "--quiet"]  # fmt: skip
        with running(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Refused(f"turnglass-engine generate ended with {process.returncode}.")
        return usage.ru_maxrss * 1024

    def rate(self, model, key, **more):
        return statistics.median(self.bench(model, **more)[0][key]["tokens_per_second"])

    def info(self, model):
        return self.lines(["info", model, "--json"])[0]


class Peer:
    def __init__(self, folder, threads):
        self.folder, self.threads = folder, threads

    def program(self, name):
        if not self.folder:
            raise Refused(f"Name the folder of {name} with --peer-bin.")
        path = os.path.join(self.folder, name)
        if not os.access(path, os.X_OK):
            raise Refused(f"There is no {name} in {self.folder}.")
        return path

    def _rows(self, command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Refused(f"{command[0]} cannot be run: {error.strerror}.") from error
        if done.returncode != 0:
            raise Refused(f"{os.path.basename(command[0])} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def bench(self, model, *, prompt="0", generate="0", depth="0", threads=None, repeat=1, kv_type="f16", warm_up=True):
        """{(test, tokens, depth): median tokens per second} of llama-bench. Its warm-up reads the whole prompt once more."""
        rows = self._rows([self.program("llama-bench"), "-m", model, "-p", str(prompt), "-n", str(generate), "-d", str(depth), "-t", str(threads or self.threads),
                           "-r", str(repeat), "-ctk", kv_type, "-ctv", kv_type, "-o", "jsonl", *([] if warm_up else ["--no-warmup"])])  # fmt: skip
        return {("pp" if r["n_prompt"] else "tg", r["n_prompt"] or r["n_gen"], r["n_depth"]): statistics.median(r["samples_ts"]) for r in rows}

    def batched(self, model, prompt, generate, parallel):
        """Tokens per second of all sequences together, after a shared prompt."""
        rows = self._rows([self.program("llama-batched-bench"), "-m", model, "-c", str((prompt + generate) * parallel + 64), "-npp", str(prompt), "-ntg", str(generate),
                           "-npl", str(parallel), "-pps", "-t", str(self.threads), "-tb", str(self.threads), "--output-format", "jsonl"])  # fmt: skip
        if not rows:
            raise Refused("llama-batched-bench printed no result.")
        return rows[-1]["speed_tg"]


# ---- rounds and rows


class Bench:
    """Options, both programs, and the log of all rounds."""

    def __init__(self, args):
        self.args, self.quick = args, args.quick
        self.ours, self.peer = Turnglass(args.turnglass, args.threads), Peer(args.peer_bin, args.threads)
        self.log = []

    def models(self, *names):
        """[(name, path)] of those that are wanted and there; says which are not there."""
        wanted = list(filter(None, self.args.only_models.split(","))) or names
        found = []
        for name in names:
            path = os.path.join(self.args.models, FILES[name])
            if name not in wanted:
                continue
            if os.path.isfile(path):
                found.append((name, path))
            else:
                say(f"{name}: there is no {FILES[name]} in {self.args.models}; left out.")
        return found

    def rounds(self, label, count=None):
        """Yields a dictionary per round for the script's values."""
        for number in range(min(count, self.args.rounds) if count else self.args.rounds):
            with self.round(label, number) as values:
                yield values

    @contextlib.contextmanager
    def round(self, label, number):
        """A dictionary for the values of one round; prints how the machine was before, during and after it."""
        values = {"label": label, "number": number, "bandwidth_before": read_bandwidth(self.args.threads)}
        load = Load()
        yield values
        values["others"] = load.others()
        values["bandwidth_after"] = read_bandwidth(self.args.threads)
        values["fast"] = (values["bandwidth_before"] + values["bandwidth_after"]) / 2 > FAST_MEMORY
        self.log.append(values)
        figures = "  ".join(f"{k} {v:.4g}" for k, v in values.items() if isinstance(v, float) and k not in ("bandwidth_before", "bandwidth_after", "others"))
        say(f"{label} round {number + 1}: memory {values['bandwidth_before'] / 1e9:.0f} then {values['bandwidth_after'] / 1e9:.0f} GB/s, others {values['others']:.2f} cores"
            + (" (NOT QUIET)" if values["others"] > NOISY else "") + f"  {figures}")  # fmt: skip

    def done(self, label):
        return [r for r in self.log if r["label"] == label]


def in_turn(number, first, second):
    """Runs both, the order changing from round to round."""
    if number % 2:
        b = second()
        return first(), b
    return first(), second()


def say(text):
    print(text, file=sys.stderr, flush=True)


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def row(issue, what, model, *, ours=None, peer=None, unit="", figure=None, floor=None, at_most=False, meaning="ratio", note=""):
    """One line of the table. FIGURE is held against FLOOR (a number, None: for information)."""
    kept = None if floor is None or figure is None else (figure <= floor if at_most else figure >= floor)
    return {"issue": issue, "what": what, "model": model, "ours": ours, "peer": peer, "unit": unit, "figure": figure, "meaning": meaning,
            "floor": floor, "at_most": at_most, "kept": kept, "note": note}  # fmt: skip


def compare(bench, issue, label, what, model, unit, floor, *, less_is_better=False, note=""):
    """The row of rounds that hold "ours" and "peer": the median of their ratios, ours by peer's."""
    rounds = bench.done(label)
    ratios = [r["ours"] / r["peer"] for r in rounds if r.get("peer")]
    spread = f"rounds {min(ratios):.2f}–{max(ratios):.2f}" if ratios else ""
    return row(issue, what, model, ours=median(r["ours"] for r in rounds), peer=median(r["peer"] for r in rounds), unit=unit, figure=median(ratios), floor=floor,
               at_most=less_is_better, note="; ".join(filter(None, [spread, note])))  # fmt: skip


def result_word(r):
    return {True: "pass", False: "MISSED", None: "info" if r["floor"] is None else "not measured"}[r["kept"]]


def cells(r):
    def number(v):
        return "–" if v is None else f"{v:,.4g}" if isinstance(v, (int, float)) and abs(v) < 1e4 else f"{v:,.0f}" if isinstance(v, (int, float)) else str(v)

    floor = "–" if r["floor"] is None else ("≤ " if r["at_most"] else "≥ ") + f"{r['floor']:.3g}"
    return [str(r["issue"]), r["what"], r["model"], number(r["ours"]), number(r["peer"]), r["unit"], f"{number(r['figure'])} {r['meaning']}", floor, result_word(r), r["note"]]


HEADS = ["issue", "row", "model", "ours", "llama.cpp", "unit", "figure", "floor", "result", "note"]


def print_table(rows):
    table = [HEADS, *map(cells, rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADS) - 1)]
    for line in table:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)) + "  " + line[-1])


def print_markdown(rows, file=None):
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS), file=file)
    for r in rows:
        print("| " + " | ".join(text.replace("|", "/") for text in cells(r)) + " |", file=file)


def finish(bench, rows):
    """Table, warning and file; the exit status."""
    print_table(rows)
    noisy = sum(r["others"] > NOISY for r in bench.log)
    if noisy:
        print(f"The machine was not quiet in {noisy} of {len(bench.log)} rounds: repeat this when nothing else runs.")
    if bench.quick:
        print("Quick run: it shows that everything runs; its figures prove no floor.")
    if bench.args.json:
        pathlib.Path(bench.args.json).write_text(json.dumps({"rows": rows, "rounds": bench.log, "quick": bench.quick}, indent=1) + "\n", encoding="utf-8")
    return 1 if any(r["kept"] is False for r in rows) else 0


def script(description, measure, add_more=None):
    """The whole of a script: options, measuring, table; exit status 0, 1 for a missed floor, 2 for what cannot be measured."""
    bench = Bench(options(description.strip().partition("\n")[0], add_more))
    try:
        rows = measure(bench)
        if not rows:
            raise Refused(f"None of the models is in {bench.args.models}.")
    except Refused as refusal:
        say(str(refusal))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(finish(bench, rows))


# ---- prompts


def ids(n, seed, first=1):
    """A prompt of N token ids that every vocabulary used here has: FIRST, then fixed random ones."""
    state, found = seed * 2654435761 + 97, [first]
    while len(found) < n:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        found.append(1000 + (state >> 33) % 40000)
    return found[:n]


def send(chat, tokens, max_tokens=1, **more):
    return {"send_ids": {"chat": chat, "tokens": tokens, "max_tokens": max_tokens, **more}}
