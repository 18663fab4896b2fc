"""Keeps the services out of wheels: they run from a clone or an image, and `services` is no name to install anywhere."""

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class NoWheel(bdist_wheel):
    """Refuses to build a wheel; an installation in place, as `make setup` does it, builds none."""

    def run(self) -> None:
        """Say what to do instead."""
        raise SystemExit(
            "the services have no wheel: run them from a clone (`make run`) or as an image; the Python client is "
            "built by `pip wheel --no-deps clients/python`"
        )


setup(cmdclass={"bdist_wheel": NoWheel})
