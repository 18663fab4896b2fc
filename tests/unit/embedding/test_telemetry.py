"""Nothing is reported to the maker of the model's runtime."""

import os
import subprocess
import sys


def test_reports_of_the_runtime_are_off_before_it_is_imported() -> None:
    program = (
        "import os, sys, services.common.embedding.encoder\n"
        "assert 'onnxruntime' in sys.modules\n"
        "print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_whoever_wants_them_may_switch_them_on() -> None:
    program = "import os, services.common.embedding.encoder\nprint(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
