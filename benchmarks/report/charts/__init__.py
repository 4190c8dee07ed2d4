"""Which charts a group of rows has, and what each one shows.

Each module makes one kind of chart: its function figures(group) returns a list of model.Chart or model.HeatMap, empty where
the group has no data for it. A new chart is such a module and a line in CHARTS, which is in the report's order.
"""

from benchmarks.report.charts import accuracy
from benchmarks.report.charts import blocks
from benchmarks.report.charts import copy_shares
from benchmarks.report.charts import ladder
from benchmarks.report.charts import noise
from benchmarks.report.charts import phases
from benchmarks.report.charts import rate_by_size
from benchmarks.report.charts import roofline
from benchmarks.report.charts import small_sizes
from benchmarks.report.charts import time_by_size
from benchmarks.report.charts import vendor_shares

CHARTS = (
    rate_by_size,
    time_by_size,
    small_sizes,
    ladder,
    roofline,
    vendor_shares,
    copy_shares,
    phases,
    blocks,
    accuracy,
    noise,
)
