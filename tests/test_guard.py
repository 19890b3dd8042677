"""The shape of the code: allowed imports, served routes, and names that nothing may use."""

import ast
import functools
import graphlib
import hashlib
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import Environment, nodes
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ridedash.service.parsing.fields import Fact

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ridedash"
MODULES = sorted(PACKAGE.rglob("*.py"))
MIGRATIONS = sorted((PACKAGE / "store" / "migrations").rglob("*.py"))
TEMPLATES = sorted(
    path
    for folder in (ROOT / "templates", PACKAGE / "sandbox" / "templates")
    for path in folder.rglob("*.html")
)
BESIDE = sorted(path for folder in ("bench", "tools") for path in (ROOT / folder).rglob("*.py"))
LOCKS = ("requirements.lock", "requirements-production.lock", "requirements-dev.lock")

LAYERS = [  # the lowest first: a package may import from lower layers, and from itself
    {"__about__", "wire", "geo", "text", "inputs", "secrets_file", "face", "service_time", "fits"},
    {"config", "confusables", "names"},
    {"observability"},
    {"service", "store"},
    {"rides"},
    {"wording", "maps", "places", "turns"},
    {"services"},
    {"forms"},  # uses messages from wording and the sources of places
    {"lists"},
    {"extensions"},
    {"views"},
    {"demo"},
    {"factory"},
    {"", "cli", "wsgi"},
]
INNER_LAYERS = {  # the same for the folders and files inside a package
    "views": [
        {"web"},
        {"auth", "poll_cache", "history", "ops"},
        {"rides", "admin", "insights"},
        {"booking", "guest"},
        {"board", "lists"},
        {"kiosk"},
        {"door"},
        {"registry"},
    ],
    "rides": [
        {"state", "times", "health"},
        {"accounts", "privacy", "journals", "monitoring"},
        {"runtime"},
        {"orders", "tracking"},
        {"kiosk", "guest_lists", "share_links"},
        {"actions"},
        {"worker"},
    ],
    "service": [
        {"errors"},
        {"parsing", "transport"},
        {"types", "hooks"},
        {"throttle"},
        {"responses"},
        {"client", "oauth"},
    ],
    "sandbox": [
        {"settings", "store", "city", "users", "request_parsing"},
        {"clock", "pricing", "tiles"},
        {"trips"},
        {"services"},
        {"bookings", "oauth"},
        {"api"},
        {"app"},
    ],
}
FLASK_PACKAGES = {
    "extensions",
    "forms",
    "wording",
    "views",
    "demo",
    "sandbox",
    "factory",
    "cli",
}
TRANSPORT = "ridedash.service.transport."
METRICS = "ridedash.observability.metrics"
PILLOW = ("ridedash.face.pictures", "ridedash.face.photo_crops")
FLASK_FAMILY = (
    "flask",
    "flask_babel",
    "flask_login",
    "flask_limiter",
    "flask_wtf",
    "wtforms",
    "werkzeug",
)


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Every module that a file imports anywhere: for a type alone, or inside a function, too."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found += [submodule(str(node.module), alias.name) for alias in node.names]
    return tuple(found)


def submodule(module: str, name: str) -> str:
    base = ROOT / Path(*module.split("."))
    is_module = (base / f"{name}.py").exists() or (base / name / "__init__.py").exists()
    return f"{module}.{name}" if is_module else module


def part(module: str, depth: int) -> str:
    """The part of a module's name at a depth: 1 is a package in ridedash/, 2 what lies in it."""
    parts = module.split(".")
    return parts[depth] if len(parts) > depth else ""


def package(module: str) -> str:
    return part(module, 1)


def layer(name: str, layers: list[set[str]]) -> int:
    return next(i for i, names in enumerate(layers) if name in names)


@functools.cache
def our_imports() -> tuple[tuple[str, str], ...]:
    """Pairs of an importing and an imported module of ridedash/.

    They are collected on the first call: every process of a test run imports this file, but only
    one needs them.
    """
    return tuple(
        (name_of(path), target)
        for path in MODULES
        for target in imports_of(path)
        if target == "ridedash" or target.startswith("ridedash.")
    )


