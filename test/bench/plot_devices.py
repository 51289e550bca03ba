#!/usr/bin/env python3
"""Plot the phases of device_bench's tables: plot_devices.py devices.csv OUT.svg

One group of bars for each number of rows from 10^8 on, one bar for each number of
devices (exchange by stores): how long each phase keeps the busiest device.  Phases
overlap (statistics with uploads, sorts with downloads), so the black mark, the
total, may lie below the bar's end.  Needs matplotlib.
"""
import csv
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

PHASES = ["upload", "histogram", "scatter", "exchange", "sort", "download"]


def phases_of(row):
    found = {}
    for part in row["phases"].split(", "):
        name, ms = part.rsplit(" ", 1)
        found[name] = float(ms)
    return found


def main():
    source, target = sys.argv[1:3]
    with open(source, newline="") as table:
        rows = [r for r in csv.DictReader(table)
                if r["keys"] == "uniform64" and r["exchange"] in ("store", "auto")]
    sizes = sorted({int(r["rows"]) for r in rows if int(r["rows"]) >= 10**8})
    figure, axes = plt.subplots(1, len(sizes), figsize=(4.2 * len(sizes), 3.6), squeeze=False)
    for axis, size in zip(axes[0], sizes):
        group = sorted((r for r in rows if int(r["rows"]) == size), key=lambda r: int(r["devices"]))
        for x, row in enumerate(group):
            bottom = 0.0
            for color, phase in enumerate(PHASES):
                ms = phases_of(row).get(phase, 0.0)
                axis.bar(x, ms, bottom=bottom, color=f"C{color}", width=0.6,
                         label=phase if x == 0 else None)
                bottom += ms
            axis.plot([x - 0.36, x + 0.36], [float(row["total_ms"])] * 2, color="black",
                      label="total" if x == 0 else None)
        axis.set_title(f"$10^{{{len(str(size)) - 1}}}$ rows, uniform 64-bit keys")
        axis.set_xticks(range(len(group)), [row["devices"] for row in group])
        axis.set_xlabel("GPUs")
        axis.set_ylabel("ms")
    axes[0][-1].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(target)


main()
