"""Tests of stale_results.py on a small repository of its own."""

import pathlib
import subprocess
import tempfile
import unittest

from tools import stale_results
from tools.docs import kernel_sources

MEASURE_ALL = """\
echo "part 1    20 s  ladder                       transpose_sweep --preset=ladder --csv=ladder.csv"
echo "part 1    20 s  limits                       matmul_sweep --csv=rows.csv --limits_csv=verdicts.csv"
echo "part 2     5 s  counts                       profile --csv=scratch/counts.csv --counts_csv=counts.csv"
echo "part 1: 40 s"
"""
KERNELS = {
    "transpose": "// A_COMMENT(none, None)\n"
                 "TRANSPOSE_DEVICE(copy, CopyRow, kHostExecutable,\n                 Step(1))\n"
                 "TRANSPOSE_DEVICE(tile, TransposeTile, kHostExecutable,\n    Library().AutoIf([] { return true; }))\n"
                 "TRANSPOSE_DEVICE(auto, TransposeAuto, kHostExecutable, Library())\n",
    "matmul": "MATMUL_HOST(cpu, MatMulCpu, Step(1))\n",
}
FILES = {
    "transpose/ladder/01_copy.cu": "Status CopyRow() { return Copy(1); }\n",
    "transpose/library/tile.cu": '#include "transpose/device/tile.h"\nStatus TransposeTile() { return Tile(2); }\n',
    "transpose/device/tile.h": '#include "transpose/device/deep.h"\nint Tile(int x);\n',
    "transpose/device/deep.h": "int Deep(int x);\n",
    "transpose/dispatch.cc": "Status TransposeAuto() { return Choose(3); }\n",
    "transpose/host_executor.cc": "auto* run = TransposeAuto;\n",
    "transpose/test/tile_test.cc": "TransposeTile();\n",
    "matmul/cpu/cpu.cc": "Status MatMulCpu() { return Loop(4); }\n",
    "docs/results/README.md": "<!-- commands of tools/measure_all.sh -->\n<!-- end of commands -->\n[once](h200/once)\n",
    "docs/results/h200/once/trials.csv": "what,git_commit\nx,g1\n",
    "tools/measure_all.sh": MEASURE_ALL,
    **{f"{operation}/kernels.inc": text for operation, text in KERNELS.items()},
}


