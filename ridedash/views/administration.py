"""The pages of settings put together: the property's, and everybody's own."""

from typing import Any

from flask import Flask

from ridedash.views import (
    admin,
    admin_accounts,
    admin_audit,
    admin_places,
    admin_properties,
    admin_staff,
    invitations,
    me,
)
from ridedash.views.permissions import ADMIN, AUDIT, MANAGE, SEE, may
from ridedash.wording import gettext as _


def init_app(app: Flask) -> None:
    """Register them, and give templates `settings_tabs()`."""
    pages = admin, admin_places, admin_staff, admin_accounts, admin_audit, admin_properties, me, invitations
    for module in pages:
        app.register_blueprint(module.bp)
    app.add_template_global(settings_tabs)


def settings_tabs() -> list[dict[str, Any]]:
    """The pages of settings that whoever asks may open."""
    tabs = (
        ("property", "/admin/property", _("Property"), MANAGE),
        ("places", "/admin/places", _("Places"), MANAGE),
        ("staff", "/admin/staff", _("Staff"), MANAGE),
        ("accounts", "/admin/accounts", _("Accounts"), MANAGE),
        ("audit", "/admin/audit", _("Record"), AUDIT),
        ("properties", "/admin/properties", _("All properties"), ADMIN),
        ("me", "/me", _("You"), SEE),
    )
    return [{"name": name, "url": url, "title": title} for name, url, title, need in tabs if may(need)]
