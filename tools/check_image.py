"""`python -m tools.check_image`: builds the image and starts every service from it, as its user, on real engines.

Works without a container engine: buildah builds and runs with chroot isolation. Needs root, and the Debian packages
`buildah` and, unless `--base` names an image to build on, `mmdebstrap`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from tools.engines.group import EngineGroup
from tools.engines.process import EngineError

ROOT: Final = Path(__file__).resolve().parent.parent
IMAGE: Final = "localhost/mneme:checked"
BASE_IMAGE: Final = "localhost/mneme-base"
USER: Final = 10001
SIZE_MB_MAX: Final = 700
PART_MB_MIN: Final = 20
PORTS: Final[Mapping[str, int]] = {
    "gateway": 7800,
    "session": 7801,
    "episodic": 7802,
    "semantic": 7803,
    "agentic": 7804,
}
TIERS: Final = ("session", "episodic", "semantic", "agentic")
SERVICES: Final = frozenset(f"services.{name}" for name in PORTS)
START_SECONDS: Final = 120.0
END_SECONDS: Final = 30.0
REMEMBERED: Final = "The spare key is under the blue flower pot."


class CheckError(Exception):
    """What is wrong with the image or with this machine."""


def main(arguments: Sequence[str]) -> int:
    """Build and check; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.check_image", description="Builds and checks the image.")
    parser.add_argument("--base", help="image to build on; by default one that is made from Debian's packages")
    options = parser.parse_args(arguments)
    try:
        _require_programs(with_base=options.base is None)
        base = options.base or _debian_base()
        _build(base)
        with ExitStack() as stack:
            container, root = stack.enter_context(_container(IMAGE))
            _, base_root = stack.enter_context(_container(base))
            _check_size(root, base_root)
            _check_files(root)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-image-")))
            engines = EngineGroup(folder / "engines", ("redis", "postgres", "neo4j"), durable=False)
            stack.callback(engines.clean)
            engines.start()
            before = _files(root)
            _run_services(container, engines.service_variables(), stack)
            if written := _files(root) - before:
                raise CheckError(f"services wrote to the root file system: {', '.join(sorted(written)[:5])}")
    except (CheckError, EngineError, subprocess.CalledProcessError) as error:
        print(f"image-check: {error}", file=sys.stderr)
        return 1
    print("image-check: every service started as its user, answered its health check and ended in order")
    return 0


def _require_programs(*, with_base: bool) -> None:
    missing = [name for name in ("buildah", *(["mmdebstrap"] if with_base else [])) if shutil.which(name) is None]
    if missing:
        raise CheckError(f"{' and '.join(missing)} are not installed: apt-get install {' '.join(missing)}")
    if os.geteuid() != 0:
        raise CheckError("must run as root, which mounts the image")


def _debian_base() -> str:
    """A minimal Debian with Python, made once and cached as an archive."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mneme" / "images"
    archive = cache / "debian-bookworm.tar"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        part = archive.with_suffix(".part")
        include = "--include=python3,python3-venv,ca-certificates"
        sources = [str(path) for path in Path("/etc/apt/sources.list.d").glob("debian.sources")]
        _run(["mmdebstrap", "--format=tar", "--variant=minbase", include, "bookworm", str(part), *sources])
        part.rename(archive)
    container = _output(["buildah", "from", "scratch"])
    try:
        _run(["buildah", "add", "--quiet", container, str(archive), "/"])
        # Where a proxy of the network's own stands between, the build must trust it as this machine does.
        bundle = "/etc/ssl/certs/ca-certificates.crt"
        _run(["buildah", "copy", "--quiet", container, bundle, bundle])
        _run(["buildah", "commit", "--quiet", container, BASE_IMAGE])
    finally:
        _run(["buildah", "rm", container])
    return BASE_IMAGE


def _build(base: str) -> None:
    environment = {**os.environ, "IMAGE": IMAGE, "BASE": base, "BUILDER": "buildah"}
    environment["BUILD_ARGS"] = "--isolation chroot --quiet"
    subprocess.run([str(ROOT / "deploy/docker/build.sh")], check=True, env=environment, stdout=subprocess.DEVNULL)


@contextmanager
def _container(image: str) -> Iterator[tuple[str, Path]]:
    """A container of the image and the folder where its root is mounted."""
    container = _output(["buildah", "from", "--pull-never", image])
    try:
        yield container, Path(_output(["buildah", "mount", container]))
    finally:
        _run(["buildah", "rm", container])


def _check_size(root: Path, base_root: Path) -> None:
    size = _megabytes(root) - _megabytes(base_root)
    packages = next(root.glob("opt/mneme/venv/lib/python3*/site-packages"))
    parts = {path.name: _megabytes(path) for path in [*packages.iterdir(), root / "opt/mneme/model"]}
    for name, megabytes in sorted(parts.items(), key=lambda item: -item[1]):
        if megabytes >= PART_MB_MIN:
            print(f"  {megabytes:5d} MB  {name}")
    print(f"  {size:5d} MB  on top of the base")
    if size > SIZE_MB_MAX:
        raise CheckError(f"the image takes {size} MB on top of its base; {SIZE_MB_MAX} MB are allowed")


def _check_files(root: Path) -> None:
    """What is installed belongs to root and is nobody else's to change; the bill of materials is there."""
    bill = json.loads((root / "opt/mneme/sbom.cdx.json").read_text("utf-8"))
    print(f"  {len(bill['components']):5d} packages in the bill of materials")
    for path in (root / "opt/mneme").rglob("*"):
        state = path.lstat()
        if not path.is_symlink() and (state.st_uid != 0 or state.st_mode & 0o022):
            raise CheckError(f"/{path.relative_to(root)} can be changed by others than root")


