"""The charts of a group of rows, one module each with one function, figures(group) -> list of Chart or HeatMap: an empty
list where the group has no data for it. Adding a chart is such a file and a line in CHARTS, which has the report's order.
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
