#!/usr/bin/env python3
"""Draw the plots of README.md and docs/performance.md: plots.py [NAME]...

Reads docs/figures/NAME.csv and writes docs/figures/NAME.svg, for each NAME of

    speed       from sorts.csv and indexes.csv: how many times as fast as PostgreSQL
    parallel    milliseconds of PostgreSQL without and with workers, and of gpusort
    workers     seconds by number of parallel workers, with a GPU
    cores       the same without
    spill       times as fast as PostgreSQL by memory, from spill.pl --csv
    devices     milliseconds by phase and number of GPUs, from device_bench's devices.csv

or for all of them.  docs/performance.md says how each CSV file is made.  Needs
matplotlib (Debian: python3-matplotlib).  The same files give the same plots with
the same version of matplotlib.
"""
import csv
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

FIGURES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "figures"
PHASES = ["upload", "histogram", "scatter", "exchange", "sort", "download"]
POSTGRES, NEWER, OURS = "#8c9aab", "#336791", "#76b900"

plt.rcParams.update({"svg.hashsalt": "gpusort", "font.size": 9, "axes.axisbelow": True})


def table(name):
    with open(FIGURES / f"{name}.csv", newline="") as source:
        return list(csv.DictReader(source))


def save(figure, name):
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def plain_log_scale(axis, ticks):
    """A logarithmic scale whose ticks are written as they are spoken."""
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def times_faster(axis, rows, title):
    """A pair of bars for each row, on PostgreSQL 15 and 18, the first row on top."""
    label = list(rows[0])[0]
    for version, offset, color in (("15", -0.2, POSTGRES), ("18", 0.2, NEWER)):
        found = [(y, float(row[f"postgres{version}_ms"]) / float(row[f"gpusort{version}_ms"]))
                 for y, row in enumerate(rows) if row[f"postgres{version}_ms"]]
        axis.barh([y + offset for y, _ in found], [ratio for _, ratio in found], height=0.4,
                  color=color, label=f"than PostgreSQL {version}")
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_yticks(range(len(rows)), [row[label] for row in rows])
    axis.invert_yaxis()
    axis.grid(axis="x", alpha=0.3)
    axis.set_xlabel("times as fast")
    axis.set_title(title)


def speed():
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.6))
    times_faster(left, table("sorts"), "ORDER BY")
    times_faster(right, table("indexes"), "CREATE INDEX")
    figure.legend(*right.get_legend_handles_labels(), loc="upper center", ncols=2, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    save(figure, "speed")


def parallel():
    rows = table("parallel")
    figure, axis = plt.subplots(figsize=(7.2, 4.4))
    for column, offset, color, label in (
            ("serial_ms", -0.27, POSTGRES, "PostgreSQL, one process"),
            ("postgres_ms", 0, NEWER, "PostgreSQL, 12 workers"),
            ("gpusort_ms", 0.27, OURS, "gpusort, 12 workers and a GPU")):
        axis.barh([y + offset for y in range(len(rows))],
                  [float(row[column]) / 1000 for row in rows], height=0.27, color=color, label=label)
    axis.set_xscale("log")
    plain_log_scale(axis.xaxis, [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100])
    axis.set_yticks(range(len(rows)), [row["query"] for row in rows])
    axis.invert_yaxis()
    axis.grid(axis="x", alpha=0.3)
    axis.set_xlabel("seconds")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=3, fontsize="small",
                frameon=False)
    figure.tight_layout()
    save(figure, "parallel")


def seconds_by_workers(name, sides, ticks):
    rows = table(name)
    figure, axis = plt.subplots(figsize=(5.2, 3.4))
    for side, label, color in sides:
        points = sorted((int(row["workers"]), float(row["ms"]) / 1000)
                        for row in rows if row["side"] == side)
        axis.plot(*zip(*points), marker="o", color=color, label=label)
    axis.set_yscale("log")
    plain_log_scale(axis.yaxis, ticks)
    axis.set_ylim(bottom=0.7)
    axis.set_xticks(sorted({int(row["workers"]) for row in rows}))
    axis.set_xlabel("parallel workers")
    axis.set_ylabel("seconds")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.tight_layout()
    save(figure, name)


