"""tools/mutants: the changes that it makes, the tests that it runs for each, and its report."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.mutants import __main__ as main
from tools.mutants import changes
from tools.mutants.__main__ import Verdict
from tools.mutants.changes import ROOT, Mutant, draw, equivalents, mutants
from tools.mutants.near import ELSEWHERE, Near
from tools.mutants.plugins import SHARED, Reach

ENDS = "ridedash/rides/orders/due.py"
MODULE = '''"""A module of the core."""

import functools
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 1 + 2
log = logging.getLogger(__name__)
WAIT_S = 5


class Till:
    """A till."""

    def __repr__(self) -> str:
        return "a" * 3

    def due(self, fare: int, paid: int) -> int:
        """What is left to pay."""
        assert fare >= paid
        log.info("%d of %d", paid + 0, fare)
        return fare - paid

    @functools.cache
    def tax(self) -> int:
        return 7


def doubled(n: int) -> int:
    return n * 2
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one module of the core, and tests that miss some changes of the module.

    One test fails without any change. Another test stands in the file of another module, and starts
    a process of its own.
    """
    core, tests = tmp_path / "ridedash/rides", tmp_path / "tests/rides"
    for folder in (core, tests):
        folder.mkdir(parents=True)
    for package in (core.parent, core):
        (package / "__init__.py").touch()
    (core / "till.py").write_text(MODULE)
    (tests / "test_till.py").write_text(
        "from ridedash.rides import till\n\n"
        "def test_wrong() -> None:\n    assert till.doubled(2) == 5\n\n"
        "def test_due() -> None:\n    assert till.Till().due(9, 4) == 5\n\n"
        "def test_doubled() -> None:\n    assert till.doubled(2) == 4\n"
    )
    (tests / "test_shop.py").write_text(
        "import multiprocessing\n\nfrom ridedash.rides import till\n\n"
        "def test_waits() -> None:\n"
        "    own = multiprocessing.get_context('fork').Process(target=till.doubled, args=(2,))\n"
        "    own.start()\n    own.join()\n"
        "    assert till.WAIT_S == 5\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\npythonpath = ["."]\n'
        'markers = ["browser: b", "database: d"]\n'
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def test_every_change_is_python_and_another_program() -> None:
    path = ROOT / ENDS
    text = path.read_bytes()
    found = list(mutants(path))
    assert len(found) > 30
    for mutant in found:
        assert text[mutant.start : mutant.end].decode() == mutant.before
        assert ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text)), mutant
    assert len({mutant.name for mutant in found}) == len(found), "a name is one change"


def test_conditions_values_and_operators_are_changed(tmp_path: Path) -> None:
    module = tmp_path / "m.py"
    module.write_text(
        "q = q.where(a == 1, b)\nrow.x = 2\ndef f() -> int:\n    return g(not a and b < c)\n"
    )
    made = {mutant.after for mutant in mutants(module, tmp_path)}
    assert {"q.where(b)", "q.where(a == 1)", "(a != 1)", "pass", "return None", "(b <= c)"} <= made
    assert {"(not a or b < c)", "(a)"} <= made


def test_what_only_developers_read_is_not_changed_and_a_change_knows_its_function(
    project: Path,
) -> None:
    found = list(mutants(project / "ridedash/rides/till.py", project))
    assert [(m.scope, m.before, m.after, m.function) for m in found] == [
        ("WAIT_S", "5", "6", None),
        ("Till.due", "return fare - paid", "return None", 19),
        ("Till.due", "fare - paid", "(fare + paid)", 19),
        ("Till.tax", "7", "8", None),
        ("doubled", "return n * 2", "return None", 30),
        ("doubled", "n * 2", "(n + 2)", 30),
        ("doubled", "2", "3", 30),
    ]


def test_arguments_on_which_no_result_depends_are_not_changed(tmp_path: Path) -> None:
    module = tmp_path / "m.py"
    module.write_text(
        "a = Config(frozen=True, strict=True)\nb = zip(c, d, strict=True)\n"
        "e = q.limit(1)\nf = q.limit(2)\n@lru_cache(maxsize=7)\ndef g() -> None:\n"
        "    runtime.failpoint('sent')\n    failpoint('sent')\n    send()\n"
    )
    made = [(mutant.line, mutant.before) for mutant in mutants(module, tmp_path)]
    assert made == [(1, "True"), (4, "2"), (9, "send()")]


def test_each_pattern_of_the_core_finds_a_module() -> None:
    found = set(changes.modules())
    assert [glob for glob in changes.CORE if found.isdisjoint(ROOT.glob(glob))] == []


def test_one_seed_draws_the_same_and_all_known_changes_exist_and_have_a_reason() -> None:
    few = "rides/privacy service/parsing service/throttle"
    assert draw(7, 9, few) == draw(7, 9, few)
    assert draw(7, 9, few) != draw(8, 9, few)
    assert len({mutant.path for mutant in draw(7, 7, few)}) == 7, "long modules don't hide others"
    known = set(equivalents())
    paths = {ROOT / name.partition(":")[0] for name in known}
    assert known <= {mutant.name for path in paths for mutant in mutants(path)}


def test_a_known_change_without_a_reason_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "KNOWN", tmp_path / "equivalent.txt")
    changes.KNOWN.write_text("ridedash/m.py: f: 1 -> 2 # \n")
    with pytest.raises(ValueError, match="why it makes no difference"):
        equivalents()


