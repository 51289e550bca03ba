#!/usr/bin/env python3
"""dashboard.py PROMETHEUS_URL grafana.json INSTANCE OUT.svg

Draws a dashboard's panels as Grafana would lay them out, from what Prometheus has of one instance in the last
minutes.
Needs matplotlib.
"""
import json
import sys
import time
import urllib.parse
import urllib.request

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

MINUTES = 5
STEP = 5


def series(url, instance, expr, legend):
    """What an expression returns over the last minutes: (label, times, values) of each series."""
    for name, value in (("$instance", instance), ("$datname", ".*"), ("$__rate_interval", "30s")):
        expr = expr.replace(name, value)
    now = time.time()
    query = urllib.parse.urlencode({"query": expr, "start": now - 60 * MINUTES, "end": now, "step": STEP})
    with urllib.request.urlopen(f"{url}/api/v1/query_range?{query}") as answer:
        found = json.load(answer)["data"]["result"]
    for one in found:
        label = legend
        for key, value in one["metric"].items():
            label = label.replace("{{%s}}" % key, value)
        yield label, [t - now for t, _ in one["values"]], [float(v) for _, v in one["values"]]


def readable(value, unit):
    """A value as the panel's unit has it."""
    if unit == "percentunit":
        return f"{100 * value:.0f} %"
    if unit == "bool_on_off":
        return "on" if value else "off"
    for factor, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.3g}" + (" s" if unit == "s" else "")


def draw(axes, panel, url, instance):
    """One panel."""
    unit = panel["fieldConfig"]["defaults"]["unit"]
    found = [one for target in panel["targets"] for one in series(url, instance, target["expr"], target["legendFormat"])]
    axes.set_title(panel["title"], loc="left", fontsize=9)
    if panel["type"] == "stat":
        axes.axis("off")
        axes.text(0.5, 0.4, readable(found[0][2][-1], unit) if found else "no data", ha="center", va="center", fontsize=18)
        return
    stacked = panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal"
    if stacked and found:
        times = sorted({t for _, ts, _ in found for t in map(round, ts)})
        values = [[dict(zip(map(round, ts), vs)).get(t, 0) for t in times] for _, ts, vs in found]
        axes.stackplot(times, values, labels=[label for label, _, _ in found], alpha=0.8)
    else:
        for label, ts, vs in found:
            axes.plot(ts, vs, label=label, linewidth=1)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: readable(value, unit))
    axes.tick_params(labelsize=7)
    if found:
        axes.legend(fontsize=6, loc="upper left", ncols=3, frameon=False)


def main():
    url, file, instance, out = sys.argv[1:]
    with open(file, encoding="utf-8") as opened:
        panels = json.load(opened)["panels"]
    rows = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in panels)
    figure = plt.figure(figsize=(11, rows * 0.28))
    grid = figure.add_gridspec(rows, 24, left=0.06, right=0.98, top=0.97, bottom=0.03, hspace=1.6, wspace=7)
    for panel in panels:
        at = panel["gridPos"]
        draw(figure.add_subplot(grid[at["y"]:at["y"] + at["h"] - 1, at["x"]:at["x"] + at["w"]]), panel, url, instance)
    figure.savefig(out)


main()
