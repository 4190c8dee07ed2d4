"""The package of the wheel, unpacked into a folder of the test's, with the C library or with its stand-in."""

import atexit
import os
import pathlib
import shutil
import sys
import tempfile
import zipfile

_HERE = pathlib.Path(__file__).parent


def wheel():
  """Returns the path of the wheel."""
  path, = _HERE.parent.glob("*.whl")
  return path


def unpack():
  """Unpacks the wheel into a new folder, which is returned."""
  folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
  atexit.register(shutil.rmtree, folder, ignore_errors=True)
  with zipfile.ZipFile(wheel()) as archive:
    archive.extractall(folder)
  return folder


def import_on_cpu():
  """Makes `import stridewise` load the wheel's package, with the stand-in for its C library."""
  folder = unpack()
  library, = (folder / "stridewise").glob("libstridewise.so.*")
  library.unlink()
  shutil.copy(_HERE / "libstridewise_cpu.so", library)
  sys.path.insert(0, str(folder))
  return library
