"""The signature that a broker with access control asks for.

Source: AclClientRPCHook.java, AclUtils.java and AclSigner.java, rocketmq-all-5.3.3.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

ACCESS_KEY: Final = "AccessKey"
SECURITY_TOKEN: Final = "SecurityToken"  # noqa: S105  # the name of a field, not its value
SIGNATURE: Final = "Signature"


def signed_fields(
    ext_fields: Mapping[str, str],
    body: bytes,
    *,
    access_key: str,
    secret_key: str,
    security_token: str | None = None,
) -> dict[str, str]:
    """The extFields of a request with those that prove who sends it.

    Signed are the values of all extFields in the order of their keys, and the body behind them.
    """
    fields = {**ext_fields, ACCESS_KEY: access_key}
    if security_token:
        fields[SECURITY_TOKEN] = security_token
    content = "".join(fields[key] for key in sorted(fields)).encode() + body
    digest = hmac.new(secret_key.encode(), content, hashlib.sha1).digest()
    return {**fields, SIGNATURE: base64.b64encode(digest).decode("ascii")}
