"""The glossary: its entries, and the words of a chapter that show them."""

import html
import re

from markdown_it.token import Token


class Glossary:
    def __init__(self, text):
        self.entries = {}
        for found in re.finditer(r"^\*\*(.+?)\*\*: (.+?)(?:\n\n|\Z)", text, re.S | re.M):
            self.entries[found[1]] = " ".join(found[2].split())
        self.lower = {word.lower(): word for word in self.entries}

    def entry_of(self, text):
        """The entry of a word, also of its plural."""
        word = " ".join(text.lower().split())
        for form in (word, word.removesuffix("s"), word.removesuffix("es"), word + "s"):
            if form in self.lower:
                return self.lower[form]
        return None

    def definition(self, word):
        """The entry in plain text, without where the word comes from."""
        text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", self.entries[word])
        text = text.replace("`", "").replace("**", "")
        return re.split(r" (?:Guide|PTX ISA|Best Practices Guide|See|See also|CUDA C\+\+)[, ]", text)[0].strip()

    def pattern(self):
        words = sorted(self.entries, key=len, reverse=True)
        return re.compile(r"(?<![\w-])(" + "|".join(re.escape(word) for word in words) + r")(e?s)?(?![\w-])", re.I)


def anchor(word):
    return "word-" + re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def anchored(page):
    """Gives each entry of the rendered glossary an anchor."""
    return re.sub(
        r"<p><strong>(.+?)</strong>:",
        lambda found: f'<p id="{anchor(html.unescape(found[1]))}"><strong>{found[1]}</strong>:',
        page,
    )


class Terms:
    """Marks the first use of each word on a page, and every link to the glossary."""

    def __init__(self, glossary, url):
        self.glossary = glossary
        self.url = url
        self.used = {}
        self.words = glossary.pattern()

    def mark(self, token, tokens):
        at = tokens.index(token)
        if tokens[at - 1].type == "heading_open":
            return
        children, depth = [], 0
        for child in token.children:
            if child.type == "link_open":
                depth += 1
                self.mark_link(child, token.children)
            depth -= child.type == "link_close"
            children += self.split(child) if child.type == "text" and depth == 0 else [child]
        token.children = children

    def mark_link(self, opening, children):
        href = opening.attrGet("href") or ""
        if not href.split("#")[0].endswith("glossary.html"):
            return
        text = children[children.index(opening) + 1].content
        if word := self.glossary.entry_of(text):
            opening.attrs = self.attributes(word)

    def attributes(self, word):
        self.used[word] = self.glossary.definition(word)
        return {"class": "term", "href": f"{self.url}#{anchor(word)}", "aria-describedby": f"about-{anchor(word)}"}

    def split(self, token):
        """`token` with the first words in it that the page has not marked yet as links."""
        pieces, rest = [], token.content
        while found := self.next_word(rest):
            word = self.glossary.entry_of(found[0])
            pieces.append(text(rest[: found.start()]))
            opening = Token("link_open", "a", 1, attrs=self.attributes(word))
            pieces += [opening, text(found[0]), Token("link_close", "a", -1)]
            rest = rest[found.end() :]
        return [*pieces, text(rest)] if pieces else [token]

    def next_word(self, content):
        for found in self.words.finditer(content):
            word = self.glossary.entry_of(found[0])
            if word and word not in self.used:
                return found
        return None

    def definitions(self):
        """Hidden descriptions, which the words refer to."""
        rows = [f'<div id="about-{anchor(word)}">{html.escape(text)}</div>' for word, text in sorted(self.used.items())]
        return f'<div hidden class="definitions">{"".join(rows)}</div>' if rows else ""


def text(content):
    token = Token("text", "", 0)
    token.content = content
    return token
