"""Settings: defaults, and every invalid value refused by the name of its setting."""

import json
import stat
from pathlib import Path
from urllib.parse import unquote

import pytest
from sqlalchemy import make_url

from ridedash.config import BadSettingError, load
from ridedash.factory import create_app
from ridedash.services import egress, redis_trust

LIVE = {
    "RIDEDASH_MODE": "live",
    "RIDEDASH_PUBLIC_URL": "https://desk.example",
    "RIDEDASH_SERVICE_URL": "https://rides.example/api",
    "RIDEDASH_SERVICE_APP_TOKEN": "partner-key-for-this-test",
    "RIDEDASH_SECRET_KEY": "0123456789abcdefghijklmnopqrstuv",
    "RIDEDASH_TOKEN_KEYS": "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "RIDEDASH_GEOCODER": "photon",
    "RIDEDASH_GEOCODER_URL": "https://places.example",
    "RIDEDASH_TILES_URL": "https://tiles.example/{z}/{x}/{y}.png",
    "RIDEDASH_TILES_ATTRIBUTION": "© Tiles Example",
}


KEY = LIVE["RIDEDASH_TOKEN_KEYS"]


def test_a_demo_needs_no_settings(tmp_path: Path) -> None:
    settings = load({"RIDEDASH_INSTANCE": str(tmp_path / "instance")})
    assert (settings.mode, settings.host, settings.port, settings.sandbox_port) == (
        "demo",
        "127.0.0.1",
        8000,
        8001,
    )
    assert settings.service_url == "http://127.0.0.1:8001"
    assert settings.tiles_url == "/tiles/{z}/{x}/{y}.svg"
    assert settings.pace == 1
    assert set(settings.trusted_hosts) == {"localhost", "127.0.0.1"}


@pytest.mark.parametrize(
    ("address", "sandboxed"),
    [
        ("http://127.0.0.1:8001", True),
        ("http://localhost:8001/", True),
        ("http://127.0.0.1:8002", False),
        ("http://127.0.0.1:8001/tunnel", False),
        ("https://127.0.0.1:8001", False),
    ],
)
def test_only_the_own_sandbox_counts_as_a_service_without_real_rides(
    tmp_path: Path, address: str, sandboxed: bool
) -> None:
    given = {"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_SERVICE_URL": address}
    assert load(given).sandboxed is sandboxed
    assert not load(LIVE | given | {"RIDEDASH_INSTANCE": str(tmp_path)}).sandboxed


def test_a_demo_can_be_opened_to_the_phones_of_a_room(tmp_path: Path) -> None:
    """It is served by http, because there is no certificate there. Live mode refuses http."""
    given = {"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_HOST": "192.0.2.7"}
    assert load(given).public_url == "http://192.0.2.7:8000"
    with pytest.raises(BadSettingError, match="RIDEDASH_PUBLIC_URL"):
        load(LIVE | given | {"RIDEDASH_PUBLIC_URL": "http://192.0.2.7:8000"})


