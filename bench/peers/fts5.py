"""Plain SQLite FTS5: what a few lines of Python give. The porter tokenizer, bm25()
and snippet(), nothing tuned.

fts5.py index FOLDER DATABASE and fts5.py search DATABASE EXPRESSION are for
`bench/compare`. fts5.py eval SET... prints nDCG@10 on test sets in BEIR's layout,
as `kodiak eval` does; a query with a group is asked among documents of that group.
"""

import collections
import json
import math
import os
import re
import sqlite3
import sys

LIMIT = 10


def index(folder, database):
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(
        "CREATE VIRTUAL TABLE note USING fts5"
        "(path UNINDEXED, title, body, tokenize = 'porter unicode61')"
    )
    with connection:
        connection.executemany("INSERT INTO note VALUES (?, ?, ?)", notes(folder))
    connection.close()


def notes(folder):
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                body = file.read()
            yield path, title(body, name), body


def title(body, name):
    for line in body.splitlines():
        if line.startswith("# "):
            return line[2:]
    return name


def search(database, expression):
    rows = sqlite3.connect(database).execute(
        "SELECT path, snippet(note, 2, '', '', '…', 20) FROM note"
        " WHERE note MATCH ? ORDER BY bm25(note) LIMIT ?",
        (expression, LIMIT),
    )
    for path, snippet in rows:
        print(path, snippet)


def evaluate(*folders):
    figures = [ndcg_of_set(folder) for folder in folders]
    for folder, figure in zip(folders, figures):
        print(f"{os.path.basename(os.path.normpath(folder)):24} {figure:.4f}")
    print(f"{'mean':24} {sum(figures) / len(figures):.4f}")


def ndcg_of_set(folder):
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE note USING fts5(id UNINDEXED, family UNINDEXED, title, body,"
        " tokenize = 'porter unicode61')"
    )
    documents = lines_of(folder, "corpus.jsonl")
    connection.executemany(
        "INSERT INTO note VALUES (?, ?, ?, ?)",
        ((one["_id"], one.get("group"), one.get("title", ""), one["text"]) for one in documents),
    )
    judged = collections.defaultdict(dict)
    with open(os.path.join(folder, "qrels.tsv"), encoding="utf-8") as file:
        for line in list(file)[1:]:
            query, document, grade = line.rstrip("\n").split("\t")
            judged[query][document] = max(0, int(grade))
    gains = [
        ndcg(ranking(connection, query), judged[query["_id"]])
        for query in lines_of(folder, "queries.jsonl")
        if any(judged[query["_id"]].values())
    ]
    return sum(gains) / len(gains)


def lines_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def ranking(connection, query):
    words = dict.fromkeys(re.findall(r"\w+", query["text"]))
    if not words:
        return []
    sql = "SELECT id FROM note WHERE note MATCH ?"
    values = [" OR ".join(f'"{word}"' for word in words)]
    if "group" in query:
        sql += " AND family = ?"
        values.append(query["group"])
    sql += f" ORDER BY bm25(note) LIMIT {LIMIT}"
    return [row[0] for row in connection.execute(sql, values)]


def ndcg(found, judged):
    def gained(grades):
        return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades))

    best = sorted(judged.values(), reverse=True)[:LIMIT]
    return gained(judged.get(document, 0) for document in found) / gained(best)


if __name__ == "__main__":
    {"index": index, "search": search, "eval": evaluate}[sys.argv[1]](*sys.argv[2:])
