"""Plain SQLite FTS5, for `bench/compare`: what twenty lines of Python give.

fts5.py index FOLDER DATABASE, or fts5.py search DATABASE EXPRESSION. The porter
tokenizer, bm25() and snippet(), nothing tuned.
"""

import os
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


if __name__ == "__main__":
    {"index": index, "search": search}[sys.argv[1]](*sys.argv[2:])
