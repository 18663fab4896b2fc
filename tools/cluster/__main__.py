"""Runs a command beside a Kubernetes control plane, which ends with it.

    python -m tools.cluster run -- COMMAND...

The command finds it by MNEME_TEST_CLUSTER, its folder, and by KUBECONFIG, the administrator's configuration.
`tools/install_tools.sh control-plane` installs its programs. MNEME_CLUSTER_DIR names a folder for its state that stays,
else it is temporary.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.cluster.control_plane import ControlPlane
from tools.engines.process import EngineError


def programs_folder() -> Path:
    """Where tools/install_tools.sh puts programs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("MNEME_TOOLS_DIR", cache / "mneme" / "tools")) / "bin"


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code; 2 where the control plane does not start."""
    if list(arguments[:2]) != ["run", "--"] or not arguments[2:]:
        print(__doc__, file=sys.stderr)
        return 2
    given = os.environ.get("MNEME_CLUSTER_DIR")
    folder = Path(given or tempfile.mkdtemp(prefix="mneme-cluster-")).resolve()
    cluster = ControlPlane(folder, programs_folder())
    try:
        cluster.start()
        environment = {
            **os.environ,
            "KUBECONFIG": str(cluster.kubeconfig),
            "MNEME_TEST_CLUSTER": str(folder),
        }
        return subprocess.run(arguments[2:], env=environment, check=False).returncode
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        # By the pid files: the command may have started programs anew, which are not this process's children.
        ControlPlane(folder, programs_folder()).stop()
        if given is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
