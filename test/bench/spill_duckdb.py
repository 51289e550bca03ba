#!/usr/bin/env python3
"""Sorts in DuckDB for spill.pl: spill_duckdb.py DIRECTORY THREADS.

Reads commands from standard input, one a line, its words separated by tabs, and
answers each with a line.  The table t (k, pad) lies in a database in DIRECTORY.

    load FILE KEY PAD   make the table of a CSV file, with columns of these types
    sort MB             ms of EXPLAIN ANALYZE SELECT * FROM t ORDER BY k
    key MB              the same of SELECT k, with MB as memory_limit

Each sort is done by a new instance that has read the table once, so that it is in
the kernel's cache.  EXPLAIN ANALYZE makes all rows and sends none, as on the other
side.  What fails is answered by a word, such as OutOfMemoryException.
"""
import os
import sys
import time

import duckdb

STATEMENTS = {"sort": "SELECT * FROM t ORDER BY k", "key": "SELECT k FROM t ORDER BY k"}


def connect(directory, threads, megabytes=None):
    config = {"threads": threads, "temp_directory": os.path.join(directory, "temp")}
    if megabytes is not None:
        config["memory_limit"] = f"{megabytes}MiB"
    return duckdb.connect(os.path.join(directory, "spill.duckdb"), config=config)


def load(directory, threads, path, key, pad):
    with connect(directory, threads) as database:
        database.execute(f"CREATE OR REPLACE TABLE t (k {key}, pad {pad})")
        database.execute(f"COPY t FROM '{path}' (FORMAT csv, HEADER false)")
        database.execute("CHECKPOINT")
    return "loaded"


def measure(directory, threads, statement, megabytes):
    with connect(directory, threads, megabytes) as database:
        database.execute("SELECT max(k), max(pad) FROM t").fetchall()
        start = time.perf_counter()
        database.execute("EXPLAIN ANALYZE " + statement).fetchall()
        return f"{1000 * (time.perf_counter() - start):.1f}"


def main():
    directory, threads = sys.argv[1], int(sys.argv[2])
    print(duckdb.__version__, flush=True)
    for line in sys.stdin:
        command, *words = line.rstrip("\n").split("\t")
        try:
            if command == "load":
                answer = load(directory, threads, *words)
            else:
                answer = measure(directory, threads, STATEMENTS[command], int(words[0]))
        except duckdb.Error as error:
            answer = type(error).__name__
        print(answer, flush=True)


main()
