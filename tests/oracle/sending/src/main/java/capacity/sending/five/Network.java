package capacity.sending.five;

import capacity.sending.World;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.impl.ClientRemotingProcessor;
import org.apache.rocketmq.client.impl.CommunicationMode;
import org.apache.rocketmq.client.impl.MQClientAPIImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.header.SendMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.route.BrokerData;
import org.apache.rocketmq.remoting.protocol.route.QueueData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;

/** A client's network in which {@link World} answers. */
public final class Network extends MQClientInstance {
    private final MQClientAPIImpl api;

    public Network(ClientConfig config) {
        super(config, 0, "producer");
        this.api = new Api(config);
    }

    @Override
    public MQClientAPIImpl getMQClientAPIImpl() {
        return api;
    }

    @Override
    public String findBrokerAddressInPublish(String brokerName) {
        return World.address(brokerName);
    }

    /** There is no name server: the route stays as it is. */
    @Override
    public boolean updateTopicRouteInfoFromNameServer(String topic) {
        return false;
    }

    @Override
    public boolean updateTopicRouteInfoFromNameServer(String topic, boolean isDefault, DefaultMQProducer producer) {
        return false;
    }

    /** The route of a topic; each place is broker:write queues:perm:has a master. */
    public static TopicRouteData route(String[] places) {
        TopicRouteData route = new TopicRouteData();
        route.setQueueDatas(new ArrayList<>());
        route.setBrokerDatas(new ArrayList<>());
        for (String place : places) {
            String[] parts = place.split(":");
            QueueData queues = new QueueData();
            queues.setBrokerName(parts[0]);
            queues.setWriteQueueNums(Integer.parseInt(parts[1]));
            queues.setReadQueueNums(Integer.parseInt(parts[1]));
            queues.setPerm(Integer.parseInt(parts[2]));
            route.getQueueDatas().add(queues);
            Map<Long, String> addresses = new HashMap<>();
            addresses.put(parts[3].equals("1") ? 0L : 1L, parts[0]);
            BrokerData broker = new BrokerData();
            broker.setBrokerName(parts[0]);
            broker.setBrokerAddrs(new HashMap<>(addresses));
            route.getBrokerDatas().add(broker);
        }
        return route;
    }

    private static final class Api extends MQClientAPIImpl {
        Api(ClientConfig config) {
            super(new NettyClientConfig(), new ClientRemotingProcessor(null), null, config);
            try {
                Wire.lay(this);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public SendResult sendMessage(String address, String brokerName, Message message,
            SendMessageRequestHeader header, long timeoutMs, CommunicationMode mode, SendMessageContext context,
            DefaultMQProducerImpl producer) throws RemotingException, MQBrokerException, InterruptedException {
            if (mode == CommunicationMode.ONEWAY) {
                return super.sendMessage(address, brokerName, message, header, timeoutMs, mode, context, producer);
            }
            return World.send(brokerName, header.getQueueId(), timeoutMs);
        }

        @Override
        public long getMaxOffset(String address, MessageQueue queue, long timeoutMs) throws RemotingException {
            return World.maxOffset(address);
        }
    }
}
