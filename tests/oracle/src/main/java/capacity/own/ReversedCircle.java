package capacity.own;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/** A strategy as a deployment may have its own: the last client takes the first queue. Throws for topics named bad…. */
public class ReversedCircle implements AllocateMessageQueueStrategy {
    @Override
    public List<MessageQueue> allocate(String group, String clientId, List<MessageQueue> queues, List<String> clientIds) {
        if (queues.get(0).getTopic().startsWith("bad")) {
            throw new IllegalStateException("no queue of " + queues.get(0).getTopic());
        }
        List<MessageQueue> own = new ArrayList<>();
        int index = clientIds.size() - 1 - clientIds.indexOf(clientId);
        for (int i = index; i < queues.size(); i += clientIds.size()) {
            own.add(queues.get(i));
        }
        return own.isEmpty() ? null : own;
    }

    @Override
    public String getName() {
        return "REVERSED";
    }

    /** One that has no constructor without arguments. */
    public static class Told extends ReversedCircle {
        public Told(String told) {
        }
    }

    /** One whose constructor throws. */
    public static class Broken extends ReversedCircle {
        public Broken() {
            throw new IllegalArgumentException("not configured");
        }
    }
}
