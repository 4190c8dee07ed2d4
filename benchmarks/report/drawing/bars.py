"""Charts whose x is a word. The bars are horizontal so that long names can be read: x goes down, y to the right."""

import dataclasses

import numpy

from benchmarks.report import model
from benchmarks.report.drawing import axes
from benchmarks.report.drawing import frame
from benchmarks.report.drawing import labels
from benchmarks.report.drawing import style

_BAR, _SPACE = 13, 8  # Height of a bar, and of the space between the bars of two words.
_LEAST_HEIGHT = 60
_LABEL_DISTANCE = 4


@dataclasses.dataclass
class _Bars:
  """The bars of a series, as arrays with an entry for each word."""
  name: str
  at: numpy.ndarray  # The middle of the bar.
  begin: numpy.ndarray
  end: numpy.ndarray
  low: numpy.ndarray  # The spread around the end; equal to the end where there is none.
  high: numpy.ndarray
  labels: list


def draw(figure, styles):
  """Returns the Frame of a model.Chart of BARS or STACKED_BARS. styles: Style by series name."""
  words = list(dict.fromkeys(word for series in figure.series for word in series.x))
  measured = [series for series in figure.series if not series.is_reference]
  references = [(series.name, _by_word(series, series.y, words, figure)) for series in figure.series if series.is_reference]
  stacked = figure.kind is model.Kind.STACKED_BARS
  in_a_group = 1 if stacked else max(len(measured), 1)
  pitch = in_a_group * _BAR + _SPACE
  all_bars = _stack(measured, words, figure) if stacked else _side_by_side(measured, words, figure, _BAR / pitch)

  picture = frame.Frame(figure.title, figure.subtitle, max(len(words) * pitch, _LEAST_HEIGHT))
  ax = picture.ax
  ax.grid(visible=False, axis="y")
  ax.tick_params(axis="y", length=0)
  ax.set(yticks=range(len(words)), yticklabels=words, ylim=(max(len(words), 1) - 0.5, -0.5), ylabel=figure.x.label)
  shown = [values for bars in all_bars for values in (bars.end, bars.low, bars.high)] + [values for _, values in references]
  axes.set_axis(ax, "x", figure.y, numpy.concatenate(shown) if shown else numpy.empty(0), from_zero=True)
  handles = [_draw_bars(ax, bars, styles[bars.name].color, _BAR / pitch) for bars in all_bars]
  for _, values in references:
    for row, value in enumerate(values):
      ax.plot((value, value), (row - 0.5, row + 0.5), color=style.INK, linewidth=1, dashes=(6, 3))
  if len(all_bars) > 1:
    picture.add_legend(handles, [bars.name for bars in all_bars])
  if not any(numpy.isfinite(values).any() for values in shown):
    picture.say_empty()
  picture.place_plot(lambda: _add_words(picture, all_bars, references, stacked))
  return picture


def _by_word(series, values, words, figure):
  found = dict(zip(series.x, axes.drawable(values, figure.y)))
  return numpy.array([found.get(word, numpy.nan) for word in words])


def _side_by_side(all_series, words, figure, thickness):
  all_bars = []
  for index, series in enumerate(all_series):
    end = _by_word(series, series.y, words, figure)
    low, high = (end if ends is None else _by_word(series, ends, words, figure) for ends in (series.low, series.high))
    at = numpy.arange(len(words)) + (index - (len(all_series) - 1) / 2) * thickness
    all_bars.append(_Bars(series.name, at, 0 * end, end, low, high, _labels_by_word(series, words)))
  return all_bars


def _stack(all_series, words, figure):
  """Returns bars that each begin where those of the series before end. A missing value has height 0."""
  all_bars, begin = [], numpy.zeros(len(words))
  for series in all_series:
    height = _by_word(series, series.y, words, figure)
    end = begin + height
    low, high = (end if ends is None else begin + _by_word(series, ends, words, figure)
                 for ends in (series.low, series.high))
    all_bars.append(_Bars(series.name, numpy.arange(len(words)), begin, end, low, high, _labels_by_word(series, words)))
    begin = begin + numpy.nan_to_num(height)
  return all_bars


def _labels_by_word(series, words):
  found = dict(zip(series.x, series.labels)) if series.labels else {}
  return [found.get(word) or "" for word in words]


def _draw_bars(ax, bars, color, thickness):
  """Draws the bars and returns the handle for their legend."""
  drawn = ax.barh(bars.at, bars.end - bars.begin, thickness, bars.begin, color=color, edgecolor=style.PAPER, linewidth=0.5)
  errors = numpy.maximum(0, (bars.end - bars.low, bars.high - bars.end))
  spread = (errors > 0).any(axis=0)
  if spread.any():
    ax.errorbar(bars.end[spread], bars.at[spread], xerr=errors[:, spread], fmt="none", ecolor=style.INK, elinewidth=0.8,
                capsize=2)
  return drawn


def _add_words(picture, all_bars, references, stacked):
  """Adds the labels of bars and references. Returns the height of the labels above the plot."""
  texts = []
  for bars in all_bars:
    for at, begin, end, high, words in zip(bars.at, bars.begin, bars.end, bars.high, bars.labels):
      if not words or not numpy.isfinite(end):
        continue
      position, distance, side = ((begin + end) / 2, 0, "center") if stacked else (max(end, high), _LABEL_DISTANCE, "left")
      texts.append(picture.ax.annotate(words, (position, at), (distance, 0), textcoords="offset points", ha=side, va="center",
                                       size=frame.LABEL_SIZE, bbox=None if stacked else labels.BACKGROUND))
  if texts and not stacked:
    _make_room(picture, texts)
  return labels.add_words_above(picture, [(values[numpy.isfinite(values)][0], name) for name, values in references
                                          if numpy.isfinite(values).any()])


def _make_room(picture, texts):
  """Extends the axis of values until the labels at the ends of the bars are within the plot."""
  ax, plot = picture.ax, picture.extent(picture.ax)
  scale = 1.0
  for text in texts:
    end = (ax.transData.transform(text.xy)[0] - plot.x0) / plot.width
    room = (picture.extent(text).width + 2 * _LABEL_DISTANCE) / plot.width
    scale = min(scale, (1 - room) / end) if end > 0 else scale
  low, high = ax.transScale.transform([(limit, 0) for limit in ax.get_xlim()])[:, 0]
  ax.set_xlim(right=ax.transScale.inverted().transform((low + (high - low) / max(scale, 0.3), 0))[0])
