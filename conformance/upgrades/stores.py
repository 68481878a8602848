"""The stores that databases of earlier commits are made in, and how one is written down and made again: SQLite and PostgreSQL."""

import contextlib
import glob
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile

# Of a text, what is a pragma and no table: without the first two, the file would not be as the program makes it.
PRAGMAS = ("auto_vacuum", "application_id", "user_version")


class SQLite:
    """The file of the data directory."""

    name = "sqlite"
    checked = True  # by berth check
    migrations = "store/sqlite/migrations"

    def options(self, _data):
        return []

    def dump(self, data):
        """The text of the database, whose server has ended. The file stays as that server left it."""
        with tempfile.TemporaryDirectory() as copy:
            for file in glob.glob(os.path.join(data, "berth.db*")):
                shutil.copy(file, copy)
            with contextlib.closing(sqlite3.connect(os.path.join(copy, "berth.db"))) as db:
                pragmas = [f"PRAGMA {name} = {db.execute(f'PRAGMA {name}').fetchone()[0]};" for name in PRAGMAS]
                return "\n".join([*pragmas, *db.iterdump()]) + "\n"

    def load(self, data, text):
        file = os.path.join(data, "berth.db")
        with contextlib.closing(sqlite3.connect(file)) as db:
            db.executescript(text)
            db.execute("PRAGMA journal_mode = WAL")
        os.chmod(file, 0o600)

    def run(self, data, statement):
        with contextlib.closing(sqlite3.connect(os.path.join(data, "berth.db"))) as db, db:
            db.execute(statement)

    def close(self):
        pass


class PostgreSQL:
    """A cluster in a temporary directory, on a socket alone, with a database for each data directory."""

    name = "postgresql"
    checked = False  # pg_amcheck looks for damage in it
    migrations = "store/postgres/migrations"

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4])) or [shutil.which("initdb")]
        if not found[-1]:
            raise FileNotFoundError("PostgreSQL is missing (Debian: apt-get install postgresql)")
        self.programs = os.path.dirname(os.path.realpath(found[-1]))
        self.dir = tempfile.mkdtemp(prefix="berth-pg-")
        self.owner = {}
        if os.geteuid() == 0:  # it refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(self.dir, user.pw_uid, user.pw_gid)
            self.owner = {"user": user.pw_uid, "group": user.pw_gid}
        self.cluster = os.path.join(self.dir, "data")
        self._program("initdb", "-D", self.cluster, "-U", "berth", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        settings = f"-k {self.dir} -c listen_addresses= -c fsync=off -c max_connections=200"
        self._program("pg_ctl", "-D", self.cluster, "-w", "-l", os.path.join(self.dir, "log"), "-o", settings, "start")

    def _program(self, name, *arguments, text=None, quiet=True):
        where = {} if quiet else {"stdout": subprocess.PIPE}
        done = subprocess.run([os.path.join(self.programs, name), *arguments], check=False, cwd=self.dir, input=text, text=True,
                              **({"stdout": subprocess.DEVNULL} | where), **self.owner)
        if done.returncode != 0:
            raise SystemExit(f"{name}: exit {done.returncode}")
        return done.stdout

    def _database(self, data):
        """The database of a data directory, which is made when it is first asked for."""
        marker = os.path.join(data + ".database")
        if not os.path.exists(marker):
            name = "d" + os.path.basename(tempfile.mktemp(prefix="", dir=self.dir)).lower()
            self._program("createdb", "-h", self.dir, "-U", "berth", name)
            with open(marker, "w", encoding="utf-8") as f:
                f.write(name)
        with open(marker, encoding="utf-8") as f:
            return f.read()

    def options(self, data):
        return ["--store", f"postgres://berth@/{self._database(data)}?host={self.dir}"]

    def dump(self, data):
        return self._program("pg_dump", "-h", self.dir, "-U", "berth", "--no-owner", "--no-privileges", "--inserts", self._database(data), quiet=False)

    def load(self, data, text):
        # What the programs of one version write may have a setting that another does not know: it is none of the database's.
        lines = (line for line in text.splitlines(True) if not line.startswith(("SET ", "\\restrict", "\\unrestrict")))
        self._sql(data, "".join(lines))

    def run(self, data, statement):
        self._sql(data, statement)

    def _sql(self, data, text):
        self._program("psql", "-h", self.dir, "-U", "berth", "-q", "-v", "ON_ERROR_STOP=1", "-1", self._database(data), text=text)

    def close(self):
        self._program("pg_ctl", "-D", self.cluster, "-m", "immediate", "stop")
        shutil.rmtree(self.dir)
