"""Runs the program: python -m berth serve, or berth-server serve."""

import os
import subprocess
import sys

from berth import find_program


def main() -> None:
    """Runs the program with the arguments of this process, and ends as it does."""
    program = find_program()
    if os.name == "nt":
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
