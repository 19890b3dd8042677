"""The documents are complete: what they name exists, and what is cited can be found in them."""

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ridedash import config

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        *(
            path
            for name in ("docs", "bench", "translations")
            for path in (ROOT / name).rglob("*.md")
        ),
    ]
)
README = ROOT / "README.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
FOLDERS = ("ridedash", "templates", "static", "tests", "bench", "tools", "docs", "translations")
SUFFIX = re.compile(r"|\.(?:py|html|js|mjs|css|svg|md|txt|po|pot|sh|mako|toml|ya?ml|json|cfg|lock)")


def project_files() -> list[Path]:
    """Every text of the project except this file, which has wrong citations on purpose."""
    below = [path for folder in (*FOLDERS, ".ci") for path in (ROOT / folder).rglob("*")]
    beside = [*ROOT.iterdir()]
    return sorted(
        path
        for path in [*below, *beside]
        if path.is_file()
        and SUFFIX.fullmatch(path.suffix)
        and path not in (Path(__file__), ROOT / ".git")
        and not {"__pycache__", "node_modules", "screenshots"} & set(path.relative_to(ROOT).parts)
    )


PROJECT = project_files()
TEXTS = {path: path.read_text() for path in PROJECT if path.suffix != ".lock"}


# --- what a document has


class Section(NamedTuple):
    """A heading, and the text up to the next heading of the same or a higher level."""

    title: str
    text: str


HEADING = re.compile(r"^(#+) +(.+)$", re.MULTILINE)


def sections(text: str) -> list[Section]:
    """All sections of a Markdown text; what stands in code blocks is no heading."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = list(HEADING.finditer(plain))
    result = []
    for i, heading in enumerate(found):
        ends = (each.start() for each in found[i + 1 :] if len(each[1]) <= len(heading[1]))
        result.append(Section(heading[2].strip(), plain[heading.end() : next(ends, len(plain))]))
    return result


def anchor(title: str) -> str:
    """The address of a heading inside its page, as renderers of Markdown make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@functools.cache
def sections_of(document: Path) -> list[Section]:
    return sections(document.read_text())


# --- what is cited


class Citation(NamedTuple):
    """A document as it is cited, its section (number or title, "" for none), and a word in it."""

    document: str
    section: str
    label: str = ""


_NUMBER = r"(?:ASVS )?\d{1,2}(?:\.\d{1,2})*(?:\.x)?(?![\w-])"
_NUMBERS = rf"{_NUMBER}(?:(?:,| and|, and| to) {_NUMBER})*"
_NAME = r"(?<![\w.-])((?:[\w.-]+/)*[A-Za-z][\w-]*\.md)(?![\w-])"
_AFTER = re.compile(rf"(?:\]\([^)]*\)|`|\*)*,?(?: sections?| §)? ({_NUMBERS})(?:, ([A-Z]\w*))?")
_TITLE = re.compile(r"`?,? ([A-Z][a-z]\w*(?: \w[\w'-]*)*(?:, \d{1,2}(?!\w|\.\d))?)")
_PLACE = re.compile(r"#[\w-]+")
_BEFORE = re.compile(rf"[Ss]ections? ({_NUMBERS}) of [\[`]*$")


def citations(text: str) -> Iterator[Citation]:
    """Each document that a text names, with the section that the text names beside it.

    Forms: `x.md 1.3`, `x.md section 3`, `x.md sections 7 and 8`, `x.md ASVS 8`, `x.md 1.3, Label`,
    `x.md, Title`, `x.md Title, 5`, `x.md#anchor`, `section 6 of x.md`; a line may end anywhere.
    """
    joined = re.sub(r"\s*\n\s*(?:#+ |//+ |\* |> )?", " ", text)
    for name in re.finditer(_NAME, joined):
        after = _AFTER.match(joined, name.end())
        before = _BEFORE.search(joined[: name.start()][-80:])
        title = _TITLE.match(joined, name.end())
        place = _PLACE.match(joined, name.end())
        numbered = after or before
        if numbered:
            numbers = re.findall(_NUMBER, numbered[1])
            label = (after[2] or "") if after else ""
            yield from (Citation(name[1], number, label) for number in numbers)
        elif title:
            yield Citation(name[1], title[1])
        elif place:
            yield Citation(name[1], place[0])
        else:
            yield Citation(name[1], "")


