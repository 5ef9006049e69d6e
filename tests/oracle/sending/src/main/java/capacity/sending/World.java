package capacity.sending;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.remoting.exception.RemotingConnectException;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.exception.RemotingTimeoutException;

/** How each broker answers at the moment, and what was sent to it. */
public final class World {
    /** A broker's answer: after so many ms, OK, CONNECT (an error of the network) or the code of a refusal. */
    public record Answer(long latencyMs, String outcome) {
    }

    static final Map<String, Answer> ANSWERS = new HashMap<>();
    static final List<String> SENT = new ArrayList<>();

    private World() {
    }

    public static String address(String brokerName) {
        Answer answer = ANSWERS.get(brokerName);
        return answer == null || answer.outcome.equals("GONE") ? null : brokerName;
    }

    /** What was sent without waiting for an answer. */
    public static void note(String brokerName, int queueId) {
        SENT.add(brokerName + ":" + queueId);
    }

    public static SendResult send(String brokerName, int queueId, long timeoutMs)
        throws RemotingException, MQBrokerException {
        SENT.add(brokerName + ":" + queueId);
        Answer answer = ANSWERS.get(brokerName);
        if (answer.latencyMs > timeoutMs) {
            Clock.advance(timeoutMs + 1);
            throw new RemotingTimeoutException(brokerName);
        }
        Clock.advance(answer.latencyMs);
        switch (answer.outcome) {
            case "OK":
                SendResult result = new SendResult();
                result.setSendStatus(SendStatus.SEND_OK);
                return result;
            case "CONNECT":
                throw new RemotingConnectException(brokerName);
            default:
                throw new MQBrokerException(Integer.parseInt(answer.outcome), brokerName);
        }
    }

    /** What the detector of reachability asks. */
    public static long maxOffset(String address) throws RemotingException {
        if (!ANSWERS.get(address).outcome.equals("OK")) {
            throw new RemotingConnectException(address);
        }
        return 0;
    }
}
