"""Certificates that a test makes for itself: authorities, and parties that they vouch for."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Party:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Authority(Party):
    """Who vouches for others."""

    signing: ec.EllipticCurvePrivateKey
    name: x509.Name

    def party(self, name: str, *, pass_phrase: bytes | None = None) -> Party:
        """A party at 127.0.0.1 with a certificate of this authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        builder = _begun(_name(name), self.name, key).add_extension(names, critical=False)
        return Party(
            *_written(self.certificate.parent, name, builder, signing=self.signing, key=key, under=pass_phrase)
        )


def authority(folder: Path, name: str) -> Authority:
    """A new authority; its files and those of its parties are in ``folder``."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _begun(_name(name), _name(name), key)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    usage = dict.fromkeys(
        ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False
    )
    signs = x509.KeyUsage(**usage, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False)
    builder = builder.add_extension(signs, critical=True)
    return Authority(*_written(folder, name, builder, signing=key, key=key), key, _name(name))


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509
        .CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


def _written(
    folder: Path,
    name: str,
    builder: x509.CertificateBuilder,
    *,
    signing: ec.EllipticCurvePrivateKey,
    key: ec.EllipticCurvePrivateKey,
    under: bytes | None = None,
) -> tuple[Path, Path]:
    certificate_file, key_file = folder / f"{name}.pem", folder / f"{name}.key"
    certificate_file.write_bytes(builder.sign(signing, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    lock = serialization.BestAvailableEncryption(under) if under else serialization.NoEncryption()
    key_file.touch(0o600)
    key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock))
    return certificate_file, key_file
