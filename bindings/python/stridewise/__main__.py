"""python -m stridewise info: what is installed here, and whether it can run."""

import importlib.metadata
import platform
import sys

from stridewise import __version__, _core

_FRAMEWORKS = ("torch", "cupy", "cupy-cuda12x", "cupy-cuda13x", "jax", "numba", "numba-cuda", "numpy")


def _installed():
  """Yields the frameworks that are installed, with their versions."""
  for name in _FRAMEWORKS:
    try:
      yield f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
      pass


def _driver():
  try:
    with open("/proc/driver/nvidia/version", encoding="ascii", errors="replace") as file:
      return file.readline().strip()
  except OSError:
    return "none"


def _state():
  try:
    _core.check_device(0)
  except RuntimeError as error:
    return f"not usable: {error}"
  return "usable"


def info():
  """Returns the lines that `info` prints."""
  version, path = _core.library()
  return [
    f"stridewise   {__version__}",
    f"library      {version}, {path}",
    f"extension    {_core.__file__}",
    f"python       {platform.python_version()}, {sys.executable}",
    f"driver       {_driver()}",
    f"GPU 0        {_state()}",
    f"frameworks   {', '.join(_installed()) or 'none'}",
  ]


def main(arguments):
  if arguments != ["info"]:
    print("usage: python -m stridewise info", file=sys.stderr)
    return 2
  print("\n".join(info()))
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
