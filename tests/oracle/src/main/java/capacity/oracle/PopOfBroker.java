package capacity.oracle;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.apache.rocketmq.broker.processor.QueryAssignmentProcessor;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;
import sun.misc.Unsafe;

/** What a broker answers a client in POP mode: the official allocate4Pop, made a set as the broker makes it one. */
final class PopOfBroker implements AllocateMessageQueueStrategy {
    private static final QueryAssignmentProcessor BROKER = withoutConstructor();

    private final AllocateMessageQueueStrategy inner;
    private final int popShareQueueNum;

    PopOfBroker(AllocateMessageQueueStrategy inner, int popShareQueueNum) {
        this.inner = inner;
        this.popShareQueueNum = popShareQueueNum;
    }

    /** The constructor wants a whole broker, of which allocate4Pop reads nothing. */
    private static QueryAssignmentProcessor withoutConstructor() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            Unsafe unsafe = (Unsafe) field.get(null);
            return (QueryAssignmentProcessor) unsafe.allocateInstance(QueryAssignmentProcessor.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @Override
    public List<MessageQueue> allocate(String group, String clientId, List<MessageQueue> queues,
        List<String> clientIds) {
        List<MessageQueue> raw = BROKER.allocate4Pop(inner, group, clientId, queues, clientIds, popShareQueueNum);
        // doLoadBalance puts them into a HashSet; its order means nothing, so they are given in queue order.
        List<MessageQueue> distinct = new ArrayList<>(new HashSet<>(raw));
        Collections.sort(distinct);
        return distinct;
    }

    @Override
    public String getName() {
        return "POP";
    }
}
