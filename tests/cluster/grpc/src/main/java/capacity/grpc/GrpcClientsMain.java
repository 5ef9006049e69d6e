package capacity.grpc;

import capacity.cluster.Commands;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.LitePushConsumer;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumer;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.apis.producer.Producer;
import org.apache.rocketmq.client.java.impl.Client;
import org.apache.rocketmq.client.java.misc.Utilities;
import org.apache.rocketmq.client.java.route.MessageQueueImpl;

/**
 * Real gRPC consumers, each under a number, and producers in one JVM.
 *
 * <p>Commands: start_push, start_simple and start_lite (at a Proxy's endpoint), owned, produce.
 */
public final class GrpcClientsMain {
    private record Live(String kind, String group, AutoCloseable consumer, LongAdder consumed) {
    }

    private static final ClientServiceProvider PROVIDER = ClientServiceProvider.loadService();
    private static final Map<Integer, Live> LIVE = new LinkedHashMap<>();
    private static final Map<String, Producer> PRODUCERS = new HashMap<>();

    private GrpcClientsMain() {
    }

    public static void main(String[] args) throws Exception {
        bearNoHostName();
        Commands commands = new Commands();
        commands.add("start_push", GrpcClientsMain::startPush)
            .add("start_simple", GrpcClientsMain::startSimple)
            .add("start_lite", GrpcClientsMain::startLite)
            .add("owned", fields -> owned())
            .add("produce", GrpcClientsMain::produce);
        commands.say(JSONObject.of("ok", "started"));
        commands.serve();
    }

    /** A client id begins with the name of the machine, which nobody who reads a recorded inventory needs. */
    @SuppressWarnings("unchecked")
    private static void bearNoHostName() throws Exception {
        Field name = Utilities.class.getDeclaredField("HOST_NAME_THREAD_LOCAL");
        name.setAccessible(true);
        ((ThreadLocal<String>) name.get(null)).set("localhost");
    }

    private static ClientConfiguration of(JSONObject fields) {
        return ClientConfiguration.newBuilder().setEndpoints(fields.getString("endpoint")).enableSsl(false)
            .setRequestTimeout(Duration.ofSeconds(10)).build();
    }

    private static Map<String, FilterExpression> subscriptions(JSONObject fields) {
        Map<String, FilterExpression> found = new HashMap<>();
        JSONObject told = fields.getJSONObject("subscriptions");
        told.forEach((topic, expression) -> found.put(topic, new FilterExpression((String) expression)));
        return found;
    }

    private static JSONObject known(Live one) {
        int number = LIVE.size() + 1;
        LIVE.put(number, one);
        return JSONObject.of("consumer", number, "client_id", idOf(one));
    }

    private static String idOf(Live one) {
        return ((Client) one.consumer()).getClientId().toString();
    }

    private static Object startPush(JSONObject fields) throws Exception {
        String group = fields.getString("consumer_group");
        LongAdder consumed = new LongAdder();
        long delayMs = fields.getLongValue("delay_ms");
        return known(new Live("PUSH", group, PROVIDER.newPushConsumerBuilder().setClientConfiguration(of(fields))
            .setConsumerGroup(group).setSubscriptionExpressions(subscriptions(fields)).setConsumptionThreadCount(4)
            .setMessageListener(message -> {
                sleep(delayMs);
                consumed.increment();
                return ConsumeResult.SUCCESS;
            }).build(), consumed));
    }

    /** A consumer of lite topics of the parent topic that its group is bound to. */
    private static Object startLite(JSONObject fields) throws Exception {
        String group = fields.getString("consumer_group");
        LongAdder consumed = new LongAdder();
        LitePushConsumer consumer = PROVIDER.newLitePushConsumerBuilder().setClientConfiguration(of(fields))
            .setConsumerGroup(group).bindTopic(fields.getString("topic")).setMessageListener(message -> {
                consumed.increment();
                return ConsumeResult.SUCCESS;
            }).build();
        for (String lite : fields.getList("lite_topics", String.class)) {
            consumer.subscribeLite(lite);
        }
        return known(new Live("PUSH", group, consumer, consumed));
    }

