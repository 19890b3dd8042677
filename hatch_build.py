"""The wheel brings its catalogues compiled; their texts stay in the source package."""

import tempfile
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Catalogues(BuildHookInterface):
    """Compiles translations/<language>/LC_MESSAGES/messages.po into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add each catalogue to the wheel; a text that can't be read stops the build."""
        if self.target_name != "wheel" or version == "editable":
            return
        self._made = tempfile.TemporaryDirectory()
        for text in sorted(Path(self.root).glob("translations/*/LC_MESSAGES/messages.po")):
            language = text.parent.parent.name
            compiled = Path(self._made.name) / f"{language}.mo"
            with text.open("rb") as source, compiled.open("wb") as target:
                write_mo(target, read_po(source, locale=language, abort_invalid=True))
            inside = f"ridedash/translations/{language}/LC_MESSAGES/messages.mo"
            build_data["force_include"][str(compiled)] = inside

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled for the wheel."""
        if hasattr(self, "_made"):
            self._made.cleanup()