def document_of(name: str, cited_in: Path) -> Path | None:
    """The file of a cited document: beside the text that cites it, below the root, or in docs/."""
    places = (cited_in.parent / name, ROOT / name, ROOT / "docs" / name)
    return next((place.resolve() for place in places if place.is_file()), None)


def section_of(document: Path, wanted: str) -> Section | None:
    """The section of that number (`3`, `ASVS 8.x`), title or anchor."""
    return next(
        (each for each in sections_of(document) if is_meant(each.title.replace("`", ""), wanted)),
        None,
    )


def is_meant(heading: str, wanted: str) -> bool:
    """Whether a citation means this heading: by its number, its title or the title's beginning.

    By its anchor, too, or by the name in brackets at its end.
    """
    found = re.match(r"((?:ASVS )?\d+(?:\.\d+)*)?[.:]?\s*(.*)", heading)
    number, title = found.groups("") if found else ("", heading)
    if wanted.startswith("#"):
        return anchor(heading) == wanted.removeprefix("#")
    if re.match(r"(?:ASVS )?\d", wanted):
        return number == wanted.removesuffix(".x")
    return bool(re.match(rf"{re.escape(wanted)}\b", title)) or title.endswith(f"({wanted})")


def wrong(citation: Citation, cited_in: Path) -> str | None:
    """What is wrong with a citation; None when it can be followed."""
    document = document_of(citation.document, cited_in)
    if document is None:
        return f"{citation.document} does not exist"
    if not citation.section:
        return None
    section = section_of(document, citation.section)
    if section is None:
        return f"{citation.document} has no section {citation.section}"
    if citation.label and citation.label not in section.title + section.text:
        return f"{citation.document} {citation.section} does not speak of {citation.label}"
    return None


@functools.cache
def cited() -> list[tuple[Path, Citation]]:
    return [(path, each) for path, text in TEXTS.items() for each in citations(text)]


def test_every_document_and_section_that_the_project_cites_exists() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path, citation in cited()
        if (problem := wrong(citation, path))
    ]
    assert missing == []


def test_the_project_cites_its_documents() -> None:
    names = {citation.document.rpartition("/")[2] for _path, citation in cited()}
    assert {"security.md", "wording.md", "booking-protocol.md", "field-notes.md"} <= names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(docs/x-y.md 1.3)", [("docs/x-y.md", "1.3", "")]),
        ("(x.md 1.3, T1)", [("x.md", "1.3", "T1")]),
        ("x.md section 3; then", [("x.md", "3", "")]),
        ("x.md sections 7 and 8", [("x.md", "7", ""), ("x.md", "8", "")]),
        ("(x.md 10.1, 10.2).", [("x.md", "10.1", ""), ("x.md", "10.2", "")]),
        ("x.md ASVS 8.x", [("x.md", "ASVS 8.x", "")]),
        ("(x.md, The snapshot).", [("x.md", "The snapshot", "")]),
        ("(x.md Limits, 5)", [("x.md", "Limits, 5", "")]),
        ("see\n# x.md\n# section 4", [("x.md", "4", "")]),
        ("section 6 of [x.md](x.md).", [("x.md", "6", ""), ("x.md", "", "")]),
        ("see x.md. The rest", [("x.md", "", "")]),
        ("see x.md#the-rest", [("x.md", "#the-rest", "")]),
        ("in x.md on 3 pages", [("x.md", "", "")]),
        ("all of *.md and .md", []),
    ],
)
def test_a_citation_is_read_in_each_of_its_forms(
    text: str, found: list[tuple[str, str, str]]
) -> None:
    assert [tuple(each) for each in citations(text)] == found


