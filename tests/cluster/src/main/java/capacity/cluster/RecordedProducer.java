package capacity.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.common.ThreadLocalIndex;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.latency.LatencyFaultToleranceImpl;
import org.apache.rocketmq.client.latency.MQFaultStrategy;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The official producer, which writes down all that its choices of queues depend on. It has one sending thread.
 *
 * <p>A line is one of these; times are milliseconds of the clock:
 *
 * <ul>
 * <li>R broker:queue,…: the list of queues is new.
 * <li>I number: the index of queues begins at this random number.
 * <li>C before after last retry broker queue: between these times the queue was chosen; the broker of the try before, or
 *     -, and whether it is a retry (1 or 0).
 * <li>T outcome: a try was answered: OK, NETWORK, or the code of the broker's refusal. Without a known address of the
 *     broker there is none.
 * <li>U before after broker latency failed reachable until: the broker's latency was noted, and the broker is avoided
 *     until this time; 0 if it never was.
 * </ul>
 */
final class RecordedProducer extends DefaultMQProducerImpl implements SendMessageHook {
    private final Writer writer;
    private final List<Choice> choices = new ArrayList<>();
    private volatile List<MessageQueue> listed = List.of();
    private TopicPublishInfo info;

    private record Choice(long at, String brokerName) {
    }

    /** Makes a producer write to the file; before it starts. */
    static RecordedProducer of(DefaultMQProducer producer, Writer writer) throws ReflectiveOperationException {
        RecordedProducer recorded = new RecordedProducer(producer, writer);
        field(DefaultMQProducer.class, "defaultMQProducerImpl").set(producer, recorded);
        recorded.registerSendMessageHook(recorded);
        return recorded;
    }

    private RecordedProducer(DefaultMQProducer producer, Writer writer) {
        super(producer);
        this.writer = writer;
    }

    /** How many times a broker was chosen since a time. */
    synchronized long choices(String brokerName, long since) {
        return choices.stream().filter(one -> one.at >= since && one.brokerName.equals(brokerName)).count();
    }

    /** Whether a queue of the broker is in the list. */
    boolean lists(String brokerName) {
        return listed.stream().anyMatch(queue -> queue.getBrokerName().equals(brokerName));
    }

    @Override
    public MessageQueue selectOneMessageQueue(TopicPublishInfo now, String lastBrokerName, boolean resetIndex) {
        if (now != info) {
            info = now;
            listed = List.copyOf(now.getMessageQueueList());
            write("R " + listed.stream().map(one -> one.getBrokerName() + ":" + one.getQueueId())
                .collect(Collectors.joining(",")));
            try {
                field(ThreadLocalIndex.class, "random").set(now.getSendWhichQueue(), new Recorded());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        long before = System.currentTimeMillis();
        MessageQueue chosen = super.selectOneMessageQueue(now, lastBrokerName, resetIndex);
        long after = System.currentTimeMillis();
        write("C " + before + " " + after + " " + (lastBrokerName == null ? "-" : lastBrokerName) + " "
            + (resetIndex ? 1 : 0) + " " + chosen.getBrokerName() + " " + chosen.getQueueId());
        synchronized (this) {
            choices.add(new Choice(before, chosen.getBrokerName()));
        }
        return chosen;
    }

    @Override
    public void updateFaultItem(String brokerName, long latency, boolean failed, boolean reachable) {
        long before = System.currentTimeMillis();
        super.updateFaultItem(brokerName, latency, failed, reachable);
        long after = System.currentTimeMillis();
        write("U " + before + " " + after + " " + brokerName + " " + latency + " " + (failed ? 1 : 0) + " "
            + (reachable ? 1 : 0) + " " + until(brokerName));
    }

    @Override
    public String hookName() {
        return "recorded";
    }

    @Override
    public void sendMessageBefore(SendMessageContext context) {
    }

    @Override
    public void sendMessageAfter(SendMessageContext context) {
        Exception e = context.getException();
        write("T " + (e == null ? "OK" : e instanceof MQBrokerException refusal ? refusal.getResponseCode() : "NETWORK"));
    }

    void write(String line) {
        try {
            writer.write(line + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long until(String brokerName) {
        try {
            Object tolerance = field(MQFaultStrategy.class, "latencyFaultTolerance").get(getMqFaultStrategy());
            Object fault = ((Map<?, ?>) field(LatencyFaultToleranceImpl.class, "faultItemTable").get(tolerance))
                .get(brokerName);
            return fault == null ? 0 : (Long) field(fault.getClass(), "startTimestamp").get(fault);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** Random numbers that are written down. */
    private final class Recorded extends Random {
        private static final long serialVersionUID = 1;

        @Override
        public int nextInt() {
            return recorded(super.nextInt());
        }

        @Override
        public int nextInt(int bound) {
            return recorded(super.nextInt(bound));
        }

        private int recorded(int number) {
            write("I " + number);
            return number;
        }
    }
}
