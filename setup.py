"""Keeps the services out of wheels: they run from a clone or an image, where no other `services` is installed."""

from setuptools import setup  # type: ignore[import-untyped]
from setuptools.command.bdist_wheel import bdist_wheel  # type: ignore[import-untyped]


class NoWheel(bdist_wheel):  # type: ignore[misc] # without types
    """Refuses to build a wheel; an installation in place, as `make setup` does it, builds none."""

    def run(self) -> None:
        """Say what to do instead."""
        raise SystemExit(
            "the services have no wheel: run them from a clone (`make run`) or as an image; the Python client is "
            "built by `pip wheel --no-deps clients/python`"
        )


setup(cmdclass={"bdist_wheel": NoWheel})
