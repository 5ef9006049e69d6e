package capacity.sending.five;

import capacity.sending.World;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.impl.MQClientAPIImpl;
import org.apache.rocketmq.remoting.InvokeCallback;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.header.SendMessageRequestHeaderV2;
import org.apache.rocketmq.remoting.protocol.header.SendMessageResponseHeader;

/** The connections of a client from 5.3 on, for messages that nobody waits for; {@link World} answers. */
final class Wire implements InvocationHandler {
    /** Takes the place of a client's own connections. */
    static void lay(MQClientAPIImpl api) throws ReflectiveOperationException {
        Field client = MQClientAPIImpl.class.getDeclaredField("remotingClient");
        client.setAccessible(true);
        client.set(api, Proxy.newProxyInstance(Wire.class.getClassLoader(), new Class<?>[] {RemotingClient.class},
            new Wire()));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        String address = (String) arguments[0];
        RemotingCommand request = (RemotingCommand) arguments[1];
        int queueId = ((SendMessageRequestHeaderV2) request.readCustomHeader()).getE();
        switch (method.getName()) {
            case "invokeOneway":
                World.note(address, queueId);
                return null;
            case "invokeAsync":
                answer(address, queueId, (long) arguments[2], (InvokeCallback) arguments[3]);
                return null;
            default:
                throw new IllegalStateException(method.getName());
        }
    }

    /** As NettyRemotingClient tells the callback. */
    private static void answer(String address, int queueId, long timeoutMs, InvokeCallback callback)
        throws ReflectiveOperationException {
        RemotingCommand response = RemotingCommand.createResponseCommand(SendMessageResponseHeader.class);
        response.setCode(0);
        try {
            World.send(address, queueId, timeoutMs);
        } catch (MQBrokerException e) {
            response.setCode(e.getResponseCode());
        } catch (RemotingException e) {
            InvokeCallback.class.getMethod("operationFail", Throwable.class).invoke(callback, e);
            return;
        }
        SendMessageResponseHeader header = (SendMessageResponseHeader) response.readCustomHeader();
        header.setMsgId("id");
        header.setQueueId(queueId);
        header.setQueueOffset(0L);
        response.makeCustomHeaderToNet();
        InvokeCallback.class.getMethod("operationSucceed", RemotingCommand.class).invoke(callback, response);
    }
}
