"""The numbers of the protocol: requests, responses, languages and header serialisations.

Only requests that read are here. Three that look harmless are left out on purpose: 300 (QUERY_TOPIC_CONSUME_BY_WHO)
names the topic instead of the group at 5.3.3, 352 (GET_SUBSCRIPTIONGROUP_CONFIG) creates the group it is asked for, and
3004 (AUTH_GET_USER) sends the user's password over the network.
"""

from enum import IntEnum, IntFlag
from typing import Final


class RequestCode(IntEnum):
    """What can be asked; none of it changes anything.

    Source: RequestCode.java, rocketmq-all-5.3.3; 52 was there up to 5.3.2.
    """

    GET_ALL_TOPIC_CONFIG = 21
    GET_BROKER_CONFIG = 26
    GET_BROKER_RUNTIME_INFO = 28
    GET_CONSUMER_LIST_BY_GROUP = 38
    GET_ALL_CONSUMER_OFFSET = 43
    GET_BROKER_CLUSTER_ACL_INFO = 52
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
    GET_TOPIC_STATS_INFO = 202
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
    GET_CONSUME_STATS = 208
    GET_CONSUMER_RUNNING_INFO = 307
    GET_ALL_PRODUCER_INFO = 328
    GET_ALL_MESSAGE_REQUEST_MODE = 402
    AUTH_GET_ACL = 3009


class ResponseCode(IntEnum):
    """What an answer to these requests can say.

    Source: RemotingSysResponseCode.java and ResponseCode.java, rocketmq-all-5.3.3.
    """

    SUCCESS = 0
    SYSTEM_ERROR = 1
    SYSTEM_BUSY = 2
    REQUEST_CODE_NOT_SUPPORTED = 3
    SERVICE_NOT_AVAILABLE = 14
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    SUBSCRIPTION_GROUP_NOT_EXIST = 26
    CONSUMER_NOT_ONLINE = 206
    CONSUME_MSG_TIMEOUT = 207
    FLOW_CONTROL = 215
    GO_AWAY = 1500

    @classmethod
    def describe(cls, code: int) -> str:
        """The code's name, or ``unknown``."""
        return cls(code).name if code in cls._value2member_map_ else "unknown"


class Flag(IntFlag):
    """Bits of a command's flag; a request that wants an answer has none.

    Source: RemotingCommand.java (RPC_TYPE, RPC_ONEWAY), rocketmq-all-5.3.3.
    """

    RESPONSE = 1
    ONEWAY = 2


class Serialization(IntEnum):
    """How a header is written; the frame's fifth byte has the number.

    Source: SerializeType.java, rocketmq-all-5.3.3.
    """

    JSON = 0
    ROCKETMQ = 1


LANGUAGES: Final = (
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
    "RUST",
    "NODE_JS",
)
"""Names by number. Source: LanguageCode.java, rocketmq-all-5.3.3."""