class StaleResultsTest(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.root = pathlib.Path(folder.name)
    self.git("init", "-q")
    self.commit(FILES)

  def git(self, *arguments):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()

  def write(self, name, text):
    path = self.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

  def commit(self, files):
    for name, text in files.items():
      self.write(name, text)
    self.git("add", "-A")
    self.git("commit", "-qm", "x")

  def head(self):
    return "g" + self.git("rev-parse", "--short=12", "HEAD")

  def old(self, commit, *implementations, **columns):
    rows = [{"operation": "transpose", "implementation": name, "git_commit": commit, **columns} for name in implementations]
    return stale_results.old_rows(rows, kernel_sources.Sources(self.root), kernel_sources.History(self.root))

  def test_sources(self):
    sources = kernel_sources.Sources(self.root)
    tile = {"transpose/library/tile.cu", "transpose/device/tile.h", "transpose/device/deep.h"}
    for operation, name, want in (
        ("copy", "copy", {"transpose/ladder/01_copy.cu"}),
        ("transpose", "tile", tile),
        ("transpose", "auto", tile | {"transpose/dispatch.cc"}),
        ("matmul", "cpu", {"matmul/cpu/cpu.cc"}),
        ("matmul", "tile", set()),
        ("transpose", "none", set()),
    ):
      self.assertEqual(sources.of(operation, name), want, name)

  def test_old_is_what_changed_since_the_commit(self):
    first = self.head()
    self.assertEqual(self.old(first, "copy", "tile", "auto"), {})
    self.commit({"transpose/device/deep.h": "int Deep(long x);\n"})
    self.assertEqual(self.old(first, "copy", "tile", "auto"), {"tile": {"deep.h"}, "auto": {"deep.h"}})
    self.assertEqual(self.old(first + "-dirty", "tile"), {"tile": {"deep.h"}})
    self.assertEqual(self.old(self.head(), "copy", "tile", "auto"), {})
    self.commit({"transpose/device/deep.h": FILES["transpose/device/deep.h"]})
    self.assertEqual(self.old(first, "copy", "tile", "auto"), {}, "changed back")

  def test_moves_and_comments_are_no_changes(self):
    first = self.head()
    self.git("mv", "transpose/library/tile.cu", "transpose/ladder/02_tile.cu")
    self.commit({
        "transpose/ladder/02_tile.cu": "// Says more.\n" + FILES["transpose/library/tile.cu"],
        "transpose/ladder/01_copy.cu": "#include <new>\nStatus CopyRow() {\n  /* one */ return Copy(1);\n}\n",
    })
    self.assertEqual(self.old(first, "copy", "tile"), {})
    self.commit({"transpose/ladder/02_tile.cu": FILES["transpose/library/tile.cu"].replace("2", "5")})
    self.assertEqual(self.old(first, "copy", "tile"), {"tile": {"02_tile.cu"}})

  def test_what_is_not_known(self):
    self.assertEqual(self.old("g0123456789ab", "copy"), {"copy": {"unknown commit 0123456789ab"}})
    self.assertEqual(self.old("", "copy"), {})
    self.assertEqual(self.old(self.head(), "of another registry"), {})

  def test_calls_of_the_library_are_those_of_auto(self):
    first = self.head()
    self.commit({"transpose/dispatch.cc": "Status TransposeAuto() { return Choose(8); }\n"})
    sources, history = kernel_sources.Sources(self.root), kernel_sources.History(self.root)
    for row, want in (
        ({"call": "Transpose", "shape": "8x9"}, {"auto": {"dispatch.cc"}}),
        ({"call": "Permute of 4", "shape": "8x9"}, {"auto": {"dispatch.cc"}}),
        ({"call": "MatMul with context", "shape": "8x9x7"}, {}),
        ({"products": "held out"}, {}),
        ({"call": "cublasSgeam", "shape": "8x9"}, {}),
        ({"program": "plain_program"}, {}),
    ):
      self.assertEqual(stale_results.old_rows([{**row, "git_commit": first}], sources, history), want, row)

  def test_missing_configurations(self):
    lines = ["--implementations=copy --shapes=8x9 --types=float --blocks=16x16",
             "--implementations=copy --shapes=8x9 --types=float --blocks=32x8",
             "--implementations=tile --shapes=8x9 --types=u8",
             "--implementations=gemm --shapes=2x3x4 --types=float --batch=5 --layouts=tn"]
    row = {"implementation": "copy", "rows": "8", "cols": "9", "depth": "", "dtype": "float", "block_x": "16",
           "block_y": "16", "batch": "", "layout": ""}
    tile = {**row, "implementation": "tile", "dtype": "u8"}
    gemm = {**row, "implementation": "gemm", "rows": "2", "cols": "3", "depth": "4", "batch": "5", "layout": "tn"}
    for rows, want in (
        ([], {"copy": 2, "tile": 1, "gemm": 1}),
        ([row], {"copy": 1, "tile": 1, "gemm": 1}),
        ([row, {**row, "block_x": "32", "block_y": "8"}, tile, gemm], {}),
        ([row, {**row, "block_x": "32", "block_y": "8"}, {**tile, "dtype": "u16"}, {**gemm, "batch": ""}],
         {"tile": 1, "gemm": 1}),
    ):
      self.assertEqual(stale_results.missing(rows, lines), want)

  def test_warnings_and_errors(self):
    found = stale_results.measurements(self.root)
    self.assertEqual([(m.name, m.files) for m in found],
                     [("ladder", ["ladder.csv"]), ("limits", ["rows.csv", "verdicts.csv"]), ("counts", ["counts.csv"])])
    first = self.head()
    self.write("docs/results/h200/ladder.csv", f"operation,implementation,git_commit\ncopy,copy,{first}\n")
    self.write("docs/results/h200/stray.csv", "implementation\nx\n")
    readme = self.root / "docs" / "results" / "README.md"
    wrong = stale_results.errors(self.root, found)
    words = "\n".join(wrong)
    for part in ("README.md: the table", "ladder.csv: no page of the folder links", "stray.csv: no page of the folder links",
                 "stray.csv: no column git_commit"):
      self.assertIn(part, words)
    self.assertNotIn("trials.csv", words)
    self.assertEqual(len(wrong), 4)

    readme.write_text(readme.read_text().replace(
        "tools/measure_all.sh -->\n", "tools/measure_all.sh -->\n" +
        stale_results.readme_table(found, self.root / "docs" / "results" / "h200", {})))
    self.assertIn(f"| [ladder.csv](h200/ladder.csv) | {first[1:8]} |  | `transpose_sweep --preset=ladder --csv=ladder.csv` |",
                  readme.read_text())
    (self.root / "docs" / "results" / "h200" / "stray.csv").unlink()
    self.assertEqual(stale_results.errors(self.root, found), [])

    self.commit({"transpose/ladder/01_copy.cu": "Status CopyRow() { return Copy(7); }\n"})
    self.assertEqual(stale_results.warnings(self.root, found, None), [
        "ladder.csv: older than the sources of copy (01_copy.cu)",
        "rows.csv: not measured yet",
        "counts.csv: not measured yet",
        'docs/results/README.md: the column "changed since" is not up to date; tools/stale_results.py --write mends it',
        "to be measured again: tools/measure_all.sh --output=DIR ladder limits counts",
    ])
    self.assertEqual(stale_results.errors(self.root, found), [], "what ages is no error")

    text = stale_results.readme_table(found, self.root / "docs" / "results" / "h200", stale_results.ages(self.root, found))
    self.assertEqual(stale_results.readme_ages(text), {"ladder.csv": "copy"})
    self.commit({"transpose/ladder/01_copy.cu": FILES["transpose/ladder/01_copy.cu"]})
    self.assertEqual(stale_results.ages(self.root, found), {"ladder.csv": ""}, "changed back")

  def test_when_a_file_was_measured(self):
    rows = [{"git_commit": "gbbbbbbbbb", "timestamp_utc": "2026-02-03T04:05:06Z"},
            {"git_commit": "gaaaaaaaaa-dirty", "timestamp_utc": "2026-01-03T04:05:06Z"}]
    for some, want in ((rows, "2026-01-03 to 2026-02-03, aaaaaaa, bbbbbbb"), (rows[:1], "2026-02-03, bbbbbbb"),
                       ([{"git_commit": "gcccccccccc"}], "ccccccc"), ([{"git_commit": ""}], "")):
      self.assertEqual(stale_results.measured(some), want)


if __name__ == "__main__":
  unittest.main()
