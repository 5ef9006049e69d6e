"""The connection file: how a cluster is reached, read from YAML. It holds secrets, so no error quotes a value of it."""

import difflib
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from rocketmq_capacity.client.settings import ConnectionSettings, Credentials
from rocketmq_capacity.errors import BadInput, is_writable
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.settings.networks import NetworkText, parse_network
from rocketmq_capacity.settings.proxies import ProxyAddress
from rocketmq_capacity.settings.yaml_file import mapping_of_file

WHAT: Final = "a connection file"
SECRETS: Final = ("secret_key", "security_token")
FILES: Final = ("tls_ca_file", "tls_cert_file", "tls_key_file")
OTHERS: Final = 0o077
"""The rights of everybody but the owner. ssh refuses a key that others may read, too."""
_DEFAULT: Final = ConnectionSettings()

Seconds = Annotated[float, Field(gt=0, le=600, allow_inf_nan=False, strict=True)]
AtATime = Annotated[int, Field(ge=1, le=1_000, strict=True)]
Switch = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(min_length=1, strict=True)]


class ConnectionOptions(BaseModel):
    """All settings of a connection. By default it is plain, and requests are not signed."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    access_key: Text | None = None
    secret_key: SecretStr | None = None
    security_token: SecretStr | None = None
    tls: Switch = False
    tls_ca_file: Text | None = None
    tls_cert_file: Text | None = None
    tls_key_file: Text | None = None
    tls_verify: Switch = True
    connect_timeout_s: Seconds = _DEFAULT.connect_timeout_s
    request_timeout_s: Seconds = _DEFAULT.request_timeout_s
    in_flight: AtATime = _DEFAULT.in_flight
    proxies: tuple[ProxyAddress, ...] | None = None
    networks: tuple[NetworkText, ...] | None = None


def read_connection(path: Path) -> ConnectionSettings:
    """Read a connection file; a relative path in it starts at the file's own folder.

    Errors: BadInput naming the file, the key and what was expected; also for files that it names, and for a file with
    secrets that others may read.
    """
    source = str(path)
    options = options_of(_mapping(path), source)
    if any(getattr(options, key) is not None for key in SECRETS):
        _check_private(path, source, "", "holds a secret")
    return settings_of(options, source, path.parent)


def options_of(document: Mapping[Any, Any], source: str) -> ConnectionOptions:
    """The options in a mapping.

    Errors: BadInput naming ``source``, the key and what was expected, and never a value.
    """
    try:
        options = ConnectionOptions.model_validate(document)
    except ValidationError as error:
        raise _bad_input(source, error) from None
    for key, problem in _disagreements(options):
        raise BadInput(source, key, problem)
    return options


def settings_of(options: ConnectionOptions, source: str, folder: Path) -> ConnectionSettings:
    """The settings of the client; certificates are read, and their paths start at ``folder``.

    Errors: BadInput naming ``source``, the key of the file and what was expected.
    """
    credentials = None
    if options.access_key is not None and options.secret_key is not None:
        token = options.security_token
        credentials = Credentials(
            options.access_key, options.secret_key.get_secret_value(), token.get_secret_value() if token else None
        )
    return ConnectionSettings(
        connect_timeout_s=options.connect_timeout_s,
        request_timeout_s=options.request_timeout_s,
        in_flight=options.in_flight,
        tls=_tls(options, source, folder) if options.tls else None,
        credentials=credentials,
        proxies=tuple(map(parse_address, options.proxies or ())),
        networks=tuple(map(parse_network, options.networks or ())),
    )


def render_options(options: ConnectionOptions) -> bytes:
    """A connection file with these options, secrets included."""
    given = options.model_dump(exclude_defaults=True)
    plain = {key: _plain(value) for key, value in given.items()}
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return list(value) if isinstance(value, tuple) else value


def _mapping(path: Path) -> dict[Any, Any]:
    try:
        return mapping_of_file(path, WHAT)
    except BadInput as error:
        if not error.problem.startswith("is not YAML"):
            raise
        # The text of a parser error may be part of a secret: an unquoted * or ! can begin one.
        problem = f"is not YAML; expected {WHAT}, with quotes around a value that has special characters of YAML"
        raise BadInput(error.source, error.place, problem) from None


def _bad_input(source: str, error: ValidationError) -> BadInput:
    """The first error; an unknown key comes before all others."""
    errors = error.errors(include_url=False, include_input=False)
    known = list(ConnectionOptions.model_fields)
    first = next((e for e in errors if e["loc"][0] not in known), errors[0])
    key = str(first["loc"][0])
    if key in known:
        words = _WORDS.get(first["type"], first["msg"])
        what, members = _LISTS.get(key, ("", ""))
        bounds = _COUNT if key == "in_flight" else _SECONDS
        return BadInput(source, key, words.format(range=bounds, what=what, each=members))
    near = difflib.get_close_matches(key, known, n=1)
    if near:
        return BadInput(source, key, f"is not a known key; the nearest known key is {near[0]!r}")
    # A key that is not similar to any known one may be the second half of a secret.
    return BadInput(source, "", f"has an unknown key, not shown since it may be a secret; expected {', '.join(known)}")


_LISTS: Final = {
    "proxies": ("an address", "addresses, HOST:REMOTING-PORT each"),
    "networks": ("a network", "networks, such as 10.0.0.0/8"),
}
_SECONDS: Final = "seconds, above 0 and up to 600"
_COUNT: Final = "a whole number from 1 to 1000"
_WORDS: Final = {
    "tuple_type": "is not a list; expected a list of {each}",
    "value_error": "has a value that is not {what}; expected a list of {each}",
    "string_type": "is not a text; expected text, in quotes if it looks like a number or a date",
    "string_too_short": "is empty; expected text",
    "bool_type": "is not a switch; expected true or false",
    "float_type": "is not a number; expected {range}",
    "int_type": "is not a whole number; expected {range}",
    "greater_than": "is out of range; expected {range}",
    "greater_than_equal": "is out of range; expected {range}",
    "less_than_equal": "is out of range; expected {range}",
    "finite_number": "is out of range; expected {range}",
}


def _disagreements(options: ConnectionOptions) -> list[tuple[str, str]]:
    """(key, problem) of options that do not fit together, or would have no effect."""
    secret_key = options.secret_key.get_secret_value() if options.secret_key else None
    token = options.security_token.get_secret_value() if options.security_token else None
    problems = []
    for key, value in (("access_key", options.access_key), ("secret_key", secret_key), ("security_token", token)):
        if value is not None and (not value or value != value.strip() or not value.isprintable()):
            problems.append((
                key,
                "is empty, or has a blank at an end or a control character; expected the text without them",
            ))
    if (options.access_key is None) != (secret_key is None):
        missing, beside = ("access_key", "secret_key") if secret_key else ("secret_key", "access_key")
        problems.append((missing, f"is missing; expected it together with {beside}"))
    if token is not None and secret_key is None:
        problems.append(("security_token", "is given alone; expected access_key and secret_key as well"))
    if options.tls_key_file is not None and options.tls_cert_file is None:
        problems.append(("tls_cert_file", "is missing; expected it together with tls_key_file"))
    for key in FILES:
        name = getattr(options, key) or ""
        if "\0" in name or not is_writable(name):
            problems.append((key, "has a character that no name of a file can have; expected a file"))
    if not options.tls:
        given = [key for key in FILES if getattr(options, key) is not None]
        given += [] if options.tls_verify else ["tls_verify"]
        problems += [(key, "has no effect without TLS; expected tls: true as well") for key in given]
    return problems


def _tls(options: ConnectionOptions, source: str, folder: Path) -> ssl.SSLContext:
    """The TLS context: which certificates are trusted, and our own."""
    context = ssl.create_default_context()
    if not options.tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif options.tls_ca_file is not None:
        # A new context, because the named authority replaces those of the system.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        authority = folder / options.tls_ca_file
        try:
            context.load_verify_locations(cafile=authority)
        except ssl.SSLError:
            raise BadInput(source, "tls_ca_file", f"{authority} holds no certificate; expected PEM") from None
        except OSError as error:
            raise _unreadable(source, "tls_ca_file", authority, error) from None
    # Not every Python sets a least version: Debian's leaves it to the system's settings of OpenSSL.
    context.minimum_version = max(context.minimum_version, ssl.TLSVersion.TLSv1_2)
    if options.tls_cert_file is not None:
        _load_own_certificate(context, options, source, folder)
    return context


def _load_own_certificate(context: ssl.SSLContext, options: ConnectionOptions, source: str, folder: Path) -> None:
    """Load the client's own certificate; without a key file, the certificate's file has the key."""
    certificate = folder / (options.tls_cert_file or "")
    key = folder / options.tls_key_file if options.tls_key_file is not None else certificate
    for name, file in (("tls_cert_file", certificate), ("tls_key_file", key)):
        try:
            file.open("rb").close()
        except OSError as error:
            raise _unreadable(source, name, file, error) from None
    _check_private(key, source, "tls_key_file", "holds a key")

    def no_pass_phrase() -> str:
        # Without this, a key with a pass phrase would ask the person at the terminal.
        raise BadInput(source, "tls_key_file", f"{key} has a pass phrase; expected a key without one")

    try:
        context.load_cert_chain(certificate, key, password=no_pass_phrase)
    except ssl.SSLError as error:
        problem = f"{certificate} and {key} are no pair ({error.reason}); expected a certificate and its key, as PEM"
        raise BadInput(source, "tls_cert_file", problem) from None


def _check_private(file: Path, source: str, place: str, why: str) -> None:
    """Refuse a file of ours that others may read. A file of another user is that user's to protect."""
    about = file.stat()
    if about.st_uid == os.getuid() and about.st_mode & OTHERS:
        mode = f"{about.st_mode & 0o777:04o}"
        problem = f"{why} and is open to others (mode {mode}); expected mode 0600: chmod 600 {file}"
        raise BadInput(source, place, problem if not place else f"{file} {problem}")


def _unreadable(source: str, place: str, file: Path, error: OSError) -> BadInput:
    return BadInput(source, place, f"{file} cannot be read ({error.strerror}); expected a file in PEM form")