def test_tests_that_enter_a_function_run_the_own_file_first_then_the_quick_ones(
    project: Path,
) -> None:
    for name in ("quick", "slow"):
        (project / f"tests/rides/test_{name}.py").touch()
    mutant = Mutant("ridedash/rides/till.py", 23, 0, 1, "a", "b", "Till.due", 19)
    met = {("ridedash/rides/till.py", 19)}
    own, quick, slow, far, broken = (
        f"tests/rides/test_{name}.py::test_it" for name in ("till", "quick", "slow", "far", "wrong")
    )
    cpu_s = {slow: 5.0, own: 2.0, quick: 1.0, far: 0.1, broken: 0.1}
    entered = dict.fromkeys((slow, own, quick, broken), met) | {SHARED: set(), far: set()}
    reaches = {
        ("tests/rides", "sqlite"): Reach(entered, cpu_s, [broken]),
        ("tests/rides", "postgresql"): Reach({SHARED: met}, {slow: 5.0, far: 0.1}),
    }
    selected = [Near(project).meeting(mutant, kind, reaches) for kind in ("sqlite", "postgresql")]
    assert [each.tests for each in selected] == [[own, quick, slow], [far, slow]]
    assert [each.cpu_s for each in selected] == [8.0, 5.1]


@pytest.mark.parametrize("quick", [False, True])
def test_tests_of_all_other_folders_judge_at_last_unless_the_own_ones_are_asked_for(
    project: Path, quick: bool
) -> None:
    page = project / "tests/views/test_page.py"
    page.parent.mkdir(parents=True)
    page.touch()
    near = Near(project, quick=quick)
    assert near.kinds[-1] == ELSEWHERE
    units = near.units("ridedash/rides/till.py")
    assert ("tests/views", ELSEWHERE) in units
    assert {kind for where, kind in units if where == "tests/rides"} == {*near.kinds[:-1]}
    assert Near(project, own=True).kinds == ()
    mutant = Mutant("ridedash/rides/till.py", 23, 0, 1, "a", "b", "Till.due", 19)
    test = "tests/views/test_page.py::test_it"
    entered = {SHARED: set[tuple[str, int]](), test: {("ridedash/rides/till.py", 19)}}
    reaches = {unit: Reach({SHARED: set()}, {}) for unit in units if unit[1] == ELSEWHERE}
    reaches["tests/views", ELSEWHERE] = Reach(entered, {test: 1.0})
    assert near.meeting(mutant, ELSEWHERE, reaches).tests == [test]


def test_it_reports_which_mutants_were_noticed_by_which_test_and_which_were_not(
    project: Path,
) -> None:
    results = project / "results.jsonl"
    command = [sys.executable, "-m", "tools.mutants", "--root", str(project), "--nice", "0"]
    run = subprocess.run(
        [*command, "--json", str(results)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = {
        line["mutant"].removeprefix("ridedash/rides/till.py: "): line["by"]
        for line in map(json.loads, results.read_text().splitlines())
    }
    due, doubled = (f"tests/rides/test_till.py::test_{name}" for name in ("due", "doubled"))
    assert found == {
        "WAIT_S: 5 -> 6": "tests/rides/test_shop.py::test_waits",
        "Till.due: return fare - paid -> return None": due,
        "Till.due: fare - paid -> (fare + paid)": due,
        "Till.tax: 7 -> 8": "",
        "doubled: return n * 2 -> return None": doubled,
        "doubled: n * 2 -> (n + 2)": "",
        "doubled: 2 -> 3": doubled,
    }, run.stdout + run.stderr
    assert "5 of 7 noticed, 71%; seed 7\n" in run.stdout
    assert run.returncode == 1


def test_a_run_that_ends_early_has_no_share(
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = [(mutant, Verdict("noticed", 1.0)) for mutant in draw(7, 1, "", project)]
    monkeypatch.setattr(main, "run_all", lambda _drawn, _args: judged)
    monkeypatch.setattr(main, "stopped_by_signals", lambda: None)
    given = ["--root", str(project), "--nice", "0", "--json", str(tmp_path / "results.jsonl")]
    assert main.main(given) == 2
    assert capsys.readouterr().out.endswith("1 noticed, 0 not, 6 not judged to the end; seed 7\n")


def test_several_seeds_are_judged_together_and_counted_apart(
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = draw(7, 3, "", project), draw(9, 3, "", project)
    tested: list[Mutant] = []

    def judged(drawn: list[Mutant], _args: object) -> list[tuple[Mutant, Verdict]]:
        tested.extend(drawn)
        return [(mutant, Verdict("noticed" * (mutant in one), 1.0)) for mutant in drawn]

    monkeypatch.setattr(main, "run_all", judged)
    monkeypatch.setattr(main, "stopped_by_signals", lambda: None)
    given = ["--root", str(project), "--nice", "0", "--json", str(tmp_path / "results.jsonl")]
    assert main.main([*given, "--seed", "7", "9", "--count", "3"]) == 1
    assert sorted(map(str, tested)) == sorted(map(str, {*one, *other})), "none twice"
    both = len(set(one) & set(other))
    assert both < 3
    share = f"{both} of 3 noticed, {both / 3:.0%}; seed 9"
    assert capsys.readouterr().out.endswith(f"3 of 3 noticed, 100%; seed 7\n{share}\n")
