"""`python3 -m tools.engines`: installs, starts and stops engines."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import itertools
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from tools.engines.engine import kept_password
from tools.engines.environment import write_environment
from tools.engines.folders import engines_folder, passing_folder
from tools.engines.group import NAMES, EngineGroup, install, missing
from tools.engines.process import EngineError


def main(arguments: Sequence[str]) -> int:
    """Does what the command line says and returns the exit status."""
    options, command = _parse(arguments)
    try:
        if options.action == "install":
            install(options.names)
        elif options.action == "missing":
            for name in options.names or NAMES:
                if reason := missing(name):
                    print(f"{name}: {reason}")
        elif options.action == "run":
            return _run(options.names, command)
        else:
            with _locked(engines_folder()) as folder:
                _manage(options.action, options.names, folder)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="python3 -m tools.engines",
        description="Installs, starts and stops engines on 127.0.0.1. Their folder: MNEME_ENGINES_DIR.",
        epilog="`run redis -- command` starts throw-away engines, runs a command with their MNEME_TEST_ variables, "
        "and removes them.",
    )
    parser.add_argument("action", choices=["install", "start", "stop", "status", "clean", "missing", "run"])
    parser.add_argument("names", nargs="*", metavar="engine", help=f"of {', '.join(NAMES)}; all when none is named")
    own = list(itertools.takewhile(lambda word: word != "--", arguments))
    command = list(arguments[len(own) + 1 :])
    options = parser.parse_args(own)
    if (options.action == "run") != bool(command):
        parser.error("a command after -- goes with run")
    return options, command


def _manage(action: str, names: Sequence[str], folder: Path) -> None:
    group = EngineGroup(folder, names, password=kept_password(folder))
    file = folder / "engines.env"
    if action == "start":
        install(names)
        group.start()
    elif action == "stop":
        group.stop()
    elif action == "clean":
        group.clean()
    variables = EngineGroup(folder, password=kept_password(folder)).service_variables()
    write_environment(file, variables)
    for name, engine in group.engines.items():
        print(f"{name:<10} {f'port {engine.port}, pid {engine.pid}' if engine.pid else 'not running'}")
    if variables and action in {"start", "status"}:
        print(f"to use them:  set -a; . {file}; set +a; .venv/bin/mneme up")


def _run(names: Sequence[str], command: Sequence[str]) -> int:
    """Runs a command beside engines that end with it, however it ends."""
    child: subprocess.Popen[bytes] | None = None

    def end(number: int, _frame: FrameType | None) -> None:
        if child is None:
            raise SystemExit(128 + number)
        if number != signal.SIGINT:  # a terminal has told the child as well
            child.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    install(names)
    with tempfile.TemporaryDirectory(prefix="mneme-engines-", dir=passing_folder()) as folder:
        group = EngineGroup(Path(folder), names, durable=False, short_lived=True)
        try:
            group.start()
            child = subprocess.Popen(command, env={**os.environ, **group.test_variables()})
            return child.wait()
        finally:
            group.stop()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """The folder, while no other process of this program starts or stops engines in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
