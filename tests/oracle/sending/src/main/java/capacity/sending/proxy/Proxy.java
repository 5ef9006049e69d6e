package capacity.sending.proxy;

import capacity.sending.five.Network;
import com.google.common.hash.Hashing;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.latency.MQFaultStrategy;
import org.apache.rocketmq.proxy.service.route.AddressableMessageQueue;
import org.apache.rocketmq.proxy.service.route.MessageQueueSelector;
import org.apache.rocketmq.proxy.service.route.TopicRouteWrapper;

/** The Proxy's choice of a queue. */
public final class Proxy {
    private final MessageQueueSelector selector;

    public Proxy(String topic, String[] places, MQFaultStrategy strategy, int start)
        throws ReflectiveOperationException {
        this.selector = new MessageQueueSelector(
            new TopicRouteWrapper(Network.route(places), topic), strategy, false);
        Field index = MessageQueueSelector.class.getDeclaredField("queueIndex");
        index.setAccessible(true);
        ((AtomicInteger) index.get(selector)).set(start);
    }

    /** The index of the queue that takes a message group, as SendMessageActivity.SendMessageQueueSelector asks for it. */
    public static int bucket(String messageGroup, int queues) {
        return Hashing.consistentHash(messageGroup.hashCode(), queues);
    }

    public String[] select() {
        AddressableMessageQueue chosen = selector.selectOneByPipeline(false);
        return chosen == null ? null : new String[] {chosen.getBrokerName(), Integer.toString(chosen.getQueueId())};
    }
}
