"""etcd, the API server, the controller manager, the scheduler, and kwok, which plays the nodes.

Everything of it is real but the pods: kwok reports them as running, and jobs as completed, without running anything.
"""

from __future__ import annotations

import json
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tools.engines.process import EngineError, EngineProcess, exchange, free_port, is_free

API_SERVER: Final = "kube-apiserver"
PROGRAMS: Final = ("etcd", API_SERVER, "kube-controller-manager", "kube-scheduler", "kwok")
"""In the order in which they start."""

_START_SECONDS: Final = 90.0
_STOP_SECONDS: Final = 20.0


class ControlPlane:
    """One control plane in a folder. Another process finds it again by the folder."""

    def __init__(self, folder: Path, programs: Path) -> None:
        """Starts nothing.

        Args:
            folder: Of its state, pid files and logs.
            programs: Where its programs and kubectl are.
        """
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self._programs = programs
        for name in PROGRAMS:
            (folder / name).mkdir(parents=True, exist_ok=True)
        self._processes = {name: EngineProcess(folder / name) for name in PROGRAMS}
        self._ports_file = folder / "ports.json"

    def start(self) -> None:
        """Starts all programs that do not run.

        Raises:
            EngineError: One of them does not start; the message has the end of its log.
        """
        self._prepare()
        for name in PROGRAMS:
            self.start_program(name)

    def start_program(self, name: str) -> None:
        """Starts one of `PROGRAMS` and waits until it can be used.

        Raises:
            EngineError: It does not start; the message has the end of its log.
        """
        process = self._processes[name]
        if process.pid is None:
            process.start([str(self._programs / name), *self._arguments(name)])
            process.wait_ready(self._ready(name), timeout_seconds=_START_SECONDS)

    def stop_program(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """Stops one of `PROGRAMS`."""
        self._processes[name].end(number, timeout_seconds=_STOP_SECONDS)

    def stop(self) -> None:
        """Stops all programs, the last one first. Their state stays."""
        for name in reversed(PROGRAMS):
            self.stop_program(name, signal.SIGKILL if name == API_SERVER else signal.SIGTERM)

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """Runs kubectl as the administrator and returns what it prints.

        Raises:
            EngineError: It failed; the message has what it printed.
        """
        done = self.try_kubectl(*arguments, text=text)
        if done.returncode:
            raise EngineError(f"kubectl {' '.join(arguments)}: {done.stderr or done.stdout}")
        return done.stdout

    def try_kubectl(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Runs kubectl as the administrator, whatever its exit code."""
        command = [str(self._programs / "kubectl"), f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(command, input=text, check=False, capture_output=True, text=True)

    def add_nodes(self, count: int) -> list[str]:
        """Adds nodes, with enough of everything, and returns their names."""
        names = [f"node-{number}" for number in range(count)]
        capacity = {"cpu": "64", "memory": "256Gi", "pods": "200", "ephemeral-storage": "1Ti"}
        nodes = [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {
                    "name": name,
                    "labels": {
                        "kubernetes.io/hostname": name,
                        "topology.kubernetes.io/zone": f"zone-{number % 2}",
                        "pool": "services",
                    },
                },
                "status": {"allocatable": capacity, "capacity": capacity},
            }
            for number, name in enumerate(names)
        ]
        self.kubectl("apply", "-f", "-", text=yaml.safe_dump_all(nodes))
        self.kubectl("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=60s")
        return names

    def write_kubeconfig(self, file: Path, token: str, namespace: str = "default") -> None:
        """Writes a configuration for the holder of a token."""
        authority = self.folder / API_SERVER / "certificates" / "apiserver.crt"  # its own; made at its first start
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "local", "cluster": {"server": self.url, "certificate-authority": str(authority)}}],
            "users": [{"name": "user", "user": {"token": token}}],
            "contexts": [{"name": "local", "context": {"cluster": "local", "user": "user", "namespace": namespace}}],
            "current-context": "local",
        }
        file.write_text(yaml.safe_dump(config), "utf-8")

    @property
    def url(self) -> str:
        """Of the API server."""
        return f"https://127.0.0.1:{self._ports['api']}"

    @property
    def _ports(self) -> dict[str, int]:
        return dict(json.loads(self._ports_file.read_text("utf-8")))

    def _prepare(self) -> None:
        """Chooses ports and makes credentials, once."""
        if self._ports_file.exists():
            return
        names = ("api", "etcd", "etcd-peer", "controllers", "scheduler", "kwok")
        self._ports_file.write_text(json.dumps({name: free_port() for name in names}), "utf-8")
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (self.folder / "accounts.key").write_bytes(pem)
        token = secrets.token_hex(16)
        (self.folder / "tokens.csv").write_text(f"{token},administrator,administrator,system:masters\n", "utf-8")
        self.write_kubeconfig(self.kubeconfig, token)

    def _arguments(self, name: str) -> Sequence[str]:
        ports, folder = self._ports, self.folder / name
        etcd, peer = (f"http://127.0.0.1:{ports[port]}" for port in ("etcd", "etcd-peer"))
        accounts = self.folder / "accounts.key"
        match name:
            case "etcd":
                return (
                    f"--data-dir={folder}/data",
                    f"--listen-client-urls={etcd}",
                    f"--advertise-client-urls={etcd}",
                    f"--listen-peer-urls={peer}",
                    f"--initial-advertise-peer-urls={peer}",
                    f"--initial-cluster=default={peer}",
                    "--unsafe-no-fsync",  # of a test
                )
            case "kube-apiserver":
                return (
                    f"--etcd-servers={etcd}",
                    "--bind-address=127.0.0.1",
                    f"--secure-port={ports['api']}",
                    f"--cert-dir={folder}/certificates",
                    "--endpoint-reconciler-type=none",
                    "--service-cluster-ip-range=10.96.0.0/16",
                    "--service-account-issuer=https://kubernetes.default.svc",
                    f"--service-account-key-file={accounts}",
                    f"--service-account-signing-key-file={accounts}",
                    f"--token-auth-file={self.folder}/tokens.csv",
                    "--authorization-mode=RBAC",
                )
            case "kube-controller-manager":
                return (
                    f"--kubeconfig={self.kubeconfig}",
                    f"--service-account-private-key-file={accounts}",
                    f"--cert-dir={folder}/certificates",
                    "--bind-address=127.0.0.1",
                    f"--secure-port={ports['controllers']}",
                    "--leader-elect=false",
                    "--horizontal-pod-autoscaler-sync-period=2s",
                )
            case "kube-scheduler":
                return (
                    f"--kubeconfig={self.kubeconfig}",
                    f"--cert-dir={folder}/certificates",
                    "--bind-address=127.0.0.1",
                    f"--secure-port={ports['scheduler']}",
                    "--leader-elect=false",
                )
            case _:
                shutil.copyfile(self._programs / "kwok-stages.yaml", folder / "stages.yaml")
                return (
                    f"--config={folder}/stages.yaml",
                    f"--kubeconfig={self.kubeconfig}",
                    "--manage-all-nodes",
                    "--node-ip=127.0.0.1",
                    "--node-lease-duration-seconds=40",
                    f"--server-address=127.0.0.1:{ports['kwok']}",
                )

    def _ready(self, name: str) -> Callable[[], bool]:
        ports = self._ports
        match name:
            case "etcd":
                return lambda: b" 200 " in exchange(ports["etcd"], b"GET /health HTTP/1.0\r\n\r\n")
            case "kube-apiserver":
                return lambda: not self.try_kubectl("get", "--raw=/readyz").returncode
            case "kube-controller-manager":
                # It makes the account that pods run as; without it there are none.
                return lambda: not self.try_kubectl("get", "serviceaccount", "default").returncode
            case "kube-scheduler":
                return lambda: not is_free(ports["scheduler"])
            case _:
                return lambda: b" 200 " in exchange(ports["kwok"], b"GET /healthz HTTP/1.0\r\n\r\n")
