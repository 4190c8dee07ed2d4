"""Which sources an implementation has, and which of them are others than at a commit.

The sources are the file that defines the function which a line of kernels.inc or library.inc names, and the headers of
the operation's device/ folder that it includes. For `auto` they are its dispatch and all kernels that it can choose.
Files that were only moved, and changes of comments, includes and spaces, do not count.
"""

import re
import subprocess

OPERATIONS = ("transpose", "matmul")


class Sources:
  """The sources of each implementation at the checked-out commit."""

  def __init__(self, root):
    self._root = root
    self._of = {}
    for operation in OPERATIONS:
      entries = self._entries(operation)
      texts = {path: path.read_text(encoding="utf-8") for path in sorted((root / operation).rglob("*.c[cu]"))
               if "test" not in path.relative_to(root).parts and path.name != "host_executor.cc"}
      chosen = set()
      for name, (function, is_chosen) in entries.items():
        files = [path for path, text in texts.items() if re.search(rf"\b{function}\b", text)]
        self._of[operation, name] = self._with_headers(operation, files)
        if is_chosen:
          chosen |= self._of[operation, name]
      if (operation, "auto") in self._of:
        self._of[operation, "auto"] |= chosen | {f"{operation}/tuning.inc"} & {
            str(path.relative_to(root)) for path in (root / operation).glob("*.inc")}

  def _entries(self, operation):
    """Returns {name: (function, whether `auto` can choose it)} from the registry's lists."""
    text = re.sub(r"//.*", "", "".join(
        path.read_text(encoding="utf-8") for path in sorted((self._root / operation).glob("*.inc"))))
    lines = re.split(r"^(?=[A-Z]+_\w+\()", text, flags=re.M)
    matches = [(re.match(r"[A-Z]+_\w+\(\s*(\w+),\s*(\w+)", line), ".AutoIf(" in line) for line in lines]
    return {match[1]: (match[2], is_chosen) for match, is_chosen in matches if match}

  def _with_headers(self, operation, files):
    found, wanted = set(), list(files)
    while wanted:
      path = wanted.pop()
      name = str(path.relative_to(self._root))
      if name in found or not path.exists():
        continue
      found.add(name)
      wanted += [self._root / header for header in re.findall(rf'#include "({operation}/device/[^"]+)"',
                                                              path.read_text(encoding="utf-8"))]
    return found

  def of(self, operation, implementation):
    """Returns the set of paths; empty for what the registry does not name. `operation` is that of a row, such as copy."""
    return self._of.get(("matmul" if operation == "matmul" else "transpose", implementation), set())


class History:
  """Which of today's files were others at a commit."""

  def __init__(self, root):
    self._root = root
    self._paths, self._changed = {}, {}

  def _git(self, *arguments):
    result = subprocess.run(["git", *arguments], cwd=self._root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return result.stdout.decode("utf-8", "replace") if result.returncode == 0 else None

  def _paths_at(self, commit):
    """Returns {path now: path then} for what was moved or changed, and None for a commit that is not known."""
    if commit not in self._paths:
      text = self._git("diff", "-M40%", "-l0", "--name-status", commit, "HEAD")
      lines = [line.split("\t") for line in (text or "").splitlines()]
      self._paths[commit] = None if text is None else {
          line[-1]: line[1] if line[0][0] in "RM" else "" for line in lines if line[0][0] in "RMA"}
    return self._paths[commit]

  def changed(self, path, commit):
    """Returns whether the path has another text than at the commit; None if the commit is not known."""
    if (path, commit) not in self._changed:
      paths = self._paths_at(commit)
      if paths is None:
        self._changed[path, commit] = None
      elif path not in paths:
        self._changed[path, commit] = False
      else:
        then, now = self._git("show", f"{commit}:{paths[path]}"), self._git("show", f"HEAD:{path}")
        self._changed[path, commit] = then is None or now is None or essence(then) != essence(now)
    return self._changed[path, commit]


def essence(text):
  """Returns a source without comments, includes and spaces."""
  text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
  return "".join(re.sub(r"^\s*#include.*$", "", text, flags=re.M).split())
