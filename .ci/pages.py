"""What the pages of the documentation have: their blocks of code, and whether something prints what they show."""

import re
from typing import NamedTuple, Optional


class Block(NamedTuple):
    """A fenced block: its language, the name of the file that it is, the reason why it is not run, its text, and the line it begins at."""

    language: str
    file: Optional[str]
    reason: Optional[str]
    text: str
    line: int


def blocks_of(page):
    """Gives the heading of a page, and its blocks. A block is a file if the line before it ends with a name in backquotes and a colon."""
    heading, blocks, before = None, [], ""
    lines = enumerate(page.splitlines(), 1)
    for n, line in lines:
        fence = re.match(r"(\s*)```(.*)", line)
        if fence:
            block = []
            for _, inner in lines:
                if inner.startswith(fence[1] + "```"):
                    break
                block.append(inner.removeprefix(fence[1]))
            file = re.search(r"`([^`]+)`:$", before)
            reason = re.fullmatch(r"<!-- not run: (.+) -->", before)
            blocks.append(Block(fence[2].strip(), file and file[1], reason and reason[1], "\n".join(block) + "\n", n))
        elif line.startswith("# "):
            heading = line[2:]
        if line.strip():
            before = line.strip()
    return heading, blocks


def missing(printed, lines):
    """Gives the first of the lines that is not printed after the ones before it."""
    at = 0
    for line in lines:
        found = re.compile(".*".join(map(re.escape, line.strip().split("…")))).search(printed, at)
        if not found:
            return line
        at = found.end()
    return None
