"""llama-server for a script: started on a free port, asked with token ids, watched from outside."""
import contextlib
import http.client
import json
import os
import socket
import subprocess
import time

from measuring import Refused, process_memory, process_seconds, running


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class PeerServer:
    """One running llama-server. start_seconds: from the start of the process until it says that it is ready."""

    def __init__(self, process, port, started):
        self.process, self.port = process, port
        while not self._healthy():
            if process.poll() is not None:
                raise Refused(f"llama-server ended with {process.returncode} while it loaded the model.")
            if time.monotonic() - started > 300:
                raise Refused("llama-server was not ready within 300 s.")
            time.sleep(0.005)
        self.start_seconds = time.monotonic() - started

    def _healthy(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
            connection.request("GET", "/health")
            answer = connection.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def ask(self, tokens, n):
        """An open streaming request; read it with events()."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        body = {"prompt": tokens, "n_predict": n, "stream": True, "cache_prompt": True, "ignore_eos": True, "temperature": 0}
        connection.request("POST", "/completion", json.dumps(body), {"Content-Type": "application/json"})
        return connection

    @staticmethod
    def events(connection):
        answer = connection.getresponse()
        if answer.status != 200:
            raise Refused(f"llama-server answered {answer.status}: {answer.read()[:200].decode(errors='replace')}")
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    def complete(self, tokens, n=1):
        """{"ttft": seconds until the first event at the client, "timings": the server's own}."""
        start, ttft, last = time.monotonic(), None, {}
        with contextlib.closing(self.ask(tokens, n)) as connection:
            for event in self.events(connection):
                ttft = ttft or time.monotonic() - start
                last = event
        if ttft is None:
            raise Refused("llama-server sent no event.")
        return {"ttft": ttft, "timings": last.get("timings", {})}

    def decode_rate(self, tokens, n):
        """Tokens per second of N tokens behind a prompt that the server keeps from call to call, as the server states it."""
        return self.complete(tokens, n)["timings"]["predicted_per_second"]

    def seconds(self):
        return process_seconds(self.process.pid)

    def memory(self):
        return process_memory(self.process.pid)


@contextlib.contextmanager
def peer_server(bench, model, *, context=8448, slots=1, kv_type="f16"):
    port = free_port()
    command = [bench.peer.program("llama-server"), "-m", model, "-c", str(context), "-np", str(slots), "-t", str(bench.args.threads), "-tb", str(bench.args.threads),
               "-ctk", kv_type, "-ctv", kv_type, "--host", "127.0.0.1", "--port", str(port), "--no-ui"]  # fmt: skip
    started = time.monotonic()
    with open(os.devnull, "wb") as nowhere, running(command, stdout=nowhere, stderr=subprocess.STDOUT) as process:
        yield PeerServer(process, port, started)
