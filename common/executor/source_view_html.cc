// SourceViewHtml(): the page.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "common/executor/source_figures.h"
#include "common/executor/source_view.h"

namespace stridewise::executor {
namespace {

// Figures are shaded by --waste, from 0 to 1, over the page's background.
constexpr absl::string_view kStyle = R"(
:root { color-scheme: light dark; --page: #fff; --ink: #1c2126; --faint: #69737d; --rule: #d5dade;
  --head: #f3f5f7; --hot: 232 98 30; --strength: 70%; }
@media (prefers-color-scheme: dark) {
  :root { --page: #15181b; --ink: #dbe0e5; --faint: #8b959e; --rule: #343a40; --head: #20252a;
    --hot: 226 92 26; --strength: 60%; }
}
* { box-sizing: border-box; }
body { margin: 1.5rem; background: var(--page); color: var(--ink);
  font: 0.95rem/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.3rem; line-height: 1.3; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.05rem; }
p { margin: 0.25rem 0 1rem; color: var(--faint); }
a { color: inherit; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: 6px; }
table { width: 100%; border-collapse: collapse; font: 0.8rem/1.45 ui-monospace, monospace;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: 0 0.6rem; text-align: right; vertical-align: top; }
th { padding: 0.4rem 0.6rem; background: var(--head); font-weight: 600;
  box-shadow: inset 0 -1px var(--rule); }
th:first-child, td.access, th:last-child, td.code { text-align: left; }
td { background: rgb(var(--hot) / calc(var(--waste, 0) * var(--strength))); }
td.number { background: none; color: var(--faint); border-left: 1px solid var(--rule); }
td.code { width: 100%; white-space: pre; tab-size: 4; }
tbody + tbody tr:first-child td, tfoot tr:first-child td { border-top: 1px solid var(--rule); }
tbody + tbody td.code, tfoot td.code { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1.2rem; max-width: 52rem;
  margin: 0; }
dt { font-weight: 600; }
dd { margin: 0; }
.swatch { display: inline-block; width: 9rem; height: 0.8em; border: 1px solid var(--rule);
  background: linear-gradient(to right, transparent, rgb(var(--hot) / var(--strength))); }
@media (min-width: 60rem) {
  .scroll { width: max-content; min-width: 100%; overflow: visible; }
  thead th { position: sticky; top: 0; }
}
@media (max-width: 40rem) {
  body { margin: 0.75rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.6rem; }
}
@media print {
  @page { size: landscape; margin: 1cm; }
  :root { --page: #fff; --ink: #000; --faint: #555; --rule: #aaa; --head: #eee; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { margin: 0; }
  table { font-size: 6.5pt; }
  th, td { padding: 0 0.3rem; }
  tfoot { display: table-row-group; } /* Not on every page. */
  thead th { position: static; }
  tr, dt, dd { break-inside: avoid; }
  td.code { white-space: pre-wrap; overflow-wrap: anywhere; }
  .scroll { width: 100%; overflow: visible; border: 0; }
  .jump { display: none; }
}
)";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// Returns an attribute, or "" where nothing is wasted.
std::string Waste(double waste) {
  return waste > 0 ? absl::StrFormat(" style=\"--waste:%.3f\"", waste) : "";
}

std::string FigureCells(const FigureRow& figures) {
  std::string html = absl::StrCat("<td class=\"access\">", figures.cells[0], "</td>");
  for (int i = 1; i < kFigureColumns; ++i) {
    absl::StrAppend(&html, "<td>", figures.cells[i], "</td>");
  }
  return html;
}

// The text stands beside all its rows of figures, shaded like the worst of them.
std::string Rows(const SourceRow& row) {
  const size_t height = std::max<size_t>(row.figures.size(), 1);
  double waste = 0;
  for (const FigureRow& figures : row.figures) waste = std::max(waste, figures.waste);
  const std::string span = height > 1 ? absl::StrCat(" rowspan=\"", height, "\"") : "";
  const std::string number = row.line > 0 ? absl::StrCat(row.line) : "";
  const std::string text =
      absl::StrCat("<td class=\"number\"", span, ">", number, "</td><td class=\"code\"", span,
                   Waste(waste), ">", Escaped(row.text), "</td>");
  if (row.figures.empty()) {
    return absl::StrCat("<tr><td colspan=\"", kFigureColumns, "\"></td>", text, "</tr>\n");
  }
  std::string html;
  for (size_t i = 0; i < row.figures.size(); ++i) {
    absl::StrAppend(&html, "<tr", Waste(row.figures[i].waste), ">", FigureCells(row.figures[i]),
                    i == 0 ? text : "", "</tr>\n");
  }
  return html;
}

std::string Legend() {
  std::string html = "<h2 id=\"legend\">What the columns mean</h2>\n<dl>\n";
  for (const FigureColumn& column : kFigures) {
    absl::StrAppend(&html, "<dt>", column.title, "</dt><dd>", column.meaning, "</dd>\n");
  }
  absl::StrAppend(&html,
                  "<dt>shading</dt><dd><span class=\"swatch\"></span> How much of all the kernel's "
                  "sectors, or wavefronts, the line wastes: from nothing to all.</dd>\n</dl>\n");
  return html;
}

}  // namespace

std::string SourceViewHtml(absl::string_view title, const SourceText& source,
                           const std::vector<LineCounters>& lines) {
  const SourceRows rows = ArrangeFigures(source, lines);
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      Escaped(title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<h1>",
      Escaped(title), "</h1>\n<p>", Escaped(source.file),
      "<span class=\"jump\"> &middot; <a href=\"#legend\">What the columns mean</a></span></p>\n"
      "<div class=\"scroll\">\n<table>\n<thead>\n<tr>");
  for (const FigureColumn& column : kFigures) {
    absl::StrAppend(&html, "<th scope=\"col\">", column.title, "</th>");
  }
  html += "<th scope=\"col\">line</th><th scope=\"col\">source</th></tr>\n</thead>\n<tbody>\n";
  for (const SourceRow& row : rows.source) html += Rows(row);
  html += "</tbody>\n<tbody>\n";
  for (const SourceRow& row : rows.elsewhere) html += Rows(row);
  absl::StrAppend(&html, "</tbody>\n<tfoot>\n", Rows(rows.total), "</tfoot>\n</table>\n</div>\n",
                  Legend(), "</body>\n</html>\n");
  return html;
}

}  // namespace stridewise::executor
