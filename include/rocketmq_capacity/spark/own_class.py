"""Calls a strategy class of the deployment's own in Spark's JVM.

A separate class loader loads it, so it sees only its own jars and the Java platform, and none of Spark's classes.
"""

from collections.abc import Sequence
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.own_strategy import OwnAnswers, OwnStrategy, check_jars

INTERFACE: Final = "org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy"
QUEUE: Final = "org.apache.rocketmq.common.message.MessageQueue"
NEEDED: Final = "expected the jars of rocketmq-client and rocketmq-common, and of what they need, beside its own"


class OwnClass:
    """An object of the class, ready to be called.

    Args:
        context: of the session whose JVM calls it.
        strategy: the class and its jars.
        place: where the policy names it, for errors.

    Errors: BadInput for a jar or a class that does not exist, a class that is not a strategy, and one without a usable
    constructor.
    """

    def __init__(self, context: SparkContext, strategy: OwnStrategy, place: str) -> None:
        check_jars(strategy, place)
        gateway: Any = context._gateway
        self._gateway, self._jvm, self._place = gateway, gateway.jvm, place
        jars = self._array("java.net.URL", [self._jvm.java.io.File(jar).toURI().toURL() for jar in strategy.jar])
        self._loader = self._jvm.java.net.URLClassLoader(jars, self._jvm.java.lang.ClassLoader.getPlatformClassLoader())
        kind = self._class(strategy.class_name, "class", "expected a class of the jar")
        interface = self._class(INTERFACE, "jar", NEEDED)
        if not interface.isAssignableFrom(kind):
            raise BadInput("policy", f"{place}.class", f"is {strategy.class_name}, which is not an {INTERFACE}")
        text, many = self._class("java.lang.String", "class", NEEDED), self._class("java.util.List", "class", NEEDED)
        self._allocate = interface.getMethod("allocate", self._array("java.lang.Class", [text, text, many, many]))
        number = self._jvm.java.lang.Integer.TYPE
        queue = self._class(QUEUE, "jar", NEEDED)
        self._queue = queue.getConstructor(self._array("java.lang.Class", [text, text, number]))
        # By reflection: py4j saves methods by the name of their class, but each loader has a class of this name.
        nothing = self._array("java.lang.Class", [])
        self._read = [queue.getMethod(name, nothing) for name in ("getTopic", "getBrokerName", "getQueueId")]
        try:
            made = kind.getDeclaredConstructor(self._array("java.lang.Class", []))
            self._object = made.newInstance(self._array("java.lang.Object", []))
        except Py4JJavaError as error:
            problem = (
                f"is {strategy.class_name}, which cannot be made: {thrown_by(error)}; expected a public class with"
            )
            raise BadInput("policy", f"{place}.class", f"{problem} a public constructor that takes nothing") from None

    def answers(
        self, consumer_group: str, places: tuple[tuple[str, str, int], ...], client_ids: tuple[str, ...]
    ) -> OwnAnswers:
        """The queues that it gives to each client of a group, topic by topic, called as RebalanceImpl calls it.

        Args:
            consumer_group: name of the group.
            places: topic, broker name and number of readable queues, in rebalance order.
            client_ids: in rebalance order; equal ids as often as they have consumers.
        """
        given: dict[str, dict[str, tuple[tuple[str, str, int], ...]]] = {}
        thrown: dict[str, str] = {}
        for topic in dict.fromkeys(place[0] for place in places):
            queues = self._jvm.java.util.ArrayList()
            for _, broker_name, number in (place for place in places if place[0] == topic):
                for queue_id in range(number):
                    queues.add(self._queue.newInstance(self._array("java.lang.Object", [topic, broker_name, queue_id])))
            try:
                given[topic] = {
                    client_id: self._asked(consumer_group, client_id, queues, client_ids)
                    for client_id in dict.fromkeys(client_ids)
                }
            except Py4JJavaError as error:
                thrown[topic] = thrown_by(error)
        return OwnAnswers(places, client_ids, given, thrown)

    def _asked(
        self, group: str, client_id: str, queues: Any, client_ids: Sequence[str]
    ) -> tuple[tuple[str, str, int], ...]:
        every = self._jvm.java.util.ArrayList()
        for listed_id in client_ids:
            every.add(listed_id)
        arguments = [group, client_id, self._jvm.java.util.ArrayList(queues), every]
        owned = self._allocate.invoke(self._object, self._array("java.lang.Object", arguments))
        nothing = self._array("java.lang.Object", [])
        read = ([method.invoke(queue, nothing) for method in self._read] for queue in owned or ())
        return tuple((topic, broker_name, queue_id) for topic, broker_name, queue_id in read)

    def _array(self, kind: str, values: Sequence[Any]) -> Any:
        of: Any = self._jvm
        for part in kind.split("."):
            of = getattr(of, part)
        array = self._gateway.new_array(of, len(values))
        for index, value in enumerate(values):
            array[index] = value
        return array

    def _class(self, name: str, key: str, expected: str) -> Any:
        try:
            return self._jvm.java.lang.Class.forName(name, True, self._loader)
        except Py4JJavaError as error:
            thrown = thrown_by(error)
            # The class was found, but its loader lacks another class that it needs.
            if thrown.startswith("java.lang.NoClassDefFoundError"):
                key, expected = "jar", NEEDED
            raise BadInput("policy", f"{self._place}.{key}", f"does not give {name} ({thrown}); {expected}") from None


def thrown_by(error: Py4JJavaError) -> str:
    """What Java threw: the class and its message. For a call by reflection, that is the innermost cause."""
    thrown = error.java_exception
    while thrown.getClass().getName() == "java.lang.reflect.InvocationTargetException" and thrown.getCause():
        thrown = thrown.getCause()
    message = thrown.getMessage()
    name: str = thrown.getClass().getName()
    return " ".join(f"{name}: {message}".split()) if message else name
