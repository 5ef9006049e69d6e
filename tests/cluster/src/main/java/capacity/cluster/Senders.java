package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;
import java.io.FileWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/**
 * Real producers of one sending thread each, every one a client of its own. Commands: start_senders, stop_senders and
 * last_failed_try (when it ended; 0 if none has failed).
 *
 * <p>A file gets a line for each try ("T sender message begun ended broker queue OK") and for each message ("M sender
 * message begun ended OK"), in milliseconds; FAILED stands for OK where it was not stored. The queue is its id.
 */
final class Senders {
    private final String nameserver;
    private final List<Sender> senders = new ArrayList<>();
    private volatile long lastFailed;

    Senders(String nameserver) {
        this.nameserver = nameserver;
    }

    void addTo(Commands commands) {
        commands.add("start_senders", this::start)
            .add("stop_senders", fields -> stop())
            .add("last_failed_try", fields -> lastFailed);
    }

    private final class Sender implements Runnable, SendMessageHook {
        private final DefaultMQProducer producer;
        private final Thread thread = new Thread(this);
        private final Writer writer;
        private final String topic;
        private final String name;
        private final long intervalMs;
        private volatile boolean stopped;
        private long number;
        private long tryBegun;

        Sender(JSONObject fields, int index) throws Exception {
            name = fields.getString("name") + index;
            topic = fields.getString("topic");
            intervalMs = fields.getLongValue("interval_ms");
            writer = new FileWriter(fields.getString("record") + "-" + index, StandardCharsets.UTF_8);
            producer = new DefaultMQProducer("senders");
            producer.setNamesrvAddr(nameserver);
            producer.setClientIP("127.0.0.1");
            producer.setInstanceName(name);
            producer.setPollNameServerInterval(fields.getIntValue("poll_nameserver_ms"));
            producer.setSendLatencyFaultEnable(fields.getBooleanValue("tolerates"));
            producer.start();
            producer.getDefaultMQProducerImpl().registerSendMessageHook(this);
        }

        @Override
        public String hookName() {
            return name;
        }

        @Override
        public void sendMessageBefore(SendMessageContext context) {
            tryBegun = System.currentTimeMillis();
        }

        @Override
        public void sendMessageAfter(SendMessageContext context) {
            String end = context.getException() == null ? "OK" : "FAILED";
            if (context.getException() != null) {
                lastFailed = System.currentTimeMillis();
            }
            write("T", tryBegun, context.getMq().getBrokerName() + " " + context.getMq().getQueueId() + " " + end);
        }

        @Override
        public void run() {
            for (; !stopped; number++) {
                long begun = System.currentTimeMillis();
                String end = "OK";
                try {
                    producer.send(new Message(topic, new byte[10]));
                } catch (Exception e) {
                    end = "FAILED";
                }
                write("M", begun, end);
                try {
                    Thread.sleep(Math.max(1, begun + intervalMs - System.currentTimeMillis()));
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        private void write(String kind, long begun, String rest) {
            try {
                writer.write(kind + " " + name + " " + number + " " + begun + " " + System.currentTimeMillis() + " "
                    + rest + "\n");
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    private Object start(JSONObject fields) throws Exception {
        List<Sender> started = new ArrayList<>();
        for (int i = 0; i < fields.getIntValue("count"); i++) {
            started.add(new Sender(fields, i));
        }
        started.forEach(sender -> sender.thread.start());
        senders.addAll(started);
        return started.size();
    }

    private Object stop() throws Exception {
        for (Sender sender : senders) {
            sender.stopped = true;
        }
        for (Sender sender : senders) {
            sender.thread.join();
            sender.writer.close();
        }
        return senders.size();
    }
}
