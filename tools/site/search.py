"""The index of the search: a script, because pages that are opened as files may not fetch data."""

import json


class Index:
    def __init__(self):
        self.entries = []

    def add(self, kind, url, title, text, page=""):
        self.entries.append([kind, url, title, page, text])

    def add_page(self, kind, url, page):
        for anchor, title, text in page.sections:
            if text or title:
                self.add(
                    kind, f"{url}#{anchor}" if anchor else url, title, text, "" if title == page.title else page.title
                )

    def script(self):
        return "window.rungSearch(" + json.dumps(self.entries, ensure_ascii=False, separators=(",", ":")) + ");\n"
