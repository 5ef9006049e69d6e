package capacity.sending;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.common.ThreadLocalIndex;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.latency.LatencyFaultToleranceImpl;
import org.apache.rocketmq.client.latency.MQFaultStrategy;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.ServiceState;
import org.apache.rocketmq.common.message.Message;

/**
 * Answers scenarios, one a line, in the order they came; ends with its input.
 *
 * <p>BUCKET|message group|queues asks for the index of the message group's queue. Any other request is
 * sender|tolerance|detector|start|worst start|tries again|timeout ms|resets|places|steps|mode. The sender is
 * PRODUCER or PROXY; the mode of a producer is SYNC, ASYNC or ONEWAY (the last two from 5.3 on). Resets are the random numbers from which an index starts anew, separated by commas. A place is
 * broker:write queues:perm:has a master; places and the parts of a step are separated by commas, steps by semicolons.
 * A step is SEND or DETECT, the ms to wait before it, and how each place answers: ms:outcome. Or it is LEARN, the ms to
 * wait, the start of the new index, and the places of the new route. Answer: for each step what was tried, whether it
 * went well, and the ms since the start.
 */
public final class Driver {
    private static final String TOPIC = "topic";
    private static MQClientInstance network;
    private static Class<?> networkClass;

    private Driver() {
    }