def test_a_live_desk_with_a_partner_key_of_a_sandbox_is_a_rehearsal(tmp_path: Path) -> None:
    key = "ridedash-sandbox-0f3a77c1"
    assert load(LIVE | {"RIDEDASH_SERVICE_APP_TOKEN": key}).rehearsal
    assert not load(LIVE).rehearsal
    demo = load({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_SERVICE_APP_TOKEN": key})
    assert not demo.rehearsal


def test_a_partner_key_that_a_demo_made_is_marked_also_if_an_earlier_version_made_it(
    tmp_path: Path,
) -> None:
    def key_of(folder: Path) -> str:
        return load({"RIDEDASH_INSTANCE": str(folder)}).service_app_token

    assert key_of(tmp_path / "new").startswith("ridedash-sandbox-")
    made = json.loads((tmp_path / "new" / "secrets.json").read_text())
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "secrets.json").write_text(json.dumps(made | {"service_app_token": "k"}))
    assert key_of(tmp_path / "old") == "ridedash-sandbox-k"
    live = {"RIDEDASH_SERVICE_APP_TOKEN": key_of(tmp_path / "old")}
    assert load(LIVE | live).rehearsal


def test_the_outgoing_proxy_is_read_from_the_settings(tmp_path: Path) -> None:
    given = {
        "RIDEDASH_INSTANCE": str(tmp_path),
        "RIDEDASH_HTTPS_PROXY": "http://desk:p%40ss-77b1@proxy.example:3128",
        "RIDEDASH_NO_PROXY": " Hotel.example, *.lan,.corp ,,10.0.0.7",
    }
    settings = load(given)
    assert settings.no_proxy == ("hotel.example", "lan", "corp", "10.0.0.7")
    assert "p@ss-77b1" in settings.secrets
    assert "p%40ss" not in repr(settings)
    out = egress(settings)
    assert out.goes_through_proxy("rides.example")
    assert not out.goes_through_proxy("tiles.hotel.example")
    assert redis_trust("rediss://cache.example/0", "/a/ca.pem") == {"ssl_ca_certs": "/a/ca.pem"}
    assert redis_trust("redis://cache.example/0", "/a/ca.pem") == {}
    assert (load(LIVE).ca_file, load(LIVE).https_proxy, load(LIVE).no_proxy) == ("", "", ())


@pytest.mark.parametrize("password", ["hush-51f0", "hu/sh#5?1", "hu[sh-51f0", "hush%2551f0"])
def test_the_password_of_the_database_is_a_secret_however_it_is_written(
    tmp_path: Path, password: str
) -> None:
    address = f"postgresql+psycopg://desk:{password}@db.example:5432/rides"
    settings = load({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_DATABASE_URL": address})
    assert make_url(address).password == unquote(password), "as the driver gets it"
    assert unquote(password) in settings.secrets


def test_demo_secrets_are_made_once_and_readable_by_the_owner_only(tmp_path: Path) -> None:
    first = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    second = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    assert first.secret_key == second.secret_key
    assert len(first.secret_key) >= 32
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_no_secret_shows_in_a_repr(tmp_path: Path) -> None:
    settings = load({"RIDEDASH_INSTANCE": str(tmp_path)})
    for secret in (
        settings.secret_key,
        settings.token_keys,
        settings.service_app_token,
        settings.oauth_client_secret,
    ):
        assert secret not in repr(settings)


def test_live_mode_runs_with_real_settings() -> None:
    settings = load(LIVE)
    assert not settings.demo
    assert settings.service_url == "https://rides.example/api"


@pytest.mark.parametrize("missing", [name for name in LIVE if name != "RIDEDASH_MODE"])
def test_live_mode_names_a_missing_setting(missing: str) -> None:
    with pytest.raises(
        BadSettingError, match=rf"^{missing} is required in live mode and not set\.$"
    ):
        load({name: value for name, value in LIVE.items() if name != missing})


def test_all_missing_settings_of_live_mode_are_named_in_one_sentence() -> None:
    with pytest.raises(BadSettingError) as error:
        load({"RIDEDASH_MODE": "live"})
    assert str(error.value) == (
        "RIDEDASH_PUBLIC_URL, RIDEDASH_SERVICE_URL, RIDEDASH_SERVICE_APP_TOKEN, "
        "RIDEDASH_SECRET_KEY, "
        "RIDEDASH_TOKEN_KEYS, RIDEDASH_TILES_URL, RIDEDASH_TILES_ATTRIBUTION, RIDEDASH_GEOCODER "
        "and "
        "RIDEDASH_GEOCODER_URL are required in live mode and not set."
    )


def test_a_demo_with_a_geocoder_of_its_own_needs_its_address(tmp_path: Path) -> None:
    with pytest.raises(BadSettingError, match=r"^RIDEDASH_GEOCODER_URL is required and not set\.$"):
        load({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_GEOCODER": "photon"})


@pytest.mark.parametrize(
    "value",
    [
        "redis://127.0.0.1:6379/0",
        "redis://cache",
        "redis://desk:p%40ss@cache:6380/2",
        "rediss://cache/1?ssl_cert_reqs=required",
        "redis+unix:///run/redis.sock",
    ],
)
def test_redis_has_an_address_that_the_limits_can_use(tmp_path: Path, value: str) -> None:
    assert (
        load({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_REDIS_URL": value}).redis_url == value
    )


@pytest.mark.parametrize(
    "value",
    [
        "notaurl",
        "http://cache",
        "unix:///run/redis.sock",
        "redis://",
        "redis://:hush@/0",
        "redis://cache:hush/0",
        "redis://cache/zero",
        "redis://[::1",
        "redis+unix://",
        "redis+unix://hush/run/redis.sock",
    ],
)
def test_an_invalid_redis_address_is_refused_by_name_and_not_repeated(
    tmp_path: Path, value: str
) -> None:
    with pytest.raises(BadSettingError, match="RIDEDASH_REDIS_URL can't be used") as error:
        load({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_REDIS_URL": value})
    assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RIDEDASH_MODE", "production"),
        ("RIDEDASH_HOST", "::1"),
        ("RIDEDASH_PORT", "eighty"),
        ("RIDEDASH_PORT", "70000"),
        ("RIDEDASH_SANDBOX_PORT", "-1"),
        ("RIDEDASH_WORKER_PORT", "70000"),
        ("RIDEDASH_DATABASE_POOL", "1"),
        ("RIDEDASH_DATABASE_POOL", "501"),
        ("RIDEDASH_PACE", "0.5"),
        ("RIDEDASH_PACE", "61"),
        ("RIDEDASH_PACE", "nan"),
        ("RIDEDASH_SERVICE_URL", "https://rides.example"),  # a demo never uses a real service
        ("RIDEDASH_SERVICE_URL", "ftp://127.0.0.1"),
        ("RIDEDASH_SERVICE_URL", "http://:password@127.0.0.1"),
        ("RIDEDASH_SERVICE_URL", "http://@127.0.0.1"),
        ("RIDEDASH_SERVICE_URL", "http://127.0.0.1/a\nb"),
        ("RIDEDASH_SERVICE_URL", "http://127.0.0.1/a b"),
        ("RIDEDASH_PUBLIC_URL", "https://desk.example\\.evil.example"),
        ("RIDEDASH_PUBLIC_URL", "http://desk.example"),
        ("RIDEDASH_PUBLIC_URL", "https://hotel.example/desk"),  # no link would lead anywhere
        ("RIDEDASH_PUBLIC_URL", "https://[2001:db8::7]"),  # every page would answer 400
        ("RIDEDASH_TILES_URL", "//tiles.example/{z}/{x}/{y}"),
        ("RIDEDASH_TILES_URL", "/tiles/{z}/{x}.svg"),
        ("RIDEDASH_GEOCODER", "atlas"),
        ("RIDEDASH_TRUSTED_PROXIES", "many"),
        ("RIDEDASH_LOG_FORMAT", "xml"),
        ("RIDEDASH_LOG_LEVEL", "loud"),
        ("RIDEDASH_METRICS_TOKEN", "short"),
        ("RIDEDASH_CA_FILE", "/nowhere/ca.pem"),
        ("RIDEDASH_CA_FILE", __file__),  # no certificate in it
        ("RIDEDASH_HTTPS_PROXY", "proxy.example:3128"),
        ("RIDEDASH_HTTPS_PROXY", "socks5://proxy.example"),
        ("RIDEDASH_HTTPS_PROXY", "http://proxy.example/path"),
        ("RIDEDASH_METRICS_TOKEN", "change-me-change-me"),
    ],
)
def test_an_invalid_value_is_refused_by_name(tmp_path: Path, name: str, value: str) -> None:
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
def test_live_mode_refuses_settings_of_a_demo(name: str, value: str) -> None:
    with pytest.raises(BadSettingError, match=name):
        load(LIVE | {name: value})


def test_a_misspelt_setting_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(BadSettingError, match=r"RIDEDASH_PORTT is no setting.*RIDEDASH_PORT\?"):
        load({"RIDEDASH_INSTANCE": str(tmp_path), "RIDEDASH_PORTT": "1"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RIDEDASH_TOKEN_KEYS", "xx"),
        ("RIDEDASH_TOKEN_KEYS", "k1:dG9vIHNob3J0"),
        ("RIDEDASH_TOKEN_KEYS", f"{KEY},{KEY}"),
        ("RIDEDASH_DATABASE_URL", "no url at all"),
        ("RIDEDASH_DATABASE_URL", "mysqll://localhost/rides"),
    ],
)
def test_keys_and_databases_that_cannot_be_used_are_refused_by_name(
    tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(BadSettingError, match=name):
        create_app({"RIDEDASH_INSTANCE": str(tmp_path), name: value})


def test_a_demo_logs_text_and_live_mode_json(
    tmp_path: Path,
) -> None:
    demo, live = load({"RIDEDASH_INSTANCE": str(tmp_path)}), load(LIVE)
    assert (demo.log_format, demo.log_level) == ("text", "warning")
    assert (live.log_format, live.log_level) == ("json", "info")


def test_every_secret_of_an_installation_is_known_to_the_redactor() -> None:
    settings = load(
        LIVE
        | {
            "RIDEDASH_OAUTH_CLIENT_SECRET": "client-51f0c7-oauth",
            "RIDEDASH_DATABASE_URL": "postgresql+psycopg://desk:p%40ss-51f0c7@db/rides",
            "RIDEDASH_METRICS_TOKEN": "metrics-51f0c7-reader",
        }
    )
    assert set(settings.secrets) >= {
        "partner-key-for-this-test",
        "0123456789abcdefghijklmnopqrstuv",
        "client-51f0c7-oauth",
        "metrics-51f0c7-reader",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "p@ss-51f0c7",
    }
