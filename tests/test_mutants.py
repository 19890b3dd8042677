"""The changes that tools/mutants.py makes: valid Python, and the same ones for a seed."""

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools/mutants.py")
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_change_is_python_and_another_program(tool: ModuleType) -> None:
    path = ROOT / "ridedash/rides/orders/due.py"
    text = path.read_bytes()
    found = list(tool.mutants(path))
    assert len(found) > 30
    for mutant in found:
        assert text[mutant.start : mutant.end].decode() == mutant.before
        changed = text[: mutant.start] + mutant.after.encode() + text[mutant.end :]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), mutant


def test_conditions_values_and_operators_are_changed(tool: ModuleType, tmp_path: Path) -> None:
    tool.ROOT, before = tmp_path, tool.ROOT
    module = tmp_path / "m.py"
    module.write_text(
        "q = q.where(a == 1, b)\nrow.x = 2\ndef f() -> int:\n    return g(not a and b < c)\n"
    )
    try:
        made = {mutant.after for mutant in tool.mutants(module)}
    finally:
        tool.ROOT = before
    assert {"q.where(b)", "q.where(a == 1)", "(a != 1)", "pass", "return None", "(b <= c)"} <= made
    assert {"(not a or b < c)", "(a)"} <= made


def test_one_seed_draws_the_same_and_all_known_changes_have_a_reason(tool: ModuleType) -> None:
    assert tool.draw(7, 20) == tool.draw(7, 20)
    assert tool.draw(7, 20) != tool.draw(8, 20)
    assert len({mutant.path for mutant in tool.draw(7, 40)}) == 40, "long modules don't hide others"
    tool.equivalents()
