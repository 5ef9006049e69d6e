"""What a lost name server means for clients and brokers, in words; each sentence stands by itself.

Sources, rocketmq-all-5.3.3: NettyRemotingClient.getAndCreateNameserverChannelAsync and invokeSync,
MQClientInstance.updateTopicRouteInfoFromNameServer and cleanOfflineBroker, DefaultMQPushConsumerImpl.start,
RouteInfoManager.scanNotActiveBroker, BrokerOuterAPI.registerBrokerAll, ClientRequestProcessor (needWaitForService).
"""

from typing import Final

NOTHING_CHANGES: Final = "Nothing changes for them."
CLOSED: Final = "Their connection is closed. They ask another name server at their next poll."
TIMED_OUT: Final = (
    "Their next request fails after 3 s. They close the connection, and ask another name server at the poll after that."
)
ASKS_ANOTHER: Final = "They ask another name server."
KEEP: Final = "They keep their routes until it is back, and do not notice changes of queues and brokers."
STARTS_BY_CHANCE: Final = (
    "A new client asks a random name server of its list. If that is the lost one, a consumer may not start (start()"
    " fails), and a message may fail: 5.3.3 asks one name server at a time. The next try asks the next one. A client"
    " that knows the lost one alone has no route."
)
CANNOT_START: Final = "A consumer does not start (start() fails), and a producer can send nothing."
STILL_ANSWERS: Final = "It still answers, so they do not ask another one. It does not notice changes."
IS_EXPIRING: Final = (
    "It expires one broker after the other. A client that asks meanwhile gets a list without the expired brokers, and"
    " gives up their queues."
)
KEEPS_LAST: Final = (
    "It has no topics any more (TOPIC_NOT_EXIST). A client then keeps the last list that it got: the whole one, or one"
    " that lacks brokers."
)
STARTS_WITH_NOTHING: Final = (
    "It gives a new client no route. A consumer starts without an error, but owns no queues and is no member of its"
    " group. A producer fails: no route info of this topic."
)
STARTS_AS_IT_SAYS: Final = "A new client that asks it gets this list."

RUNNING: Final = "Running clients send and read by the routes that they have."
REBALANCES: Final = "Clients that come or go cause rebalances as usual, because brokers notify the members."
OTHERS: Final = "Clients that ask another name server notice new queues, new topics and lost brokers as usual."

UNNOTICED: Final = "No client notices new queues, topics or brokers, or lost ones."
UNNOTICED_THERE: Final = "Clients that know it alone notice no new queues, topics or brokers, and no lost ones."
UNNOTICED_CUT: Final = (
    "Clients that ask it notice no new queues, topics or brokers, and do not ask another name server."
)
NEW_CLIENTS: Final = "New consumers do not start, and new producers can send nothing."
NEW_CLIENTS_CUT: Final = "New clients that ask it after it has expired the brokers read nothing and send nothing."
NEW_TOPICS: Final = "A running producer cannot send to a topic that it has not used before."
DEAD_BROKER: Final = (
    "A broker that dies meanwhile stays in the routes that are kept. Producers try it before another one. Nobody reads"
    " its queues, and clients find neither its slave nor a new master."
)
SLOW_ADMIN: Final = (
    "A command that changes a topic on a broker may time out, although the broker makes the change. The broker waits"
    " for the name server that does not answer, up to 24 s (registerBrokerTimeoutMills)."
)
NO_ADMIN: Final = "Commands of mqadmin that need a name server (-n) fail."
MEMBERS: Final = (
    "Clients whose lists lack brokers send these brokers no heartbeats. After at most 130 s these brokers forget them,"
    " and give a group's other clients a list of members without them."
)
AS_IF: Final = "The other changes of this scenario are computed as if every client noticed them."
UNKNOWN_BROKERS: Final = "It is unknown which brokers register only with lost name servers."

START_IT: Final = "Start it again at the same address."
START_NOTHING: Final = "Do not restart clients, and change no topics, until a name server is back."
WAIT_FOR_SERVICE: Final = (
    "Set needWaitForService=true before it starts. Otherwise it answers while only some brokers have registered, and"
    " clients that ask it give up the queues of the others."
)
STOP_IT: Final = (
    "If that takes longer, stop it: clients that know another name server then ask that one. Before that, check that"
    " another one answers and lists every broker (clusterList)."
)
LIST_ALL: Final = (
    "Name every name server in the lists of all clients and brokers. A snapshot does not show which clients know only"
    " one."
)
SECOND: Final = "Run a second name server, and name both in the lists of all clients and brokers."


def registers_alone(brokers: str) -> str:
    """A sentence about brokers that register only with lost name servers, while others are left."""
    return f"No name server that is left lists {brokers}: clients that ask one of them do not see their queues."


def mend(first_s: str) -> str:
    """What to do first with a name server that is cut off."""
    return (
        f"Mend the network between the brokers and it. It expires the first broker {first_s} s after the loss or later."
    )