@pytest.mark.parametrize(
    ("citation", "problem"),
    [
        (Citation("docs/nowhere.md", ""), "docs/nowhere.md does not exist"),
        (Citation("docs/security.md", "77"), "docs/security.md has no section 77"),
        (Citation("docs/security.md", "ASVS 77"), "docs/security.md has no section ASVS 77"),
        (Citation("docs/security.md", "Poetry"), "docs/security.md has no section Poetry"),
        (
            Citation("docs/security.md", "7", "Tortoise"),
            "docs/security.md 7 does not speak of Tortoise",
        ),
        (Citation("docs/security.md", "7", "GCM"), None),
        (Citation("docs/security.md", "7"), None),
        (Citation("docs/security.md", "ASVS 6.3.1"), None),
        (
            Citation("docs/security.md", "Controls and more"),
            "docs/security.md has no section Controls and more",
        ),
        (Citation("docs/service-interface.md", "Endpoints, 3"), None),
        (
            Citation("docs/service-interface.md", "Limits, 77"),
            "docs/service-interface.md has no section Limits, 77",
        ),
        (Citation("docs/operating.md", "#gone"), "docs/operating.md has no section #gone"),
    ],
)
def test_a_wrong_citation_is_found(citation: Citation, problem: str | None) -> None:
    assert wrong(citation, ROOT / "README.md") == problem


# --- what the documents name


NAMED_FILE = re.compile(
    r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|js|mjs|html|css|md|lock|sh|toml)|(?:[\w.-]+/)+)`"
)
MADE_AT_RUN = {"instance/", "blackbox/"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_a_document_names_exist(document: Path) -> None:
    named = set(NAMED_FILE.findall(document.read_text())) - MADE_AT_RUN
    assert sorted(name for name in named if not exists(name, document)) == []


NAMES = {part for path in PROJECT for part in path.relative_to(ROOT).parts}


def exists(name: str, document: Path) -> bool:
    """Whether there is a file or folder of that path, or of that name alone, in the project."""
    if "/" not in name.rstrip("/"):
        return name.rstrip("/") in NAMES
    return any(
        (base / name).exists() for base in (ROOT, ROOT / "ridedash", ROOT / "docs", document.parent)
    )


# a folder of the tree: at the beginning of a column, or behind another folder
IN_TREE = re.compile(r"(?:(?<= {2})|(?<=/ ))([a-z_]+)/(?= |$)")
CONTINUED = " " * 12  # a line that goes on with what the line above is about
UNNAMED = {"__init__", "__about__"}


def tree_of_architecture() -> tuple[set[str], set[str]]:
    """The modules and the folders of the package as section 1 of docs/architecture.md has them."""
    tree = re.search(r"^ridedash/\n((?:  .*\n)+)", ARCHITECTURE.read_text(), re.MULTILINE)
    assert tree
    modules, folders = set(), set()
    parent = ""
    for line in tree[1].splitlines():
        if line.startswith(CONTINUED):
            continue
        inner = line.startswith("    ")
        found = IN_TREE.findall(line)
        if not found:
            modules |= set(re.split(r" {2,}", line.strip())[0].split())
        elif not inner:
            parent = found[0]
        folders |= {f"{parent}/{name}" for name in found} if inner else set(found)
    return modules, folders


def test_the_tree_of_the_architecture_is_that_of_the_package() -> None:
    package = ROOT / "ridedash"
    modules, folders = tree_of_architecture()
    assert modules == {path.stem for path in package.glob("*.py")} - UNNAMED
    assert folders == {
        path.parent.relative_to(package).as_posix()
        for depth in ("*/*.py", "*/*/*.py")  # the tree goes no deeper
        for path in package.glob(depth)
    }


LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_of_a_document_exist(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    broken = [
        target
        for target in LINK.findall(text)
        if "://" not in target and not leads_somewhere(target, document)
    ]
    assert broken == []


def leads_somewhere(target: str, document: Path) -> bool:
    name, _, place = target.partition("#")
    path = document.parent / name if name else document
    if not path.exists():
        return False
    return not place or place in {anchor(section.title) for section in sections_of(path)}


def test_the_readme_has_links_and_pictures() -> None:
    assert len(LINK.findall(README.read_text())) > 3


GLOSSARY = re.findall(
    r"^\| \*\*(.+?)\*\* \|.*\| (.+?) \|$", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE
)


def test_the_glossary_has_at_most_forty_words_in_their_order() -> None:
    words = [word for word, _ in GLOSSARY]
    assert 0 < len(words) <= 40
    assert words == sorted(words)


@pytest.mark.parametrize(("word", "places"), GLOSSARY, ids=[word for word, _ in GLOSSARY])
def test_a_word_of_the_glossary_is_used_where_it_says(word: str, places: str) -> None:
    named = re.findall(r"`(.+?)`", places)
    assert named
    assert [name for name in named if not is_used(word, ROOT / "ridedash" / name)] == []


def is_used(word: str, path: Path) -> bool:
    """Whether a module, or one of a folder, has a word."""
    files = path.rglob("*.py") if path.is_dir() else [path]
    text = " ".join(file.read_text().lower() for file in files).replace("_", " ")
    return re.sub(r"[^a-z]+", " ", word.lower()) in re.sub(r"[^a-z]+", " ", text)


def test_the_table_of_the_readme_has_every_setting_and_no_other() -> None:
    cells = re.findall(r"^\| (`RIDEDASH_[^|]*) \|", README.read_text(), re.MULTILINE)
    assert set(re.findall(r"RIDEDASH_\w+", " ".join(cells))) == set(config.names())


