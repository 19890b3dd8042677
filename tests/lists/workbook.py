"""Workbooks for tests, written part by part, so that a test can make any of them hostile."""

import io
import zipfile
from collections.abc import Mapping

RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="worksheet" Target="worksheets/sheet1.xml"/>'
    "</Relationships>"
)
BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="Guests" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'


def sheet(rows: str, before: str = "", behind: str = "") -> str:
    return f"{SHEET}{before}<sheetData>{rows}</sheetData>{behind}</worksheet>"


def row(number: int, *cells: str, more: str = "") -> str:
    """A row of texts."""
    found = "".join(
        f'<c r="{chr(65 + at)}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
        for at, cell in enumerate(cells)
    )
    return f'<row r="{number}"{more}>{found}</row>'


def workbook(rows: str, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A file with one sheet; `parts` are added, or replace others."""
    found: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": RELATIONS,
        "xl/worksheets/sheet1.xml": sheet(rows) if rows.startswith("<row") or not rows else rows,
        **(parts or {}),
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in found.items():
            file.writestr(name, content)
    return data.getvalue()