    public static void main(String[] args) {
        // Standard output carries answers alone, whatever a library prints.
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.US_ASCII);
        System.setOut(System.err);
        int status = 0;
        try {
            networkClass = networkClass();
            network = (MQClientInstance) networkClass.getConstructor(ClientConfig.class).newInstance(new ClientConfig());
            BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                answers.println(answer(line.split("\\|", -1)));
            }
        } catch (Exception e) {
            e.printStackTrace();
            status = 1;
        }
        System.exit(status);  // The client's own threads would go on.
    }

    private static Class<?> networkClass() throws ClassNotFoundException {
        try {
            return Class.forName("capacity.sending.five.Network");
        } catch (ClassNotFoundException e) {
            return Class.forName("capacity.sending.four.Network");
        }
    }

    private static String answer(String[] request) throws Exception {
        if (request[0].equals("BUCKET")) {
            return Class.forName("capacity.sending.proxy.Proxy").getMethod("bucket", String.class, int.class)
                .invoke(null, request[1], Integer.valueOf(request[2])).toString();
        }
        Clock.set(0);
        World.ANSWERS.clear();
        String[] places = request[8].split(",");
        Sender sender = request[0].equals("PROXY") ? new ProxySender(request, places) : new Producer(request, places);
        List<String> said = new ArrayList<>();
        for (String step : request[9].split(";")) {
            String[] parts = step.split(",");
            Clock.advance(Long.parseLong(parts[1]));
            if (parts[0].equals("LEARN")) {
                sender.learn(Arrays.copyOfRange(parts, 3, parts.length), Integer.parseInt(parts[2]));
                said.add("=LEARNT@" + Clock.sinceStart());
                continue;
            }
            for (int i = 0; i < places.length; i++) {
                String[] answer = parts[2 + i].split(":");
                World.ANSWERS.put(places[i].split(":")[0],
                    new World.Answer(Long.parseLong(answer[0]), answer[1]));
            }
            World.SENT.clear();
            boolean sent = parts[0].equals("SEND");
            String end = sent ? (sender.send() ? "OK" : "FAILED") : "DETECTED";
            if (!sent) {
                sender.detect();
            }
            said.add(String.join(",", World.SENT) + "=" + end + "@" + Clock.sinceStart());
        }
        return String.join(";", said);
    }

    /** What sends the messages of a scenario. */
    interface Sender {
        boolean send() throws Exception;

        void detect() throws Exception;

        /** Takes another route, whose queues are counted from a new start. */
        void learn(String[] places, int start) throws Exception;
    }

    /** The official producer. */
    private static final class Producer implements Sender {
        private final DefaultMQProducerImpl producer;
        private final Object tolerance;
        private final Given resets;
        private final String mode;

        Producer(String[] request, String[] places) throws Exception {
            DefaultMQProducer settings = new DefaultMQProducer("group");
            settings.setRetryTimesWhenSendFailed(Integer.parseInt(request[5]));
            settings.setRetryTimesWhenSendAsyncFailed(Integer.parseInt(request[5]));
            settings.setSendMsgTimeout(Integer.parseInt(request[6]));
            producer = settings.getDefaultMQProducerImpl();
            producer.setServiceState(ServiceState.RUNNING);
            producer.setAsyncSenderExecutor(new Inline());
            mode = request[10];
            field(DefaultMQProducerImpl.class, "mQClientFactory").set(producer, network);
            resets = new Given(request[7]);
            learn(places, Integer.parseInt(request[3]));
            Object strategy = field(DefaultMQProducerImpl.class, "mqFaultStrategy").get(producer);
            tolerance = field(MQFaultStrategy.class, "latencyFaultTolerance").get(strategy);
            set(strategy, "setSendLatencyFaultEnable", request[1].equals("1"));
            if (request[2].equals("1")) {
                set(strategy, "setStartDetectorEnable", true);
            }
            startAt((ThreadLocalIndex) indexOf(tolerance), Integer.parseInt(request[4]), new Given(""));
        }

        /** As MQClientInstance.updateTopicRouteInfoFromNameServer does it. */
        @Override
        public void learn(String[] places, int start) throws Exception {
            TopicPublishInfo info = (TopicPublishInfo) MQClientInstance.class
                .getMethod("topicRouteData2TopicPublishInfo", String.class, routeOf(places).getClass())
                .invoke(null, TOPIC, routeOf(places));
            info.setHaveTopicRouterInfo(true);
            producer.updateTopicPublishInfo(TOPIC, info);
            startAt(info.getSendWhichQueue(), start, resets);
        }

        @Override
        public boolean send() {
            try {
                Message message = new Message(TOPIC, new byte[] {1});
                switch (mode) {
                    case "ASYNC":
                        Noted noted = new Noted();
                        producer.send(message, noted);
                        return noted.isStored;
                    case "ONEWAY":
                        producer.sendOneway(message);
                        return true;
                    default:
                        producer.send(message);
                        return true;
                }
            } catch (Exception e) {
                return false;
            }
        }

        @Override
        public void detect() throws Exception {
            LatencyFaultToleranceImpl.class.getMethod("detectByOneRound").invoke(tolerance);
        }
    }

    /** What the callback of a message was told. */
    private static final class Noted implements SendCallback {
        private boolean isStored;

        @Override
        public void onSuccess(SendResult result) {
            isStored = true;
        }

        @Override
        public void onException(Throwable e) {
            isStored = false;
        }
    }

    /** Runs what it is given at once: the index of queues belongs to a thread. */
    private static final class Inline extends AbstractExecutorService {
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void shutdown() {
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    /** The Proxy's choice, with the bookkeeping that ProducerProcessor.sendMessage does after each message. */
    private static final class ProxySender implements Sender {
        private final MQFaultStrategy strategy;
        private final Object tolerance;
        private final int timeoutMs;
        private Object selector;

        ProxySender(String[] request, String[] places) throws Exception {
            DefaultMQProducerImpl producer = new DefaultMQProducer("group").getDefaultMQProducerImpl();
            field(DefaultMQProducerImpl.class, "mQClientFactory").set(producer, network);
            producer.getTopicPublishInfoTable().put(TOPIC, new TopicPublishInfo());
            strategy = (MQFaultStrategy) field(DefaultMQProducerImpl.class, "mqFaultStrategy").get(producer);
            tolerance = field(MQFaultStrategy.class, "latencyFaultTolerance").get(strategy);
            set(strategy, "setSendLatencyFaultEnable", request[1].equals("1"));
            timeoutMs = Integer.parseInt(request[6]);
            learn(places, Integer.parseInt(request[3]));
        }

        /** As TopicRouteService does it, which makes a new MessageQueueView of each route. */
        @Override
        public void learn(String[] places, int start) throws Exception {
            selector = Class.forName("capacity.sending.proxy.Proxy")
                .getConstructor(String.class, String[].class, MQFaultStrategy.class, int.class)
                .newInstance(TOPIC, places, strategy, start);
        }

        @Override
        public boolean send() throws Exception {
            String[] chosen = (String[]) selector.getClass().getMethod("select").invoke(selector);
            if (chosen == null) {
                return false;
            }
            long begun = Clock.currentTimeMillis();
            boolean wentWell = true;
            try {
                World.send(chosen[0], Integer.parseInt(chosen[1]), timeoutMs);
            } catch (Exception e) {
                wentWell = false;
            }
            MQFaultStrategy.class
                .getMethod("updateFaultItem", String.class, long.class, boolean.class, boolean.class)
                .invoke(strategy, chosen[0], Clock.currentTimeMillis() - begun, !wentWell, wentWell);
            return wentWell;
        }

        @Override
        public void detect() throws Exception {
            LatencyFaultToleranceImpl.class.getMethod("detectByOneRound").invoke(tolerance);
        }
    }

    private static Object routeOf(String[] places) throws ReflectiveOperationException {
        return networkClass.getMethod("route", String[].class).invoke(null, (Object) places);
    }

    private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static void set(Object owner, String setter, boolean value) throws ReflectiveOperationException {
        owner.getClass().getMethod(setter, boolean.class).invoke(owner, value);
    }

    private static Object indexOf(Object tolerance) throws ReflectiveOperationException {
        for (Field each : LatencyFaultToleranceImpl.class.getDeclaredFields()) {
            if (each.getType() == ThreadLocalIndex.class) {
                each.setAccessible(true);
                return each.get(tolerance);
            }
        }
        throw new NoSuchFieldException("an index of " + tolerance.getClass());
    }

    /** Gives an index its start, and the numbers from which it starts anew. */
    @SuppressWarnings("unchecked")
    private static void startAt(ThreadLocalIndex index, int start, Given resets) throws ReflectiveOperationException {
        ((ThreadLocal<Integer>) field(ThreadLocalIndex.class, "threadLocalIndex").get(index)).set(start);
        field(ThreadLocalIndex.class, "random").set(index, resets);
    }

    /** Numbers that were given, instead of random ones. */
    private static final class Given extends Random {
        private static final long serialVersionUID = 1;
        private final Deque<Integer> numbers;

        Given(String numbers) {
            this.numbers = Arrays.stream(numbers.split(",")).filter(one -> !one.isEmpty()).map(Integer::valueOf)
                .collect(Collectors.toCollection(ArrayDeque::new));
        }

        @Override
        public int nextInt(int bound) {
            return numbers.remove();
        }
    }
}
