"""
Builds pytest-berth. With BERTH_BINARY=path the wheel has that program inside, and is for its system alone. BERTH_VERSION is the version, such
as v1.2.3.
"""

import os
import shutil
import struct
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

program = os.environ.get("BERTH_BINARY")

ELF = {0x3E: "x86_64", 0xB7: "aarch64"}
MACH_O = {0x01000007: "x86_64", 0x0100000C: "arm64"}


def system(path):
    """Gives the tag of the system that a program is for. It is linked statically, so that it runs with any C library."""
    head = Path(path).read_bytes()[:20]
    if head[:4] == b"\x7fELF" and (machine := ELF.get(struct.unpack_from("<H", head, 18)[0])):
        return f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
    if head[:4] == b"\xcf\xfa\xed\xfe" and (machine := MACH_O.get(struct.unpack_from("<I", head, 4)[0])):
        return f"macosx_12_0_{machine}"
    sys.exit(f"BERTH_BINARY: {path} is no program of Linux or macOS for a 64-bit processor of Intel or Arm")


class WithProgram(build_py):
    """Puts the program beside the modules."""

    def run(self):
        """Does it after the modules are there."""
        super().run()
        if program and not self.editable_mode:
            target = Path(self.build_lib, "pytest_berth", "bin", "berth")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(program, target)
            target.chmod(0o755)


class ForSystem(bdist_wheel):
    """Names the system in the name of the wheel."""

    def get_tag(self):
        """Gives the tags of Python, its binary interface and the system."""
        return ("py3", "none", system(program) if program else "any")


setup(version=os.environ.get("BERTH_VERSION", "0.0.0").removeprefix("v"), cmdclass={"build_py": WithProgram, "bdist_wheel": ForSystem})
