package capacity.cluster;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.ha.DefaultHAService;

/** The official master-slave replication, listening on the loopback address; its own listens on all of them. */
public final class LoopbackHaService extends DefaultHAService {
    @Override
    public void init(DefaultMessageStore store) throws IOException {
        super.init(store);
        try {
            Field address = AcceptSocketService.class.getDeclaredField("socketAddressListen");
            address.setAccessible(true);
            int port = store.getMessageStoreConfig().getHaListenPort();
            address.set(acceptSocketService, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (ReflectiveOperationException e) {
            throw new IOException("cannot keep replication on the loopback address", e);
        }
    }
}
