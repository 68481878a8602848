"""The program berth, a self-hosted pod and serverless compute service, as a package of Python."""

import os
import sys
import sysconfig


def find_program() -> str:
    """Gives the path of the program that this package installed. Raises FileNotFoundError if it is not there."""
    name = "berth.exe" if os.name == "nt" else "berth"
    schemes = [sysconfig.get_path("scripts")]
    if sys.version_info >= (3, 10):
        schemes.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    # pip install --target has a bin beside the packages.
    schemes.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in schemes:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"the program berth is in none of {', '.join(schemes)}")
