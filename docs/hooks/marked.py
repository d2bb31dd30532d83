"""Parts of pages that are made from files of results: what stands between two comments of a page.

    <!-- leaderboard: best -->

    | policy | ...

    <!-- end -->

`make tables` writes them into the pages; the build of the site takes them as they stand there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping


def fill_in(markdown: str, kind: str, parts: Mapping[str, str]) -> str:
    """Replace each marked part of a kind by the one of its name.

    Args:
        markdown: a page. A comment without an end marks a part that is not there yet.
        kind: the word before the colon.
        parts: by the names after it; a place of another name stays as it is.
    """

    def replaced(place: re.Match[str]) -> str:
        if place[1] not in parts:
            return place[0]
        return f"<!-- {kind}: {place[1]} -->\n\n{parts[place[1]]}\n\n<!-- end -->"

    begin = rf"^<!-- {kind}: (\w+) -->$"
    return re.sub(rf"{begin}(?:\n(?:(?!<!-- ).*\n)*<!-- end -->$)?", replaced, markdown, flags=re.M)
