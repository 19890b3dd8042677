"""The wheel brings its catalogues compiled; their texts stay in the source package."""

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Catalogues(BuildHookInterface):
    """Compiles translations/<language>/LC_MESSAGES/messages.po into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add each catalogue to the wheel; a text that can't be read stops the build."""
        if self.target_name != "wheel" or version == "editable":
            return
        compiler = runpy.run_path(str(Path(self.root) / "ridedash" / "wording" / "catalogues.py"))
        self._made = tempfile.TemporaryDirectory()
        critical = "translations/critical.txt"
        build_data["force_include"][str(Path(self.root) / critical)] = f"ridedash/{critical}"
        for text in sorted(Path(self.root).glob("translations/*/LC_MESSAGES/messages.po")):
            language = text.parent.parent.name
            compiled = Path(self._made.name) / f"{language}.mo"
            compiled.write_bytes(compiler["compiled"](text))
            inside = f"ridedash/translations/{language}/LC_MESSAGES/messages.mo"
            build_data["force_include"][str(compiled)] = inside

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled for the wheel."""
        if hasattr(self, "_made"):
            self._made.cleanup()