    private static Object startSimple(JSONObject fields) throws Exception {
        String group = fields.getString("consumer_group");
        LongAdder consumed = new LongAdder();
        SimpleConsumer consumer = PROVIDER.newSimpleConsumerBuilder().setClientConfiguration(of(fields))
            .setConsumerGroup(group).setSubscriptionExpressions(subscriptions(fields))
            .setAwaitDuration(Duration.ofSeconds(5)).build();
        Thread reader = new Thread(() -> {
            while (true) {
                try {
                    for (MessageView message : consumer.receive(16, Duration.ofSeconds(15))) {
                        consumed.increment();
                        consumer.ack(message);
                    }
                } catch (IllegalStateException e) {
                    return; // it was closed
                } catch (Exception e) {
                    e.printStackTrace(); // a proxy may be away for a while
                    sleep(200);
                }
            }
        });
        reader.setDaemon(true);
        reader.start();
        return known(new Live("SIMPLE", group, consumer, consumed));
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What each consumer holds in its own tables: the queues that it asks for messages, whoever thinks otherwise. */
    private static JSONArray owned() throws Exception {
        JSONArray rows = new JSONArray();
        for (Map.Entry<Integer, Live> each : LIVE.entrySet()) {
            Live one = each.getValue();
            rows.add(JSONObject.of("consumer", each.getKey(), "consumer_group", one.group(), "client_id", idOf(one),
                "kind", one.kind(), "consumed", one.consumed().sum()).fluentPut("queues", queues(one)));
        }
        return rows;
    }

    private static JSONArray queues(Live one) throws Exception {
        Collection<?> found;
        if (one.kind().equals("PUSH")) {
            found = ((Map<?, ?>) field(one.consumer(), "processQueueTable")).keySet();
        } else {
            List<Object> all = new ArrayList<>();
            for (Object balancer : ((Map<?, ?>) field(one.consumer(), "subscriptionRouteDataCache")).values()) {
                all.addAll((Collection<?>) field(balancer, "messageQueues"));
            }
            found = all;
        }
        TreeSet<String> sorted = new TreeSet<>();
        JSONArray rows = new JSONArray();
        for (Object each : found) {
            MessageQueueImpl queue = (MessageQueueImpl) each;
            if (sorted.add(queue.getTopic() + "\n" + queue.getBroker().getName() + "\n" + queue.getQueueId())) {
                rows.add(JSONArray.of(queue.getTopic(), queue.getBroker().getName(), queue.getQueueId()));
            }
        }
        return rows;
    }

    private static Object field(Object object, String name) throws Exception {
        Class<?> owner = object.getClass();
        while (Stream.of(owner.getDeclaredFields()).noneMatch(field -> field.getName().equals(name))) {
            owner = owner.getSuperclass();
        }
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    /** Sends messages one after the other; with message_groups, of as many message groups in turn, or to a lite topic. */
    private static Object produce(JSONObject fields) throws Exception {
        String topic = fields.getString("topic");
        Producer producer = PRODUCERS.get(topic);
        if (producer == null) {
            producer = PROVIDER.newProducerBuilder().setClientConfiguration(of(fields)).setTopics(topic).build();
            PRODUCERS.put(topic, producer);
        }
        int groups = fields.getIntValue("message_groups");
        for (int i = 0; i < fields.getIntValue("count"); i++) {
            var message = PROVIDER.newMessageBuilder().setTopic(topic)
                .setBody(Integer.toString(i).getBytes(StandardCharsets.UTF_8));
            if (groups > 0) {
                message.setMessageGroup("group-" + i % groups);
            }
            if (fields.getString("lite_topic") != null) {
                message.setLiteTopic(fields.getString("lite_topic"));
            }
            producer.send(message.build());
        }
        return null;
    }
}