def workers():
    seconds_by_workers("workers", (("postgres", "PostgreSQL", NEWER),
                                   ("gpusort", "gpusort", OURS)), [1, 2, 5, 10, 20])


def cores():
    seconds_by_workers("cores", (("md5", "gpusort, all columns by md5", NEWER),
                                 ("rows", "gpusort, three columns by int8", OURS)), [1, 2, 5])


def spill():
    """By part of the memory that all rows need, the whole on the left."""
    rows = table("spill")
    parts = sorted({float(row["part"]) for row in rows}, reverse=True)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.8))
    for what, label, color in (("sort", "ORDER BY, all columns", OURS),
                               ("key", "ORDER BY, key only", NEWER),
                               ("index", "CREATE INDEX", "#d98c00")):
        points = sorted((float(row["part"]), float(row["postgres_ms"]) / 1000,
                         float(row["gpusort_ms"]) / 1000) for row in rows if row["what"] == what)
        if not points:
            continue
        x, theirs, ours = zip(*points)
        axes[0].plot(x, theirs, marker="o", markersize=3, linestyle="--", color=color)
        axes[0].plot(x, ours, marker="o", color=color, label=label)
        axes[1].plot(x, [their / our for their, our in zip(theirs, ours)], marker="o", color=color)
    axes[0].plot([], [], linestyle="--", color=POSTGRES, label="PostgreSQL")
    for axis, label in zip(axes, ("seconds", "times as fast as PostgreSQL")):
        axis.set_xscale("log")
        axis.set_xticks(parts, ["1" if part == 1 else f"1/{1 / part:.0f}" for part in parts])
        axis.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        axis.invert_xaxis()
        axis.set_ylim(bottom=0)
        axis.set_xlabel("part of the memory that all rows need")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[1].axhline(1, color="black", linewidth=0.8)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    save(figure, "spill")


def phases_of(row):
    parts = (part.rsplit(" ", 1) for part in row["phases"].split(", "))
    return {name: float(ms) for name, ms in parts}


def devices():
    """Phases overlap, so the black mark, the total, may lie below a bar's end."""
    rows = [row for row in table("devices")
            if row["keys"] == "uniform64" and row["exchange"] in ("store", "auto")]
    sizes = sorted({int(row["rows"]) for row in rows if int(row["rows"]) >= 10**8})
    figure, axes = plt.subplots(1, len(sizes), figsize=(4.2 * len(sizes), 3.6), squeeze=False)
    for axis, size in zip(axes[0], sizes):
        group = sorted((row for row in rows if int(row["rows"]) == size),
                       key=lambda row: int(row["devices"]))
        bottoms = [0.0] * len(group)
        for color, phase in enumerate(PHASES):
            heights = [phases_of(row).get(phase, 0.0) for row in group]
            if any(heights):
                axis.bar(range(len(group)), heights, bottom=bottoms, width=0.6,
                         color=f"C{color}", label=phase)
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights)]
        for x, row in enumerate(group):
            axis.plot([x - 0.36, x + 0.36], [float(row["total_ms"])] * 2, color="black",
                      label="total" if x == 0 else None)
        axis.set_title(f"$10^{{{len(str(size)) - 1}}}$ rows, uniform 64-bit keys")
        axis.set_xticks(range(len(group)), [row["devices"] for row in group])
        axis.set_xlabel("GPUs")
        axis.set_ylabel("milliseconds")
    axes[0][-1].legend(fontsize="small")
    figure.tight_layout()
    save(figure, "devices")


def main():
    plots = {"speed": speed, "parallel": parallel, "workers": workers, "cores": cores,
             "spill": spill, "devices": devices}
    for name in sys.argv[1:] or plots:
        if name not in plots:
            sys.exit(__doc__)
        plots[name]()


main()
