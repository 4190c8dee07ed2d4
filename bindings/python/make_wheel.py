"""Writes a wheel: a zip of the package's files, with the metadata that pip reads.

  make_wheel.py --out=stridewise-0.1.0-cp310-abi3-linux_x86_64.whl LICENSE=LICENSE stridewise/__init__.py=...

The same files make the same bytes. Needs nothing but Python.
"""

import argparse
import base64
import hashlib
import pathlib
import zipfile

_METADATA = """\
Metadata-Version: 2.1
Name: stridewise
Version: {version}
Summary: The fastest transposes, permutations and matrix products for NVIDIA GPUs, on the arrays of any framework
Requires-Python: >=3.10
License-File: LICENSE
"""

_WHEEL = """\
Wheel-Version: 1.0
Generator: stridewise
Root-Is-Purelib: false
Tag: {tag}
"""

_TIME = (1980, 1, 1, 0, 0, 0)  # The first that a zip can say.


def _recorded(name, data):
  digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")
  return f"{name},sha256={digest},{len(data)}\n"


def write(out, files):
  """Writes the wheel `out`, whose name says version and tag, with `files`: {name in the wheel: bytes}."""
  name, version, *tag = pathlib.PurePath(out).stem.split("-")
  info = f"{name}-{version}.dist-info"
  files = dict(sorted(files.items()))
  files[f"{info}/licenses/LICENSE"] = files.pop("LICENSE")
  files[f"{info}/METADATA"] = _METADATA.format(version=version).encode("ascii")
  files[f"{info}/WHEEL"] = _WHEEL.format(tag="-".join(tag)).encode("ascii")
  record = "".join(_recorded(path, data) for path, data in files.items()) + f"{info}/RECORD,,\n"
  files[f"{info}/RECORD"] = record.encode("ascii")
  with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
    for path, data in files.items():
      entry = zipfile.ZipInfo(path, _TIME)
      entry.compress_type = zipfile.ZIP_DEFLATED
      entry.external_attr = (0o755 if ".so" in path else 0o644) << 16
      wheel.writestr(entry, data)


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--out", required=True)
  parser.add_argument("files", nargs="+", help="NAME_IN_WHEEL=FILE; LICENSE goes to the metadata")
  arguments = parser.parse_args()
  pairs = (pair.split("=", 1) for pair in arguments.files)
  write(arguments.out, {name: pathlib.Path(file).read_bytes() for name, file in pairs})


if __name__ == "__main__":
  main()
