"""Highlighted source, as a block and line by line."""

import functools
import html
import io

from pygments import lex
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

ALIASES = {
    "metal": "cpp",
    "cu": "cuda",
    "cuh": "cuda",
    "cpp": "cpp",
    "hpp": "cpp",
    "h": "cpp",
    "inc": "cpp",
    "def": "cpp",
    "py": "python",
    "sh": "sh",
    "txt": "text",
    "jsonl": "json",
}
FORMATTER = HtmlFormatter(nowrap=True)


def lexer(language):
    try:
        return get_lexer_by_name(ALIASES.get(language, language), stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None


@functools.cache
def lines(source, language):
    """One piece of HTML for each line."""
    chosen = lexer(language)
    if chosen is None:
        return [html.escape(line) for line in source.splitlines()]
    shown = io.StringIO()
    FORMATTER.format(lex(source, chosen), shown)
    return shown.getvalue().splitlines()


def block(source, language):
    """A <pre> for markdown-it."""
    contents = "\n".join(lines(source, language)) if language else html.escape(source.rstrip("\n"))
    kind = ' class="terminal"' if language in ("sh", "") else ""
    return f'<pre{kind} tabindex="0"><code>{contents}\n</code></pre>'