def _run_services(container: str, engines: Mapping[str, str], stack: ExitStack) -> None:
    """Migrate, start the five services, ask each for its health, remember and recall, and end them in order."""
    owner = {name: value for name, value in engines.items() if "OWNER" in name or "NEO4J" in name}
    _run(_inside(container, owner, "/opt/mneme/entrypoint", "migrate"))
    shared = {"MNEME_SERVICE_SECRET": "the secret of a check, of no use elsewhere", "MNEME_NEO4J_MIGRATE": "false"}
    used = {name: value for name, value in engines.items() if "OWNER" not in name and "ADMIN" not in name}
    key = _output(
        _inside(container, {}, "/opt/mneme/entrypoint", "keys", "create", "--tenant", "check", "--name", "app")
    )
    key = next(word for word in key.split() if word.startswith("mn_"))
    services: dict[str, subprocess.Popen[bytes]] = {}
    stack.callback(_kill, services)
    for name in (*TIERS, "gateway"):
        own = {**shared, **used, "MNEME_LISTEN": f"127.0.0.1:{PORTS[name]}"}
        if name == "gateway":
            own |= {f"MNEME_{tier.upper()}_TARGET": f"127.0.0.1:{PORTS[tier]}" for tier in TIERS}
            own["MNEME_API_KEYS_FILE"] = "/var/lib/mneme/api-keys.json"
        else:
            own["MNEME_SIGNED_IDENTITIES_ONLY"] = "true"
        services[name] = subprocess.Popen(_inside(container, own, "/opt/mneme/entrypoint", name))
        _await_health(container, name, services[name])
    pids = _pids_of_services()
    if len(pids) != len(services):
        raise CheckError(f"{len(services)} services were started, {len(pids)} processes run as user {USER}")
    _remember_and_recall(container, key)
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    for name, process in services.items():
        status = process.wait(timeout=END_SECONDS)
        if status != 0:
            raise CheckError(f"{name} ended with {status}")


def _kill(services: Mapping[str, subprocess.Popen[bytes]]) -> None:
    for process in services.values():
        process.kill()


def _await_health(container: str, name: str, process: subprocess.Popen[bytes]) -> None:
    probe = _inside(container, {"MNEME_LISTEN": f"127.0.0.1:{PORTS[name]}"}, "python", "-m", "services.cli.probe")
    deadline = time.monotonic() + START_SECONDS
    while subprocess.run(probe, check=False, capture_output=True).returncode != 0:
        if process.poll() is not None:
            raise CheckError(f"{name} ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise CheckError(f"{name} is not healthy after {START_SECONDS:.0f} s")
        time.sleep(0.5)
    print(f"  {name} is healthy")


def _remember_and_recall(container: str, key: str) -> None:
    client = {"MNEME_TARGET": f"127.0.0.1:{PORTS['gateway']}", "MNEME_API_KEY": key}
    words = ["remember", "--user", "ada", "--conversation", "check", "--wait", REMEMBERED]
    _run(_inside(container, client, "/opt/mneme/entrypoint", *words))
    found = _output(_inside(container, client, "/opt/mneme/entrypoint", "recall", "--user", "ada", "Where is the key?"))
    if "blue flower pot" not in " ".join(found.split()):
        raise CheckError(f"what was remembered is not recalled: {found}")
    print("  remembered and recalled")


def _inside(container: str, environment: Mapping[str, str], *command: str) -> list[str]:
    variables = [f"--env={name}={value}" for name, value in environment.items()]
    return [
        "buildah",
        "run",
        "--isolation",
        "chroot",
        "--user",
        f"{USER}:{USER}",
        *variables,
        container,
        "--",
        *command,
    ]


def _pids_of_services() -> list[int]:
    """Services that run as the image's user; what they or buildah started beside them is left out."""
    found = []
    for path in Path("/proc").iterdir():
        if not path.name.isdigit():
            continue
        try:
            words = (path / "cmdline").read_text().split("\0")
            owner = path.stat().st_uid
        except OSError:  # it has ended
            continue
        if owner == USER and words[:2] == ["python", "-m"] and words[2] in SERVICES:
            found.append(int(path.name))
    return found


def _files(root: Path) -> set[str]:
    """Files outside of the data folder and of /tmp, with the time of their last change."""
    free = ("var/lib/mneme", "tmp", "run", "proc", "sys", "dev", "etc/hosts", "etc/resolv.conf", "etc/hostname")
    found = set()
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if not name.startswith(free) and path.is_file() and not path.is_symlink():
            found.add(f"/{name} {path.stat().st_mtime_ns}")
    return found


def _megabytes(path: Path) -> int:
    return int(_output(["du", "-sm", str(path)]).split()[0])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
