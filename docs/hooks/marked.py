"""Parts of pages that are made from files of results: what stands between two comments of a page.

    <!-- leaderboard: best -->

    | policy | ...

    <!-- end -->

`make tables` writes them into the pages of the repository. The site gets them as the files are when
it is built, without the comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping


def fill_in(markdown: str, kind: str, parts: Mapping[str, str], *, keep: bool = True) -> str:
    """Replace each marked part of a kind by the one of its name.

    Args:
        markdown: a page. A comment without an end marks a part that is not there yet.
        kind: the word before the colon.
        parts: by the names after it. Those that begin with `site_` are for the site alone: with
            `keep` their comments stay as they are.
        keep: leave the comments in the page.

    Raises:
        KeyError: if there is no part of a name.
    """

    def replaced(place: re.Match[str]) -> str:
        part = parts[place[1]]
        if not keep:
            return part
        begin = f"<!-- {kind}: {place[1]} -->"
        return begin if place[1].startswith("site_") else f"{begin}\n\n{part}\n\n<!-- end -->"

    begin = rf"^<!-- {kind}: (\w+) -->$"
    return re.sub(rf"{begin}(?:\n(?:(?!<!-- ).*\n)*<!-- end -->$)?", replaced, markdown, flags=re.M)


def without(markdown: str) -> str:
    """Return a page without the parts that are made from files."""
    return re.sub(r"^<!-- \w+: \w+ -->\n(?:(?!<!-- ).*\n)*<!-- end -->$", "", markdown, flags=re.M)
