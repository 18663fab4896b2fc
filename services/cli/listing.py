"""Lists for the terminal whose ids stay in one piece, so that they can be copied, whatever the width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_TEXT_CHARS_MIN: Final = 36  # an id among the texts stays in one piece too
_GAP: Final = 2


class Listing:
    """Rows of short values, such as ids, times and numbers, and of texts.

    The short values are never broken. Where they leave a text fewer than 36 characters, and it needs more, the texts
    of a row are below its values instead of beside them.
    """

    def __init__(self, *headings: str, texts: Sequence[str] = (), right: Sequence[str] = ()) -> None:
        """Begins an empty list.

        Args:
            headings: Of the short values.
            texts: Headings of the texts, which stand behind the short values.
            right: Those of `headings` whose values are right-aligned.
        """
        self._headings = headings
        self._texts = texts
        self._right = frozenset(right)
        self._rows: list[tuple[list[Text], list[Text]]] = []

    def add_row(self, *cells: str | Text) -> None:
        """Adds the short values of a row and then its texts."""
        made = [cell if isinstance(cell, Text) else Text(cell) for cell in cells]
        self._rows.append((made[: len(self._headings)], made[len(self._headings) :]))

    @property
    def row_count(self) -> int:
        """Rows by now."""
        return len(self._rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """See rich's protocol."""
        if self._fits(options.max_width):
            yield self._as_table()
        else:
            yield from self._as_paragraphs(options.max_width)

    def _fits(self, width: int) -> bool:
        left = width - sum(part + _GAP for part in self._widths())
        needed = (
            min(_TEXT_CHARS_MIN, max(cell_len(heading), *(_longest(texts[place]) for _, texts in self._rows))) + _GAP
            for place, heading in enumerate(self._texts)
            if self._rows
        )
        return left >= sum(needed) - _GAP

    def _as_table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in self._headings:
            table.add_column(heading, no_wrap=True, justify="right" if heading in self._right else "left")
        for heading in self._texts:
            table.add_column(heading, overflow="fold")
        for values, texts in self._rows:
            table.add_row(*values, *texts)
        return table

    def _as_paragraphs(self, width: int) -> RenderResult:
        yield from self._lines([Text(heading) for heading in self._headings], width, style="bold")
        for values, texts in self._rows:
            yield from self._lines(values, width)
            for heading, text in zip(self._texts, texts, strict=True):
                if text.plain:
                    named = Text(f"{heading}: ", style="dim") if len(self._texts) > 1 else Text()
                    yield Padding(named.append_text(text), (0, 0, 0, _GAP), expand=False)

    def _lines(self, cells: Sequence[Text], width: int, style: str = "") -> Iterator[Text]:
        """The short values of a row; those for which a line has no room are on the next one."""
        line = Text(style=style)
        for place, (heading, cell, own) in enumerate(zip(self._headings, cells, self._widths(), strict=True)):
            if place and cell_len(line.plain) + _GAP + own > width:
                line.rstrip()
                yield line
                line = Text(" " * _GAP, style=style)
            elif place:
                line.append(" " * _GAP)
            space = " " * (own - cell_len(cell.plain))
            line.append(space if heading in self._right else "").append_text(cell)
            line.append("" if heading in self._right else space)
        line.rstrip()
        if line.plain:
            yield line

    def _widths(self) -> list[int]:
        return [
            max(cell_len(heading), *(cell_len(values[place].plain) for values, _ in self._rows), 0)
            for place, heading in enumerate(self._headings)
        ]


def _longest(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.splitlines()), default=0)
