package capacity.cluster;

import com.alibaba.fastjson2.JSONObject;
import java.io.FileWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/**
 * Real producers of one sending thread each, every one a client of its own. Commands: start_senders, stop_senders,
 * fewest_choices (how many times the producer chose a broker since a time that chose it least) and senders_that_list
 * (how many producers have queues of a broker in their list).
 *
 * <p>A file gets the lines of {@link RecordedProducer} and, after each message, "M begun ended OK" or "M begun ended
 * FAILED".
 */
final class Senders {
    private final String nameserver;
    private final List<Sender> senders = new ArrayList<>();

    Senders(String nameserver) {
        this.nameserver = nameserver;
    }

    void addTo(Commands commands) {
        commands.add("start_senders", this::start)
            .add("stop_senders", fields -> stop())
            .add("fewest_choices", this::fewestChoices)
            .add("senders_that_list", this::thatList);
    }

    private final class Sender implements Runnable {
        private final DefaultMQProducer producer = new DefaultMQProducer("senders");
        private final RecordedProducer recorded;
        private final Thread thread = new Thread(this);
        private final Writer writer;
        private final String topic;
        private final long intervalMs;
        private volatile boolean stopped;

        Sender(JSONObject fields, int index) throws Exception {
            topic = fields.getString("topic");
            intervalMs = fields.getLongValue("interval_ms");
            writer = new FileWriter(fields.getString("record") + "-" + index, StandardCharsets.UTF_8);
            recorded = RecordedProducer.of(producer, writer);
            producer.setNamesrvAddr(nameserver);
            producer.setClientIP("127.0.0.1");
            producer.setInstanceName(fields.getString("name") + index);
            producer.setPollNameServerInterval(fields.getIntValue("poll_nameserver_ms"));
            producer.setSendLatencyFaultEnable(fields.getBooleanValue("tolerates"));
            producer.start();
        }

        @Override
        public void run() {
            while (!stopped) {
                long begun = System.currentTimeMillis();
                String end = "OK";
                try {
                    producer.send(new Message(topic, new byte[10]));
                } catch (Exception e) {
                    end = "FAILED";
                }
                recorded.write("M " + begun + " " + System.currentTimeMillis() + " " + end);
                try {
                    Thread.sleep(Math.max(1, begun + intervalMs - System.currentTimeMillis()));
                } catch (InterruptedException e) {
                    return;
                }
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

    private Object fewestChoices(JSONObject fields) {
        String brokerName = fields.getString("broker_name");
        long since = fields.getLongValue("since");
        return senders.stream().mapToLong(sender -> sender.recorded.choices(brokerName, since)).min().orElse(0);
    }

    private Object thatList(JSONObject fields) {
        return senders.stream().filter(sender -> sender.recorded.lists(fields.getString("broker_name"))).count();
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
