#!/usr/bin/env python3
"""Plot parallel.sh's case "scaling": plot_workers.py LOG OUT.svg

Seconds by number of workers, PostgreSQL's plan and gpusort's, on a logarithmic scale.
PostgreSQL without workers is taken from the case "star".  Needs matplotlib.
"""
import re
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

LINE = re.compile(r"(scaling|star) +(gpusort|postgres) +(\d+) +executor +(\d+) ms")


def main():
    source, target = sys.argv[1:3]
    seconds = {"postgres": {}, "gpusort": {}}
    with open(source) as log:
        for case, side, workers, ms in (m.groups() for m in map(LINE.match, log) if m):
            if case == "scaling" or (side == "postgres" and workers == "0"):
                seconds[side][int(workers)] = int(ms) / 1000
    figure, axis = plt.subplots(figsize=(5.2, 3.4))
    for side, label in (("postgres", "PostgreSQL"), ("gpusort", "gpusort")):
        workers = sorted(seconds[side])
        axis.plot(workers, [seconds[side][n] for n in workers], marker="o", label=label)
    axis.set_yscale("log")
    axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axis.set_xticks(sorted(seconds["gpusort"]))
    axis.set_ylim(bottom=0.7)
    axis.set_xlabel("parallel workers")
    axis.set_ylabel("s")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.tight_layout()
    figure.savefig(target)


main()
