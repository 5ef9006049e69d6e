"""A connection file says how a cluster is reached; messages name every mistake in it, and never one of its values."""

import os
import ssl
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from rocketmq_capacity.client.options import ConnectionOptions, options_of, read_connection, render_options
from rocketmq_capacity.client.settings import ConnectionSettings, Credentials
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.address import Address
from tests.client.certificates import Authority, authority

KEYS: Final = {"access_key": "reader", "secret_key": "never-to-be-told", "security_token": "neither-this"}


@pytest.fixture
def vouching(tmp_path: Path) -> Authority:
    return authority(tmp_path, "authority")


def written(folder: Path, content: str | dict[str, Any], mode: int = 0o600) -> Path:
    file = folder / "connection.yaml"
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content), "utf-8")
    file.chmod(mode)
    return file


def refusal(file: Path) -> str:
    """What is said of the file, which is named first."""
    with pytest.raises(BadInput) as refused:
        read_connection(file)
    name, _, words = str(refused.value).partition(": ")
    assert name == str(file)
    assert "expected" in words or "the nearest known key" in words
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    return words


def test_an_empty_file_connects_plainly_and_signs_nothing(tmp_path: Path) -> None:
    assert read_connection(written(tmp_path, "")) == ConnectionSettings()


def test_keys_and_limits_are_taken_as_they_stand(tmp_path: Path) -> None:
    settings = read_connection(
        written(tmp_path, {**KEYS, "connect_timeout_s": 1.5, "request_timeout_s": 60, "in_flight": 4})
    )
    assert settings.credentials == Credentials("reader", "never-to-be-told", "neither-this")
    assert (settings.connect_timeout_s, settings.request_timeout_s, settings.tls) == (1.5, 60.0, None)
    assert settings.in_flight == 4


def test_networks_are_taken_and_written_as_they_were_given(tmp_path: Path) -> None:
    given = {"networks": ["10.0.0.0/8", "fd00::/8"]}
    assert read_connection(written(tmp_path, given)).networks == (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
    assert yaml.safe_load(render_options(options_of(given, "here"))) == given


def test_proxies_are_taken_as_addresses_and_written_as_they_were_given(tmp_path: Path) -> None:
    options = options_of({"proxies": ["10.0.8.1:8080", "[fe80::1]:8080"]}, "here")
    settings = read_connection(written(tmp_path, {"proxies": ["10.0.8.1:8080", "[fe80::1]:8080"]}))
    assert settings.proxies == (Address("10.0.8.1", 8080), Address("fe80::1", 8080))
    assert yaml.safe_load(render_options(options)) == {"proxies": ["10.0.8.1:8080", "[fe80::1]:8080"]}
    assert read_connection(written(tmp_path, {})).proxies == ()


def test_neither_options_nor_settings_show_a_secret_when_they_are_printed(tmp_path: Path) -> None:
    options = options_of(KEYS, "here")
    shown = f"{options!r} {options} {options.model_dump()} {read_connection(written(tmp_path, KEYS))}"
    assert "reader" in shown
    assert "never-to-be-told" not in shown
    assert "neither-this" not in shown


def test_what_is_rendered_reads_as_the_same_options(tmp_path: Path) -> None:
    odd = {"access_key": "yes", "secret_key": "*&!%@` : #中\"'", "security_token": "2026-11-20", "tls": True}
    options = options_of(odd, "here")
    assert options_of(yaml.safe_load(render_options(options)), "there") == options
    assert render_options(ConnectionOptions()) == b"{}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("acces_key: a", "acces_key: is not a known key; the nearest known key is 'access_key'"),
        ("tls_verfy: false", "tls_verfy: is not a known key; the nearest known key is 'tls_verify'"),
        ("tls: 'true'", "tls: is not a switch; expected true or false"),
        ("connect_timeout_s: 0", "connect_timeout_s: is out of range; expected seconds, above 0 and up to 600"),
        ("request_timeout_s: 601", "request_timeout_s: is out of range; expected seconds, above 0 and up to 600"),
        ("request_timeout_s: .nan", "request_timeout_s: is out of range; expected seconds, above 0 and up to 600"),
        ("request_timeout_s: 5 s", "request_timeout_s: is not a number; expected seconds, above 0 and up to 600"),
        ("in_flight: 0", "in_flight: is out of range; expected a whole number from 1 to 1000"),
        ("in_flight: 1001", "in_flight: is out of range; expected a whole number from 1 to 1000"),
        ("in_flight: 1.5", "in_flight: is not a whole number; expected a whole number from 1 to 1000"),
        *(
            (f"proxies: {value}", f"proxies: {problem}; expected a list of addresses, HOST:REMOTING-PORT each")
            for value, problem in (
                ("10.0.8.1:8080", "is not a list"),
                ("{a: 1}", "is not a list"),
                ("[10.0.8.1]", "has a value that is not an address"),
                ("['10.0.8.1:8080', '10.0.8.1:0']", "has a value that is not an address"),
                ("['10.0.8.1:8080;10.0.8.2:8080']", "has a value that is not an address"),
                ("[hunter2-in-the-wrong-place]", "has a value that is not an address"),
            )
        ),
        *(
            (f"networks: {value}", f"networks: {problem}; expected a list of networks, such as 10.0.0.0/8")
            for value, problem in (
                ("10.0.0.0/8", "is not a list"),
                ("[10.0.0.1/8]", "has a value that is not a network"),
            )
        ),
        ("proxies: [8080]", "proxies: is not a text; expected text, in quotes if it looks like a number or a date"),
        ("access_key: a", "secret_key: is missing; expected it together with access_key"),
        ("secret_key: a", "access_key: is missing; expected it together with secret_key"),
        ("security_token: a", "security_token: is given alone; expected access_key and secret_key as well"),
        ("tls_ca_file: ca.pem", "tls_ca_file: has no effect without TLS; expected tls: true as well"),
        ("tls_verify: false", "tls_verify: has no effect without TLS; expected tls: true as well"),
        ("{tls: true, tls_key_file: a.key}", "tls_cert_file: is missing; expected it together with tls_key_file"),
        ("- tls", "is a list; expected a connection file, a mapping of keys"),
        ("tls_ca_file: ''", "tls_ca_file: is empty; expected text"),
        (
            '{tls: true, tls_ca_file: "a\\0b"}',
            "tls_ca_file: has a character that no name of a file can have; expected a file",
        ),
    ],
)
def test_what_is_not_as_it_should_be_is_named_with_what_was_expected(tmp_path: Path, text: str, words: str) -> None:
    assert refusal(written(tmp_path, text)) == words


