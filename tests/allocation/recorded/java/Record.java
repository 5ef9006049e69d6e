import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.common.message.MessageQueue;

/** Records what MACHINE_ROOM of rocketmq-client 4.7.1 gives: java -cp (its jars) Record.java > ../java_4_7_1.jsonl */
class Record {
    static final String[] BROKERS = {
        "broker-a", "broker-b", "hz@broker-a", "hz@broker-b", "sh@broker-c", "hz@", "@broker-e", "hz@broker-f@"};
    static final String[] ROOMS = {"hz", "sh", ""};

    public static void main(String[] args) {
        for (int number = 0; number < 24; number++) {
            String topic = "topic-" + number;
            List<MessageQueue> queues = new ArrayList<>();
            List<String> places = new ArrayList<>();
            for (int i = 0; i < BROKERS.length; i++) {
                int count = (number * 7 + i * 5) % 6;
                if ((number + i) % 3 != 0 && count > 0) {
                    places.add("{\"broker_name\":\"" + BROKERS[i] + "\",\"read_queue_nums\":" + count + "}");
                    for (int id = 0; id < count; id++) {
                        queues.add(new MessageQueue(topic, BROKERS[i], id));
                    }
                }
            }
            List<String> ids = new ArrayList<>();
            for (int i = 0; i <= (number * 3) % 8; i++) {
                ids.add("10.0." + number % 3 + "." + i * 7 % 11 + "@" + (100 + i));
            }
            if (number % 4 == 3) {
                ids.add(ids.get(0));
            }
            Collections.sort(ids);
            Collections.sort(queues);
            Set<String> rooms = new TreeSet<>(List.of(ROOMS).subList(0, 1 + number % 3));
            AllocateMessageQueueByMachineRoom strategy = new AllocateMessageQueueByMachineRoom();
            strategy.setConsumeridcs(rooms);
            List<String> owned = new ArrayList<>();
            for (String id : ids) {
                List<String> own = new ArrayList<>();
                for (MessageQueue queue : strategy.allocate("g", id, queues, ids)) {
                    own.add("\"" + queue.getBrokerName() + ":" + queue.getQueueId() + "\"");
                }
                owned.add(own.toString());
            }
            System.out.println("{\"strategy\":\"MACHINE_ROOM\",\"machine_rooms\":" + quoted(rooms) + ",\"topic\":\"" + topic
                + "\",\"places\":" + places + ",\"client_ids\":" + quoted(ids) + ",\"owned\":" + owned + "}");
        }
    }

    static String quoted(Iterable<String> texts) {
        List<String> each = new ArrayList<>();
        texts.forEach(text -> each.add("\"" + text + "\""));
        return each.toString();
    }
}
