package capacity.cluster;

import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.RemotingSysResponseCode;

/**
 * One real producer. Commands: produce (a number of messages, now) and start_load (so many a second until stop_loads).
 *
 * <p>Queues are drawn by weight, 1 where none is given: the skew of a keyed producer. A load by route leaves the choice
 * to the producer, which follows the route, and waits for each message to be stored; stop_loads tells how many were.
 */
final class Producers {
    private static final long TICK_MS = 100;
    private static final int BUSY_TRIES = 100;

    private final DefaultMQProducer producer = new DefaultMQProducer("load");
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final List<Future<?>> loads = new ArrayList<>();
    private final AtomicLong stored = new AtomicLong();
    private boolean started;

    Producers(String nameserver) {
        producer.setNamesrvAddr(nameserver);
        producer.setClientIP("127.0.0.1");
        producer.setInstanceName("producer");
        producer.setPollNameServerInterval(2_000);
    }

    void addTo(Commands commands) {
        commands.add("produce", this::produce)
            .add("start_load", this::startLoad)
            .add("stop_loads", fields -> stopLoads());
    }

    /** Messages to one topic, and where they go. */
    private final class Load {
        private final String topic;
        private final String tag;
        private final byte[] body;
        private final String priority;
        private final List<MessageQueue> queues;
        private final double[] until;
        private final boolean byRoute;
        private final Random random = new Random(1);
        private double owed;

        Load(JSONObject fields) throws Exception {
            topic = fields.getString("topic");
            tag = fields.getString("tag");
            body = new byte[fields.getIntValue("size_bytes")];
            priority = fields.getString("priority");
            byRoute = fields.getBooleanValue("by_route");
            queues = new ArrayList<>(producer.fetchPublishMessageQueues(topic));
            Collections.sort(queues);
            until = new double[queues.size()];
            double sum = 0;
            for (int i = 0; i < until.length; i++) {
                sum += weight(queues.get(i), fields.getJSONArray("weights"));
                until[i] = sum;
            }
        }

        private static double weight(MessageQueue queue, JSONArray weights) {
            for (int i = 0; i < weights.size(); i++) {
                JSONArray row = weights.getJSONArray(i);
                if (row.getString(0).equals(queue.getBrokerName()) && row.getIntValue(1) == queue.getQueueId()) {
                    return row.getDoubleValue(2);
                }
            }
            return 1;
        }

        private MessageQueue draw() {
            double point = random.nextDouble() * until[until.length - 1];
            int i = 0;
            while (until[i] <= point) {
                i++;
            }
            return queues.get(i);
        }

        private Message message() {
            Message message = new Message(topic, tag, body);
            if (priority != null) {
                MessageAccessor.putProperty(message, "_SYS_MSG_PRIORITY_", priority);
            }
            return message;
        }

        private void send(Message message) throws Exception {
            if (!byRoute) {
                producer.sendOneway(message, draw());
            } else if (producer.send(message).getSendStatus() == SendStatus.SEND_OK) {
                stored.incrementAndGet();
            }
        }

        private void tick(double messages) {
            owed += messages;
            for (; owed >= 1; owed--) {
                try {
                    send(message());
                } catch (Exception e) {
                    e.printStackTrace(); // a load goes on when a broker does not
                }
            }
        }
    }

    private Load loadOf(JSONObject fields) throws Exception {
        if (!started) {
            producer.start();
            started = true;
        }
        return new Load(fields);
    }

    private Object produce(JSONObject fields) throws Exception {
        Load load = loadOf(fields);
        int count = fields.getIntValue("count");
        for (int i = 0; i < count; i++) {
            store(load.message(), load.draw());
        }
        return count;
    }

    /** Sends until it is stored: a broker that is busy for a moment refuses, and has then stored nothing. */
    private void store(Message message, MessageQueue queue) throws Exception {
        for (int tries = 1; ; tries++) {
            try {
                producer.send(message, queue);
                return;
            } catch (MQBrokerException e) {
                if (e.getResponseCode() != RemotingSysResponseCode.SYSTEM_BUSY || tries == BUSY_TRIES) {
                    throw e;
                }
                Thread.sleep(TICK_MS);
            }
        }
    }

    private Object startLoad(JSONObject fields) throws Exception {
        Load load = loadOf(fields);
        double messages = fields.getDoubleValue("msgs_per_s") * TICK_MS / 1000;
        loads.add(clock.scheduleAtFixedRate(() -> load.tick(messages), 0, TICK_MS, TimeUnit.MILLISECONDS));
        return null;
    }

    private Object stopLoads() throws Exception {
        loads.forEach(load -> load.cancel(false));
        loads.clear();
        clock.submit(() -> { }).get(); // until the last one that had begun has ended
        return stored.getAndSet(0);
    }
}
