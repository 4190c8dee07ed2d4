"""The columns of the sweeps' CSV files.

common/measure/csv_columns.inc names them, in the order of the file; docs/csv_columns.md says what each one means. What is said
of them here is what the report has to know besides: which hold words, which a row must have, which identify a configuration.
"""

import pathlib
import re

_INC = pathlib.Path(__file__).absolute().parents[2] / "common" / "measure" / "csv_columns.inc"

NAMES = tuple(re.findall(r'^CSV_COLUMN\(\w+, "(\w+)"\)', _INC.read_text(encoding="ascii"), re.MULTILINE))

# Columns of words; all others hold numbers. Rows with words in a column that is not listed here are skipped, with a message.
TEXT = ("schema_version", "timestamp_utc", "git_commit", "host", "cpu", "device", "compute_capability", "driver", "cuda",
        "operation", "implementation", "dtype", "math", "l2", "host_memory", "status", "message", "throttle_reason",
        "layout", "kernels", "counters", "workspace", "shape_family", "chosen", "permutation",
        "precision", "epilogue", "shard", "affinity", "grid")
NUMBERS = tuple(name for name in NAMES if name not in TEXT)

# A file without these columns cannot be used.
REQUIRED = ("schema_version", "operation", "implementation", "rows", "cols", "status", "kernel_ms_median")

# Two rows that agree in these columns measure the same configuration, on whatever machine.
CONFIGURATION = ("operation", "implementation", "dtype", "math", "rows", "cols", "depth", "block_x", "block_y", "l2",
                 "host_memory", "batch", "layout", "alpha", "beta", "workspace", "permutation",
                 "precision", "epilogue", "grid", "grid_block")

# The value of an empty cell, or of a column that an older file lacks.
DEFAULTS = {"batch": 1.0, "layout": "nn", "alpha": 1.0, "beta": 0.0, "workspace": "asked", "permutation": "",
            "precision": "fp32", "epilogue": "none", "grid": "", "grid_block": 0.0}