@pytest.mark.parametrize(
    "text",
    [
        "access_key: a\nsecret_key: *SECRET",
        "access_key: a\nsecret_key: !SECRET x",
        "access_key: a\nsecret_key: &SECRET: [",
        "access_key: a\nsecret_key: %SECRET",
        "access_key: a\nsecret_key: 'SECRET",
        "access_key: a\nsecret_key: SECRET: b",
        "access_key: a\nsecret_key: [SECRET]",
        "access_key: a\nsecret_key: {SECRET: SECRET}",
        "access_key: a\nsecret_key: SECRET\nsecret_key: SECRET",
        "access_key: a\nsecret_key: b\nSECRET",
        "access_key: a\nsecret_key: b\nSECRET: ",
        "access_key: a\nsecret_key: b\n? [SECRET]\n",
        'access_key: a\nsecret_key: "SECRET "',
        'access_key: a\nsecret_key: "SECRET\\n"',
        'access_key: a\nsecret_key: "SECRET\\0"',
        "access_key: a\nsecret_key: SECRET\x07",
        "secret_key: SECRET",
        "security_token: SECRET",
        "secretkey: SECRET",
        "SECRET",
        "tls: SECRET",
        "connect_timeout_s: SECRET",
    ],
)
@pytest.mark.parametrize("secret", ["8f3k-Xq91", "p4 ss", "0x1F2e3d", "2026-99-99T99"])
def test_no_mistake_around_a_secret_quotes_it(tmp_path: Path, text: str, secret: str) -> None:
    words = refusal(written(tmp_path, text.replace("SECRET", secret)))
    assert secret not in words


@pytest.mark.parametrize("secret", ["12345678", "2026-11-20", "2026-99-99", "1e5", "0b1z", "0o9", "yes", "null", "~"])
def test_a_key_that_yaml_takes_for_something_else_is_refused_unquoted_and_taken_quoted(
    tmp_path: Path, secret: str
) -> None:
    text = f"access_key: reader\nsecret_key: {secret}"
    taken = yaml.safe_load(f"[{secret}]")[0] if secret != "2026-99-99" else None
    if not isinstance(taken, str):
        assert secret not in refusal(written(tmp_path, text)).replace("null", "")
    quoted = read_connection(written(tmp_path, f"access_key: reader\nsecret_key: '{secret}'"))
    assert quoted.credentials == Credentials("reader", secret)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o660, 0o601])
