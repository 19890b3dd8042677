"""Settings: defaults, and every nonsense refused by the name of the setting."""

import stat
from pathlib import Path

import pytest

from ridedash.config import BadSettingError, load
from ridedash.factory import create_app

LIVE = {
    "RIDEDASH_MODE": "live",
    "RIDEDASH_SERVICE_URL": "https://rides.example/api",
    "RIDEDASH_SERVICE_APP_TOKEN": "partner-key-for-this-test",
    "RIDEDASH_SECRET_KEY": "0123456789abcdefghijklmnopqrstuv",
    "RIDEDASH_TOKEN_KEYS": "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "RIDEDASH_GEOCODER": "photon",
    "RIDEDASH_GEOCODER_URL": "https://places.example",
    "RIDEDASH_TILES_URL": "https://tiles.example/{z}/{x}/{y}.png",
}


def test_a_demo_needs_no_setting_at_all(tmp_path: Path) -> None:
    settings = load({"RIDEDASH_INSTANCE": str(tmp_path / "instance")})
    assert (settings.mode, settings.host, settings.port, settings.sandbox_port) == ("demo", "127.0.0.1", 8000, 8001)
    assert settings.service_url == "http://127.0.0.1:8001"
    assert settings.tiles_url == "/tiles/{z}/{x}/{y}.svg"
    assert settings.pace == 1
    assert set(settings.trusted_hosts) == {"localhost", "127.0.0.1", "[::1]"}


def test_demo_secrets_are_made_once_and_readable_by_the_owner_only(tmp_path: Path) -> None:
    first = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    second = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    assert first.secret_key == second.secret_key
    assert len(first.secret_key) >= 32
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_no_secret_shows_in_a_repr(tmp_path: Path) -> None:
    settings = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    for secret in (settings.secret_key, settings.token_keys, settings.service_app_token, settings.oauth_client_secret):
        assert secret not in repr(settings)


def test_live_mode_runs_with_real_settings() -> None:
    settings = load(LIVE)
    assert not settings.demo
    assert settings.service_url == "https://rides.example/api"


@pytest.mark.parametrize("missing", [name for name in LIVE if name not in ("RIDEDASH_MODE", "RIDEDASH_GEOCODER")])
def test_live_mode_names_what_is_missing(missing: str) -> None:
    with pytest.raises(BadSettingError, match=missing):
        load({name: value for name, value in LIVE.items() if name != missing})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RIDEDASH_MODE", "production"),
        ("RIDEDASH_HOST", "::1"),
        ("RIDEDASH_PORT", "eighty"),
        ("RIDEDASH_PORT", "70000"),
        ("RIDEDASH_SANDBOX_PORT", "-1"),
        ("RIDEDASH_PACE", "0.5"),
        ("RIDEDASH_PACE", "61"),
        ("RIDEDASH_PACE", "nan"),
        ("RIDEDASH_SERVICE_URL", "https://rides.example"),  # a demo never holds a real service
        ("RIDEDASH_SERVICE_URL", "ftp://127.0.0.1"),
        ("RIDEDASH_PUBLIC_URL", "http://desk.example"),
        ("RIDEDASH_TILES_URL", "//tiles.example/{z}/{x}/{y}"),
        ("RIDEDASH_TILES_URL", "/tiles/{z}/{x}.svg"),
        ("RIDEDASH_GEOCODER", "atlas"),
        ("RIDEDASH_TRUSTED_PROXIES", "many"),
        ("RIDEDASH_LOG_FORMAT", "xml"),
        ("RIDEDASH_LOG_LEVEL", "loud"),
        ("RIDEDASH_METRICS_TOKEN", "short"),
        ("RIDEDASH_METRICS_TOKEN", "change-me-change-me"),
    ],
)
def test_nonsense_is_refused_by_name(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(BadSettingError, match=name):
        load({"RIDEDASH_INSTANCE": str(tmp_path), name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RIDEDASH_PACE", "10"),
        ("RIDEDASH_SECRET_KEY", "short"),
        ("RIDEDASH_SECRET_KEY", "change-me-change-me-change-me-change-me"),
        ("RIDEDASH_GEOCODER", "sandbox"),
        ("RIDEDASH_SERVICE_URL", "http://rides.example"),
    ],
)
def test_live_mode_refuses_what_only_a_demo_may_have(name: str, value: str) -> None:
    with pytest.raises(BadSettingError, match=name):
        load(LIVE | {name: value})


def test_a_misspelt_setting_is_refused_with_the_name_that_was_meant(tmp_path: Path) -> None:
    with pytest.raises(BadSettingError, match=r"RIDEDASH_PORTT is no setting.*RIDEDASH_PORT\?"):
        load({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_PORTT": "1"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RIDEDASH_TOKEN_KEYS", "xx"),
        ("RIDEDASH_TOKEN_KEYS", "k1:dG9vIHNob3J0"),
        ("RIDEDASH_DATABASE_URL", "no url at all"),
        ("RIDEDASH_DATABASE_URL", "mysqll://localhost/rides"),
    ],
)
def test_keys_and_databases_that_cannot_be_used_are_refused_by_name(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(BadSettingError, match=name):
        create_app({"RIDEDASH_INSTANCE": str(tmp_path), name: value})


def test_a_demo_logs_text_for_whoever_started_it_and_live_mode_json_for_a_collector(tmp_path: Path) -> None:
    demo, live = load({"RIDEDASH_INSTANCE": str(tmp_path)}), load(LIVE)
    assert (demo.log_format, demo.log_level) == ("text", "warning")
    assert (live.log_format, live.log_level) == ("json", "info")


def test_every_secret_of_an_installation_is_known_to_the_scrubber() -> None:
    settings = load(
        LIVE
        | {
            "RIDEDASH_OAUTH_CLIENT_SECRET": "client-51f0c7-oauth",
            "RIDEDASH_DATABASE_URL": "postgresql+psycopg://desk:p%40ss-51f0c7@db/rides",
            "RIDEDASH_METRICS_TOKEN": "metrics-51f0c7-reader",
        }
    )
    assert set(settings.secrets) >= {
        "partner-key-for-this-test", "0123456789abcdefghijklmnopqrstuv", "client-51f0c7-oauth", "metrics-51f0c7-reader",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "p@ss-51f0c7",
    }  # fmt: skip
