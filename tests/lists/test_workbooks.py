"""Excel workbooks: what is read of them, what is left out with a word, and what is refused."""

import io
import zipfile
from pathlib import Path

import pytest

from ridedash.lists.reading import read_file
from ridedash.lists.table import Field, ListRefused, Oddity, Out
from tests.lists.workbook import BOOK, RELATIONS, row, sheet, workbook
from tests.work import calls

FILES = Path(__file__).parent


def cells(data: bytes) -> list[tuple[str, ...]]:
    return [each.cells for each in read_file(data).rows]


def test_a_workbook_of_openpyxl_is_read() -> None:
    table = read_file((FILES / "openpyxl.xlsx").read_bytes())
    assert [each.cells for each in table.rows] == [
        ("Guest", "Room", "Phone", "Pick up"),
        ("Zoë Heron", "412", "+91 98450 00000", "2026-12-04 06:15"),
        ("Wren, Bo", "0413", "919845000001", "07:30"),
        ("Lark", "", "", ""),
    ]
    assert table.fields == (Field.NAME, Field.ROOM, Field.PHONE, Field.TIME)
    assert set(table.oddities) == {Oddity.FORMULAS, Oddity.SHEETS}


def test_merged_cells_formulas_and_hidden_rows_are_read_and_named() -> None:
    table = read_file((FILES / "xlsxwriter.xlsx").read_bytes())
    assert [each.cells for each in table.rows] == [
        ("Name", "Zimmer", "Abholung"),
        ("Heron", "412", "2026-12-04 06:15"),
        ("Wren", "413", ""),
        ("Lark", "413", ""),
        ("Teal", "414", ""),
    ]
    assert set(table.oddities) == {Oddity.FORMULAS, Oddity.MERGED, Oddity.HIDDEN}


def test_numbers_are_written_as_a_sheet_shows_them() -> None:
    numbers = "".join(
        f'<row r="{at}"><c r="A{at}" t="inlineStr"><is><t>Guest {at}</t></is></c>'
        f'<c r="B{at}"><v>{value}</v></c></row>'
        for at, value in enumerate(["412", "412.0", "9.1984500000100000E+11", "3.5"], 1)
    )
    assert [each[1] for each in cells(workbook(numbers))] == ["412", "412", "919845000001", "3.5"]


def test_hidden_columns_and_sheets_are_not_read() -> None:
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>'
    hidden = '<sheet name="Old" sheetId="2" r:id="rId9" state="hidden"/><sheet '
    data = workbook(
        sheet(row(1, "Heron", "passport", "412"), before=columns),
        {
            "xl/workbook.xml": BOOK.replace("<sheet ", hidden, 1),
            "xl/worksheets/sheet9.xml": sheet(row(1, "Wren")),
            "xl/_rels/workbook.xml.rels": RELATIONS.replace(
                "</R", '<Relationship Id="rId9" Target="worksheets/sheet9.xml"/></R'
            ),
        },
    )
    assert cells(data) == [("Heron", "412")]
    assert read_file(data).oddities == (Oddity.HIDDEN,)


def test_phonetic_letters_of_japanese_names_are_not_part_of_them() -> None:
    strings = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si>'
        '<t>山田</t><rPh sb="0" eb="2"><t>ヤマダ</t></rPh></si></sst>'
    )
    shared = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>412</v></c></row>'
    assert cells(workbook(shared, {"xl/sharedStrings.xml": strings})) == [("山田", "412")]


def test_a_row_of_lines_is_a_separator() -> None:
    table = read_file(workbook(row(1, "Heron", "412") + row(2, "---", "---") + row(3, "Wren", "4")))
    assert [each.out for each in table.rows] == [None, Out.SEPARATOR, None]


def bomb() -> bytes:
    return b"<worksheet>" + b" " * 300_000_000


@pytest.mark.parametrize(
    "parts",
    [
        {"xl/vbaProject.bin": b"macros"},
        {"xl/worksheets/sheet1.xml": "<worksheet>" + "<row/>" * 400_000},
        {"xl/worksheets/sheet1.xml": "<worksheet"},
        {"xl/worksheets/sheet1.xml": "<worksheet>" + "<a>" * 300_000},
        {
            "xl/worksheets/sheet1.xml": '<!DOCTYPE w [<!ENTITY a "Heron">]>'
            + sheet('<row r="1"><c t="str"><v>&a;</v></c></row>')
        },
        {"xl/worksheets/sheet1.xml": sheet('<row r="x"><c r="A1"><v>1</v></c></row>')},
        {"xl/worksheets/sheet1.xml": sheet('<row r="1"><c r="A1" t="s"><v>99999999</v></c></row>')},
        {"xl/workbook.xml": "<x/>"},
        {"xl/_rels/workbook.xml.rels": "<x/>"},
        {f"x{n}": "" for n in range(2_100)},
    ],
    ids=range(10),
)
def test_a_workbook_that_is_broken_or_hostile_is_refused(parts: dict[str, str | bytes]) -> None:
    data = workbook(row(1, "Heron", "412"), parts)

    def read() -> None:
        with pytest.raises(ListRefused):
            read_file(data)

    assert calls(read) < 2_000_000


def test_two_cells_far_apart_cost_no_memory() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    table = read_file(workbook(sheet(row(1, "Heron", "412") + far)))
    assert [each.cells for each in table.rows] == [("Heron", "412")]
    assert table.oddities == (Oddity.WIDE,)


@pytest.mark.parametrize("name", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"])
def test_a_part_that_inflates_to_hundreds_of_megabytes_is_never_unpacked(name: str) -> None:
    shared = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    data = workbook(shared, {name: bomb()})
    assert len(data) < 2_000_000

    def read() -> None:
        with pytest.raises(ListRefused, match="too large"):
            read_file(data)

    assert calls(read) < 100_000


def test_macros_links_and_pictures_are_never_opened() -> None:
    """Only six parts of a file are read, whatever else it has."""
    data = workbook(row(1, "Heron", "412"), {"xl/externalLinks/externalLink1.xml": bomb()})
    opened: list[str] = []
    real = zipfile.ZipFile.open

    class Watched(zipfile.ZipFile):
        def open(self, name, *args, **kwargs):  # type: ignore[no-untyped-def]
            opened.append(str(name))
            return real(self, name, *args, **kwargs)

    from ridedash.lists import workbooks

    book = workbooks._Workbook(data)
    book._zip = Watched(io.BytesIO(data))
    assert len(book.table().rows) == 1
    assert set(opened) == {
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/worksheets/sheet1.xml",
    }


@pytest.mark.parametrize(
    "data",
    [
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),  # .xls, or a workbook with a password
        b"PK\x03\x04" + bytes(100),
        b"PK\x03\x04",
    ],
)
def test_other_workbooks_are_refused(data: bytes) -> None:
    with pytest.raises(ListRefused):
        read_file(data)


def test_an_open_document_and_a_workbook_with_macros_are_refused_by_name() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("content.xml", "<x/>")
    with pytest.raises(ListRefused, match=r"\.xlsx"):
        read_file(data.getvalue())


def test_sixty_rows_of_a_workbook_are_little_work() -> None:
    rows = "".join(row(n, f"Guest {n}", str(n), f"+91 98450 {n:05}", "06:15") for n in range(1, 61))
    data = workbook(rows)
    assert len(read_file(data).rows) == 60
    assert calls(lambda: read_file(data)) < 60_000