def test_a_file_with_a_secret_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = written(tmp_path, KEYS, mode)
    expected = f"holds a secret and is open to others (mode {mode:04o}); expected mode 0600: chmod 600 {file}"
    assert refusal(file) == expected


def test_a_file_without_a_secret_may_be_read_by_anybody(tmp_path: Path) -> None:
    assert read_connection(written(tmp_path, {"request_timeout_s": 9}, 0o644)).request_timeout_s == 9.0


def test_a_file_of_somebody_else_is_that_ones_to_protect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, KEYS, 0o644)
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)  # only root could give the file away
    assert read_connection(file).credentials is not None


def test_tls_checks_certificate_and_host_by_the_systems_authorities_by_default(tmp_path: Path) -> None:
    tls = read_connection(written(tmp_path, "tls: true")).tls
    assert tls is not None
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_REQUIRED, True)
    loose = read_connection(written(tmp_path, "{tls: true, tls_verify: false}")).tls
    assert loose is not None
    assert (loose.verify_mode, loose.check_hostname) == (ssl.CERT_NONE, False)
    assert min(tls.minimum_version, loose.minimum_version) >= ssl.TLSVersion.TLSv1_2


def test_an_authority_that_is_named_replaces_all_others(tmp_path: Path, vouching: Authority) -> None:
    tls = read_connection(written(tmp_path, {"tls": True, "tls_ca_file": vouching.certificate.name})).tls
    assert tls is not None
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert tls.minimum_version >= ssl.TLSVersion.TLSv1_2
    (known,) = tls.get_ca_certs()
    assert "authority" in str(known["subject"])


def test_a_relative_path_starts_at_the_files_own_folder(
    tmp_path: Path, vouching: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert read_connection(written(tmp_path, {"tls": True, "tls_ca_file": "authority.pem"})).tls


def test_own_certificate_and_key_may_be_in_one_file(tmp_path: Path, vouching: Authority) -> None:
    ours = vouching.party("ours")
    both = tmp_path / "both.pem"
    both.touch(0o600)
    both.write_bytes(ours.certificate.read_bytes() + ours.key.read_bytes())
    assert read_connection(written(tmp_path, {"tls": True, "tls_cert_file": "both.pem"})).tls


def test_a_file_of_tls_that_is_not_there_is_named(tmp_path: Path, vouching: Authority) -> None:
    vouching.party("ours")
    for key, beside in (("tls_ca_file", {}), ("tls_cert_file", {}), ("tls_key_file", {"tls_cert_file": "ours.pem"})):
        words = refusal(written(tmp_path, {"tls": True, **beside, key: "absent"}))
        missing = tmp_path / "absent"
        assert words == f"{key}: {missing} cannot be read (No such file or directory); expected a file in PEM form"


def test_files_without_a_certificate_or_with_another_ones_key_are_refused(tmp_path: Path, vouching: Authority) -> None:
    ours, theirs = vouching.party("ours"), vouching.party("theirs")
    (tmp_path / "text").write_text("no certificate")
    words = refusal(written(tmp_path, {"tls": True, "tls_ca_file": "text"}))
    assert words == f"tls_ca_file: {tmp_path / 'text'} holds no certificate; expected PEM"
    pair = {"tls_cert_file": ours.certificate.name, "tls_key_file": theirs.key.name}
    words = refusal(written(tmp_path, {"tls": True, **pair}))
    assert words.startswith(f"tls_cert_file: {ours.certificate} and {theirs.key} are no pair (KEY_VALUES_MISMATCH)")


def test_a_key_that_others_may_read_is_refused(tmp_path: Path, vouching: Authority) -> None:
    ours = vouching.party("ours")
    ours.key.chmod(0o644)
    words = refusal(written(tmp_path, {"tls": True, "tls_cert_file": "ours.pem", "tls_key_file": "ours.key"}))
    assert words.startswith(
        f"tls_key_file: {ours.key} holds a key and is open to others (mode 0644); expected mode 0600"
    )


def test_a_key_under_a_pass_phrase_is_refused_and_nobody_is_asked_for_it(tmp_path: Path, vouching: Authority) -> None:
    ours = vouching.party("ours", pass_phrase=b"open sesame")
    words = refusal(written(tmp_path, {"tls": True, "tls_cert_file": "ours.pem", "tls_key_file": "ours.key"}))
    assert words == f"tls_key_file: {ours.key} has a pass phrase; expected a key without one"
