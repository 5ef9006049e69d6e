"""Requests are signed as RocketMQ's AclClientRPCHook signs them."""

from rocketmq_capacity.protocol.signature import signed_fields

SECRET = "labsecret1"
TOKEN = "t"


def test_the_signature_is_over_the_values_in_the_order_of_their_keys_and_the_body() -> None:
    # HMAC-SHA1 of "labadmin" + "" + "pay" + b"{}" under the secret, worked out with openssl.
    fields = signed_fields({"topic": "pay", "a": ""}, b"{}", access_key="labadmin", secret_key=SECRET)
    assert fields == {"topic": "pay", "a": "", "AccessKey": "labadmin", "Signature": "JY1SAYa/vNYISsv+VcBo9/7OtrI="}


def test_a_security_token_is_signed_as_well() -> None:
    fields = signed_fields({}, b"", access_key="k", secret_key=SECRET, security_token=TOKEN)
    assert fields == {"AccessKey": "k", "SecurityToken": TOKEN, "Signature": "61U27ZuEDkf5uzOuQ32U+LWwI1U="}
