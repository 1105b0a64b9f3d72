"""Exact vector search by others, for `bench/compare`.

vectors.py PEER COUNT, where PEER is sqlite-vec or usearch. Prints a JSON object
of CPU milliseconds, medians, by kind of number. The vectors are in clusters as
those of `bench vectors` are, not the very same: an exact scan reads them all
whatever they say. One thread. Needs numpy and the peer; for sqlite-vec also
apsw, since not every Python may load extensions into its own SQLite.
"""

import json
import os
import statistics
import sys
import time

# Before numpy, which reads them once.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy

DIMENSIONS = 384
CLUSTERS = 2_000
SPREAD = 0.8
KEEP = 50
RUNS = 25


def clustered(count, random, middles):
    """Vectors of length 1, each near the middle of its cluster."""
    noise = random.standard_normal((count, DIMENSIONS), dtype=numpy.float32)
    chosen = middles[random.integers(CLUSTERS, size=count)]
    return normalised(chosen + noise * (SPREAD / DIMENSIONS**0.5))


def normalised(vectors):
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def eight_bits(vectors):
    return numpy.clip(numpy.round(vectors * 127), -127, 127).astype(numpy.int8)


def measured(search, queries):
    """The median over different queries, the first of which only warms up."""
    times = []
    for query in queries:
        before = time.process_time()
        found = search(query)
        times.append((time.process_time() - before) * 1e3)
        assert len(found) == KEEP, f"{len(found)} of {KEEP} found"
    return statistics.median(times[1:])


def sqlite_vec(vectors, queries):
    import apsw
    import sqlite_vec

    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    kinds = {
        "f32": ("float[384] distance_metric=cosine", "?", vectors, queries),
        # Kept in eight bits by hand, as its documentation shows.
        "int8": (
            "int8[384] distance_metric=cosine",
            "vec_int8(?)",
            eight_bits(vectors),
            eight_bits(queries),
        ),
    }
    results = {}
    for kind, (column, value, rows, asked) in kinds.items():
        connection.execute(f"CREATE VIRTUAL TABLE {kind} USING vec0(vector {column})")
        with connection:
            connection.executemany(
                f"INSERT INTO {kind}(rowid, vector) VALUES (?, {value})",
                ((at, row.tobytes()) for at, row in enumerate(rows, 1)),
            )
        statement = (
            f"SELECT rowid, distance FROM {kind}"
            f" WHERE vector MATCH {value} AND k = {KEEP} ORDER BY distance"
        )
        results[kind] = measured(
            lambda query: connection.execute(statement, (query.tobytes(),)).fetchall(),
            asked,
        )
    return results


def usearch(vectors, queries):
    from usearch.index import MetricKind, search

    kinds = {
        "f32": (vectors, queries),
        "int8": (eight_bits(vectors), eight_bits(queries)),
    }
    return {
        kind: measured(
            lambda query: search(
                rows, query, KEEP, MetricKind.Cos, exact=True, threads=1
            ),
            asked,
        )
        for kind, (rows, asked) in kinds.items()
    }


def main(peer, count):
    random = numpy.random.default_rng(7)
    middles = random.standard_normal((CLUSTERS, DIMENSIONS), dtype=numpy.float32)
    middles = normalised(middles)
    vectors = clustered(count, random, middles)
    queries = clustered(RUNS + 1, random, middles)
    search = {"sqlite-vec": sqlite_vec, "usearch": usearch}[peer]
    print(json.dumps(search(vectors, queries)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