def test_the_readme_has_the_default_of_each_setting_that_is_a_number(tmp_path: Path) -> None:
    settings = config.load({"RIDEDASH_INSTANCE": str(tmp_path)})
    text = README.read_text()
    documented = re.findall(r"^\| `RIDEDASH_([A-Z_]+)` \| (\d+) \|", text, re.MULTILINE)
    assert len(documented) >= 10
    assert {name: float(value) for name, value in documented} == {
        name: getattr(settings, name.lower()) for name, _value in documented
    }


# --- nothing outside the project

UPWARDS = re.compile(r"(?<![\w.-])(?:\.\./)+[\w./-]*")
# from a script's own place, or from the root of the project
ABOVE = re.compile(
    r"""Path\(__file__\)(?:\.resolve\(\))?(?:((?:\.parent\b)+)|\.parents\[(\d+)\])"""
    r"""|\bROOT\.parents?\b|(?:/ *|\bjoinpath\()["']\.\.["'/]"""
)
OF_A_MACHINE = re.compile(
    r"(?<![\w.:/}-])(?:/(?:work|root|Users|mnt)\b|/(?:home|tmp|srv)/[\w.-]+|~/[\w.-]+)[\w./-]*"
)
EXAMPLES = {"/srv/a/path", "/tmp/server.sock"}


def outside(path: Path, text: str) -> list[str]:
    """What a text of the project names outside the project."""
    found = [
        each
        for each in UPWARDS.findall(text)
        if not (path.parent / each).resolve().is_relative_to(ROOT)
    ]
    for each in ABOVE.finditer(text) if path.suffix == ".py" else ():
        depth = int(each[2]) if each[2] else (each[1] or "").count("parent") - 1
        if depth < 0 or not path.parents[depth].is_relative_to(ROOT):
            found.append(each[0])
    return [*found, *(set(OF_A_MACHINE.findall(text)) - EXAMPLES)]


@pytest.mark.parametrize(
    "text",
    [
        "see ../../plans.md",
        'ROOT.parent / "shared"',
        'ROOT / ".."',
        "Path(__file__).resolve().parents[2]",
        "Path(__file__).parent.parent.parent",
        'cd "/work"',
        "/tmp/plans.md",
        "~/plans.md",
    ],
)
def test_a_name_of_a_folder_outside_the_project_is_found(text: str) -> None:
    assert outside(ROOT / "tools" / "x.py", text)


def test_nothing_names_a_folder_outside_the_project() -> None:
    assert outside(ROOT / "tools" / "x.py", 'Path(__file__).parent.parent / "docs"') == []
    assert {
        str(path.relative_to(ROOT)): found
        for path, text in TEXTS.items()
        if (found := outside(path, text))
    } == {}


def test_the_newest_figures_of_the_bench_are_kept_alone_and_cited() -> None:
    kept = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs/bench").iterdir()]
    cited = re.findall(r"\]\((bench/[^)]*)\)", (ROOT / "docs" / "performance.md").read_text())
    assert kept == cited
    assert len(kept) == 1


MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("command", re.findall(r"\$\(BIN\)/python (.+) \$\(ARGS\)", MAKEFILE))
def test_a_command_of_the_makefile_that_takes_options_says_which(command: str) -> None:
    run = [sys.executable, *command.split(), "--help"]
    said = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    assert said.stdout.startswith("usage: "), said.stderr


def test_pre_commit_runs_what_make_check_runs() -> None:
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    commands = [
        line.strip().lstrip("@").replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()
    ]
    entries = re.findall(
        r"^ +entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE
    )
    assert entries == commands


# --- what the interface leaves open


def silences() -> list[str]:
    """The points of "What is not published": the words in bold."""
    section = section_of(ROOT / "docs" / "service-interface.md", "What is not published")
    assert section is not None
    points = re.findall(r"^- (.*)", section.text, re.MULTILINE)
    named = re.findall(r"^- \*\*(.+?)\*\*:", section.text, re.MULTILINE)
    assert len(points) == len(named) > 30
    return [name.lower() for name in named]


def assumed() -> list[tuple[str, str, str]]:
    """The rows of both tables of assumptions: the silence, what we assume, the files that do so."""
    tables = [
        section_of(ROOT / "docs" / "assumptions.md", title)
        for title in ("Reading the service", "Playing the service")
    ]
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| (.+?) \|$",
        "\n".join(table.text for table in tables if table),
        re.MULTILINE,
    )
    return [(first.lower(), what, where) for first, what, where in rows if set(first) != {"-"}]


@pytest.mark.parametrize("silence", silences())
def test_each_silence_of_the_interface_has_an_assumption(silence: str) -> None:
    assert silence in {first for first, _what, _where in assumed()}


def test_an_assumption_names_files_that_exist_and_no_silence_twice_in_a_table() -> None:
    headers = 2
    found = assumed()
    for first, _what, where in found:
        if first == "the document is silent on":
            headers -= 1
            continue
        files = re.findall(r"`([^`]+)`", where)
        assert files, first
        for name in files:
            assert (ROOT / "ridedash" / name).is_file(), f"{first}: {name}"
    assert headers == 0
    starts = [n for n, row in enumerate(found) if row[0] == "the document is silent on"]
    for rows in (found[: starts[1]], found[starts[1] :]):
        names = [first for first, _what, _where in rows]
        assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)


# --- the units of docs/operating.md

UNITS = re.compile(r"```ini\n# /(?P<path>[^\s;]+).*?\n(?P<text>.*?)```", re.DOTALL)
OPERATING = ROOT / "docs/operating.md"
EXPOSED_LESS_THAN = 2.0  # of 10, by systemd-analyze
OF_EVERY_UNIT = (
    "Environment=MALLOC_ARENA_MAX=1",  # one heap for all threads of a process
    "ProtectSystem=strict",
    "StateDirectory=ridedash",
    "NoNewPrivileges=yes",
    "PrivateTmp=yes",
    "UMask=0077",
)


def units() -> dict[str, str]:
    return {each["path"]: each["text"] for each in UNITS.finditer(OPERATING.read_text())}


def test_every_unit_is_confined_has_one_heap_and_starts_after_a_database_of_the_same_machine() -> (
    None
):
    found = units()
    services = {path for path in found if path.endswith(".service")}
    (common,) = found.keys() - services
    # systemd applies the folder `ridedash-.service.d` to every service named `ridedash-…`
    assert common == "etc/systemd/system/ridedash-.service.d/common.conf"
    assert len(services) == 2
    for path in services:
        assert path.startswith("etc/systemd/system/ridedash-")
        assert " postgresql.service" in found[path]
    for line in OF_EVERY_UNIT:
        assert f"\n{line}\n" in found[common]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd on this machine")
def test_systemd_finds_the_units_well_confined(tmp_path: Path) -> None:
    for path, text in units().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for unit in ("ridedash-web.service", "ridedash-worker@1.service"):
        command = ["systemd-analyze", f"--root={tmp_path}", "security", "--offline=true", unit]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        exposure = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
        assert exposure, done.stdout + done.stderr
        assert float(exposure[1]) < EXPOSED_LESS_THAN