def test_imports_point_down_only() -> None:
    wrong = [
        f"{source} -> {target}"
        for source, target in our_imports()
        if "sandbox" not in (package(source), package(target))
        and package(source) != package(target)
        and layer(package(target), LAYERS) >= layer(package(source), LAYERS)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", INNER_LAYERS)
def test_imports_within_a_package_point_down_only(name: str) -> None:
    layers = INNER_LAYERS[name]
    wrong = [
        f"{source} -> {target}"
        for source, target in our_imports()
        if package(source) == package(target) == name
        and part(source, 2)
        and part(source, 2) != part(target, 2)
        and layer(part(target, 2), layers) >= layer(part(source, 2), layers)
    ]
    assert wrong == []


STEP = r"`[^`]+`(?:, `[^`]+`)*"


@pytest.mark.parametrize(
    ("row", "layers"),
    [
        ("all", LAYERS),
        ("inside `service`", INNER_LAYERS["service"]),
        ("inside `rides`", INNER_LAYERS["rides"]),
        ("inside `views`", INNER_LAYERS["views"]),
        ("`sandbox`", INNER_LAYERS["sandbox"]),
    ],
    ids=["all", "service", "rides", "views", "sandbox"],
)
def test_the_page_of_the_architecture_has_these_layers(row: str, layers: list[set[str]]) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    line = next(each for each in page.splitlines() if each.startswith(f"| {row} |"))
    chain = re.search(rf"{STEP}(?: → {STEP})+", re.sub(r" \([^)]*\)", "", line))
    assert chain
    documented = [set(re.findall("`([^`]+)`", step)) for step in chain[0].split(" → ")]
    assert documented == [each - {"", "__about__"} for each in layers]


# what every page of staff needs: the time of its sign-in, and its top bar
OF_ALL_PAGES = {"ridedash.views.auth.staying", "ridedash.views.board.pages"}


def test_hooks_of_a_feature_run_for_that_feature_alone() -> None:
    """Whoever reads what happens to a request needs to know views/web alone, beside its feature."""
    ours = [path for path in MODULES if package(name_of(path)) in ("views", "demo")]
    hook = re.compile(
        r"\b(?:before|after|teardown)_app_request\b|\bapp_context_processor\b"
        r"|\bapp\.(?:before_request|after_request|teardown_request)\b"
    )
    users = {name_of(path) for path in ours if hook.search(path.read_text())}
    assert users >= OF_ALL_PAGES
    assert [name for name in sorted(users - OF_ALL_PAGES) if part(name, 2) != "web"] == []


def test_models_hold_tables_without_queries() -> None:
    """A developer looks for a query in the modules of store/, and not among its models."""
    called = re.compile(
        r"\b(select|insert|update|delete)\(|\.(execute|scalars?|query|get|connection)\("
        r"|\btext\(\s*[\"']+\s*(SELECT|INSERT|UPDATE|DELETE)\b|\bSession\b"
    )
    models = sorted((PACKAGE / "store" / "models").glob("*.py"))
    assert models
    assert [path.name for path in models if called.search(path.read_text())] == []


def test_the_database_knows_no_table() -> None:
    database = "ridedash.store.database"
    imported = [(s, t) for s, t in our_imports() if s.startswith(f"{database}.")]
    assert imported
    wrong = [
        f"{source} -> {target}"
        for source, target in imported
        if target.startswith("ridedash.store") and not f"{target}.".startswith(f"{database}.")
    ]
    assert wrong == []


def test_the_types_of_the_service_are_frozen_values() -> None:
    folder = PACKAGE / "service" / "types"
    classes = [
        (path.stem, node)
        for path in sorted(folder.glob("*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    ]
    assert classes
    assert [f"{name}.{node.name}" for name, node in classes if not is_frozen(node)] == []
    imported = {target for path in folder.glob("*.py") for target in imports_of(path)}
    ours = ("ridedash.service.parsing.", "ridedash.service.types.")
    values = {"ridedash.geo", "ridedash.wire", "pydantic", "decimal", "typing"}
    assert {name for name in imported - values if not f"{name}.".startswith(ours)} == set()
    assert [path.name for path in folder.glob("*.py") if "open(" in path.read_text()] == []


def is_frozen(node: ast.ClassDef) -> bool:
    """Whether a class is derived from Fact, which is frozen, or is a frozen model itself."""
    settings = (ast.unparse(each) for each in node.body)
    own = any(each.startswith("model_config = ") and "frozen=True" in each for each in settings)
    derived = Fact.model_config["frozen"] and [ast.unparse(base) for base in node.bases] == ["Fact"]
    return (own or derived) and "frozen=False" not in ast.unparse(node)


def test_the_statuses_with_a_known_cab_are_listed_in_one_module() -> None:
    """wire.CAB_KNOWN and wire.BEFORE_RIDE are compared with; nobody lists them again."""
    same = {"CALL_DRIVER", "CLIENT_LOCATED", "INVOICE"}
    listed = {
        name_of(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Set | ast.Tuple | ast.List)
        and same <= {ast.unparse(each).rpartition(".")[2] for each in node.elts}
    }
    assert listed == {"ridedash.wire"}


def test_text_is_cleaned_in_one_module() -> None:
    read = re.compile(r"unicodedata\.category|from unicodedata |import unicodedata as")
    users = [name_of(p) for p in MODULES if p not in MIGRATIONS and read.search(p.read_text())]
    assert users == ["ridedash.text"]


def test_passwords_are_hashed_in_one_module() -> None:
    """Otherwise a first password and a changed one might be hashed in different ways."""
    users = {name_of(path) for path in MODULES if "generate_password_hash" in path.read_text()}
    assert users == {"ridedash.store.passwords"}


def test_no_comma_of_ours_stands_between_two_facts() -> None:
    """Each language has its own comma: docs/languages.md 2 names the functions that join facts."""
    joined = re.compile(r"""["'`], ["'`]\.join\(|\bjoin\(["'`], ["'`]\)|\}\}, \{\{""")
    read = ("views", "wording", "places", "forms")
    sources = [path for path in MODULES if package(name_of(path)) in read]
    sources += [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static/js").rglob("*.js")]
    found = [path for path in sources if joined.search(path.read_text())]
    assert [str(path.relative_to(ROOT)) for path in found] == []


def test_numbers_and_days_from_outside_are_read_in_one_module() -> None:
    """Other parsers would accept numbers too large for a database, and days of the year 1."""
    readers = re.compile(r"type=(int|float)\b|\b(date|time)\.fromisoformat|= IntegerField\(")
    pages = [path for path in MODULES if package(name_of(path)) in ("views", "forms")]
    assert pages
    assert [name_of(path) for path in pages if readers.search(path.read_text())] == []


FEATURES = sorted(
    path.name for path in (PACKAGE / "views").iterdir() if (path / "__init__.py").exists()
)
BESIDE_VIEWS = {"demo"}  # a package of its own, because live mode does not load it
WITHOUT_PAGES = {"poll_cache", "ops"}  # they answer without a template


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_is_mirrored(feature: str) -> None:
    """views/<feature> has tests/views/<feature>, and templates/<feature> if it has pages."""
    assert list((ROOT / "tests" / "views" / feature).glob("test_*.py"))
    if feature not in WITHOUT_PAGES:
        assert list((ROOT / "templates" / feature).glob("*.html"))


@pytest.mark.parametrize("folder", ["templates", "static/css", "static/js", "tests/views"])
def test_no_folder_is_without_its_feature(folder: str) -> None:
    found = {
        path.name
        for path in (ROOT / folder).iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert found - {*FEATURES, *BESIDE_VIEWS, "shared"} == set()


@pytest.mark.parametrize("folder", ["templates", "static/css", "static/js"])
def test_no_file_lies_outside_of_its_feature(folder: str) -> None:
    assert [path.name for path in (ROOT / folder).iterdir() if path.is_file()] == []


@pytest.mark.parametrize("name", [path.parent.name for path in PACKAGE.glob("*/__init__.py")])
def test_tests_lie_in_the_folders_of_their_packages(name: str) -> None:
    assert list((ROOT / "tests" / name).rglob("test_*.py"))
    found = {
        path.name
        for path in (ROOT / "tests" / name).iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert [
        folder for folder in sorted(found) if not (PACKAGE / name / folder / "__init__.py").exists()
    ] == []


def test_the_sandbox_meets_the_dashboard_on_the_wire_only() -> None:
    out = [
        f"{s} -> {t}"
        for s, t in our_imports()
        if package(s) == "sandbox" and package(t) not in ("sandbox", "wire", "geo")
    ]
    into = [
        f"{s} -> {t}"
        for s, t in our_imports()
        if package(t) == "sandbox" and package(s) not in ("sandbox", "cli")
    ]
    assert out == []
    assert into == []


def test_the_director_of_a_demo_is_imported_by_those_who_start_it() -> None:
    """The factory imports the director's pages, and `ridedash up` what books a new demo's rides.

    Only the recorder of calls is loaded without any page, because a demo's worker needs it too.
    """
    users = {(s, t) for s, t in our_imports() if package(t) == "demo" != package(s)}
    recorder = ("ridedash.cli.commands", "ridedash.demo.lens.recorder")
    assert recorder in users
    starters = {s for s, _ in users - {recorder}}
    assert starters == {"ridedash.factory", "ridedash.cli.demo_day"}


def test_the_command_of_the_worker_imports_no_pages() -> None:
    """A worker shows nothing, and the pages would be a third of its memory."""
    script = "import sys; from ridedash.cli import commands; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "ridedash.rides.worker" in loaded.split()
    pages = ("views", "forms", "wording")
    assert [name for name in loaded.split() if package(name) in pages] == []


@pytest.mark.parametrize("of_sandbox", [False, True])
def test_a_class_has_a_name_of_its_own(of_sandbox: bool) -> None:
    """Where a name is used, nobody has to look up which of several classes it is.

    The sandbox has the service's side of some values, under their names on the wire.
    """
    defined = Counter(
        node.name
        for path in MODULES
        if (package(name_of(path)) == "sandbox") is of_sandbox
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in sorted(defined.items()) if count > 1] == []


def test_every_name_that_is_imported_from_our_modules_exists() -> None:
    """mypy reads the package alone: a wrong import of a bench would only fail when it runs."""
    folders = ("ridedash", "tests", "bench", "tools")
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
    }
    trees = {name: ast.parse(path.read_text()) for name, path in modules.items()}
    defined = {name: set(names_in(tree)) for name, tree in trees.items()}
    missing = [
        f"{name}: {module}.{imported}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        for module, imported in imported_names(node)
        if module.partition(".")[0] in folders
        and imported not in defined.get(module, ())
        and f"{module}.{imported}".rstrip(".") not in modules
    ]
    assert missing == []


def imported_names(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Each module that a statement imports, and the name from it; "" for the module itself."""
    if isinstance(node, ast.ImportFrom):
        yield from ((str(node.module), alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)


def names_in(tree: ast.AST) -> Iterator[str]:
    """The names that a module defines, sets or imports, outside of its functions and classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            continue
        yield from names_in(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def test_a_constant_keeps_its_name_where_it_is_imported() -> None:
    """Two constants that meet have two names of their own, so that each can be searched for."""
    renamed = [
        f"{name_of(path)}: {alias.name} as {alias.asname}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.isupper() and alias.asname not in (None, alias.name)
    ]
    assert renamed == []


def test_no_module_imports_names_from_the_package_root() -> None:
    assert [source for source, target in our_imports() if target == "ridedash"] == []


def circle(imports: Iterable[tuple[str, str]]) -> list[str]:
    """The modules of one circle of imports; [] if there is none."""
    graph: dict[str, set[str]] = {}
    for source, target in imports:
        if source != target:
            graph.setdefault(source, set()).add(target)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_there_is_no_import_cycle() -> None:
    assert circle([("a", "b"), ("b", "c"), ("c", "a")]) != []
    assert circle(our_imports()) == []


SCRIPTS = ROOT / "static" / "js"
SCRIPT_LAYERS = [{"shared"}, *INNER_LAYERS["views"], {"demo"}]
SCRIPT_IMPORT = re.compile(r"(?:\bfrom|\bimport(?:\s*\()?)\s*[\"'`](\.[^\"'`]+)")


def script_imports() -> list[tuple[str, str]]:
    """Pairs of an importing and an imported script, when the script first needs it included."""
    return [
        (
            str(path.relative_to(SCRIPTS)),
            str((path.parent / found).resolve().relative_to(SCRIPTS)),
        )
        for path in sorted(SCRIPTS.rglob("*.js"))
        for found in SCRIPT_IMPORT.findall(path.read_text())
    ]


def test_scripts_import_no_script_of_a_later_feature_and_never_in_a_circle() -> None:
    lazily = "await Promise.all([import(\"./a.js\"), import('../shared/b.js')])"
    assert SCRIPT_IMPORT.findall(lazily) == ["./a.js", "../shared/b.js"]
    assert SCRIPT_IMPORT.findall('import {\n  a,\n} from "./a.js";\nimport "./b.js";') == [
        "./a.js",
        "./b.js",
    ]
    pairs = script_imports()
    assert ("demo/lens.js", "demo/drawer.js") in pairs
    assert [target for _, target in pairs if not (SCRIPTS / target).exists()] == []
    assert circle(pairs) == []
    wrong = [
        f"{source} -> {target}"
        for source, target in pairs
        for ours, theirs in [(source.split("/")[0], target.split("/")[0])]
        if ours != theirs and layer(theirs, SCRIPT_LAYERS) >= layer(ours, SCRIPT_LAYERS)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("family", "allowed"),
    [
        (("httpx", "httpcore"), lambda module: module.startswith(TRANSPORT)),
        (("folium", "branca", "xyzservices"), lambda module: module == "ridedash.maps"),
        (("prometheus_client",), lambda module: module == METRICS),
        (("PIL",), lambda module: module in PILLOW),
        (FLASK_FAMILY, lambda module: package(module) in FLASK_PACKAGES or module == "ridedash"),
        (
            ("sqlalchemy", "alembic"),
            lambda module: package(module) in ("store", "rides", "views", "demo", "cli"),
        ),
    ],
    ids=["httpx", "folium", "prometheus", "pillow", "flask", "sqlalchemy"],
)
def test_a_library_is_imported_only_by_its_packages(
    family: tuple[str, ...], allowed: object
) -> None:
    assert callable(allowed)
    wrong = [
        f"{name_of(path)} imports {target}"
        for path in MODULES
        for target in imports_of(path)
        if target.split(".")[0] in family
        and not allowed(name_of(path))
        and not is_password_hash(target, path)
    ]
    assert wrong == []


def is_password_hash(target: str, path: Path) -> bool:
    """Werkzeug's password hash has nothing to do with the web: the store may use it."""
    return target == "werkzeug.security" and package(name_of(path)) == "store"


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("templates", "html"),
        ("ridedash", "html"),
        ("static", "css"),
        ("static", "js"),
        ("ridedash", "py"),
    ],
)
def test_no_line_passes_100_columns(folder: str, kind: str) -> None:
    files = sorted((ROOT / folder).rglob(f"*.{kind}"))
    long_lines = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 100
    ]
    assert files
    assert long_lines == []


FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def test_no_line_of_a_text_passes_100_columns() -> None:
    """Tables, commands and lines of one word can't be broken."""
    folders = ("docs", "bench", "tools", "translations")
    texts = [*ROOT.glob("*.md"), *(p for name in folders for p in (ROOT / name).rglob("*.md"))]
    long_lines = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted(texts)
        for line in FENCE.sub("", path.read_text()).splitlines()
        if len(line) > 100 and " " in line.strip() and not line.lstrip().startswith("|")
    ]
    assert len(texts) > 20
    assert long_lines == []


IN_SCRIPT = re.compile(r"(?<=>)[^<]*(?=</script>)")
JSON_UNESCAPED = re.compile(r"\|\s*tojson\b(?!\s*\|\s*forceescape)")


def unescaped_json(template: str) -> list[str]:
    return JSON_UNESCAPED.findall(IN_SCRIPT.sub("", template))


def test_json_outside_scripts_is_escaped() -> None:
    """`tojson` doesn't escape double quotes, and the formatter writes attributes with them."""
    assert unescaped_json("""<p data-x="{{ {'a': [{'b': y}]}|tojson }}">""")
    assert unescaped_json("""<script data-x="{{ y|tojson }}"></script>""")
    assert not unescaped_json("""<p data-x="{{ y | tojson|forceescape }}">""")
    assert not unescaped_json("<script>{{ y|tojson }}</script>")
    assert {p.name: found for p in TEMPLATES if (found := unescaped_json(p.read_text()))} == {}


# a list of counters, one after the other
LONG_FUNCTIONS = {"ridedash.observability.metrics.__init__"}
# the version, entry points, exceptions, and two modules that each have a subject of their own
SHORT_MODULES = {
    "ridedash.__about__",
    "ridedash.cli.__main__",
    "ridedash.cli.errors",
    "ridedash.rides.state.codes",
    "ridedash.views.rides.access",
    "ridedash.wsgi",
}
SHORT, RATHER_SHORT = 30, 50  # lines


def test_modules_and_functions_stay_small() -> None:
    ours = {*MODULES, *BESIDE} - {*MIGRATIONS}
    long_modules = [name_of(path) for path in ours if path.read_text().count("\n") > 700]
    # without comments, so that none is shortened for the sake of a number
    scripts = [str(p) for p in (ROOT / "static").rglob("*.js") if lines_of_code(p) > 600]
    assert long_modules == []
    assert scripts == []
    assert {found for path in ours for found in long_functions(path)} <= LONG_FUNCTIONS


def lines_of_code(script: Path) -> int:
    """The lines of a script beside comments and blank lines."""
    text = re.sub(r"/\*(.|\n)*?\*/|^ *//.*$", "", script.read_text(), flags=re.MULTILINE)
    return sum(1 for line in text.splitlines() if line.strip())


def test_the_poll_cache_stays_small() -> None:
    """It only makes answers faster: more code than this would cost more than it gives."""
    modules = (PACKAGE / "views" / "poll_cache").glob("*.py")
    assert 0 < sum(path.read_text().count("\n") for path in modules) <= 480


def test_no_module_is_a_fragment() -> None:
    """A file of a few lines that only one other file needs should be part of that file."""
    lengths = {
        name_of(path): path.read_text().count("\n")
        for path in {*MODULES} - {*MIGRATIONS}
        if path.name != "__init__.py"
    }
    short = {name for name, lines in lengths.items() if lines < SHORT}
    assert short <= SHORT_MODULES
    assert len([name for name, lines in lengths.items() if lines < RATHER_SHORT]) <= 18


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def test_no_function_takes_more_than_six_parameters() -> None:
    """Parameters that are passed together should be one value, such as Runtime or Request."""
    ours = [*MODULES, *BESIDE]
    many = [f"{name_of(p)}.{f.name}" for p in ours for f in functions(p) if parameters(f) > 6]
    assert many == []


def test_no_conditional_expression_stands_in_another() -> None:
    nested = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in [*MODULES, *BESIDE, *(ROOT / "tests").rglob("*.py")]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.IfExp)
        and any(isinstance(each, ast.IfExp) for each in ast.walk(node) if each is not node)
    ]
    assert nested == []


def test_no_conditional_expression_of_a_template_stands_in_another() -> None:
    pages = Environment(extensions=["jinja2.ext.i18n"])
    nested = [
        f"{path.relative_to(ROOT)}:{each.lineno}"
        for path in TEMPLATES
        for each in pages.parse(path.read_text()).find_all(nodes.CondExpr)
        if each.find(nodes.CondExpr)
    ]
    assert nested == []


# comments, strings and patterns of a script
QUIET = re.compile(
    r"//[^\n]*|/\*.*?\*/|`(?:[^`\\]|\\.)*`"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?<=[(=,:!&|?\[])\s*/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*",
    re.DOTALL,
)
MARK = re.compile(r"\?\?=?|\?\.|[?;,()\[\]{}]")


def nested_conditionals(script: str) -> list[str]:
    """The conditional expressions in another one, each from its question mark on."""
    code = QUIET.sub("0", script)
    found, begun = [], [False]  # whether one has begun: in each bracket that is open
    for mark in MARK.finditer(code):
        if mark[0] in "([{":
            begun.append(False)
        elif mark[0] in ")]}":
            begun.pop()
        elif mark[0] in ";,":
            begun[-1] = False
        elif mark[0] == "?":
            if any(begun):
                found.append(code[mark.start() :].partition("\n")[0])
            begun[-1] = True
    return found


def test_no_conditional_expression_of_a_script_stands_in_another() -> None:
    assert nested_conditionals('f(a ? b : c, d?.e ?? (f ? "?" : `?`), g ? [h] : /[/?]/)') == []
    assert nested_conditionals("a ? (b ? c : d).e : f") == ["? c : d).e : f"]
    assert nested_conditionals("a ? b : f(() => (c ? d : e))") == ["? d : e))"]
    nested = [
        f"{path.relative_to(ROOT)}: {each}"
        for path in sorted((ROOT / "static" / "js").rglob("*.js"))
        for each in nested_conditionals(path.read_text())
    ]
    assert nested == []


def test_no_code_is_excluded_from_the_formatter() -> None:
    sources = [*MODULES, *BESIDE, *(ROOT / "tests").rglob("*.py")]
    assert [p.name for p in sources if re.search(r"#\s*(?:fmt|yapf):", p.read_text())] == []


def long_functions(path: Path, limit: int = 40) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            if (node.end_lineno or 0) - first.lineno + 1 > limit:
                yield f"{name_of(path)}.{node.name}"


FOREIGN = re.compile(r"https?://[\w.\[:-]+|//[a-z0-9.-]+\.[a-z]{2,}", re.IGNORECASE)
SVG_NAMESPACE = "http://www.w3.org"  # an identifier that is never fetched


@pytest.mark.parametrize("folder", ["templates", "static", "ridedash/sandbox/templates"])
def test_no_template_or_script_names_a_foreign_host(folder: str) -> None:
    kinds = (".html", ".js", ".css", ".svg", ".jinja", ".webmanifest")
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    named = [
        f"{path.relative_to(ROOT)}: {found}"
        for path in files
        for found in FOREIGN.findall(path.read_text())
        if found != SVG_NAMESPACE
    ]
    assert files
    assert named == []


# Links that open WhatsApp, SMS, mail or phone when they are pressed; no page loads them.
FOLLOWED = re.compile(
    r"https://wa\.me/[1-9][0-9]{7,14}\?text=|sms:\+?[0-9]+\?&body=|mailto:\?|tel:"
)
SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
SVG_NAMESPACES = {"xmlns", "xmlns:xlink"}
LEADS = ("href", "src", "action", "formaction")  # attributes that hold nothing but an address


class Addresses(HTMLParser):
    """The foreign addresses of a page, except safe links that a person follows."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: (value or "").strip() for name, value in attrs}
        for name, value in named.items():
            # an address may stand behind the seconds of a refresh, or behind another picture
            find = FOREIGN.search if name in ("content", "srcset") else FOREIGN.match
            foreign = find(value) or (name in LEADS and SCHEME.match(value))
            if not foreign or name in SVG_NAMESPACES:
                continue
            if (tag, name) == ("input", "value"):  # a guest's link, to be copied
                continue
            if (tag, name) == ("img", "src") and value.startswith("data:image/"):
                continue
            if (tag, name) != ("a", "href") or not FOLLOWED.match(value):
                self.wrong.append(f"{tag} {name} {value}")
            elif value.startswith("https:") and not leads_out_safely(named):
                self.wrong.append(f"{tag} {name} {value}: the new page knows ours")


def leads_out_safely(named: dict[str, str]) -> bool:
    """Whether a link opens a new window, whose page learns nothing about ours."""
    rel = set(named.get("rel", "").split())
    return named.get("target") == "_blank" and rel >= {"noopener", "noreferrer"}


@pytest.mark.parametrize(
    ("markup", "right"),
    [
        ('<a href="/rides/1">', True),
        ('<a href="sms:+910000012345?&amp;body=x">', True),
        ('<a href="mailto:?subject=x&amp;body=y">', True),
        (
            '<a target="_blank" rel="noopener noreferrer" href="https://wa.me/910000012345?text=x">',
            True,
        ),
        ('<a target="_blank" rel="noopener" href="https://wa.me/910000012345?text=x">', False),
        ('<a rel="noopener noreferrer" href="https://wa.me/910000012345?text=x">', False),
        ('<a href="https://wa.me.example/910000012345?text=x">', False),
        ('<a href="https://example.test/">', False),
        ('<a href="javascript:x">', False),
        ('<a href="//example.test/">', False),
        ('<img src="https://wa.me/910000012345?text=x">', False),
        ('<form action="https://wa.me/910000012345?text=x">', False),
        ('<link rel="stylesheet" href="https://example.test/x.css">', False),
        ('<img src="data:image/png;base64,x">', True),
        ('<iframe src="data:text/html,x">', False),
        ('<form action=" javascript:x">', False),
        ('<meta http-equiv="refresh" content="15">', True),
        ('<meta http-equiv="refresh" content="5; url=https://example.test/">', False),
        ('<img srcset="/x.png 1x, //example.test/x.png 2x">', False),
    ],
)
def test_a_foreign_address_is_a_link_that_a_person_follows_or_nothing(
    markup: str, right: bool
) -> None:
    assert (Addresses(markup).wrong == []) == right


def test_views_name_one_foreign_host_and_each_new_page_is_opened_safely() -> None:
    named = {
        f"{path.relative_to(ROOT)}: {found}"
        for path in (PACKAGE / "views").rglob("*.py")
        for found in re.findall(r"https?://[\w.-]+", path.read_text())
    }
    assert named == {"ridedash/views/rides/messages.py: https://wa.me"}
    opened = [
        (path.name, tag)
        for path in TEMPLATES
        for tag in re.findall(r"<a\b[^>]*_blank[^>]*>", path.read_text())
    ]
    assert len(opened) > 1
    assert [name for name, tag in opened if 'rel="noopener noreferrer"' not in tag] == []


UNSAFE = {
    "text that becomes markup": (
        r"import .*\bMarkup\b|\bMarkup\(|\|\s*safe\b|autoescape\s+false",
        {"ridedash/maps.py"},
    ),
    "a template made of a string": (r"render_template_string|from_string\(", set()),
    "folium's own popups and tooltips": (
        r"\b(Popup|Tooltip|CustomIcon|GeoJsonPopup|GeoJsonTooltip|DivIcon)\b",
        set(),
    ),
    "pickle": (r"\bpickle\b|\bmarshal\b", set()),
    "markup from a script": (
        r"\b(?:inner|outer)HTML\b|insertAdjacentHTML|javascript:|document\.write"
        r"|\beval\(|new Function\(",
        set(),
    ),
    "markup that a script parses": (
        r"\bDOMParser\b|\b(?:set|parse)HTML|createContextualFragment|\bsrcdoc\b",
        {"static/js/shared/markup.js"},
    ),
    "a style or a handler inside markup": (  # behind code of Jinja too, which may hold a >
        r"<[a-z](?:(?>\{[{%][\s\S]*?[%}]\})|[^>{]|\{(?![{%]))*\s(?:style|on[a-z]+)=",
        set(),
    ),
    "SQL put together from strings": (
        r"text\(\s*f[\"']",
        # names of tables and columns, which stand in the same file
        {
            f"ridedash/store/migrations/versions/{name}.py"
            for name in ("0005_wide_columns", "0007_history", "0031_names_of_all_scripts")
        },
    ),
}


@pytest.mark.parametrize("what", UNSAFE)
def test_unsafe_constructs_are_not_used(what: str) -> None:
    pattern, allowed = UNSAFE[what]
    sources = [*MODULES, *TEMPLATES, *(ROOT / "static").rglob("*.js")]
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0)}"
        for path in sources
        if str(path.relative_to(ROOT)) not in allowed
        for match in re.finditer(pattern, path.read_text())
    ]
    assert found == []


def test_one_script_uses_leaflet() -> None:
    leaflet = re.compile(r"(?<![\w.])(?:L\.[a-zA-Z]|(?:window|globalThis)\.L\b)")
    users = {p for p in (ROOT / "static").rglob("*.js") if leaflet.search(p.read_text())}
    assert users == {ROOT / "static/js/shared/map.js"}


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("leaflet.js", "db49d009c841f5ca34a888c96511ae936fd9f5533e90d8b2c4d57596f4e5641a"),
        ("leaflet.css", "a7837102824184820dfa198d1ebcd109ff6d0ff9a2672a074b9a1b4d147d04c6"),
    ],
)
def test_leaflet_is_the_reviewed_release(name: str, digest: str) -> None:
    from ridedash.views.ops.static_files import leaflet

    assert hashlib.sha256((leaflet() / name).read_bytes()).hexdigest() == digest


ROUTES = """
GET / desk.board
GET /accounts/callback accounts.callback
GET /admin admin.home
GET /admin/accounts admin_accounts.show
GET /admin/audit admin_audit.show
GET /admin/kiosks admin_kiosks.show
GET /admin/kiosks/<int:kiosk_id> admin_kiosks.one
GET /admin/kiosks/new admin_kiosks.form
GET /admin/languages admin_languages.show
GET /admin/languages/read admin_word_reviews.show
GET /admin/languages/words admin_own_words.show
GET /admin/languages/words/file.po admin_own_words.export
GET /admin/places admin_places.show
GET /admin/properties admin_properties.show
GET /admin/property admin.show
GET /admin/staff admin_staff.show
GET /board.json desk.board_json
GET /demo demo.show
GET /demo/day.json demo_day.show
GET /demo/lens/calls.json lens.calls
GET /demo/lens/calls/<int:number> lens.call
GET /demo/lens/rides/<int:order_id>/curl lens.script
GET /demo/lens/rides/<int:order_id>/elements.json lens_rides.elements
GET /demo/lens/rides/<int:order_id>/events lens.events
GET /demo/lens/rides/<int:order_id>/har lens.har
GET /demo/lens/rides/<int:order_id>/states lens_rides.states
GET /demo/package demo_package.download
GET /demo/presenter demo_presenter.show
GET /demo/presenter/state.json demo_presenter.state
GET /demo/runs/<run_id> demo_stories.show
GET /demo/sheet demo_sheet.show
GET /demo/stage demo_stage.show
GET /demo/stage/newest.json demo_stage.newest
GET /demo/stage/partner.css demo_stage.partner_sheet
GET /door door.show
GET /door/rows.json door.rows
GET /face/<name> faces.file
GET /flight-time.json flights.read
GET /groups/<int:order_id> groups.show
GET /groups/<int:order_id>/cancel group_stop.ask
GET /groups/<int:order_id>/cards group_cards.show
GET /handover handover.show
GET /healthz health.alive
GET /history history.show
GET /history/views history_views.refused_again
GET /insights insights.show
GET /invite/<token> invitations.show
GET /k/<token> own_phone.begin
GET /k/<token>/<step> own_phone.show
GET /kiosk kiosk.show
GET /kiosk-codes kiosk_desk.code_form
GET /kiosk/pair kiosk_pairing.form
GET /kiosk/places.json kiosk_visit.places
GET /lists/<int:list_id> lists.show
GET /lists/new lists.new
GET /me me.show
GET /metrics metrics.show
GET /pickup-time.json pickup_times.read
GET /places.json lookups.places
GET /products.json lookups.products
GET /readyz health.ready
GET /restored restored.show
GET /return-price.json drop_price.way_back
GET /rides/<int:order_id> rides.show
GET /rides/<int:order_id>/card outgoing.card
GET /rides/<int:order_id>/drop-price.json drop_price.show
GET /rides/<int:order_id>/path.json rides.path
GET /rides/<int:order_id>/receipt outgoing.show_receipt
GET /rides/<int:order_id>/snapshot.json rides.snapshot
GET /rides/new booking.new
GET /search search.show
GET /series.json series.preview
GET /series/<int:order_id> series.show
GET /series/<int:order_id>/cancel series.ask
GET /sign-in auth.sign_in
GET /sign-in.json staying.show
GET /static/<path:filename> static
GET /t/<token> guest.show
GET /t/<token>/snapshot.json guest.snapshot
POST /accounts/<int:account_id>/link accounts.link
POST /admin/accounts admin_accounts.connect
POST /admin/accounts/<int:account_id> admin_accounts.forward_change
POST /admin/accounts/<int:account_id>/affiliate admin_accounts.name_affiliate
POST /admin/accounts/<int:account_id>/default admin_accounts.make_default
POST /admin/accounts/<int:account_id>/remove admin_accounts.remove
POST /admin/audit/export.csv admin_audit.export
POST /admin/cost-centres admin_places.add_centre
POST /admin/cost-centres/<int:centre_id> admin_places.change_centre
POST /admin/invitations/<int:invitation_id>/withdraw admin_staff.withdraw
POST /admin/kiosks admin_kiosks.add
POST /admin/kiosks/<int:kiosk_id> admin_kiosks.change
POST /admin/kiosks/<int:kiosk_id>/here admin_kiosk.open_here
POST /admin/kiosks/<int:kiosk_id>/hints admin_hints.add
POST /admin/kiosks/<int:kiosk_id>/out-of-order admin_kiosk.set_out_of_order
POST /admin/kiosks/<int:kiosk_id>/pair admin_kiosk.pair
POST /admin/kiosks/<int:kiosk_id>/pin admin_kiosk.set_pin
POST /admin/kiosks/<int:kiosk_id>/revoke admin_kiosk.revoke
POST /admin/languages admin_languages.save
POST /admin/languages/read admin_word_reviews.save
POST /admin/languages/words admin_own_words.save
POST /admin/languages/words/file admin_own_words.take_in
POST /admin/pickup-hints/<int:hint_id>/remove admin_hints.remove
POST /admin/places admin_places.save
POST /admin/properties admin_properties.create
POST /admin/properties/<int:property_id>/open admin_properties.look_at
POST /admin/property admin.save
POST /admin/property/face admin_face.save
POST /admin/property/fits admin_fits.save
POST /admin/property/kiosk-look admin_kiosk_look.save
POST /admin/staff admin_staff.invite_somebody
POST /admin/staff/<int:staff_id> admin_staff.forward_change
POST /admin/staff/<int:staff_id>/disable admin_staff.disable
POST /admin/staff/<int:staff_id>/enable admin_staff.enable
POST /admin/staff/<int:staff_id>/password-link admin_staff.make_password_link
POST /admin/staff/<int:staff_id>/role admin_staff.change_role
POST /admin/staff/<int:staff_id>/sign-out admin_staff.sign_out
POST /demo/clock demo.turn
POST /demo/fault demo.break_something
POST /demo/lens/calls/<int:number>/again lens.try_again
POST /demo/next demo.leap
POST /demo/pictures demo_pictures.keep
POST /demo/presenter/press demo_presenter.press
POST /demo/reset demo.reset
POST /demo/runs/<run_id>/drop demo_stories.drop
POST /demo/runs/<run_id>/skip demo_stories.skip
POST /demo/runs/<run_id>/step demo_stories.step
POST /demo/scenario demo.arm
POST /demo/stories/<story_id>/start demo_stories.start
POST /door/mark door.press
POST /groups/<int:order_id>/cancel group_stop.cancel_all
POST /groups/<int:order_id>/cards group_cards.make
POST /groups/<int:order_id>/restore group_stop.restore
POST /guest-phone.json lookups.read_phone
POST /guests.json lookups.find_guests
POST /handover/notes handover.add
POST /handover/notes/<int:note_id> handover.settle
POST /history history.ask
POST /history.csv history_csv.export
POST /history/views history_views.save
POST /history/views/<int:view_id>/delete history_views.delete
POST /insights.csv insights_csv.export
POST /invite/<token> invitations.accept
POST /k/<token> own_phone.take
POST /k/<token>/<step> own_phone.say
POST /kiosk-asks/<int:ask_id> kiosk_desk.answer
POST /kiosk-codes kiosk_desk.new_code
POST /kiosk-devices/<int:kiosk_id>/hand kiosk_desk.hand_over
POST /kiosk-helps/<visit_id> kiosk_desk.come
POST /kiosk/beat kiosk.beat
POST /kiosk/cancel kiosk_orders.cancel
POST /kiosk/cars kiosk_visit.cars
POST /kiosk/end kiosk_visit.end
POST /kiosk/help kiosk_visit.ask_help
POST /kiosk/order kiosk_orders.order
POST /kiosk/pair kiosk_pairing.pair
POST /kiosk/ride kiosk_orders.ride
POST /lists/<int:list_id> lists.save
POST /lists/<int:list_id>/book lists.book
POST /lists/<int:list_id>/continue lists.go_on
POST /lists/<int:list_id>/delete lists.delete
POST /lists/<int:list_id>/lines/<int:line> lists.correct
POST /lists/<int:list_id>/lines/<int:line>/answer lists.answer
POST /lists/<int:list_id>/stop lists.stop
POST /lists/new lists.read
POST /me/language me.choose_language
POST /me/password me.change_password
POST /me/preferences me.prefer
POST /me/sign-outs me.sign_out_everywhere
POST /me/stay staying.stay
POST /restored/dealt-with restored.deal
POST /restored/take-up restored.take_up
POST /rides/<int:order_id>/abort rides.stop_search
POST /rides/<int:order_id>/acknowledge rides.acknowledge_item
POST /rides/<int:order_id>/again rides.again
POST /rides/<int:order_id>/cancel rides.cancel
POST /rides/<int:order_id>/card outgoing.make_card
POST /rides/<int:order_id>/code rides.show_code
POST /rides/<int:order_id>/drop rides.change_drop
POST /rides/<int:order_id>/feedback rides.give_feedback
POST /rides/<int:order_id>/guest rides.correct
POST /rides/<int:order_id>/links outgoing.forward_links
POST /rides/<int:order_id>/links/end outgoing.end_all_links
POST /rides/<int:order_id>/links/follower outgoing.make_follower_link
POST /rides/<int:order_id>/links/rider outgoing.make_rider_link
POST /rides/<int:order_id>/messages messages.prepare
POST /rides/<int:order_id>/ordered rides.ordered
POST /rides/<int:order_id>/release rides.release
POST /rides/<int:order_id>/reopen rides.reopen
POST /rides/<int:order_id>/resolve rides.forward_resolve
POST /rides/<int:order_id>/resolve/booked rides.resolve_booked
POST /rides/<int:order_id>/resolve/not-booked rides.resolve_not_booked
POST /rides/<int:order_id>/restore rides.restore
POST /rides/<int:order_id>/start rides.start
POST /rides/<int:order_id>/stop-following rides.stop_following
POST /rides/<int:order_id>/withdraw rides.withdraw
POST /rides/new booking.create
POST /search search.ask
POST /search.json search_list.listed
POST /series/<int:order_id>/cancel series.cancel
POST /series/<int:order_id>/restore series.restore
POST /sign-in auth.sign_in_post
POST /sign-out auth.sign_out
POST /t/<token> guest.start
"""
SANDBOX_ROUTES = """
GET /api photon.search
GET /city.json tiles.city_json
GET /control/clock control.clock
GET /control/ledger control.ledger
GET /oauth/authorize oauth.authorize
GET /places tiles.places
GET /places/near tiles.places_near
GET /reverse photon.reverse
GET /tiles/<int:z>/<int:x>/<int:y>.svg tiles.tile
GET /tiles/dark/<int:z>/<int:x>/<int:y>.svg tiles.dark_tile
GET /v1.5/bookings/feedback/options api.options
GET /v1/bookings/track_ride api.track_ride
GET /v1/products api.list_products
POST /control/advance control.advance
POST /control/clock control.turn_clock
POST /control/faults control.order_faults
POST /control/leap control.leap_to_phase
POST /control/next control.next_scenario
POST /control/reset control.reset
POST /control/speed control.speed
POST /oauth/authorize oauth.decide
POST /oauth/revoke oauth.revoke_token
POST /oauth/token oauth.token
POST /v1.5/bookings/create api.create
POST /v1/bookings/abort api.abort
POST /v1/bookings/cancel api.cancel
POST /v1/bookings/drop_location api.drop_location
POST /v1/bookings/feedback api.feedback
"""


def served(app: Flask) -> list[str]:
    rules = app.url_map.iter_rules()
    return sorted(
        f"{method} {rule} {rule.endpoint}"
        for rule in rules
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    )


def test_these_routes_are_served_and_no_others(tmp_path: Path) -> None:
    # imported here, so that the other guards run when the app can't be imported
    from ridedash.factory import create_app

    app = create_app({"RIDEDASH_INSTANCE": str(tmp_path)})
    app.extensions["ridedash"].db.close()
    assert served(app) == ROUTES.strip().splitlines()


def test_the_sandbox_serves_the_interface_and_its_own_routes(tmp_path: Path) -> None:
    from ridedash.sandbox import SandboxSettings, create_sandbox

    database = tmp_path / "sandbox.sqlite"
    app = create_sandbox(
        SandboxSettings(database=database, app_token="k", client_id="c", client_secret="s")
    )
    app.extensions["sandbox"].close()
    assert served(app) == SANDBOX_ROUTES.strip().splitlines()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_every_library_that_the_project_needs(lock: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed, groups = list(project["project"]["dependencies"]), project["dependency-groups"]
    if lock == "requirements-dev.lock":
        needed += [each for group in groups.values() for each in group]
    if lock != "requirements.lock":
        needed += [
            each for extra in project["project"]["optional-dependencies"].values() for each in extra
        ]
    pins = dict(
        re.findall(
            r"^([a-z0-9.-]+)(?:\[[^]]*\])?==([^ ;\\]+)", (ROOT / lock).read_text(), re.MULTILINE
        )
    )
    requirements = map(Requirement, needed)
    assert [
        str(each)
        for each in requirements
        if (pin := pins.get(canonicalize_name(each.name))) is None
        or not each.specifier.contains(pin)
    ] == []


def test_locks_name_no_host_and_have_hashes() -> None:
    for name in (*LOCKS, "requirements-uv.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert not re.search(r"^(?!    --hash=)(?!#)[^=\n]*$", text.strip(), re.MULTILINE)
        pins = re.findall(r"^[a-z0-9][^\n]*==", text, re.MULTILINE)
        assert len(pins) == len(
            re.findall(r"^[a-z0-9][^\n]*==[^\n]*\\\n    --hash=sha256:", text, re.MULTILINE)
        )
